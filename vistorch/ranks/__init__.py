"""Processes that train together: how they find each other, what they exchange, what happens when one of them fails.

`vistorch.distributed` gives this PyTorch's names; `nn.parallel` and `nn.SyncBatchNorm` stand on it as well.

Invariant: no file of this package imports `nn` or `optim`, and mpi4py is imported when a second process is waited for.
"""
