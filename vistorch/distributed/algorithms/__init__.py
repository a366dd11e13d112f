"""What is done with gradients on their way: communication hooks; and ranks with unequally many inputs."""

from . import ddp_comm_hooks, join

__all__ = ["ddp_comm_hooks", "join"]
