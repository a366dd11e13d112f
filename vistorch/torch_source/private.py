"""Everything of torch that has no public name and is used here, each in a function of its own.

PyTorch promises nothing about these names, so each has a test, and a release in which one is missing or means something
else is answered with a sentence (`real.ready`). Nothing else in this package touches a name that begins with one `_`.

Invariant: no function here changes a graph, but for `run_node`, which runs one node of it.
"""

from __future__ import annotations

import ctypes
import functools
import operator
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .real import torch

FIRST_SEQUENCE_OF_LEAVES = 1 << 63  # AccumulateGrad has the largest number there is


class _Ran(BaseException):
    """The node has run: the pass ends here. Not an Exception, so that no hook of the user's catches it."""


def folder() -> str:
    """Where torch's own files stand."""
    return os.path.dirname(torch.__file__)


def sequence(node: Any) -> int:
    """A node's number: nodes are numbered as they are made, by each thread for itself."""
    return node._sequence_nr()


# The number that the next node of this thread will have: a function, called for every op while lines are noted.
next_sequence: Callable[[], int] = torch.autograd._get_sequence_nr


def shape_of(tensor: Any) -> tuple[int, ...]:
    """The shape of a tensor; () of one that has none: nested, or a parameter that waits for its first forward."""
    try:
        return tuple([int(n) for n in tensor.shape])
    except (RuntimeError, TypeError, ValueError):
        return ()


def first_step_of(scheduler: Any) -> bool:
    """Whether a scheduler takes the step that belongs to its making."""
    return getattr(scheduler, "_is_initial", False)


def outputs(node: Any) -> list[tuple[tuple[int, ...], Any, Any]]:
    """Shape, dtype and device of each output of a node's forward op; empty where torch does not say."""
    found = []
    for meta in getattr(node, "_input_metadata", None) or ():
        found.append((shape_of(meta), meta.dtype, meta.device))
    return found


def saved_names(node: Any) -> list[str]:
    """The names of what a node of C++ keeps, without `_saved_`."""
    kind = type(node)
    found = _saved_names.get(kind)
    if found is None:
        found = _saved_names[kind] = [a[7:] for a in dir(kind) if a.startswith("_saved_")]
    return found


_saved_names: dict[type, list[str]] = {}


def nothing_saved(node: Any) -> set[str]:
    """The names under which a node of C++ keeps None: an argument that was not given."""
    found = set()
    for name in saved_names(node):
        try:
            if not packed(node, name) and saved(node, name) is None:
                found.add(name)
        except (RuntimeError, AttributeError, TypeError):  # freed, or written over since
            continue
    return found


def packed(node: Any, name: str) -> bool:
    """Whether what a node keeps under a name was packed by a hook: to look at it would run the user's unpack hook."""
    return any(_is_packed(one) for one in _each(getattr(node, f"_raw_saved_{name}", None)))


def packed_count(node: Any) -> int:
    """How many values that a node keeps were packed by a hook: only that knows how large they are."""
    raws = [one for name in saved_names(node) for one in _each(getattr(node, f"_raw_saved_{name}", None))]
    return sum(map(_is_packed, (*raws, *raw_saved_of_function(node))))


def saved(node: Any, name: str) -> Any:
    """What a node of C++ keeps under a name: a tensor, several, or a constant. RuntimeError once it is freed."""
    return getattr(node, f"_saved_{name}")


def raw_saved_of_function(node: Any) -> tuple:
    """What a custom Function keeps, as it is kept; () for a node of C++."""
    try:
        return tuple(getattr(node, "_raw_saved_tensors", None) or ())
    except RuntimeError:  # freed
        return ()


def saved_of_function(node: Any) -> list:
    """The tensors that a custom Function keeps, None where a hook has packed one; [] for a node of C++.

    Up to 2.9 torch gives all of them or none, so all are None where one is packed, or was written since.
    """
    raws = raw_saved_of_function(node)
    hidden = [_is_packed(raw) for raw in raws]
    if not raws or hasattr(raws[0], "data"):
        return [None if is_hidden else raw.data for raw, is_hidden in zip(raws, hidden, strict=True)]
    try:
        return [None] * len(raws) if any(hidden) else list(node.saved_tensors)
    except RuntimeError:  # freed, or written over since
        return [None] * len(raws)


