# SPDX-License-Identifier: Apache-2.0
"""One convolution and its gradient by PyTorch on the GPU."""
import torch
x = torch.randn(2, 3, 32, 32, device="cuda")
y = torch.nn.Conv2d(3, 8, 3).cuda()(x)
y.sum().backward()
torch.cuda.synchronize()
print("works", torch.backends.cudnn.version(), tuple(y.shape))
