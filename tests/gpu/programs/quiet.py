# SPDX-License-Identifier: Apache-2.0
"""Goes on without a word on the processor where the GPU or cuDNN cannot be had."""
import torch
device = "cuda" if torch.cuda.is_available() and torch.backends.cudnn.is_available() else "cpu"
y = torch.nn.Conv2d(3, 8, 3).to(device)(torch.randn(2, 3, 32, 32, device=device))
print("works" if device == "cuda" else "slow", device, tuple(y.shape))
