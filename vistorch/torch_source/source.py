"""PyTorch as a source: what `debug.source.Source` asks, answered by the files of this package.

Invariant: a question that needs private names of torch is refused where its version is not supported; to show values
needs none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from ..debug.array.source import Source as ArraySource
from ..debug.source import Facts, Nodes
from . import forward, graph, listening, nodes, notes, passes, private, real, replayed, stepper, values
from .real import torch


class TorchSource:
    """The real PyTorch, as the program has imported it."""

    name = "torch"
    nodes: Nodes = nodes.NODES

    @property
    def chip(self) -> str:
        """What pages call it."""
        return real.chip()

    def ready(self) -> None:
        """Refuse, in one sentence, where this torch cannot be looked into.

        Raises:
            Unsupported: why not.
        """
        real.ready()

    def is_tensor(self, x: Any) -> bool:
        """Whether a thing is a tensor of PyTorch."""
        return isinstance(x, torch.Tensor)

    def is_parameter(self, x: Any) -> bool:
        """Whether a thing is trained."""
        return isinstance(x, torch.nn.Parameter)

    def gradient(self, tensor: Any) -> Any:
        """A tensor's `.grad`, without torch's warning where it keeps none."""
        return tensor.grad if tensor.is_leaf or tensor.retains_grad else None

    def grad_fn(self, tensor: Any) -> Any:
        """What made a tensor."""
        return None if private.is_wrapped(tensor) else tensor.grad_fn

    def made_by(self, tensor: Any) -> tuple[Any, int] | None:
        """The node and output that made a tensor."""
        return nodes.made_by(tensor)

    def memory(self, tensor: Any) -> Any:
        """What tells a tensor's memory from others."""
        return nodes.memory_of(tensor)

    def facts(self, tensor: Any) -> Facts:
        """What a table says of a tensor."""
        return values.facts(tensor)

    def host(self, tensor: Any) -> np.ndarray:
        """The values on the CPU."""
        return values.host(tensor)

    def readable(self, tensor: Any) -> Any:
        """A tensor as `bring` takes it, where it is."""
        return values.ready(tensor)[0]

    def square(self, tensor: Any) -> Any:
        """The sum of squares, as a number on the tensor's device."""
        return values.square(tensor)

    def bring(self, tensors: list) -> list[np.ndarray]:
        """The values of tensors of one device, in one transfer."""
        return values.bring(tensors)

    def listen(self) -> bool:
        """Note lines, modules and norms of the next passes."""
        real.ready()
        return listening.start()

    def deafen(self) -> None:
        """Note them no more."""
        listening.stop()

    def capture(
        self, outputs: Any, namespace: Mapping[str, Any] | None = None, *, constants: bool = False
    ) -> Any:
        """The graph of a backward pass."""
        return graph.capture(outputs, namespace=namespace, source=self)

    def order(self, outputs: Iterable[Any]) -> list[Any]:
        """The nodes of that graph."""
        return nodes.order_of([found[0] for t in outputs if (found := nodes.made_by(t)) is not None])

    def stepper(
        self, outputs: Any, names: dict[Any, str] | None = None, **options: Any
    ) -> stepper.TorchStepper:
        """A pass that stands still until it is moved."""
        return stepper.TorchStepper(outputs, names=names, **options)

    def replayed(self, outputs: Any, names: dict[Any, str] | None = None) -> replayed.ReplayedPass:
        """A pass that torch runs now, to be stepped through afterwards."""
        return replayed.ReplayedPass(outputs, names=names)

    @contextmanager
    def passes(
        self, steer: Callable[[Any], None], names: Callable[[Any], dict] | None = None
    ) -> Iterator[None]:
        """While it lasts, each backward pass is a stepper's, which `steer` moves to its end or leaves.

        Args:
            steer: called with the stepper, in the place of the pass.
            names: gives what leaves are called.
        """
        real.ready()
        end = passes.listen(passes.stepped(steer, names or (lambda run: {})), passes.STEERS)
        try:
            yield
        finally:
            end()

    @contextmanager
    def noting(self) -> Iterator[None]:
        """While it lasts, lines and modules are noted at the nodes that are made."""
        noting = notes.Noting()
        noting.start()
        try:
            yield
        finally:
            noting.stop()

    def optimizer_steps(self, phase: Callable[[str, Any], None]) -> AbstractContextManager[None]:
        """While it lasts, `phase("step", optimizer)` is called before each step of any optimizer, "step_end" after."""
        return passes.optimizer_steps(phase)

    def forward(self, nodes: list, outputs: tuple, most: int | None = None) -> forward.Forward:
        """What forward computed."""
        return forward.Forward(nodes, outputs, most or 0)

    def vjp(self, node: Any, gradients: list) -> list | None:
        """A node's gradients; None where that would run something of the user's."""
        return private.call_node(node, gradients)

    def check(self, node: Any, nodes: list = [], outputs: tuple = ()) -> list[tuple[bool, str]]:  # noqa: B006
        """A node against independent gradients."""
        from .check import check

        return check(node, forward.Forward(nodes, outputs) if nodes else None)

    def is_view(self, tensor: Any) -> bool:
        """Whether a tensor was made as a view of another."""
        return private.base_of(tensor) is not None

    def placed(self, tensor: Any) -> tuple[Any, Any]:
        """The values, which share memory with the tensor on the CPU, and the CPU."""
        return values.placed(tensor)

    def copied(self, tensor: Any) -> Any:
        """A copy without history."""
        with torch.no_grad():
            return tensor.detach().clone()

    def put_back(self, tensor: Any, kept: Any) -> None:
        """Write what was copied."""
        with torch.no_grad():
            tensor.copy_(kept)

    def chances(self, more: list) -> list[tuple[Any, Any]]:
        """The states of torch's generators, and of those given."""
        found: list[tuple[Any, Any]] = [(torch.set_rng_state, torch.get_rng_state())]
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            found.append((torch.cuda.set_rng_state_all, torch.cuda.get_rng_state_all()))
        return found + [(g.set_state, g.get_state()) for g in {id(g): g for g in more}.values()]

    def loop_listener(self, *parts: Any) -> Any:
        """Listens to torch while a loop runs."""
        from .watching import TorchLoopListener

        return TorchLoopListener(*parts)

    def held_pass(self, going: passes.Going, outputs: tuple) -> passes.HeldPass:
        """A pass of torch that waits."""
        return passes.HeldPass(going)

    def recorder(self, title: str, names: Any) -> Any:
        """Records what every op computes."""
        from .recording import TorchRecord

        return TorchRecord(title, names)

    def tracer(self, **options: Any) -> Any:
        """Records every op and finds bad values."""
        from .tracing import TorchTrace

        return TorchTrace(**options)

    def kept(self, outputs: Any, namespace: Mapping[str, Any] | None = None) -> Any:
        """What a graph keeps."""
        from .memory import kept

        return kept(outputs, self, namespace)

    def evidence(self, rules: Any, namespace: dict[str, Any]) -> Any:
        """What listens to a run for the rules of a diagnosis."""
        from .diagnosing import TorchEvidence

        return TorchEvidence(rules, namespace)

    def timeline(self, namespace: Mapping[str, Any] | None = None) -> Any:
        """What a run keeps, over time."""
        from .memory import TorchTimeline

        return TorchTimeline(self, namespace)

    def array(self, x: Any, text: bool) -> ArraySource:
        """A tensor as an array to be shown."""
        return values.array(x, text)


SOURCE = TorchSource()
