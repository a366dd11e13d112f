"""The columns: what an entry is asked, and whether vistorch's answer is PyTorch's.

Invariant: an entry passes a column when every one of its samples does; one that PyTorch itself refuses counts for none.
"""

import contextlib
import itertools
import random
import re
import signal
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

import vistorch as L
from tests.conformance import opinion
from tests.conformance.carried import CannotCarry, Carrier, NotFound
from tests.ops.library import INSIDES, dtype_name, flat, numpy_of, renamed

COLUMNS = (
    "found",
    "forward",
    "gradients",
    "second order",
    "forward mode",
    "vmap",
    "errors",
    "strides",
    "other dtypes",
)
PREFERRED = ("float64", "complex128", "int64", "bool", "float32", "bfloat16")
TOLERANCE = {
    "float64": (1e-7, 1e-8),
    "complex128": (1e-7, 1e-8),
    "float32": (1e-4, 1e-5),
    "complex64": (1e-4, 2e-5),
    "float16": (1e-2, 1e-2),
    "bfloat16": (5e-2, 5e-2),
}
# what they give holds whatever the memory held
UNINITIALIZED = {
    "empty",
    "empty_like",
    "new_empty",
    "empty_strided",
    "new_empty_strided",
    "empty_permuted",
    "resize_",
    "resize_as_",
}
SAMPLES = 200  # of one entry in one dtype
SECONDS = 60  # for one entry and column
ABSENT = {"complex32", "quint8", "qint8", "qint32"}


class Slow(Exception):
    """An entry ran past its time."""


class Entry:
    """One entry of the database, and what its checks share."""

    def __init__(self, info: Any, samples: int = SAMPLES) -> None:
        self.info = info
        self.name = info.name
        self.most = samples

    def call(self, carrier: Carrier | None, sample: Any) -> Callable[..., Any]:
        """The operator, with the wrapper that gives its gradient a unique value, as one library has it."""
        op, wrapper = self.info.op, self.info.gradcheck_wrapper
        if carrier is None:
            return lambda x, args, kwargs: wrapper(op, x, *args, **kwargs)
        mine, around = self.function(carrier), carrier.function(wrapper)
        return lambda x, args, kwargs: around(mine, x, *args, **kwargs)

    def function(self, carrier: Carrier) -> Callable[..., Any]:
        """The operator as vistorch has it."""
        found = carrier.function(self.info.op)
        if found is self.info.op:
            raise NotFound(f"vistorch has no {self.name}")
        return found

    def dtype(self) -> torch.dtype:
        """The type of elements that the first columns take."""
        have = {dtype_name(d): d for d in self.info.dtypes}
        for name in PREFERRED:
            if name in have:
                return have[name]
        return next(iter(have.values()))

    def samples(self, dtype: torch.dtype, grad: bool = False) -> Iterator[Any]:
        """Samples, the same each time."""
        seeded()
        try:
            found = iter(self.info.sample_inputs("cpu", dtype, requires_grad=grad))
            made = [sample for _, sample in zip(range(self.most), found, strict=False)]
        except (StopIteration, TypeError, RuntimeError):  # a fault of the database on this machine
            made = []
        yield from made


def seeded() -> None:
    """The same random numbers in both libraries."""
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    L.manual_seed(0)


def attempt(action: Callable[[], Any]) -> tuple[Any, Exception | None]:
    """A result or an exception."""
    seeded()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return action(), None
        except Slow:
            raise
        except Exception as raised:
            return None, raised


def said(error: Exception) -> str:
    """An exception in one line."""
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"


def pair(entry: Entry, sample: Any, raw: bool = False) -> tuple[Any, Any, Any, Any, Any]:
    """What the two libraries give: results, exceptions and the carrier."""
    carrier = Carrier()
    x, args, kwargs = (carrier.value(part) for part in (sample.input, sample.args, sample.kwargs))
    if raw:
        ours, theirs = entry.function(carrier), entry.info.op
        mine, broke = attempt(lambda: ours(x, *args, **kwargs))
        other, failed = attempt(lambda: theirs(sample.input, *sample.args, **sample.kwargs))
        return mine, broke, other, failed, carrier
    ours, theirs = entry.call(carrier, sample), entry.call(None, sample)
    mine, broke = attempt(lambda: ours(x, args, kwargs))
    other, failed = attempt(lambda: theirs(sample.input, sample.args, sample.kwargs))
    return mine, broke, other, failed, carrier