def _is_packed(raw: Any) -> bool:
    if raw is None:
        return False
    if hasattr(raw, "unpack_hook"):  # since torch 2.10
        return raw.unpack_hook is not None
    word = _word_of_hooks()
    return word is None or bool(_words(raw)[word])


@functools.cache
def _word_of_hooks() -> int | None:
    """Which word of a saved entry in memory is the pointer to its hooks; None where that cannot be said.

    Up to 2.9 torch does not say whether an entry was packed, so the word is looked for in entries of which it is known:
    it is zero in each without hooks, and not zero in each with them. Where not exactly one word is so, every entry
    counts as packed: then less is shown, and no hook of the user's runs.
    """
    with without_modes(), without_dispatch_modes(), torch.enable_grad():
        x = torch.ones(2, requires_grad=True)
        nodes = [
            (x * x).grad_fn,
            x.exp().grad_fn,
            (torch.ones(2) * x).grad_fn,
        ]  # the last keeps None as "other"
        plain = [nodes[0]._raw_saved_self, nodes[1]._raw_saved_result, nodes[2]._raw_saved_other]
        nodes += [(x * x).grad_fn, x.exp().grad_fn]
        hooked = [nodes[3]._raw_saved_self, nodes[3]._raw_saved_other, nodes[4]._raw_saved_result]
        for entry in hooked:
            entry.register_hooks(lambda t: 0, lambda packed: torch.ones(2))
        without, having = [_words(e) for e in plain], [_words(e) for e in hooked]
    found = [i for i in range(_WORDS) if all(w[i] for w in having) and not any(w[i] for w in without)]
    return found[0] if len(found) == 1 else None


_WORDS = 8  # an entry has 12 and more: what is read is its own


def _words(entry: Any) -> tuple[int, ...]:
    """The first words of an entry in memory: its Python object holds a pointer to it behind the object's own header."""
    place = ctypes.c_void_p.from_address(id(entry) + object.__basicsize__).value
    return tuple((ctypes.c_uint64 * _WORDS).from_address(place)) if place else ()


def _each(value: Any) -> tuple:
    return () if value is None else tuple(value) if isinstance(value, (tuple, list)) else (value,)


def function_of(node: Any) -> Any:
    """The class of a custom Function that made a node; None of another node."""
    return getattr(node, "_forward_cls", None)


def needs_input_grad(node: Any) -> tuple:
    """Which arguments of a custom Function need a gradient: one entry for each argument."""
    return tuple(getattr(node, "needs_input_grad", ()))


def fills_in_zeros(node: Any) -> bool:
    """Whether a node runs though nothing came to it: a custom Function gets zeros.

    One that has said `set_materialize_grads(False)` gets None from torch, and zeros here: torch does not say which.
    """
    return hasattr(node, "apply") and not callable(node)


def has_hooks(tensor: Any) -> bool:
    """Whether a tensor has hooks."""
    hooks = getattr(tensor, "_backward_hooks", None)
    after = getattr(tensor, "_post_accumulate_grad_hooks", None)
    return bool(hooks) or bool(after)


def run_node(
    node: Any, grads: list, create_graph: bool = False, leaf: bool = False
) -> tuple[tuple, tuple | None]:
    """Let torch's own engine run one node and nothing else, with every hook that it has.

    The node is the root of a pass that retains the graph, and a hook behind all others ends that pass. So what runs is
    what runs in `backward()`: tensor hooks, the node's hooks before and after, casts, sums over what was broadcast,
    zeros for a custom Function, streams. Nothing is freed.

    Args:
        node: the node.
        grads: one gradient for each output, None where there is none; at least one is there.
        create_graph: record what it computes.
        leaf: the node accumulates into a leaf: its pass ends by itself.

    Returns:
        What it sends along its edges, and what came in after the hooks before it have had their say.
    """
    edge = torch.autograd.graph.GradientEdge
    roots = [(edge(node, i), g) for i, g in enumerate(grads) if g is not None]
    seen: list[tuple[tuple, tuple | None]] = []
    if leaf:
        handle = node.register_prehook(lambda came: seen.append(((), came)))
    else:

        def ran(sent: tuple, came: tuple) -> None:
            seen.append((sent, came))
            raise _Ran

        handle = node.register_hook(ran)
    anomaly, checks = torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
    if anomaly:  # it would print where the pass "failed"
        torch.autograd.set_detect_anomaly(False, checks)
    try:
        with _whole(node):
            torch.autograd.Variable._execution_engine.run_backward(
                tuple([e for e, _ in roots]), tuple([g for _, g in roots]), True, create_graph, (), True, True
            )
    except _Ran:
        pass
    finally:
        handle.remove()
        if anomaly:
            torch.autograd.set_detect_anomaly(True, checks)
    return seen[0] if seen else ((), None)


