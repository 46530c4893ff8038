#!/usr/bin/env python3
"""Lesson 26 from PyTorch: train.py RANK RANKS ADDRESS. Three steps of the same logistic regression.

There is no word of RDMA here: environment variables choose the transport.
"""
import sys

import torch
import torch.distributed as dist

rank, ranks, address = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
dist.init_process_group("gloo", init_method=f"tcp://{address}:18515?use_libuv=0", rank=rank, world_size=ranks)

torch.manual_seed(26)
inputs, truth = torch.randn(64, 2047, dtype=torch.float64), torch.randn(2047, dtype=torch.float64)
labels = (inputs @ truth > 0).double()
mine = slice(rank * 64 // ranks, (rank + 1) * 64 // ranks)
weights = torch.zeros(2047, dtype=torch.float64)
for step in range(1, 4):
    guesses = torch.sigmoid(inputs[mine] @ weights)
    loss = torch.nn.functional.binary_cross_entropy(guesses, labels[mine], reduction="sum")
    sums = torch.cat((inputs[mine].T @ (guesses - labels[mine]), loss.reshape(1)))
    dist.all_reduce(sums)
    weights -= sums[:-1] / 2048
    print(f"rank {rank}: step {step}: loss {sums[-1] / 64:.6f}", flush=True)
dist.destroy_process_group()