def processed(sample: Any, carrier: Carrier, mine: Any, other: Any) -> tuple[Any, Any]:
    """Results made unique where an entry says how."""
    step = sample.output_process_fn_grad
    return carrier.function(step)(mine), step(other)


def unlike(mine: Any, other: Any, values: bool = True) -> str:
    """How a result differs from PyTorch's, or nothing."""
    left, right = flat(mine), flat(other)
    if len(left) != len(right):
        return f"{len(left)} results, PyTorch has {len(right)}"
    for a, b in zip(left, right, strict=True):
        if not isinstance(b, torch.Tensor):
            if isinstance(b, int | float | complex | bool):
                if type(a) is not type(b) or not np.isclose(a, b, equal_nan=True, rtol=1e-6):
                    return f"{a!r}, PyTorch has {b!r}"
            elif repr(a) != renamed(repr(b)):
                return f"{a!r}, PyTorch has {b!r}"
            continue
        if not isinstance(a, L.Tensor):
            return f"a {type(a).__name__}, PyTorch has a tensor"
        if dtype_name(a.dtype) != dtype_name(b.dtype):
            return f"{a.dtype}, PyTorch has {b.dtype}"
        if tuple(a.shape) != tuple(b.shape):
            return f"shape {tuple(a.shape)}, PyTorch has {tuple(b.shape)}"
        if values and (message := far(a, b)):
            return message
    return ""


def far(a: Any, b: torch.Tensor) -> str:
    """Whether values differ by more than rounding, and by how much."""
    if "float8" in dtype_name(b.dtype):
        a, b = a.float(), b.float()
    x, y = numpy_of(a), numpy_of(b)
    rtol, atol = TOLERANCE.get(dtype_name(b.dtype), (0, 0))
    with np.errstate(all="ignore"):
        near = np.isclose(x, y, rtol=rtol, atol=atol, equal_nan=True)
        if near.all():
            return ""
        at = np.unravel_index(int(np.argmin(near)), near.shape) if near.ndim else ()
        return f"values differ at {tuple(int(i) for i in at)}: {x[at]}, PyTorch has {y[at]}"


def forward(entry: Entry, dtype: torch.dtype | None = None) -> Iterator[str]:
    """Values, types and shapes."""
    for sample in entry.samples(dtype or entry.dtype()):
        mine, broke, other, failed, carrier = pair(entry, sample, raw=True)
        if failed is not None:
            continue
        if any(isinstance(t, torch.Tensor) and dtype_name(t.dtype) in ABSENT for t in flat(other)):
            yield f"{sample_text(sample)}: a type that is absent" if broke is not None else ""
            continue
        if broke is not None:
            yield f"{sample_text(sample)}: {said(broke)}"
            continue
        values = entry.name not in UNINITIALIZED
        wrong = unlike(mine, other, values)
        if wrong and values:
            both, error = attempt(lambda p=(sample, carrier, mine, other): processed(*p))
            if error is None and not unlike(mine, other, False):
                wrong = unlike(*both)
        if wrong and values and not unlike(mine, other, False):
            wrong = "" if opinion.agrees(entry.name, sample, entry.info.op, mine, other) else wrong
        yield f"{sample_text(sample)}: {wrong}" if wrong else ""


def other_dtypes(entry: Entry) -> Iterator[str]:
    """The same in every other type of elements."""
    first = entry.dtype()
    for dtype in sorted(entry.info.dtypes, key=str):
        if dtype != first and dtype_name(dtype) not in ABSENT:
            for wrong in forward(entry, dtype):
                yield f"{dtype_name(dtype)} {wrong}" if wrong else ""