@contextmanager
def _whole(node: Any) -> Iterator[None]:
    """A compiled region may write over what it saved, as it runs once: it gets back what was there."""
    if not is_compiled(node):
        yield
        return
    kept = [data for data in saved_of_function(node) if data is not None]
    copies = [data.clone() for data in kept]
    try:
        with torch._functorch.config.patch(donated_buffer=False):
            yield
    finally:
        for data, copy in zip(kept, copies, strict=True):
            data.data.copy_(copy)  # past the version, as nothing has changed when it is over


def is_compiled(node: Any) -> bool:
    """Whether a node is a whole region that torch.compile has made."""
    return node.name().endswith("CompiledFunctionBackward")


def call_node(node: Any, grads: list) -> list | None:
    """A node's gradients for others that come in, without any hook; None where that would run something of the user's.

    Args:
        node: the node.
        grads: arrays of numpy or tensors, one for each output, None where there is none.
    """
    if not callable(node):  # a custom Function
        return None
    if any(packed(node, name) for name in saved_names(node)):
        return None
    given = []
    for g, (_, dtype, device) in zip(grads, outputs(node), strict=False):
        given.append(None if g is None else torch.as_tensor(g).to(dtype=dtype, device=device))
    with torch.no_grad(), without_modes():
        sent = node(*given)
    each: tuple[Any, ...] = sent if isinstance(sent, tuple) else (sent,)
    found = []
    for (target, output), g in zip(node.next_functions, each, strict=False):
        shape = None if target is None else shape_of(target.variable) if hasattr(target, "variable") else None
        if target is not None and shape is None:
            shape = outputs(target)[output][0]
        found.append(g if g is None or shape is None or tuple(g.shape) == shape else g.sum_to_size(shape))
    return found


def current_node() -> Any:
    """The node that this thread's backward pass runs now, None outside of one."""
    return torch._C._current_autograd_node()


CURRENT_NODE, NEXT_SEQUENCE = (
    torch._C._current_autograd_node,
    torch.autograd._get_sequence_nr,
)  # no call between
key_of: Any = operator.attrgetter("_cdata")  # what tells a tensor from others that live


def in_backward() -> bool:
    """Whether this thread runs a backward pass."""
    return torch._C._current_graph_task_id() != -1


def top_mode() -> Any:
    """The function mode that sees the next op first, None if there is none."""
    return torch.overrides._get_current_function_mode()


def base_of(tensor: Any) -> Any:
    """The tensor that one was made as a view of; None for what is no view."""
    return tensor._base


def is_wrapped(tensor: Any) -> bool:
    """Whether a tensor is one inside `torch.func`'s transforms: vmap, grad, jvp, functionalize."""
    functorch = torch._C._functorch
    return bool(
        functorch.is_functorch_wrapped_tensor(tensor)
        if hasattr(functorch, "is_functorch_wrapped_tensor")
        else functorch.is_batchedtensor(tensor) or functorch.is_gradtrackingtensor(tensor)
    ) or bool(torch._is_functional_tensor(tensor))


def in_transform() -> bool:
    """Whether one of `torch.func`'s transforms runs: its tensors may have no memory of their own."""
    peek = getattr(torch._C._functorch, "peek_interpreter_stack", None)
    return peek is not None and peek() is not None


def is_fake(tensor: Any) -> bool:
    """Whether a tensor has no values because it stands for one: FakeTensor and what holds one."""
    return any(base.__name__ == "FakeTensor" for base in type(tensor).__mro__)


