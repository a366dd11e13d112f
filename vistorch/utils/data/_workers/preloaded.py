"""What the server of workers loads before it forks the first one: all that a worker runs, and oneDNN.

A worker that opened the library itself would spend its first tens of milliseconds on it, in every epoch anew.
Invariant: nothing here starts a thread, which a fork would lose.
"""

from __future__ import annotations

from ....engine.kernels.fast.switch import onednn
from . import worker_main

__all__ = ["worker_main"]

onednn.ready()  # with one thread, as the server's environment says
