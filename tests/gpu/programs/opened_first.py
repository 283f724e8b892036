# SPDX-License-Identifier: Apache-2.0
"""Opens the system's cuDNN by its name before PyTorch is imported."""
import ctypes
ctypes.CDLL("libcudnn.so.9", ctypes.RTLD_GLOBAL)
import torch
y = torch.nn.Conv2d(3, 8, 3).cuda()(torch.randn(2, 3, 32, 32, device="cuda"))
torch.cuda.synchronize()
print("works", torch.backends.cudnn.version(), tuple(y.shape))
