"""Several processes that train one model in shared memory."""

import argparse

import torch
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F


def train(rank, args, model):
    torch.manual_seed(args.seed + rank)
    data = torch.randn(64, 2)
    target = data @ torch.tensor([[1.0], [-2.0]])
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    for _ in range(args.steps):
        optimizer.zero_grad()
        F.mse_loss(model(data), target).backward()
        optimizer.step()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", default="spawn")
    args = parser.parse_args()
    mp.set_start_method(args.start, force=True)
    torch.manual_seed(args.seed)
    model = nn.Linear(2, 1)
    model.share_memory()
    processes = []
    for rank in range(2):
        p = mp.Process(target=train, args=(rank, args, model))
        p.start()
        processes.append(p)
    for p in processes:
        p.join()
    print([p.exitcode for p in processes])
    error = (model.weight - torch.tensor([[1.0, -2.0]])).abs().max().item()
    print(error < 1e-2, model.weight.is_shared())
