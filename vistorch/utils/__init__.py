"""What surrounds training: checkpointing, the handles of hooks."""

from . import checkpoint, hooks