def is_without_memory(tensor: Any) -> bool:
    """Whether a tensor is zeros that take no memory: up to torch 2.9 an array of it is of memory that is not its."""
    return tensor._is_zerotensor()


def stored(tensor: Any) -> int | None:
    """How many elements a sparse tensor has in memory; None where it does not say."""
    try:
        return tensor._nnz()
    except (RuntimeError, AttributeError, NotImplementedError):
        return None


def memory_of(tensor: Any) -> int:
    """The address of a tensor's storage; 0 where it has none: sparse, meta, fake, a subclass of its own making."""
    if tensor.device.type == "meta" or is_fake(tensor):
        return 0
    try:
        return tensor.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError, ValueError):
        return 0


def bytes_of(tensor: Any) -> int:
    """The bytes of the memory that a tensor keeps alive: all of its storage."""
    try:
        return tensor.untyped_storage().nbytes()
    except (RuntimeError, NotImplementedError):  # sparse, a subclass
        return tensor.numel() * tensor.element_size()


def without_modes() -> Any:
    """A context in which function modes, ours among them, look away: what is read for a page is no op of a program."""
    return torch._C.DisableTorchFunction()


def without_dispatch_modes() -> Any:
    """A context in which dispatch modes, ours among them, look away."""
    return torch.utils._python_dispatch._disable_current_modes()


# Whether torch.compile reads this function as a part of a program.
compiling: Callable[[], bool] = torch.compiler.is_dynamo_compiling
_eval_frame: Any = torch._C._dynamo.eval_frame


def uncompiled(function: Any) -> Any:
    """Have torch.compile leave a function, and what it calls, as it is where a compiled program comes to it.

    No compiled program breaks there: what torch.compile reads as a part of one (a hook of a module, a function mode)
    has to see for itself that it is being compiled, and do nothing then.

    Args:
        function: a function, a method, or an object that can be called.

    Returns:
        The function.
    """
    method = function if hasattr(function, "__code__") else type(function).__call__
    if hasattr(_eval_frame, "skip_code"):  # torch 2.6: only the function itself
        _eval_frame.skip_code(method.__code__)
    else:
        skip = _eval_frame._FrameAction.SKIP
        _eval_frame.set_code_exec_strategy(method.__code__, _eval_frame._FrameExecStrategy(skip, skip))
    return function


def is_compiled_module(module: Any) -> bool:
    """Whether a module is what torch.compile has made of one, or was compiled in its place."""
    return hasattr(module, "_orig_mod") or getattr(module, "_compiled_call_impl", None) is not None


def parameters_of(module: Any) -> dict[str, Any]:
    """A module's own parameters, by name."""
    return module._parameters


def on_module_call(begin: Callable, end: Callable) -> list[Any]:
    """Call a function before and after each forward of any module; returns handles.

    Args:
        begin: called with the module and its arguments.
        end: called with the module, its arguments and its result, also after an exception.
    """
    modules = torch.nn.modules.module
    return [
        modules.register_module_forward_pre_hook(uncompiled(begin)),
        modules.register_module_forward_hook(uncompiled(end), always_call=True),
    ]


def make_gradients(given: tuple, roots: tuple) -> tuple:
    """The gradients that a pass starts with: ones for scalars; torch's sentence where that cannot be."""
    return torch.autograd._make_grads(roots, given, is_grads_batched=False)


def _freed(packed: Any) -> Any:
    raise RuntimeError(FREED_TWICE)


FREED_TWICE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)
_FREED = "vistorch freed"


def free(node: Any) -> None:
    """Free what a node saved, as a pass that does not retain the graph does, with torch's sentence for the next pass.

    torch frees nodes only in a pass of its own; so each saved tensor is packed into nothing. One that the user's own
    hook has packed stays.

    Args:
        node: the node.
    """
    raws = [one for name in saved_names(node) for one in _each(getattr(node, f"_raw_saved_{name}", None))]
    for raw in (*raws, *raw_saved_of_function(node)):
        if _is_packed(raw):
            continue
        try:
            raw.register_hooks(lambda t: None, _freed)
        except RuntimeError:  # None was saved, or it is freed already
            continue
        node.metadata[_FREED] = True


