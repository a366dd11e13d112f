"""vistorch's own engine as a source: `SOURCE`.

Invariant: what is asked of it computes nothing of the user's; a stepper's steps alone change a `.grad`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..engine.backward.backward_pass import order_of
from ..engine.backward.node_vjp import fit, vjps_of
from ..engine.base.modes import set_grad_enabled
from ..engine.core.graph import Out, edge
from ..engine.core.tensor import Tensor
from ..engine.random import generators
from ..nn.parameter import Buffer, Parameter
from .array.source import Source as ArraySource
from .array.source import source_of as array_source_of
from .check import check_node
from .device_reads import Batch
from .engine_nodes import NODES
from .graph.capture import capture
from .graph.graph_listeners import start, stop
from .memory import root_of
from .numbers import host
from .source import Facts, Nodes
from .stepper import Stepper
from .steps.forward import Forward


class HeldPass:
    """A pass of the engine that waits while a person steps it.

    Args:
        going: the pass.
        outputs: what it starts from.
    """

    def __init__(self, going: Any, outputs: tuple) -> None:
        self.going, self.outputs = going, outputs
        self.start, self.free = dict(going.pending), going.free

    def why_not(self) -> str | None:
        """Why it cannot be stepped."""
        walked = self.going.journal is not None or self.going.at
        return "a stepper walks this pass already" if walked else None

    def stepper(self, names: dict[Any, str]) -> Stepper:
        """A stepper on it."""
        return Stepper.of(self.going, names=names, outputs=self.outputs)

    def leave(self, finished: bool) -> None:
        """It has run, or is to be run by the engine."""
        going = self.going
        if finished:
            going.at = len(going.order)
            return
        going.pending.clear()
        going.pending.update(self.start)
        going.at, going.journal, going.free = 0, None, self.free


class EngineSource:
    """The engine, as `debug.source.Source` says.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.source import own
        >>> x = vistorch.ones(2, requires_grad=True)
        >>> [own().nodes.name(node) for node in own().order([(x * 2).sum()])]
        ['SumBackward0', 'MulBackward0', 'AccumulateGrad']
    """

    name = "vistorch"
    chip = "vistorch"
    nodes: Nodes = NODES

    def is_tensor(self, x: Any) -> bool:
        """Whether a thing is a tensor of ours."""
        return isinstance(x, Tensor)

    def is_parameter(self, x: Any) -> bool:
        """Whether a thing is trained."""
        return isinstance(x, Parameter) and not isinstance(x, Buffer)

    def gradient(self, tensor: Any) -> Any:
        """A tensor's `.grad`."""
        return tensor._grad

    def grad_fn(self, tensor: Any) -> Any:
        """What made a tensor."""
        return tensor._node

    def made_by(self, tensor: Any) -> tuple[Any, int] | None:
        """The node and output that made a tensor."""
        if not tensor.requires_grad:
            return None
        found = edge(tensor)
        return (found.node, found.nr) if isinstance(found, Out) else (found, 0)

    def memory(self, tensor: Any) -> Any:
        """What tells a tensor's memory from others."""
        return root_of(tensor._data)[0]

    def host(self, tensor: Any) -> np.ndarray:
        """The values on the CPU."""
        return host(tensor)

    def readable(self, tensor: Any) -> Any:
        """A tensor's array, where it is."""
        return tensor._data

    def square(self, tensor: Any) -> Any:
        """The sum of squares, as a number on the tensor's device."""
        with tensor._place:
            flat = abs(tensor._data.reshape(-1)).astype(np.float64)
            return flat.dot(flat)

    def bring(self, tensors: list) -> list[np.ndarray]:
        """Arrays of one device, in one transfer."""
        batch = Batch()
        return [answer.value for answer in [batch.whole(d) for d in tensors]]

    def listen(self) -> bool:
        """Note lines, modules and norms of the next passes."""
        return start()

    def deafen(self) -> None:
        """Note them no more."""
        stop()

    def capture(
        self, outputs: Any, namespace: Mapping[str, Any] | None = None, *, constants: bool = False
    ) -> Any:
        """The graph of a backward pass."""
        return capture(outputs, namespace=namespace, constants=constants)

    def order(self, outputs: Iterable[Any]) -> list[Any]:
        """The nodes of that graph."""
        order = order_of(list(dict.fromkeys([edge(t) for t in outputs])))
        return list(dict.fromkeys([n for n in order if n.__class__ is not Out]))

    def stepper(self, outputs: Any, names: dict[Any, str] | None = None, **options: Any) -> Stepper:
        """A pass that stands still until it is moved."""
        return Stepper(outputs, names=names, **options)

    def forward(self, nodes: list, outputs: tuple, most: int | None = None) -> Forward:
        """What forward computed."""
        return Forward(nodes, outputs) if most is None else Forward(nodes, outputs, most)

    def vjp(self, node: Any, gradients: list) -> list | None:
        """A node's gradients; None where an unpack hook of the user's would run."""
        if node.rule is None or any(hasattr(entry, "unpack") for entry in node.saved or ()):
            return None
        xp = node.place.xp
        gs = [None if g is None else xp.asarray(g) for g in gradients]
        found = vjps_of(node, gs if len(gs) > 1 else gs[0], False)
        return [
            None if e is None or g is None else fit(g, e, False)
            for e, g in zip(node.edges, found, strict=True)
        ]

    def check(self, node: Any, nodes: list = [], outputs: tuple = ()) -> list[tuple[bool, str]]:  # noqa: B006
        """A node against finite differences."""
        found = check_node(node)
        if found.ok:
            return [(True, f"finite difference agrees, relative error {found.error:.0e} at {found.at}")]
        return [(False, f"differs by {found.error:.2g} at {found.at}")]

    def facts(self, tensor: Any) -> Facts:
        """What a table says of a tensor."""
        place, data = tensor._place, tensor._data
        device = place.name + (" (simulated)" if place.simulated else "")
        dtype = str(tensor.dtype).rpartition(".")[2]
        memory = root_of(data)[1]
        return Facts(tuple(tensor.shape), dtype, device, data.nbytes, memory, tensor.requires_grad)

    def is_view(self, tensor: Any) -> bool:
        """Whether a tensor was made as a view of another."""
        return tensor._is_view()

    def placed(self, tensor: Any) -> tuple[Any, Any]:
        """The array and where it is."""
        return tensor._data, tensor._place

    def copied(self, tensor: Any) -> Any:
        """A copy without history."""
        with set_grad_enabled(False):
            return tensor.detach().clone()

    def put_back(self, tensor: Any, kept: Any) -> None:
        """Write what was copied."""
        with set_grad_enabled(False):
            tensor.copy_(kept)

    def chances(self, more: list) -> list[tuple[Any, Any]]:
        """The states of the generators of all devices, and of those given."""
        own = [generators.default_generator, *generators._of_devices.values(), *more]
        return [(g.set_state, g.get_state()) for g in {id(g): g for g in own}.values()]

    def loop_listener(self, *parts: Any) -> Any:
        """Listens to the engine while a loop runs."""
        from .watch.listener import LoopListener

        return LoopListener(*parts)

    def held_pass(self, going: Any, outputs: tuple) -> HeldPass:
        """A pass of the engine that waits."""
        return HeldPass(going, outputs)

    def recorder(self, title: str, names: Any) -> Any:
        """Records what every op computes."""
        from .compare import Record

        return Record(title, names)

    def tracer(self, **options: Any) -> Any:
        """Records every op and finds bad values."""
        from .trace import Trace

        return Trace(**options)

    def kept(self, outputs: Any, namespace: Mapping[str, Any] | None = None) -> Any:
        """What a graph keeps."""
        from .timeline import memory

        return memory(outputs, namespace=namespace)

    def evidence(self, rules: Any, namespace: dict[str, Any]) -> Any:
        """What listens to a run for the rules of a diagnosis."""
        from .diagnose.evidence import Evidence

        evidence = Evidence(rules, namespace)
        evidence.shield()
        return evidence

    def timeline(self, namespace: Mapping[str, Any] | None = None) -> Any:
        """What a run keeps, over time."""
        from .timeline import Timeline

        return Timeline(namespace=namespace)

    def array(self, x: Any, text: bool) -> ArraySource:
        """A tensor as an array to be shown."""
        return array_source_of(x, text=text)


SOURCE = EngineSource()
