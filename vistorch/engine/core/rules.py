"""One row, one op: the kernel, one formula per differentiable input, and what a person is shown.

A formula's parameter names are the statement of what it needs saved: an input's name, "out" (or "out1", "out2" for
later outputs), a constant's name, "<input>_shape" or "<input>_dtype". They are read once, at import.

Where one walk over the memory gives the gradients of all inputs, a row has a `together` beside its formulas:
`together(xp, g, wants, *saved)` on arrays gives them at once, None for those that `wants` (one bool an input) does not
ask for. It is what a plain pass runs; the formulas are what a recorded pass runs and what a person is shown. In a row
without formulas a recorded pass runs it too, on Tensors and with None for `xp`.

`F` in a formula is RAW (kernels on arrays) in a plain backward pass and REC (recorded ops on Tensors) under
`create_graph=True`: one formula, two executions. Formulas are written as if everything were real: for a complex node
the executor hands them the conjugates of what was saved, because conj(f'(x)) = f'(conj(x)) for every function with
real coefficients; a row for which that is not so says `holomorphic=False` and does its own conjugation.
"""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import errors
from ..kernels.cuda.library import array_library
from ..kernels.fast import rows as fast
from ..memory import placement
from ..memory.placement import BATCHED
from .graph import CONST, DTYPE, FREED, IN, OUT, SHAPE, STRIDES, Node
from .node_maker import deferred, maker, unpacker
from .private_order import by_rows
from .record import unpack_recorded
from .tensor import Tensor


class Namespace:
    """Functions by op name, on raw arrays of one library or on Tensors."""

    if TYPE_CHECKING:  # one attribute per row

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, xp: Any = None) -> None:
        self.xp = xp


RAW = [Namespace(np), Namespace()]
REC = Namespace()
TABLE: dict[str, Rule] = {}
# The function that makes a row's kernel for samples; `engine/batching` enters it.
batching: list[Callable] = []


def parameters(fn: Callable) -> tuple[str, ...]:
    """The names of a function's parameters; `inspect.signature` would take a sixth of the time of the whole import."""
    code = getattr(fn, "__code__", None)
    if code is None or hasattr(fn, "__signature__") or hasattr(fn, "__wrapped__"):
        return tuple(inspect.signature(fn).parameters)
    return code.co_varnames[: code.co_argcount]


# What a formula may ask of an input by its name.
_ABOUT = {"shape": SHAPE, "dtype": DTYPE, "strides": STRIDES}


class Rule:
    """One row of the table, compiled."""

    __slots__ = (
        "batching",
        "consts",
        "differentiable_outs",
        "formula",
        "grad_name",
        "halves",
        "holomorphic",
        "inputs",
        "kernel",
        "kernels",
        "make",
        "make_scaled",
        "name",
        "node_class",
        "picks",
        "public",
        "saved_names",
        "saves",
        "saves_out",
        "saves_tensors",
        "together",
        "together_picks",
        "turns",
        "unpack",
        "variants",
        "view",
        "vjps",
        "widen",
    )

    def __init__(
        self, name: str, kernel: Any, inputs: tuple, consts: tuple, vjps: dict, together: Any = None
    ) -> None:
        self.name, self.kernel, self.inputs, self.consts = name, kernel, inputs, consts
        self.public = name  # what error messages call it
        self.vjps = tuple(vjps.get(i) for i in inputs) if vjps or not together else (together,) * len(inputs)
        self.together = together
        self.halves = False  # whether a device's formulas take half types as they are
        self._compile()

    def _compile(self) -> None:
        names: list[str] = []
        readers: dict[str, list[int]] = {}
        wanted = []
        for i, vjp in enumerate(self.vjps):
            reads = () if vjp is None else parameters(vjp)[3 if vjp is self.together else 2 :]
            wanted.append(reads)
            for n in reads:
                if n not in readers:
                    names.append(n)
                readers.setdefault(n, []).append(i)
        self.together_picks: tuple = ()
        if self.together is not None:
            every = [i for i, vjp in enumerate(self.vjps) if vjp is not None]
            reads = parameters(self.together)[3:]
            names += [n for n in reads if n not in readers]
            readers.update(dict.fromkeys(reads, every))
            self.together_picks = tuple(names.index(n) for n in reads)
        self.saved_names = tuple(names)
        self.saves = tuple((*self._where(n), tuple(readers[n])) for n in names)
        self.picks = tuple(tuple(names.index(n) for n in reads) for reads in wanted)
        # A recorded pass numbers its nodes as PyTorch does, which takes formulas by the names of their inputs: the
        # order of numbers is that in which second derivatives are added up.
        named = ["self" if n == "input" else n for n in self.inputs]
        self.turns = tuple(sorted(range(len(named)), key=named.__getitem__))
        kinds = [s[0] for s in self.saves]
        self.saves_out = OUT in kinds
        self.saves_tensors = OUT in kinds or IN in kinds
        self.prepare()

    def prepare(self) -> None:
        """Let the functions that make and unpack this row's nodes be made when they are first called."""
        self.make = deferred(self, "make", maker)
        self.make_scaled = deferred(
            self, "make_scaled", maker, 1
        )  # for a second operand that is a plain number
        self.unpack = deferred(self, "unpack", unpacker)

    def _where(self, name: str) -> tuple[int, int]:
        """How a formula's parameter is saved: (kind, index)."""
        if name in self.inputs:
            return IN, self.inputs.index(name)
        if name in self.consts:
            return CONST, self.consts.index(name)
        if name == "out" or (name[:3] == "out" and name[3:].isdigit()):
            return OUT, int(name[3:] or 0)
        stem, _, what = name.rpartition("_")
        if stem in self.inputs and what in _ABOUT:
            return _ABOUT[what], self.inputs.index(stem)
        raise TypeError(
            f"the formula of {self.name!r} reads {name!r}, which is no input, constant or output of its kernel"
        )

    def saved_value(self, node: Node, name: str) -> Any:
        """What `grad_fn._saved_self` and its like give: PyTorch's names for inputs, constants and outputs."""
        asked = {"self": "input", "result": "out", "dim": "dim"}.get(name[7:], name[7:])
        if asked not in self.saved_names:
            raise AttributeError(f"'{type(node).__name__}' object has no attribute '{name}'")
        if node.saved is FREED:
            raise RuntimeError(errors.FREED_TWICE)
        at = self.saved_names.index(asked)
        kind, index, _ = self.saves[at]
        value = unpack_recorded(node, node.saved[at], kind, index)
        if (
            isinstance(value, Tensor) and not value._place.kind
        ):  # it may lie in an order that nobody is to see
            value._data = by_rows(value._data)
        return value

    def __repr__(self) -> str:
        return f"<rule {self.name}({', '.join(self.inputs + self.consts)})>"


