"""What cannot be graphed or stepped, each in one sentence, before anything has run.

Invariant: a question about a tensor changes nothing of it.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable
from typing import Any

from ..debug.graph.capture import NO_GRAPH, ONLY_A_LEAF
from . import private, values
from .real import ready, torch

INFERENCE = (
    "this tensor was made in inference mode, which records nothing: run the forward pass outside of "
    "torch.inference_mode()"
)
GONE = (
    "the graph was freed by a backward pass: run the forward pass again, and step it before backward() "
    "or after backward(retain_graph=True)"
)
REENTRANT = (
    "{} runs a whole backward pass inside of its own (torch.utils.checkpoint with use_reentrant=True), which cannot be "
    "taken back: give checkpoint use_reentrant=False, or type %vt step loss --ran to step through torch's own pass"
)
REPLICATED = (
    "the model is in {}, whose C++ hooks exchange gradients between processes: they cannot be run again or taken back; "
    "step the module inside of it (model.module), or type %vt step loss --ran to step through torch's own pass"
)
REPLICATING = ("DistributedDataParallel", "FullyShardedDataParallel")


class Unsteppable(ValueError):
    """A pass that torch can run, and that cannot be taken one node at a time and back."""


def roots_of(outputs: Any) -> list[Any]:
    """The tensors that a graph or a pass begins at.

    Args:
        outputs: a tensor with history, or several.

    Raises:
        ValueError: why there is no graph, in a sentence.
    """
    ready()
    tensors = [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)
    if not tensors:
        raise ValueError("no tensor was given whose graph could be shown")
    for t in tensors:
        if not isinstance(t, torch.Tensor):
            raise TypeError(f"expected tensors of PyTorch, but got {type(t).__name__}")
        if t.is_inference():
            raise ValueError(INFERENCE)
        if private.is_wrapped(t):
            raise ValueError(values.refused(t))
        if not t.requires_grad:
            raise ValueError(NO_GRAPH)
    if all(t.grad_fn is None for t in tensors):
        raise ValueError(ONLY_A_LEAF)
    return tensors


def unsteppable(nodes: Iterable[Any]) -> str | None:
    """Why a pass cannot be taken one node at a time and back, in a sentence; None where it can.

    Args:
        nodes: the nodes of the pass.
    """
    leaves = set()
    for n in nodes:
        if n.name() == "CheckpointFunctionBackward":
            return REENTRANT.format(n.name())
        if hasattr(n, "variable"):
            leaves.add(id(n.variable))
    distributed = torch.distributed
    if not distributed.is_available() or not distributed.is_initialized():
        return None
    for one in gc.get_objects():  # hooks of C++ do not say whose they are
        kind = type(one).__name__
        if kind in REPLICATING and any(id(p) in leaves for p in one.parameters()):
            return REPLICATED.format(kind)
    return None
