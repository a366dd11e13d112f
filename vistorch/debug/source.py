"""Which library a tensor, a module or a graph belongs to, and what a command may ask of that library.

A source is one library seen through one protocol: vistorch's own engine, or PyTorch. A command looks up the source of
its argument with `source_of` and asks it; it never looks at the class of a tensor. What each source can do stands in
one table, `FEATURES`: a command that a source does not have is refused with the sentence that `lacking` makes of it.

PyTorch is never imported here: `torch_source` (the package) is loaded when a thing of the real torch is first asked
about, so the real torch is there already. What decides is the thing itself and not the name it was imported under: a
tensor of vistorch that a program calls `torch.tensor` is vistorch's.

Invariant: to ask which source a thing of vistorch has loads no library and costs one look at its class.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..engine.base.namespace import own_module, real_torch

# A source is found by the module that makes it, and that module is loaded when it is needed.
PACKAGES = {"vistorch": "vistorch.debug.engine_source", "torch": "vistorch.torch_source"}

# What each source has: a row says for which ones a command or a part of a page is there.
FEATURES: dict[str, tuple[str, ...]] = {
    "show": ("vistorch", "torch"),
    "vars": ("vistorch", "torch"),
    "graph": ("vistorch", "torch"),
    "constants": ("vistorch",),  # tensors without gradient that ops kept, as boxes of the graph
    "failed forward": ("vistorch",),  # `%vt graph --last`
    "step": ("vistorch", "torch"),
    "step back": ("vistorch", "torch"),
    "replay": ("torch",),  # a pass that ran by itself, stepped through afterwards
    "break": ("vistorch", "torch"),
    "check": ("vistorch", "torch"),
    "witness": ("torch",),  # a second implementation of the same op to compare with
    "trace": ("vistorch", "torch"),
    "watch": ("vistorch", "torch"),
    "cuts": ("vistorch",),  # where the history of a layer ends, in the health of a run
    "step in": ("vistorch", "torch"),  # a stepper on the next backward pass of a watched run
    "flow": ("vistorch", "torch"),
    "record": ("vistorch", "torch"),
    "compare": ("vistorch", "torch"),
    "memory": ("vistorch", "torch"),
    "diagnose": ("vistorch", "torch"),
}


class Unsupported(ValueError):
    """A thing of a library that cannot be looked into, in one sentence.

    Example:
        >>> from vistorch.debug.source import Unsupported
        >>> issubclass(Unsupported, ValueError)
        True
    """


class Edge(NamedTuple):
    """The way of a gradient from a node: to output `output` of `node`, for the node's input called `input`.

    Example:
        >>> from vistorch.debug.source import Edge
        >>> Edge("a node", 0, "input", (2, 3)).shape
        (2, 3)
    """

    node: Any
    output: int
    input: str
    shape: tuple[int, ...]


class Saved(NamedTuple):
    """A value that a node keeps for backward.

    `what` is "input", "output" or "constant"; `value` an array, a tensor or a plain constant; `memory` tells values
    that share memory apart from others, None for what has none.

    Example:
        >>> from vistorch.debug.source import Saved
        >>> Saved("exponent", "constant", 2, None).name
        'exponent'
    """

    name: str
    what: str
    value: Any
    memory: Any


class Facts(NamedTuple):
    """What a table says of a tensor; `says` why it has no values, "" if it has.

    Example:
        >>> from vistorch.debug.source import Facts
        >>> Facts((2,), "float32", "cpu", 8, 8, False).says
        ''
    """

    shape: tuple[int, ...]
    dtype: str
    device: str
    nbytes: int
    memory: int
    requires_grad: bool
    says: str = ""


class Nodes(Protocol):
    """How the nodes of a graph are read. A node is whatever the library has; it can be a key of a dict."""

    def is_leaf(self, node: Any) -> bool:
        """Whether a node is where a leaf receives its gradient."""
        ...

    def variable(self, leaf: Any) -> Any:
        """A leaf's tensor."""
        ...

    def name(self, node: Any) -> str:
        """Its class as `grad_fn` prints it, without a namespace: "AddmmBackward0"."""
        ...

    def full_name(self, node: Any) -> str:
        """As `node.name()` says it."""
        ...

    def op(self, node: Any) -> str:
        """The row that computed it, as "log"; "" of what no row did."""
        ...

    def arguments(self, node: Any) -> tuple[str, ...]:
        """What its inputs are called, as `Forward.inputs` calls them."""
        ...

    def number(self, node: Any) -> int:
        """A number that grows with the order in which nodes are made."""
        ...

    def edges(self, node: Any) -> list[Edge | None]:
        """The ways of its gradients, one for each differentiable input, None where none goes."""
        ...

    def shape(self, node: Any) -> tuple[int, ...]:
        """The shape of its first output."""
        ...

    def dtype(self, node: Any) -> str:
        """The type of its first output, as "float32"."""
        ...

    def device(self, node: Any) -> str:
        """Where its first output is."""
        ...

    def place(self, node: Any) -> Any:
        """Where the line stands that made it, for `line_of`; None if nobody listened."""
        ...

    def onward(self, edge: Edge) -> Edge | None:
        """Where the way leads on that a view or a copy of one tensor stands in; None at any other node."""
        ...

    def formulas(self, node: Any) -> list[Any]:
        """A `Formula` for each of its inputs, in the order of its edges."""
        ...

    def saved(self, node: Any) -> list[Saved]:
        """What it keeps and can be looked at without running anything of the user's."""
        ...

    def is_freed(self, node: Any) -> bool:
        """Whether a pass has freed what it saved."""
        ...