def found(entry: Entry) -> Iterator[str]:
    """Whether a name is there and answers."""
    try:
        entry.function(Carrier())
    except NotFound as missing:
        yield str(missing)
        return
    for sample in itertools.islice(entry.samples(entry.dtype()), 1):
        _, broke, _, failed, _ = pair(entry, sample, raw=True)
        is_named = isinstance(broke, NotImplementedError) and failed is None
        yield said(broke) if is_named else ""  # type: ignore[arg-type]


def strides(entry: Entry) -> Iterator[str]:
    """The layout of results, where a dim has more than one element."""
    for sample in entry.samples(entry.dtype()):
        mine, broke, other, failed, _ = pair(entry, sample, raw=True)
        if failed is not None or broke is not None:
            continue
        for a, b in zip(flat(mine), flat(other), strict=False):
            if not (isinstance(a, L.Tensor) and isinstance(b, torch.Tensor)):
                continue
            if tuple(a.shape) == tuple(b.shape) and b.numel() and long_strides(a) != long_strides(b):
                yield f"{sample_text(sample)}: strides {a.stride()}, PyTorch has {b.stride()}"
                break
        else:
            yield ""


def long_strides(x: Any) -> tuple[int, ...]:
    """The strides of dims that are longer than one."""
    return tuple(s for n, s in zip(x.shape, x.stride(), strict=True) if n > 1)


def random_like(x: torch.Tensor, nr: int) -> torch.Tensor:
    """A cotangent."""
    return torch.randn(x.shape, dtype=x.dtype, generator=torch.Generator().manual_seed(nr))


def differentiated(lib: Any, out: Any, leaves: list, order: int) -> list:
    """Gradients of one order of weighted results with respect to the leaves."""
    heads = [t for t in flat(out) if isinstance(t, lib.Tensor) and t.requires_grad]
    for step in range(order):
        if not heads:
            return [None] * len(leaves)
        weights = [weight(lib, t, 31 * step + i) for i, t in enumerate(heads)]
        grads = lib.autograd.grad(heads, leaves, weights, create_graph=step + 1 < order, allow_unused=True)
        heads = [g for g in grads if g is not None and g.requires_grad]
    return list(grads)


def weight(lib: Any, x: Any, nr: int) -> Any:
    """The same random weights in both libraries."""
    made = torch.randn(
        tuple(x.shape), dtype=getattr(torch, dtype_name(x.dtype)), generator=torch.Generator().manual_seed(nr)
    )
    return made if lib is torch else Carrier().value(made)


def gradients(entry: Entry, order: int = 1) -> Iterator[str]:
    """Gradients of every input, in double precision and complex."""
    if not entry.info.supports_autograd or (order == 2 and not entry.info.supports_gradgrad):
        return
    for dtype in (torch.float64, torch.complex128):
        if dtype not in entry.info.supported_backward_dtypes("cpu"):
            continue
        for sample in entry.samples(dtype, grad=True):
            mine, broke, other, failed, carrier = pair(entry, sample)
            theirs = [x for x, _ in carrier.leaves]
            if failed is not None or not theirs:
                continue
            if broke is not None:
                yield f"{sample_text(sample)}: {said(broke)}"
                continue
            step, ours = sample.output_process_fn_grad, carrier.function(sample.output_process_fn_grad)
            right, failed = attempt(lambda: differentiated(torch, step(other), theirs, order))  # noqa: B023
            if failed is not None:
                continue
            leaves = [x for _, x in carrier.leaves]
            left, broke = attempt(lambda: differentiated(L, ours(mine), leaves, order))  # noqa: B023
            if broke is not None:
                yield f"{sample_text(sample)}: {said(broke)}"
                continue
            wrong = ""
            for a, b in zip(left, right, strict=True):
                if order == 2 and (a is None) != (b is None):  # a zero, or a zero of rounding
                    a = L.zeros(tuple(b.shape), dtype=getattr(L, dtype_name(b.dtype))) if a is None else a
                    b = (
                        torch.zeros(tuple(a.shape), dtype=getattr(torch, dtype_name(a.dtype)))
                        if b is None
                        else b
                    )
                if (a is None) != (b is None) and (
                    a if b is None else b
                ).numel():  # no elements, nothing to say
                    wrong = wrong or (
                        f"{'no gradient' if a is None else 'a gradient'}, "
                        f"PyTorch has {'none' if b is None else 'one'}"
                    )
                elif a is not None and b is not None:
                    wrong = wrong or unlike(a, b)
            yield f"{sample_text(sample)}: {wrong}" if wrong else ""


