"""The backward graph: nodes, leaves, and what a node keeps of its forward pass.

Invariant: edges point from the later node to the earlier one and nothing points back (a leaf is known to its tensor
only weakly, a node keeps its own output as an array, never as the Tensor), so a graph is freed by reference counts.
Descending `seq` is a topological order, because a node draws its number after all its edges are there. A tensor is
known here by its slots alone (`_node`, `_rg`, `_ver`, `_view`, `_more`): the class stands above this file.
"""

from __future__ import annotations

import itertools
from operator import attrgetter
from typing import Any
from weakref import ref as ref_to

from ..base.modes import mode
from ..library_name import library
from .handles import handle

new = object.__new__
draw = itertools.count().__next__
IN, OUT, CONST, SHAPE, DTYPE, STRIDES = range(6)
NUMBERS = frozenset((float, int, bool, complex))  # an operand may be a plain number: it has no history


class Version:
    """How often a piece of memory was written; shared by a tensor, its views and what `detach()` gives."""

    __slots__ = ("by", "n")  # by: where the last writer stood, when someone listens

    def __init__(self) -> None:
        self.n = 0


class Untracked(Version):
    """The version cell of inference tensors: there is only one, and it counts nothing."""

    __slots__ = ()


UNTRACKED = Untracked()


class Freed:
    """Stands for the saved values of a node whose graph was freed."""

    def __bool__(self) -> bool:
        return False


FREED: Any = Freed()


class Ordered(dict):
    """A dict of hooks, in the order they were registered, that their handles can know weakly."""

    __slots__ = ("__weakref__",)


class Hooks:
    """What runs around a node: tensor hooks, retained gradients, node pre-hooks, node post-hooks, in this order."""

    __slots__ = ("accumulated", "after", "before", "retained", "tensor")

    def __init__(self) -> None:
        self.tensor = Ordered()
        self.before = Ordered()
        self.retained: list = []
        self.after = Ordered()
        self.accumulated = Ordered()


class Base:
    """What the executor and a person ask of any node.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor(2.0, requires_grad=True)
        >>> node = (x * x).grad_fn
        >>> node.name()
        'MulBackward0'
        >>> [above.name() for above, _ in node.next_functions]
        ['vistorch::autograd::AccumulateGrad', 'vistorch::autograd::AccumulateGrad']
        >>> node.endpoint() == (node, 0)  # where the gradient of the product arrives
        True
        >>> node.metadata["seen"] = 1  # for notes of one's own
        >>> node.metadata
        {'seen': 1}
    """

    __slots__ = ("__weakref__", "dtype", "hooks", "note", "place", "shape")

    rule: Any = None
    edges: tuple = ()
    seq: float = -1

    def name(self) -> str:
        """The name PyTorch prints, such as "AddBackward0"."""
        return type(self).__name__

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"

    def _hooks(self) -> Hooks:
        if self.hooks is None:
            self.hooks = Hooks()
        return self.hooks

    @property
    def next_functions(self) -> tuple:
        """Pairs (node, which of its outputs); (None, 0) where no gradient flows.

        One per input, except those that never have a gradient, such as indices: PyTorch leaves them out.
        """
        edges = [self.edges[i] for i in self._gradient_slots()]
        return tuple((None, 0) if e is None else e.endpoint() for e in edges)

    @property
    def previous_functions(self) -> tuple:
        """`next_functions` by its first name, with the variable itself in the place of a leaf's node.

        Example:
            >>> import vistorch
            >>> x = vistorch.ones(2, requires_grad=True)
            >>> (x * 2).grad_fn.previous_functions[0][0] is x
            True
        """
        return tuple((None if n is None else n._creator(), nr) for n, nr in self.next_functions)

    def _creator(self) -> Any:
        """What PyTorch's first versions gave in this node's place."""
        return self

    def _gradient_slots(self) -> Any:
        """The positions in `edges` of the inputs that can have a gradient."""
        vjps = None if self.rule is None else self.rule.vjps
        if vjps is not None and None in vjps:
            return [i for i, (_, vjp) in enumerate(zip(self.edges, vjps, strict=False)) if vjp is not None]
        return range(len(self.edges))

    def endpoint(self) -> tuple:
        """This node as an entry of `next_functions`."""
        return (self, 0)

    @property
    def metadata(self) -> dict:
        """A dict of the user's own, kept with the node."""
        try:
            note = self.note
        except AttributeError:
            note = self.note = {}
        return note.setdefault("metadata", {})

    def register_hook(self, hook: Any) -> Any:
        """Call `hook(grad_inputs, grad_outputs)` after this node has run; what it returns replaces grad_inputs.

        Example:
            >>> import vistorch
            >>> x = vistorch.tensor(3.0, requires_grad=True)
            >>> y = x.square()
            >>> handle = y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: (grad_inputs[0] + 100,))
            >>> y.backward()
            >>> x.grad
            tensor(106.)
        """
        return handle(self._hooks().after, hook)

    def register_prehook(self, hook: Any) -> Any:
        """Call `hook(grad_outputs)` before this node runs; what it returns replaces grad_outputs.

        Example:
            >>> import vistorch
            >>> x = vistorch.tensor(3.0, requires_grad=True)
            >>> y = x.square()
            >>> handle = y.grad_fn.register_prehook(lambda grad_outputs: (grad_outputs[0] * 10,))
            >>> y.backward()
            >>> x.grad
            tensor(60.)
        """
        return handle(self._hooks().before, hook)


