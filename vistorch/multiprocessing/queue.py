"""Queues by the names that PyTorch has beside Python's.

Invariant: these are Python's queues; tensors travel through any of them in the same way.
"""

from multiprocessing.queues import Queue, SimpleQueue

__all__ = ["Queue", "SimpleQueue"]
