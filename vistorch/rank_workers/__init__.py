"""Ranks that stay: processes that a notebook starts once and gives one cell after the other.

`pool` is the notebook's side, `worker` the rank's. Between them is a pair of connected sockets that the rank inherits:
no port is opened for it.

Invariant: the notebook unpickles nothing that a rank sends; what it sends itself only its own child can read.
"""
