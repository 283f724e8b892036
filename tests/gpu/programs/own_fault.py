# SPDX-License-Identifier: Apache-2.0
"""Fails by what it does itself, whatever cuDNN there is."""
import os
import torch
how = os.environ["HOW"]
x = torch.randn(2, 3, 32, 32, device="cuda")
net = torch.nn.Conv2d(3, 8, 3).cuda()
net(x)
if how == "memory":
    hold = torch.empty(torch.cuda.mem_get_info()[0] // 4 - 2**25, device="cuda")
    net(torch.empty(2**12, 3, 512, 512, device="cuda"))
elif how == "parameter":
    torch.cudnn_convolution(x, torch.randn(8, 3, 3, 3, device="cuda"), [0, 0], [0, 0], [1, 1], 1, False, False, False)
elif how == "assert":
    torch.arange(4, device="cuda")[torch.tensor([9], device="cuda")]
    net(x)
    torch.cuda.synchronize()
elif how == "forked":
    child = os.fork()
    if child == 0:
        try:
            net(x.clone())
        finally:
            os._exit(3)
    raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
elif how == "device":
    net.to("cuda:7")
print("works")
