"""What a worker process must be able to import by name: PyTorch's queues cannot send a class that is local."""

import collections

Pair = collections.namedtuple("Pair", "x names")


class TwoArguments(Exception):
    def __init__(self, a, b):
        super().__init__(a, b)
