# SPDX-License-Identifier: Apache-2.0
"""A data loader whose workers are made as HOW says (fork, spawn), and a convolution on each batch."""
import os

import torch


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, n):
        return torch.full((3, 32, 32), float(n))


if __name__ == "__main__":
    net = torch.nn.Conv2d(3, 8, 3).cuda()
    total = torch.zeros((), device="cuda")
    loader = torch.utils.data.DataLoader(Data(), 2, num_workers=2, multiprocessing_context=os.environ["HOW"])
    for batch in loader:
        total += net(batch.cuda()).sum()
    print("works" if total.isfinite() else "wrong", total.item())