def second_order(entry: Entry) -> Iterator[str]:
    """Gradients of gradients."""
    return gradients(entry, 2)


def forward_mode(entry: Entry) -> Iterator[str]:
    """Derivatives in a direction, of all inputs at once."""
    if not (entry.info.supports_autograd and entry.info.supports_forward_ad):
        return
    for dtype in (torch.float64, torch.complex128):
        if dtype not in entry.info.supported_backward_dtypes("cpu"):
            continue
        for sample in entry.samples(dtype, grad=True):
            carrier = Carrier()
            given = sample.input, sample.args, sample.kwargs
            mine = carrier.value(given)
            theirs = [x for x, _ in carrier.leaves]
            if not theirs:
                continue
            step = sample.output_process_fn_grad
            right, failed = attempt(lambda: along(torch, entry.call(None, sample), step, given, theirs))  # noqa: B023
            if failed is not None:
                continue
            leaves = [x for _, x in carrier.leaves]
            ours, after = entry.call(carrier, sample), carrier.function(step)
            left, broke = attempt(lambda: along(L, ours, after, mine, leaves))  # noqa: B023
            wrong = said(broke) if broke is not None else unlike(left, right)
            yield f"{sample_text(sample)}: {wrong}" if wrong else ""


def along(lib: Any, call: Callable[..., Any], step: Callable[..., Any], given: tuple, leaves: list) -> tuple:
    """The derivatives of the results in one random direction of all leaves."""

    def function(*inputs: Any) -> tuple:
        instead = {id(leaf): one for leaf, one in zip(leaves, inputs, strict=True)}
        out = flat(step(call(*swapped(given, instead))))
        return tuple(
            t for t in out if isinstance(t, lib.Tensor) and (t.is_floating_point() or t.is_complex())
        )

    directions = tuple(weight(lib, leaf, 31 + i) for i, leaf in enumerate(leaves))
    return tuple(t.detach() for t in lib.func.jvp(function, tuple(leaves), directions)[1])


def swapped(tree: Any, instead: dict) -> Any:
    """A tree of arguments with other tensors in some places."""
    if type(tree) in (tuple, list):
        return type(tree)(swapped(part, instead) for part in tree)
    if type(tree) is dict:
        return {key: swapped(part, instead) for key, part in tree.items()}
    return instead.get(id(tree), tree)


def vmapped(entry: Entry) -> Iterator[str]:
    """A batch of every tensor, by each library's `vmap`; what PyTorch's refuses counts for nothing."""
    for sample in entry.samples(entry.dtype()):
        carrier = Carrier()
        given = sample.input, sample.args, sample.kwargs
        mine = carrier.value(given)
        theirs = [x for x in flat(given) if isinstance(x, torch.Tensor)]
        if not theirs:
            continue
        whole = [torch.stack([varied(x.detach(), i) for i in range(3)]) for x in theirs]
        stacks, step = [Carrier().value(x) for x in whole], sample.output_process_fn_grad
        right, failed = attempt(lambda: batched(torch, entry.call(None, sample), step, given, theirs, whole))  # noqa: B023
        if failed is not None:
            continue
        ours = [x for x in flat(mine) if isinstance(x, L.Tensor)]
        call, after = entry.call(carrier, sample), carrier.function(step)
        left, broke = attempt(lambda: batched(L, call, after, mine, ours, stacks))  # noqa: B023
        values = entry.name not in UNINITIALIZED
        wrong = said(broke) if broke is not None else unlike(left, right, values)
        if wrong and broke is None:
            right, failed = attempt(  # what a batch is by definition, where PyTorch's mixes the samples
                lambda: batched(torch, entry.call(None, sample), step, given, theirs, whole, apart)  # noqa: B023
            )
            wrong = wrong if failed is not None else unlike(left, right, values)
        yield f"{sample_text(sample)}: {wrong}" if wrong else ""


