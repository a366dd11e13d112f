"""A run on torch as evidence for the rules of a diagnosis: `TorchEvidence`.

A function mode sees what is called on tensors, hooks see modules, optimizers, loaders and passes, and each is handed on
as the engine's event of the same meaning; names of ops are the engine's. While it lasts, torch's tensors answer to the
few names by which evidence reads a tensor.
Invariant: nothing of what torch computes changes, and all that was put into its classes is taken out again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import GeneratorType, SimpleNamespace
from typing import Any

import numpy as np

from ..debug.diagnose.evidence import SIGNED, Evidence
from ..debug.lineage import MATCHED, Value
from ..engine.base.events import look_past, where
from ..engine.core.graph import Leaf
from . import passes, private
from .real import ready, torch

INPLACE = {"__iadd__": "add", "__isub__": "sub", "__imul__": "mul", "__itruediv__": "div", "__ipow__": "pow"}
SAME = {
    "matmul": "mm",
    "__matmul__": "mm",
    "conv1d": "convolution",
    "conv2d": "convolution",
    "conv3d": "convolution",
    "batch_norm": "native_batch_norm",
    "layer_norm": "native_layer_norm",
    "lstm": "lstm_layer",
    "rnn_tanh": "rnn_layer",
    "rnn_relu": "rnn_layer",
    "gru": "gru_layer",
    "true_divide": "div",
    "multiply": "mul",
    "subtract": "sub",
    "__rdiv__": "rdiv",
    "__rtruediv__": "rdiv",
    "__rpow__": "rpow",
    "square": "pow",
    "floordiv": "floor_divide",
    **dict.fromkeys(
        ("to", "type", "float", "double", "half", "bfloat16", "long", "int", "short", "char"), "cast"
    ),
    **INPLACE,
}
WHOLE = ("mean", "sum", "max", "min", "amax", "prod")  # over all elements where no axis is given
CUTS = ("item", "tolist", "numpy", "__float__", "__int__", "__bool__", "__array__")
MADE = ("tensor", "as_tensor", "from_numpy")
REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}
LOSSES = (
    "cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy "
    "binary_cross_entropy_with_logits"
).split()
COUNTS = ("poisson_nll_loss",)
AXIS = ("softmax", "log_softmax")
NEVER = 1 << 10  # no call has as many arguments
ATTENTION = {  # where among their arguments the chance of a dropout stands, and whether it draws
    "scaled_dot_product_attention": (4, NEVER),
    "multi_head_attention_forward": (10, 13),
}
QUIET = (
    "__get__",
    "__set__",
    "dim",
    "size",
    "numel",
    "is_floating_point",
    "stride",
    "__len__",
    "is_complex",
    "data_ptr",
    "__hash__",
)
GRADIENT = torch.Tensor.grad.__get__
PART = 1 << 22  # arrays on another device that are larger are not copied


class TorchNode:
    """A node of torch as evidence walks it: `seq` and `edges`.

    Args:
        node: of torch.
        known: all of this turn, by number: one object for each, as evidence tells them apart by identity.
    """

    def __init__(self, node: Any, known: dict[int, TorchNode]) -> None:
        self.node, self.known = node, known
        self.seq = private.sequence(node)

    @property
    def edges(self) -> list[Any]:
        """The nodes before it, leaves left out."""
        inner = [node for node, _ in self.node.next_functions if node is not None]
        return [node_of(node, self.known) for node in inner if not hasattr(node, "variable")]


def node_of(node: Any, known: dict[int, TorchNode]) -> TorchNode:
    """The one object for a node of torch.

    Args:
        node: which.
        known: all of this turn, by number.
    """
    found = known.get(private.sequence(node))
    if found is None or found.node is not node:
        found = TorchNode(node, known)
        known[found.seq] = found
    return found


class Reader:
    """How a tensor of torch answers to the names by which evidence reads a tensor."""

    def __init__(self) -> None:
        self.arrays: dict[
            int, tuple[Any, Any, Any, Any]
        ] = {}  # by tensor: it, its memory and shape, its array
        self.nodes: dict[int, TorchNode] = {}

    def data(self, t: Any) -> np.ndarray:
        """Its memory as an array, the same each time while that is the same."""
        known = self.arrays.get(id(t))
        with torch._C.DisableTorchFunction():
            near = t.is_cpu and t.layout is torch.strided
            if near:
                state: Any = t.data_ptr()
            else:
                state = t.data_ptr() if t.layout is torch.strided else 0, private.version_of(t)
            if known is not None and known[0] is t and known[1] == state and known[2] == t.shape:
                return known[3]
            d = self._near(t) if near else None
            if d is None:
                with torch.no_grad():
                    d = self._read(t.detach())
            self.arrays[id(t)] = t, state, t.shape, d
        return d

    @staticmethod
    def _near(t: Any) -> np.ndarray | None:
        """An array on the memory of a tensor; None where numpy has no such array."""
        if not t.data_ptr():  # empty, or zeros that take no memory
            return None
        try:
            return t.detach().numpy()
        except (TypeError, RuntimeError):
            return None

    def node(self, t: Any) -> TorchNode | None:
        """What computed it; None for a leaf."""
        try:
            made = t.grad_fn
        except RuntimeError:  # a view from within no_grad that was written into, as an Embedding clears a row
            return None
        return None if made is None else node_of(made, self.nodes)

    @staticmethod
    def _read(t: Any) -> np.ndarray:
        if t.device.type != "cpu" and t.numel() > PART:
            return np.broadcast_to(np.float32(0), tuple(t.shape))
        if t.dtype == torch.bfloat16:
            t = t.float()
        try:
            if t.layout is not torch.strided and t.numel() <= PART:
                t = t.to_dense()
            if private.is_without_memory(t):
                t = t.clone()
            return t.resolve_conj().resolve_neg().cpu().numpy()
        except (TypeError, RuntimeError):  # sparse, quantized
            return np.broadcast_to(np.float32(0), tuple(t.shape))

    def forget(self, kept: set[int]) -> None:
        """Let go of all tensors but parameters, their gradients, and those from before the loop.

        Args:
            kept: the arrays of these, by id.
        """
        self.nodes.clear()  # its nodes know it
        self.arrays = {
            i: one
            for i, one in self.arrays.items()
            if id(one[3]) in kept or (isinstance(one[0], torch.nn.Parameter) and one[0].is_leaf)
        }


class TorchEvidence(Evidence):
    """Listens to a run on torch.

    Args:
        rules: they are called as things happen.
        namespace: names that things have.
    """

    ready = "torch."

    def __init__(self, rules: Any, namespace: dict[str, Any] | None = None) -> None:
        ready()
        super().__init__(rules, namespace)
        self.reader = Reader()
        self.mode = _Calls(self)
        self.busy = 0
        self._undo: list[Any] = []
        self.unheard: set[Any] = set()  # of what is called: of no use, whatever it is given
        self.ending: tuple[Any, tuple] | None = None  # the pass that has begun, until its end is seen
        self.through: dict[
            int, tuple[Any, Any]
        ] = {}  # what `.data` gave of leaves in this turn, and of which

    # ---- begin and end -------------------------------------------------------------------------------------------
    def __enter__(self) -> TorchEvidence:
        """Start to listen."""
        answers = self.reading()
        answers.__enter__()
        self._undo.append(lambda: answers.__exit__(None, None, None))
        look_past(private.folder())
        self._undo.append(passes.listen(self._pass))
        for handle in private.on_module_call(self._module_begins, self._module_ends):
            self._undo.append(handle.remove)
        for handle in private.on_optimizer_step(self._before_step, self._after_step):
            self._undo.append(handle.remove)
        self._undo.append(private.on_loaders(lambda loader, _: self._phase("loader", loader), lambda _: None))
        self._undo.append(private.on_schedulers(self._scheduled))
        self._wrap(torch.nn.Module, "load_state_dict", self._loads, before=True)
        hook = torch.nn.modules.module.register_module_parameter_registration_hook(self._registered)
        self._undo.append(hook.remove)
        self._wrap(torch.nn.Module, "train", self._moded)
        self._wrap(torch.nn.Module, "zero_grad", lambda one, *_: self._phase("zero_grad", one))
        self._wrap(torch.optim.Optimizer, "zero_grad", lambda one, *_: self._phase("zero_grad", one))
        for kind, what in (
            (torch.nn.Module, "module"),
            (torch.optim.Optimizer, "optimizer"),
            (torch.utils.data.DataLoader, "loader"),
            (torch.optim.lr_scheduler.LRScheduler, "scheduler"),
            (torch.optim.lr_scheduler.ReduceLROnPlateau, "scheduler"),
        ):
            self._wrap(kind, "__init__", lambda one, *_, what=what: self._made(what, one))
        for place in private.places_of_clipping():
            for name in ("clip_grad_norm_", "clip_grad_value_"):
                self._wrap(place, name, lambda *given: self._clips(*given), before=True)
        for place in (torch, torch.random):
            self._wrap(place, "manual_seed", self._seeds, before=True)
        private.put_below(self.mode)
        return self

    def __exit__(self, *exc: Any) -> None:
        """Stop listening."""
        private.take_out(self.mode)
        for undo in reversed(self._undo):
            undo()
        self._undo = []

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Within, torch's tensors answer to the names by which evidence and rules read a tensor."""
        reader = self.reader
        names = {
            "_data": property(reader.data),
            "_rg": property(lambda t: t.requires_grad),
            "_node": property(reader.node),
            "_ver": property(lambda t: SimpleNamespace(n=private.version_of(t))),
        }
        before = {name: vars(torch.Tensor).get(name) for name in names}
        for name, value in names.items():
            setattr(torch.Tensor, name, value)
        try:
            yield
        finally:
            for name, was in before.items():
                if was is None:
                    delattr(torch.Tensor, name)
                else:
                    setattr(torch.Tensor, name, was)

    def _clips(self, parameters: Any = (), bound: Any = None, *_: Any) -> None:
        if not isinstance(parameters, (list, tuple)):  # read once it would be empty
            one = isinstance(parameters, torch.Tensor)
            gone = isinstance(parameters, GeneratorType) and parameters.gi_frame is None
            known = [h.tensor for led in self.ledgers.values() for h in led.each]
            known = known or [p for root, _ in self.roots.values() for p in root.parameters()]
            if not known and not one and not gone:
                return
            parameters = [parameters] if one else [] if gone else known
        self._phase("clip", parameters, bound)

    def _seeds(self, seed: Any = None, *_: Any) -> None:
        if isinstance(seed, int):  # what is given by its name is not seen
            self._phase("seed", torch.default_generator, seed)

    def _wrap(self, owner: Any, name: str, then: Any, before: bool = False) -> None:
        """Have something called after, or before, a function of torch."""
        real = getattr(owner, name)

        def wrapper(*given: Any, **named: Any) -> Any:
            if before:
                then(*given)
            out = real(*given, **named)
            if not before:
                then(*given)
            return out

        wrapper.__name__ = name
        wrapper.__wrapped__ = real  # type: ignore[attr-defined]
        setattr(owner, name, wrapper)
        self._undo.append(lambda: setattr(owner, name, real))

    def guarded(self, function: Any, *given: Any) -> None:
        """Call something of ours: what goes wrong in it ends the evidence, and nothing of the program's.

        Args:
            function: which.
            *given: what it is called with.
        """
        if self.broken is not None or self.busy:
            return
        self.busy += 1
        try:
            with torch._C.DisableTorchFunction():
                function(*given)
        except Exception as error:
            if not private.in_transform():
                self.broken = error
        finally:
            self.busy -= 1

    # ---- what happens --------------------------------------------------------------------------------------------
    def _phase(self, name: str, subject: Any, *details: Any) -> None:
        self.guarded(self.phase, name, subject, *details)

    def _made(self, what: str, subject: Any) -> None:
        if what != "module" or id(subject) not in self.origins:
            self.guarded(self.made, what, subject)

    def _registered(self, module: Any, name: str, parameter: Any) -> None:
        if parameter is not None:
            self.guarded(self.made, "parameter", module, name, parameter)

    def _moded(self, module: Any, mode: bool = True, *_: Any) -> None:
        self._phase("train" if mode else "eval", module)

    def _module_begins(self, module: Any, args: tuple) -> None:
        self._phase("forward", module, args)

    def _module_ends(self, module: Any, args: tuple, out: Any) -> None:
        self._phase("forward_end", module, out)

    def _scheduled(self, one: Any, *given: Any) -> None:
        if not private.first_step_of(one):  # its own, as it is made
            measure = given[:1] if isinstance(one, torch.optim.lr_scheduler.ReduceLROnPlateau) else ()
            self._phase("scheduler", one, *measure)

    def _loads(self, module: Any, state: Any = None, *_: Any) -> None:
        if isinstance(state, Mapping):
            self._phase("load", module, state)

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        private.take_out(self.mode)  # an optimizer calls a dozen functions for each parameter
        self._phase("step", optimizer)

    def _after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self._phase("step_end", optimizer)
        private.put_below(self.mode)

    def _pass(self, tensors: Any, gradient: Any, options: dict) -> bool:
        roots = (tensors,) if isinstance(tensors, torch.Tensor) else tuple(tensors)
        self.guarded(self._settle)
        self.guarded(self._begins, roots, options.get("inputs") is None)
        return False

    def _begins(self, roots: tuple, accumulate: bool) -> None:
        run = SimpleNamespace(order=_order(roots, self.reader.nodes), accumulate=accumulate)
        if run.order:
            self.backward(run, roots)
            self.ending = run, roots

    def _settle(self) -> None:
        """The newest pass is over: it was asked for before it ran, and this is the first that is seen after it."""
        ending, self.ending = self.ending, None
        if ending is not None:
            self.backward_end(*ending)

    def called(self, func: Any, args: Any, kwargs: dict[str, Any], out: Any) -> None:
        """Hand on what was called on tensors.

        Args:
            func: of torch.
            args: what it was given.
            kwargs: likewise, by name.
            out: what came of it.
        """
        if self.ending is not None:
            self._settle()
        if func is torch.autograd.grad:
            roots = args[0] if args else kwargs["outputs"]
            self._begins((roots,) if isinstance(roots, torch.Tensor) else tuple(roots), False)
            self._settle()
        name = getattr(func, "__name__", "")
        if out is None and func == GRADIENT:
            if args[0].grad_fn is not None:
                self.phase("no leaf", args[0])
            return
        if name in ("__get__", "__set__") and getattr(func, "__self__", None) is torch.Tensor.data:
            if name == "__set__":
                self.writes[id(args[0])] = self._next(), where(2), args[0]
            elif isinstance(out, torch.Tensor):
                self.cut("data", args[0])
                self._entered("data", args[:1], (), (out,))
                self._leads(out, args[0])
            return
        if name in QUIET or (name.startswith("_") and not name.startswith("__")):
            self.unheard.add(func)
            return
        if private.is_of_init(func) or (
            name in ("fill_", "zero_", "uniform_", "normal_")
            and args
            and isinstance(args[0], torch.nn.Parameter)
            and not torch.is_grad_enabled()
        ):
            subject = kwargs.get("tensor", args[0] if args else None)
            constant = {"fill_": "constant_", "zero_": "zeros_"}
            if isinstance(subject, torch.Tensor):
                self.write(subject, None)
                self.phase("init", subject, constant.get(name, name))
            return
        if name in CUTS:
            self.cut("item" if name.startswith("__") else name, args[0])
            return
        if name in MADE or not any(isinstance(a, torch.Tensor) for a in _flat(args, kwargs)):
            if isinstance(out, torch.Tensor):
                kind = "tensor(t)" if args and isinstance(args[0], torch.Tensor) else name
                if kind == "tensor(t)":
                    self._entered(kind, args[:1], (), (out,))
                else:
                    self.data(out, kind)
            return
        if name == "requires_grad_":
            if not (args[1] if len(args) > 1 else kwargs.get("requires_grad", True)):
                self.cut("requires_grad_(False)", args[0])
            return
        if name == "detach":
            self.aliased(args[0])
            self._entered("detach", args[:1], (), (out,))
            self._leads(out, args[0])
            return
        outs = tuple(
            t for t in (out if isinstance(out, (tuple, list)) else (out,)) if isinstance(t, torch.Tensor)
        )
        if not outs:
            if name == "__setitem__":
                self.write(args[0], SimpleNamespace(name="setitem"))
            return
        op, ins, consts = _read(name, args, kwargs)
        if func is torch.autograd.grad:
            of, by = (args[i] if len(args) > i else kwargs[n] for i, n in enumerate(("outputs", "inputs")))
            of, by = ((one,) if isinstance(one, torch.Tensor) else tuple(one) for one in (of, by))
            ins, consts = (*of, *by), (self.are_inputs(by), len(of))
        if op == "native_batch_norm" or "dropout" in op:
            drawing = bool(kwargs.get("training", True if "dropout" in op else False))
            self.drew(
                op, args[0], drawing, kwargs.get("p", args[1] if len(args) > 1 and "dropout" in op else None)
            )
        elif op in ATTENTION:
            at_p, at_training = ATTENTION[op]
            chance = kwargs.get("dropout_p", args[at_p] if len(args) > at_p else 0.0)
            if chance and kwargs.get("training", args[at_training] if len(args) > at_training else True):
                self.drew("attention_dropout", args[0] if args else kwargs["query"], True, float(chance))
        if op in SIGNED and self.looked:
            self.signed(
                op, kwargs.get("target", next((a for a in args[::-1] if isinstance(a, torch.Tensor)), None))
            )
        self._entered(op, ins, consts, outs)
        if (name.endswith("_") and not name.endswith("__")) or name in INPLACE:
            self.write(outs[0], SimpleNamespace(name=op))

    def _entered(self, op: str, ins: tuple, consts: tuple, outs: tuple) -> None:
        count = len(self.values)
        self.op(SimpleNamespace(name=op), ins, consts, outs)
        on = torch.is_grad_enabled()
        for v in self.values[count:]:
            if v.op == op:
                v.grad = on

    def _source(self, t: Any, d: Any) -> Value:
        """What no op made; `from_numpy` is none that a function mode sees."""
        v = super()._source(t, d)
        if v.op == "source" and v.data.size:
            for kind, place, old, was in reversed(self.cuts[-MATCHED:]):
                if old is not v and np.shares_memory(was, v.data):
                    v.op, v.ins, v.consts = kind, [old], ("from_numpy", place)
                    break
        return v

    def graph_of(self, order: list) -> list:
        """The nodes of a pass, as torch has them, leaves left out."""
        return [one.node for one in order if one.__class__ is not Leaf]

    def leaves_of(self, tensor: Any, most: int = 64) -> list[Any]:
        """The variables that the history of a tensor begins with."""
        found, seen, waiting = [], set(), [tensor.grad_fn]
        while waiting and most:
            node = waiting.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            most -= 1
            if hasattr(node, "variable"):
                found.append(node.variable)
            waiting += [other for other, _ in node.next_functions]
        return found

    @property
    def recording(self) -> bool:
        """Whether ops get a history now."""
        return torch.is_grad_enabled()

    def call_begins(self, call: Any) -> None:
        """An outermost module is called."""
        call.grad = torch.is_grad_enabled()
        super().call_begins(call)

    def memory_of(self, tensor: Any) -> tuple[Any, int]:
        """What owns the memory of a tensor, and where that lies."""
        base = private.base_of(tensor)
        return (tensor if base is None else base), tensor.data_ptr()

    def forget(self) -> None:
        """Let go of what is older than this turn."""
        super().forget()
        self.through = {}
        self.reader.forget({id(v.data) for v in self.setup or ()} | set(self.leaves))

    def write(self, tensor: Any, rule: Any) -> None:
        """A memory was written; that of a leaf through its `.data`, too."""
        super().write(tensor, rule)
        if id(self.reader.data(tensor)) not in self.leaves:
            self._reaches(tensor)

    def _leads(self, out: Any, leaf: Any) -> None:
        """What is written into one tensor is written into a leaf, whose memory it has."""
        if id(self.reader.data(leaf)) in self.leaves:
            self.through[id(out)] = out, leaf

    def _reaches(self, tensor: Any) -> None:
        """A tensor was written: so was the leaf whose memory it has, if any."""
        out, leaf = self.through.get(id(tensor), (tensor, tensor))
        same = out is tensor and leaf.data_ptr() == tensor.data_ptr()
        if same and id(self.reader.data(leaf)) in self.leaves:
            self.updated(leaf, where(2))


