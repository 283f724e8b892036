# SPDX-License-Identifier: Apache-2.0
"""Attention and its gradient by cuDNN's engines that are compiled at run time."""
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
q = torch.randn(2, 4, 128, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
    y = torch.nn.functional.scaled_dot_product_attention(q, q, q)
y.sum().backward()
torch.cuda.synchronize()
print("works", tuple(y.shape))