class HeldPass(Protocol):
    """A backward pass that a program has asked for, and that waits while a person steps it."""

    def why_not(self) -> str | None:
        """Why it cannot be stepped, in a sentence; None where it can."""
        ...

    def stepper(self, names: dict[Any, str]) -> Any:
        """A stepper on it; finished, the pass is as if run."""
        ...

    def leave(self, finished: bool) -> None:
        """It was left: it has run, or is to be run by its library as if nothing had been."""
        ...


class Source(Protocol):
    """One library.

    `name` is its column in `FEATURES`, `chip` what pages call it.
    """

    name: str
    nodes: Nodes

    @property
    def chip(self) -> str:
        """What pages call it: "vistorch", "PyTorch 2.13"."""
        ...

    def is_tensor(self, x: Any) -> bool:
        """Whether a thing is one of its tensors."""
        ...

    def is_parameter(self, x: Any) -> bool:
        """Whether a thing is trained."""
        ...

    def gradient(self, tensor: Any) -> Any:
        """A tensor's `.grad`, without a warning where there is none."""
        ...

    def grad_fn(self, tensor: Any) -> Any:
        """What made a tensor, as a key of names; None for a leaf."""
        ...

    def made_by(self, tensor: Any) -> tuple[Any, int] | None:
        """The node and its output that made a tensor, or the node where a leaf receives; None without history."""
        ...

    def memory(self, tensor: Any) -> Any:
        """What tells a tensor's memory from that of others."""
        ...

    def host(self, tensor: Any) -> np.ndarray:
        """The values on the CPU, in a type of numpy or ml_dtypes."""
        ...

    def readable(self, tensor: Any) -> Any:
        """A tensor as `bring` takes it, where it is; `Unsupported` where it has no values."""
        ...

    def square(self, tensor: Any) -> Any:
        """The sum of squares, as a number on the tensor's device."""
        ...

    def bring(self, tensors: list) -> list[np.ndarray]:
        """The values of tensors of one device, in one transfer."""
        ...

    def listen(self) -> bool:
        """Note lines and modules of the next forward passes; whether that is new."""
        ...

    def deafen(self) -> None:
        """Note them no more."""
        ...

    def capture(self, outputs: Any, namespace: Mapping[str, Any] | None, *, constants: bool = False) -> Any:
        """The graph that a backward pass from some tensors would run, as a GraphRecord."""
        ...

    def order(self, outputs: Iterable[Any]) -> list[Any]:
        """The nodes of that graph, in the order of the record's."""
        ...

    def stepper(self, outputs: Any, names: dict[Any, str] | None = None, **options: Any) -> Any:
        """A backward pass from some tensors that stands still until it is moved."""
        ...

    def forward(self, nodes: list, outputs: tuple, most: int | None = None) -> Any:
        """What forward computed, as far as the nodes know: an object with `of`, `inputs`, `known`.

        Args:
            nodes: of a pass, newest first.
            outputs: the tensors that it starts from.
            most: elements of an input with which it may be computed again; without it, what is cheap.
        """
        ...

    def vjp(self, node: Any, gradients: list) -> list | None:
        """A node's gradients for others that come in; None where that would run something of the user's."""
        ...

    def check(self, node: Any, nodes: list, outputs: tuple) -> list[tuple[bool, str]]:
        """What each witness says of a node's gradient: whether it is right, and a line; `LookupError` where none can.

        `nodes` and `outputs` are those of its pass, which may know what the node itself did not keep.
        """
        ...

    def facts(self, tensor: Any) -> Facts:
        """What a table says of a tensor."""
        ...

    def is_view(self, tensor: Any) -> bool:
        """Whether a tensor was made as a view of another."""
        ...

    def placed(self, tensor: Any) -> tuple[Any, Any]:
        """The array of a tensor, shared with it where that can be, and where it is."""
        ...

    def copied(self, tensor: Any) -> Any:
        """A copy of a tensor without history."""
        ...

    def put_back(self, tensor: Any, kept: Any) -> None:
        """Write what was copied into a tensor."""
        ...

    def chances(self, more: list) -> list[tuple[Any, Any]]:
        """The states of the generators a loop draws from, with the functions that set them; `more` are a loader's."""
        ...

    def loop_listener(self, *parts: Any) -> Any:
        """A `debug.watch.follower.LoopFollower`: what makes steps, losses and batches of what runs."""
        ...

    def held_pass(self, going: Any, outputs: tuple) -> HeldPass:
        """A pass that is about to run, as the library's follower of a loop reports it."""
        ...

    def recorder(self, title: str, names: Any) -> Any:
        """A context that records what every op computes: has `rows` and `recording()`."""
        ...

    def tracer(self, **options: Any) -> Any:
        """A context that records what runs and finds bad values; has what `debug.trace.build.Source` asks."""
        ...

    def kept(self, outputs: Any, namespace: Mapping[str, Any] | None = None) -> Any:
        """What a graph keeps for backward, as a MemoryRecord: as if it were made now and then run."""
        ...

    def timeline(self, namespace: Mapping[str, Any] | None = None) -> Any:
        """A context that accounts for what nodes keep while it lasts: has `account` and `record()`."""
        ...

    def evidence(self, rules: Any, namespace: dict[str, Any]) -> Any:
        """What listens to a run for the rules of a diagnosis."""
        ...

    def array(self, x: Any, text: bool) -> Any:
        """A tensor as the `Source` of an array record."""
        ...