def is_freed(node: Any) -> bool:
    """Whether what a node saved is gone, by a pass of torch's or by `free`."""
    if _FREED in node.metadata:
        return True
    try:
        raws = getattr(node, "_raw_saved_tensors", None)  # of a custom Function
        for name in saved_names(node):
            if hasattr(type(node), f"_raw_saved_{name}") and not packed(node, name):
                saved(node, name)
        del raws
    except RuntimeError as error:
        return "a second time" in str(error)
    return False


_DispatchMode: Any = torch.utils._python_dispatch.TorchDispatchMode


class DispatchMode(_DispatchMode):
    """A mode that sees each op; without the wrapper around each call that keeps torch.compile away, which loads it."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        uncompiled(cls.__torch_dispatch__)


class Schema:
    """What an op of the dispatcher says of itself.

    Slots:
        name: of the op, without namespace and overload, as "addmm" or "relu_".
        names: of its arguments, in their order.
        inputs: by position: whether an argument is a tensor, several, or a number that takes part like one.
        written: the positions and names of the arguments that it writes.
        views: whether it gives memory of an argument without writing.
    """

    __slots__ = ("inputs", "name", "names", "views", "written")

    def __init__(self, op: Any) -> None:
        schema = op._schema
        self.name = schema.name.partition("::")[2]
        self.names = [a.name for a in schema.arguments]
        self.inputs = [
            "Tensor" in str(a.type) or (str(a.type) in ("number", "Scalar") and a.name in NUMBERS)
            for a in schema.arguments
        ]
        self.written = [
            (i, a.name)
            for i, a in enumerate(schema.arguments)
            if a.alias_info is not None and a.alias_info.is_write
        ]
        given = any(r.alias_info is not None for r in schema.returns)
        self.views = given and not self.written


def name_of_op(op: Any) -> str:
    """An op of the dispatcher with its overload, without its namespace: "sum.dim_IntList"."""
    return f"{op._schema.name.partition('::')[2]}.{op._schema.overload_name or 'default'}"


NUMBERS = ("self", "other", "exponent", "value")  # arguments that may be a plain number beside tensors


def key_of_memory(tensor: Any) -> int:
    """What tells the memory of a tensor, cheaply; 0 where it has none."""
    try:
        return tensor.untyped_storage()._cdata
    except (RuntimeError, NotImplementedError, AttributeError):
        return 0


def _nothing(*given: Any) -> None:
    """Do nothing."""


class _Steps:
    """Those that want to be called at each step of any optimizer.

    Torch goes through its own table of hooks while it calls them, so that none of them may add or remove one; ours are
    asked one after the other from a copy of the list, and those that a call has taken out are left out.
    """

    def __init__(self, register: str) -> None:
        self.register = register  # the function of torch's
        self.each: list[_Step] = []
        self.handle: Any = None

    def add(self, function: Callable) -> _Step:
        """Have a function called from now on."""
        one = _Step(self, function)
        self.each.append(one)
        if self.handle is None:
            optimizers = sys.modules[torch.optim.Optimizer.__module__]  # `torch.optim` hides its name
            self.handle = getattr(optimizers, self.register)(uncompiled(self))
        return one

    def __call__(self, *given: Any) -> None:
        for one in list(self.each):
            if one in self.each:
                one.function(*given)


class _Step:
    """One of them, and the handle that takes it out."""

    def __init__(self, owner: _Steps, function: Callable) -> None:
        self.owner, self.function = owner, function

    def remove(self) -> None:
        """Call it no more."""
        owner = self.owner
        if self in owner.each:
            owner.each.remove(self)
        self.function = _nothing  # who keeps the handle is not kept by it
        if not owner.each and owner.handle is not None:
            owner.handle.remove()
            owner.handle = None


_BEFORE = _Steps("register_optimizer_step_pre_hook")
_AFTER = _Steps("register_optimizer_step_post_hook")


def on_optimizer_step(before: Callable, after: Callable) -> list[_Step]:
    """Call a function before and after each step of any optimizer; returns handles.

    Args:
        before: called with the optimizer, its arguments and keywords.
        after: called the same way.
    """
    return [_BEFORE.add(before), _AFTER.add(after)]


def put_below(mode: Any) -> None:
    """Enter a function mode below all others, so that a block of the program's is left in the order it was entered.

    Args:
        mode: the mode.
    """
    others = _function_modes()
    torch._C._push_on_torch_function_stack(mode)
    for one in others:
        torch._C._push_on_torch_function_stack(one)


def take_out(mode: Any) -> None:
    """Leave a function mode, wherever it stands; harmless where it was not entered.

    Args:
        mode: the mode.
    """
    for one in _function_modes():
        if one is not mode:
            torch._C._push_on_torch_function_stack(one)


def _function_modes() -> list[Any]:
    """Take all function modes off, the outermost first."""
    count = torch._C._len_torch_function_stack()
    return [torch._C._pop_torch_function_stack() for _ in range(count)][::-1]


def places_of_clipping() -> tuple[Any, Any]:
    """Where the functions that clip gradients are looked up: the package, and the module that defines them."""
    return torch.nn.utils, sys.modules["torch.nn.utils.clip_grad"]


def is_of_init(function: Any) -> bool:
    """Whether a function is one of `torch.nn.init`."""
    return getattr(function, "__module__", "") == "torch.nn.init"


def version_of(tensor: Any) -> int:
    """How often the memory of a tensor was written."""
    return tensor._version


class Written:
    """The version of a tensor's memory, read when it is asked for.

    Args:
        tensor: the tensor.
    """

    __slots__ = ("tensor",)

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    @property
    def n(self) -> int:
        """How often it was written."""
        return self.tensor._version


def on_loaders(begin: Callable, end: Callable) -> Callable[[], None]:
    """Call a function as any DataLoader begins an epoch, and one as it is over; returns what ends that.

    Args:
        begin: called with the loader and its iterator.
        end: called with the loader, or None for one that is gone.
    """
    loaders = torch.utils.data.dataloader
    whole, part = loaders.DataLoader, loaders._BaseDataLoaderIter
    real_iter, real_next = whole.__iter__, part.__next__
    going: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()

    def __iter__(self: Any) -> Any:
        iterator = real_iter(self)
        going[iterator] = weakref.ref(self)
        begin(self, iterator)
        return iterator

    def __next__(self: Any) -> Any:
        try:
            return real_next(self)
        except StopIteration:
            loader = going.get(self)
            end(None if loader is None else loader())
            raise

    whole.__iter__, part.__next__ = uncompiled(__iter__), uncompiled(__next__)

    def stop() -> None:
        if whole.__iter__ is __iter__:
            whole.__iter__ = real_iter
        if part.__next__ is __next__:
            part.__next__ = real_next

    return stop


def on_scaling(scaled: Callable) -> Callable[[], None]:
    """Call a function when a GradScaler has scaled a loss; returns what ends that.

    Args:
        scaled: called with the loss and what it was scaled to.
    """
    kind = torch.amp.GradScaler
    real = kind.scale

    @functools.wraps(real)
    def scale(self: Any, outputs: Any) -> Any:
        out = real(self, outputs)
        if out is not outputs and isinstance(outputs, torch.Tensor):
            scaled(outputs, out)
        return out

    kind.scale = uncompiled(scale)

    def stop() -> None:
        if kind.scale is scale:
            kind.scale = real

    return stop


def on_schedulers(stepped: Callable) -> Callable[[], None]:
    """Call a function after each step of a learning rate scheduler; returns what ends that.

    Args:
        stepped: called with the scheduler, and with what its step was given.
    """
    base = torch.optim.lr_scheduler.LRScheduler
    kinds, waiting = [], [base]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if "step" in vars(kind) and kind not in kinds:
            kinds.append(kind)
    real = [(kind, vars(kind)["step"]) for kind in kinds]

    def wrapped(step: Any) -> Any:
        @functools.wraps(step)
        def run(self: Any, *args: Any, **kwargs: Any) -> Any:
            out = step(self, *args, **kwargs)
            stepped(self, *args)
            return out

        return uncompiled(run)

    for kind, step in real:
        kind.step = wrapped(step)

    def stop() -> None:
        for kind, step in real:
            kind.step = step

    return stop
