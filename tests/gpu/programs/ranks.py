# SPDX-License-Identifier: Apache-2.0
"""Two ranks, each with a model on the GPU."""
import os

import torch
import torch.distributed as dist

if "RANK" not in os.environ:
    from torch.distributed.run import main
    main(["--nproc-per-node", "2", __file__])
    raise SystemExit
dist.init_process_group("gloo")
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Conv2d(3, 8, 3).cuda())
net(torch.randn(2, 3, 32, 32, device="cuda")).sum().backward()
torch.cuda.synchronize()
if dist.get_rank() == 0:
    print("works", dist.get_world_size())
dist.destroy_process_group()