class Node(Base):
    """One recorded op. Each rule has its own subclass, named as PyTorch names it, that carries the rule."""

    # outs: how many outputs, only where there are several; live: those of their edges that someone holds
    __slots__ = ("consts", "edges", "live", "outs", "saved", "seq")

    def _sequence_nr(self) -> int:
        return self.seq  # type: ignore[return-value]

    def __getattr__(self, name: str) -> Any:
        # `grad_fn._saved_self`, as PyTorch spells it; only reached when nothing else has the name
        if name.startswith("_saved_") and self.rule is not None:
            return self.rule.saved_value(self, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


class Out:
    """Output number `nr` of a node with several: plumbing that the executor passes through without a step."""

    __slots__ = ("__weakref__", "dtype", "edges", "hooks", "node", "nr", "place", "seq", "shape")
    rule = None

    def __init__(self, node: Any, nr: int, data: Any, place: Any) -> None:
        self.node, self.nr, self.place = node, nr, place
        self.edges = (node,)
        self.shape, self.dtype = data.shape, data.dtype
        self.hooks = None
        self.seq = draw()

    def _hooks(self) -> Hooks:
        if self.hooks is None:
            self.hooks = Hooks()
            self._in_turn()
        return self.hooks

    def _in_turn(self) -> None:
        """Let the outputs of one node come in the order in which they got their hooks, as in PyTorch."""
        held = [out for ref in self.node.live.values() if (out := ref()) is not None]
        held.sort(key=attrgetter("seq"), reverse=True)
        seqs = [out.seq for out in held]
        hooked = [out for out in held if out.hooks is not None and out is not self]
        rest = [out for out in held if out.hooks is None]
        for out, seq in zip([*hooked, self, *rest], seqs, strict=True):
            out.seq = seq

    def endpoint(self) -> tuple:
        """This output as an entry of `next_functions`."""
        return (self.node, self.nr)


def out_of(node: Any, nr: int, data: Any, place: Any) -> Out:
    """The edge of output `nr`: the one someone still holds, or a new one. A second one would split its gradient."""
    try:
        live = node.live
    except AttributeError:
        live = node.live = {}
    found = live.get(nr)
    out = None if found is None else found()
    if out is None:
        out = Out(node, nr, data, place)
        live[nr] = ref_to(out)
    return out


class AccumulateGrad(Base):
    """The end of a path: adds what arrives to `variable.grad`."""

    __slots__ = ("variable",)

    def name(self) -> str:
        """The name PyTorch prints: its full one, for this node only."""
        return f"{library}::autograd::AccumulateGrad"

    def _creator(self) -> Any:
        return self.variable

    # made once per graph and leaf, on the hot path: what can be read from the variable is not stored
    shape = property(attrgetter("variable._data.shape"))  # type: ignore[assignment]
    dtype = property(attrgetter("variable._data.dtype"))  # type: ignore[assignment]
    place = property(attrgetter("variable._place"))  # type: ignore[assignment]


Leaf = AccumulateGrad
REPLACED: Any = object()
"""Stands as the history of what a leaf was before it got another shape."""


class More:
    """What few tensors have: hooks, a retained gradient, the weak way to its leaf, a subclass's own."""

    __slots__ = (
        "former",
        "hooks",
        "kept_aside",
        "kept_by",
        "leaf",
        "loose",
        "moved",
        "own",
        "retains",
        "shown",
    )

    def __init__(self) -> None:
        self.leaf: Any = None
        self.former: tuple = ()  # the ends of its graphs from before it got another shape, known weakly
        self.hooks: Any = None
        self.retains = False
        self.kept_aside: Any = None  # the array of a tensor whose memory order is private
        self.kept_by: Any = None  # the node's hooks that keep the retained gradient
        self.own = False  # a view whose requires_grad was set on itself
        self.loose = False  # an inference tensor that may be written outside inference mode
        self.moved = False  # a base that got data that lies otherwise: the steps to its views no longer hold
        self.shown: Any = None  # for a hidden base, the tensor it stands behind (weakly)


def more(t: Any) -> More:
    """The extras of a tensor, made at first need."""
    if t._more is None:
        t._more = More()
    return t._more


def version(t: Any) -> Version:
    """The version cell of a tensor, made at first need."""
    v = t._ver
    if v is None:
        v = t._ver = Version()
    return v


def loose(t: Any) -> Version:
    """The version cell for an alias of an inference tensor; one made outside inference mode may be written there."""
    if mode.on is not None:
        more(t).loose = True
    return UNTRACKED


def leaf_of(t: Any) -> Leaf | None:
    """The leaf of a tensor without history: one per tensor as long as any graph holds it.

    None for a view that has no history although its base has: it was made in no_grad, and nothing flows to it.
    """
    if t._view is not None and t._view.base._rg and not (t._more is not None and t._more.own):
        return None
    extras = t._more if t._more is not None else more(t)
    ref = extras.leaf
    leaf = ref() if ref is not None else None
    if leaf is None:
        leaf = new(Leaf)
        leaf.variable = t
        leaf.hooks = extras.hooks
        extras.leaf = ref_to(leaf)
    return leaf


def keep_tensor_hooks(t: Any, hooks: Hooks) -> None:
    """A tensor that loses its node keeps its own hooks: should it become a leaf, they are its leaf's too."""
    extras = more(t)
    kept, before = Hooks(), extras.hooks
    kept.tensor = hooks.tensor  # the one dict: the old graph still runs them, and a handle removes from both
    if before is not None:
        kept.accumulated = before.accumulated
    extras.hooks = kept
    leaf = extras.leaf() if extras.leaf is not None else None
    if leaf is not None:
        leaf.hooks = kept


def let_go(t: Any) -> None:
    """The older graphs of a leaf end here: it is about to get another shape, which their gradients lack."""
    extras = t._more
    if extras is None or extras.leaf is None:
        return
    leaf, extras.leaf = extras.leaf(), None
    if leaf is not None:
        former: Any = new(t.__class__)
        leaf.variable = former
        extras.former = (*[one for one in extras.former if one() is not None], ref_to(leaf))
        former._data, former._place, former._rg = t._data, t._place, t._rg
        former._grad = former._ver = former._view = former._more = None
        former._node = REPLACED


def edge(t: Any) -> Any:
    """Where the gradient of `t` goes: its node, its output of a node, or its leaf."""
    if t._view is not None:
        t._view.sync(t, True)
    n = t._node
    return leaf_of(t) if n is None else n


def sync_rg(t: Any) -> bool:
    """Whether `t` requires grad, its history brought up to date."""
    if t._view is not None:
        t._view.sync(t)
    return t._rg


def follow(t: Any) -> None:
    """Let the retained gradient of `t` be that of its newest node."""
    extras = more(t)
    if extras.kept_by is not None:
        extras.kept_by.retained[:] = [r for r in extras.kept_by.retained if r() is not t]
    extras.kept_by = hooks = t._node._hooks()
    hooks.retained.append(ref_to(t))
