"""What loaders and workers share, under PyTorch's module names: collating, fetching, pinning, the worker's info.

Invariant: nothing here knows of processes; that is `_workers`.
"""

from . import collate, fetch, pin_memory, worker