class _Calls(torch.overrides.TorchFunctionMode):
    """Sees what is called on tensors."""

    def __init__(self, evidence: TorchEvidence) -> None:
        super().__init__()
        self.evidence = evidence

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        evidence = self.evidence
        if evidence.in_step or (evidence.ending is None and func in evidence.unheard):
            if out is not None or evidence.in_step or func != GRADIENT:
                return out
        if not evidence.busy and evidence.broken is None:
            evidence.guarded(evidence.called, func, args, kwargs or {}, out)
        return out


def _flat(args: Any, kwargs: Any) -> list[Any]:
    found: list[Any] = []
    for one in (*args, *kwargs.values()):
        found += list(one) if isinstance(one, (list, tuple)) else [one]
    return found


def _read(name: str, args: Any, kwargs: dict[str, Any]) -> tuple[str, tuple, tuple]:
    """The engine's name of a call, its inputs, and its constants where rules read them."""
    plain = name[:-1] if name.endswith("_") and not name.endswith("__") else name
    bare = plain.strip("_") if plain.startswith("__") else plain
    op = SAME.get(plain, SAME.get(bare, bare))
    ins = tuple(a for a in _flat(args, {}) if isinstance(a, torch.Tensor) or type(a) in (int, float))
    consts: tuple = ()
    if op == "rsub":
        ins = (args[1], args[0])
        op = "sub"
    elif op == "getitem":
        key = args[1] if len(args) > 1 else None
        index = [k for k in (key if isinstance(key, tuple) else (key,)) if isinstance(k, torch.Tensor)]
        op, ins = ("index", (args[0], *index)) if index else ("select", (args[0],))
    elif op in ("max", "min") and len(args) > 1 and isinstance(args[1], torch.Tensor):
        op = "maximum" if op == "max" else "minimum"
    elif op in WHOLE:
        axis = kwargs.get("dim", args[1] if len(args) > 1 and not isinstance(args[1], torch.Tensor) else None)
        op = f"{op}_all" if axis is None else f"{op}_dims" if op in ("mean", "sum") else op
        ins, consts = ins[:1], ((axis,) if op in ("max", "min") and isinstance(axis, int) else ())
    elif op in ("argmax", "argmin", "topk"):
        at = 2 if op == "topk" else 1
        axis = kwargs.get("dim", args[at] if len(args) > at else -1 if op == "topk" else None)
        ins, consts = ins[:1], ((axis,) if isinstance(axis, int) else ())
    elif op == "multi_head_attention_forward":
        consts = (kwargs.get("attn_mask") is not None or bool(kwargs.get("is_causal")),)
    elif op == "normalize":
        axis = kwargs.get("dim", args[2] if len(args) > 2 else 1)
        consts, ins = ((axis,) if isinstance(axis, int) else ()), ins[:1]
    elif op in ("flip", "rot90", "roll"):
        ins, consts = ins[:1], _move(op, args, kwargs)
    elif op in AXIS:
        axis = kwargs.get("dim", args[1] if len(args) > 1 else None)
        consts, ins = ((axis if isinstance(axis, int) else -1),), ins[:1]
    elif op in LOSSES:
        named = [kwargs.get("input"), kwargs.get("target")]
        ins = tuple(a for a in (*args[:2], *named) if isinstance(a, torch.Tensor))
        weights = [kwargs.get("weight", args[2] if len(args) > 2 else None), kwargs.get("pos_weight")]
        if any(isinstance(w, torch.Tensor) for w in weights):  # 1 where the engine has a tensor of it
            ins += tuple(w if isinstance(w, torch.Tensor) else 1.0 for w in weights)
        consts = (kwargs.get("ignore_index", -100), REDUCTIONS.get(kwargs.get("reduction", "mean"), 1))
    elif op in COUNTS:
        named = [kwargs.get("input"), kwargs.get("target")]
        ins = tuple(a for a in (*args[:2], *named) if isinstance(a, torch.Tensor))
        consts = (bool(kwargs.get("log_input", args[2] if len(args) > 2 else True)),)
    elif op == "linear":
        op = "addmm" if len(args) > 2 and args[2] is not None else "mm"
    elif op == "embedding":
        ins = tuple(a for a in (*args[:2],) if isinstance(a, torch.Tensor))
    if "view" in op or op in ("reshape", "permute", "expand", "transpose"):
        ins = ins[:1]
    return op, ins, consts