def bind(kernel: Any, xp: Any) -> Callable:
    """A row's kernel on one array library: a function's name there, or our own function with `xp` first."""
    if isinstance(kernel, str):
        return getattr(xp, kernel)
    if isinstance(kernel, np.ufunc):
        return kernel if xp is np else getattr(xp, kernel.__name__)
    run: Any = functools.partial(kernel, xp)
    run.__name__ = getattr(kernel, "__name__", "kernel")
    run.raises = getattr(kernel, "raises", False)
    run.into, run.shared = getattr(kernel, "into", None), getattr(kernel, "shared", None)
    return run


def define(
    name: str,
    kernel: Any,
    *,
    inputs: str = "",
    name_in_graph: str | None = None,
    outs: int | None = 1,
    view: bool = False,
    holomorphic: bool = True,
    widen: bool = True,
    formula: dict[str, str] | str | None = None,
    together: Callable | None = None,
    vjps: dict[str, Callable],
) -> Rule:
    """Compile one row and enter it in the table; `call.op` also makes the callable."""
    tensors = tuple(inputs.split()) if inputs else tuple(vjps)
    consts: tuple = ()
    if callable(kernel) and not isinstance(kernel, np.ufunc):
        params = parameters(kernel)[1:]
        if not tensors:
            tensors = params[:1]
        if params[: len(tensors)] != tensors:
            raise TypeError(f"kernel of {name!r} takes {params}, but its tensor inputs are {tensors}")
        consts = params[len(tensors) :]
    elif not tensors:
        tensors = ("input",)
    rule = Rule(name, kernel, tensors, consts, vjps, fast.chosen_together(name, together))
    rule.differentiable_outs = outs
    rule.view, rule.holomorphic, rule.widen = view, holomorphic, widen
    rule.formula = {tensors[0]: formula} if isinstance(formula, str) else (formula or {})
    rule.grad_name = name_in_graph or "".join(p.capitalize() for p in name.split("_")) + "Backward0"
    rule.node_class = type(
        rule.grad_name, (Node,), {"__slots__": (), "rule": rule, "__module__": "vistorch.autograd"}
    )
    bound = fast.chosen(name, bind(kernel, np))
    rule.kernels = [bound, None, None]
    rule.kernels[BATCHED], rule.batching = _of_samples(rule), ""
    rule.variants = (rule, rule)
    if name in TABLE:
        raise TypeError(f"two rows are named {name!r}")
    TABLE[name] = rule
    setattr(RAW[0], name, fast.of_formula(bound))
    if RAW[1].xp is not None:
        _to_cupy(rule, RAW[1].xp)
    return rule


def _of_samples(rule: Rule) -> Callable:
    """The kernel of a row for samples, made when it is first called."""

    def call(*args: Any) -> Any:
        kernel = rule.kernels[BATCHED] = batching[0](rule)
        return kernel(*args)

    return call


def variant(rule: Rule, name_in_graph: str) -> Rule:
    """The same row under another name in the graph: PyTorch names the overloads for plain numbers apart."""
    other = copy.copy(rule)
    other.prepare()
    other.grad_name = name_in_graph
    other.node_class = type(
        name_in_graph, (Node,), {"__slots__": (), "rule": other, "__module__": "vistorch.autograd"}
    )
    return other


def _to_cupy(rule: Rule, xp: Any) -> None:
    from ..kernels.cupy_ import chosen, chosen_together, takes_halves

    rule.kernels[1] = bound = chosen(rule.name, bind(rule.kernel, xp))
    rule.together = chosen_together(rule.name, rule.together)
    rule.halves = takes_halves(rule.name)
    setattr(RAW[1], rule.name, bound)


def open_cupy() -> None:
    """Bind every row to cupy; called before the first real CUDA place is handed out."""
    if RAW[1].xp is None:
        import cupy  # pyright: ignore[reportMissingImports]

        xp = array_library(cupy)
        for rule in tuple(TABLE.values()):
            _to_cupy(rule, xp)
        RAW[1].xp = xp  # last: who finds it finds every row bound


placement.before_cuda.append(open_cupy)