def apart(function: Callable[..., tuple]) -> Callable[..., tuple]:
    """PyTorch's results of one sample after the other."""

    def run(*whole: torch.Tensor) -> tuple:
        columns = zip(*[function(*inputs) for inputs in zip(*whole, strict=True)], strict=True)
        return tuple(torch.stack(column) for column in columns)

    return run


def varied(x: Any, nr: int) -> Any:
    """Another value of the same kind, of either library."""
    return x * (1 - 0.03 * nr) if x.is_floating_point() or x.is_complex() else x.clone()


def batched(
    lib: Any,
    call: Callable[..., Any],
    step: Callable[..., Any],
    given: tuple,
    leaves: list,
    whole: list,
    vmap: Callable[..., Any] | None = None,
) -> tuple:
    """The tensors of a call's results, for a batch of the tensors that it is given."""

    def function(*inputs: Any) -> tuple:
        instead = {id(leaf): one for leaf, one in zip(leaves, inputs, strict=True)}
        return tuple(t for t in flat(step(call(*swapped(given, instead)))) if isinstance(t, lib.Tensor))

    return (vmap or lib.func.vmap)(function)(*whole)


def errors(entry: Entry) -> Iterator[str]:
    """Bad calls: the exception's type, and its sentence or what the database asks of it."""
    if entry.info.error_inputs_func is None:
        return
    seeded()
    for bad in entry.info.error_inputs("cpu"):
        sample = bad.sample_input
        try:
            _, broke, _, failed, _ = pair(entry, sample, raw=True)
        except NotFound as missing:
            yield str(missing)
            continue
        except CannotCarry:
            continue
        if failed is None:
            continue
        if broke is None:
            yield f"{sample_text(sample)}: no exception, PyTorch {said(failed)}"
        elif type(broke).__name__ != type(failed).__name__:
            yield f"{sample_text(sample)}: {said(broke)}, PyTorch {said(failed)}"
        elif not (
            said(broke) == renamed(said(failed))
            or re.search(renamed(bad.error_regex), str(broke))
            or INSIDES.search(str(failed))
        ):
            yield f"{sample_text(sample)}: {said(broke)}, PyTorch {said(failed)}"
        else:
            yield ""


def sample_text(sample: Any) -> str:
    """A call, short."""

    def short(x: Any) -> str:
        if isinstance(x, torch.Tensor):
            return f"{dtype_name(x.dtype)}{list(x.shape)}"
        if isinstance(x, tuple | list):
            return "(" + ", ".join(map(short, x)) + ")"
        return repr(x)[:60]

    words = [short(sample.input), *map(short, sample.args)]
    return f"({', '.join(words + [f'{k}={short(v)}' for k, v in sample.kwargs.items()])})"


CHECKS: dict[str, Callable[[Entry], Iterator[str]]] = {
    "found": found,
    "forward": forward,
    "gradients": gradients,
    "second order": second_order,
    "forward mode": forward_mode,
    "vmap": vmapped,
    "errors": errors,
    "strides": strides,
    "other dtypes": other_dtypes,
}


@contextlib.contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raises `Slow` when the time is over."""

    def over(*_: Any) -> None:
        raise Slow(f"ran past {seconds} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def check(info: Any, column: str, samples: int = SAMPLES) -> tuple[int, list[str]]:
    """How many samples of an entry a column compared, and what was wrong."""
    wrong: list[str] = []
    tries = 0
    try:
        with limited(SECONDS), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the database's own
            for message in CHECKS[column](Entry(info, samples)):
                tries += 1
                if message:
                    wrong.append(message)
    except NotFound as missing:
        return max(tries, 1), [*wrong, str(missing)]
    except Slow:
        if not tries:
            return 1, ["no sample in time"]
    return tries, wrong