def _move(op: str, args: Any, kwargs: dict[str, Any]) -> tuple:
    """The constants of a flip, a turn or a roll, as the engine has them."""
    many = args[0].ndim
    names = {"flip": ("dims",), "rot90": ("k", "dims"), "roll": ("shifts", "dims")}[op]
    given = dict(zip(names, args[1:], strict=False)) | kwargs
    if op == "flip" and len(args) > 2:
        given = {"dims": args[1:]}  # one by one
    found = {k: tuple(v) if isinstance(v, (tuple, list)) else (v,) for k, v in given.items() if v is not None}
    dims = tuple(d + many if d < 0 else d for d in found.get("dims", (0, 1) if op == "rot90" else ()))
    if op == "flip":
        return (dims,)
    if op == "rot90":
        return found.get("k", (1,))[0] % 4, *dims
    return found.get("shifts", ()), dims


def _order(roots: tuple, known: dict[int, TorchNode]) -> list[Any]:
    """The nodes that a pass goes through, the newest first; leaves as the engine has them."""
    found: list[tuple[float, Any]] = []
    seen: set[Any] = set()  # the nodes themselves: one that is let go gives its number to the next
    waiting = []
    for t in roots:
        if t.grad_fn is not None:
            waiting.append(t.grad_fn)
        elif t.requires_grad:
            found.append((-1.0, _leaf(t)))
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        variable = getattr(node, "variable", None)
        if variable is not None and not node.next_functions:
            found.append((-1.0, _leaf(variable)))
            continue
        found.append((private.sequence(node), node_of(node, known)))
        waiting += [other for other, _ in node.next_functions if other is not None]
    return [node for _, node in sorted(found, key=lambda pair: -pair[0])]


def _leaf(variable: Any) -> Leaf:
    leaf = Leaf.__new__(Leaf)
    leaf.variable = variable
    return leaf