def named(name: str) -> Source:
    """A source by its name; its package is loaded if it was not.

    Args:
        name: "vistorch" or "torch".

    Raises:
        Unsupported: the library is there in a version that cannot be looked into.

    Example:
        >>> from vistorch.debug.source import named
        >>> named("vistorch").chip
        'vistorch'
    """
    return import_module(PACKAGES[name]).SOURCE


def own() -> Source:
    """The source of vistorch's own engine.

    Example:
        >>> from vistorch.debug.source import own
        >>> own().name
        'vistorch'
    """
    return named("vistorch")


def source_of(x: Any) -> Source | None:
    """The source of a tensor, a module or a node; None for a thing of neither library.

    Args:
        x: the thing, or a list of such: then that of the first.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.source import source_of
        >>> source_of(vistorch.ones(2)).name, source_of(3)
        ('vistorch', None)
    """
    if isinstance(x, (list, tuple)):
        return next((found for one in x[:100] if (found := source_of(one)) is not None), None)
    if isinstance(x, type):
        return None
    name = _library(type(x))
    return None if name is None else named(name)


def is_torch(x: Any) -> bool:
    """Whether a thing is the real PyTorch's; this loads nothing.

    Args:
        x: the thing.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.source import is_torch
        >>> is_torch(vistorch.ones(2))
        False
    """
    return not isinstance(x, type) and _library(type(x)) == "torch"


_libraries: weakref.WeakKeyDictionary[type, str | None] = weakref.WeakKeyDictionary()


def _library(kind: type) -> str | None:
    """The library of a class; a class that a cell makes anew is not kept for it."""
    try:
        return _libraries[kind]
    except KeyError:
        found = _libraries[kind] = _look(kind)
        return found


def _look(kind: type) -> str | None:
    for base in kind.__mro__:
        module = own_module(base) or ""
        root = module.partition(".")[0]
        if root == "vistorch" and (base.__name__ in ("Tensor", "Module", "Node", "Leaf")):
            return "vistorch"
        if root == "torch" and base.__name__ in ("Tensor", "Module", "FunctionCtx", "Optimizer"):
            return "torch"
    if not _is_node(kind):
        return None
    # nodes written in C++ are classes without a module of their own: `AddBackward0`
    roots = {(own_module(base) or "").partition(".")[0] for base in kind.__mro__}
    return "vistorch" if "vistorch" in roots else "torch"


def _is_node(kind: type) -> bool:
    return all(hasattr(kind, name) for name in ("next_functions", "_sequence_nr", "metadata"))


def active() -> list[Source]:
    """The sources that are in use: the engine, and PyTorch where a program has imported it.

    Example:
        >>> from vistorch.debug.source import active
        >>> active()[0].name
        'vistorch'
    """
    found = [own()]
    if real_torch() is not None:
        try:
            found.append(named("torch"))
        except Unsupported:
            pass
    return found


def has(source: Source, feature: str) -> bool:
    """Whether a source has a feature.

    Args:
        source: the source.
        feature: a row of `FEATURES`.

    Example:
        >>> from vistorch.debug.source import has, own
        >>> has(own(), "graph"), has(own(), "witness")
        (True, False)
    """
    return source.name in FEATURES[feature]


def lacking(source: Source, feature: str) -> str:
    """The sentence for what a source does not have.

    Args:
        source: the source.
        feature: a row of `FEATURES`.

    Example:
        >>> from vistorch.debug.source import lacking, own
        >>> lacking(own(), "witness")
        'witness is not there for vistorch'
    """
    where = " and ".join("PyTorch" if name == "torch" else name for name in FEATURES[feature])
    there = f": it is there for {where}" if where and source.name != "vistorch" else ""
    return f"{feature} is not there for {source.chip}{there}"
