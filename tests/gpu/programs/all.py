# SPDX-License-Identifier: Apache-2.0
"""Each part of cuDNN has work: convolutions, batch normalisation, an LSTM, attention."""
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
x = torch.randn(4, 16, 32, 32, device="cuda", requires_grad=True)
net = torch.nn.Sequential(torch.nn.Conv2d(16, 32, 3), torch.nn.BatchNorm2d(32), torch.nn.ReLU(),
                          torch.nn.ConvTranspose2d(32, 8, 3)).cuda()
net(x).sum().backward()
out, _ = torch.nn.LSTM(16, 32).cuda()(torch.randn(5, 4, 16, device="cuda"))
out.sum().backward()
with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
    q = torch.randn(2, 4, 128, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    torch.nn.functional.scaled_dot_product_attention(q, q, q).sum().backward()
torch.cuda.synchronize()
print("works", torch.backends.cudnn.version())
