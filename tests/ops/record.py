"""What a test knows about one op: a record with samples, from which every template draws its cases.

Invariant: a record names no library; tensors are described (`X`, numpy arrays, `Lib`) and built later.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8")
DTYPES = (*FLOATS, *COMPLEX, *INTEGERS, "bool")


def kind_of(dtype: str) -> str:
    """One of float, complex, int, bool."""
    if dtype in FLOATS:
        return "float"
    return "complex" if dtype in COMPLEX else "bool" if dtype == "bool" else "int"


@dataclass(frozen=True, eq=False)
class X:
    """A tensor argument whose values are made in the dtype under test.

    `low` and `high` are the domain; `avoid` keeps values 0.1 away from the given points ("integers" and
    "halves" for all of them); `distinct` spreads them evenly so that no two tie; `value` gives them outright;
    `make(rng, shape)` makes them (float64; the imaginary part of a complex tensor is a second call); `finish`
    changes the made array; `dtype` pins the dtype; `seed` makes another draw;
    `hermitian` keeps the steps of finite differences hermitian.
    """

    shape: tuple[int, ...] = ()
    low: float = -2.0
    high: float = 2.0
    avoid: Any = ()
    distinct: bool = False
    grad: bool = True
    value: Any = None
    make: Callable[[np.random.Generator, tuple[int, ...]], np.ndarray] | None = None
    finish: Callable[[np.ndarray], np.ndarray] | None = None
    dtype: str | None = None
    seed: int = 0
    hermitian: bool = False

    def data(self, dtype: str, seed: int) -> np.ndarray:
        """The values as float64, complex128, int64 or bool, whichever is the wide form of the dtype; read-only."""
        dtype = self.dtype or dtype
        return made(self, kind_of(dtype), dtype == "uint8", seed + 104729 * self.seed)

    def reals(self, rng: np.random.Generator) -> np.ndarray:
        """Float64 values of the domain."""
        if self.make is not None:
            return np.asarray(self.make(rng, self.shape), dtype=np.float64)
        count = int(np.prod(self.shape))
        if self.distinct:
            step = (self.high - self.low) / (count + 1)
            flat = self.low + step * (rng.permutation(count) + 1 + 0.25 * rng.random(count))
        else:
            flat = rng.uniform(self.low, self.high, count)
        for point in (
            self.avoid if isinstance(self.avoid, Sequence) and not isinstance(self.avoid, str) else ()
        ):
            flat = np.where(np.abs(flat - point) < 0.1, np.where(flat < point, flat - 0.1, flat + 0.1), flat)
        if self.avoid in ("integers", "halves"):
            offset = 0.5 if self.avoid == "halves" else 0.0
            fraction = flat - offset - np.floor(flat - offset)
            flat = flat - fraction + 0.1 + 0.8 * fraction
        return flat.reshape(self.shape)

    def integers(self, rng: np.random.Generator, unsigned: bool) -> np.ndarray:
        """Small integers of the domain."""
        count = int(np.prod(self.shape))
        low = int(np.ceil(self.low))
        low = max(low, 0) if unsigned else low
        if self.make is not None:
            return np.asarray(np.clip(np.round(self.make(rng, self.shape)), low, None), dtype=np.int64)
        if self.distinct:
            return (low + rng.permutation(count)).reshape(self.shape).astype(np.int64)
        return rng.integers(low, max(int(np.floor(self.high)), low + 2) + 1, self.shape, dtype=np.int64)

    def __repr__(self) -> str:
        if self.value is not None:
            return f"X({np.asarray(self.value).tolist()})"
        return f"X{self.shape}" + (f":{self.dtype}" if self.dtype else "")


@lru_cache(4096)  # both libraries, and one template after the other, ask for the same
def made(x: X, kind: str, unsigned: bool, seed: int) -> np.ndarray:
    """The values of an `X`, of one kind of dtype."""
    rng = np.random.default_rng(seed)
    if x.value is not None:
        array = np.array(x.value, {"float": float, "complex": complex, "int": np.int64, "bool": bool}[kind])
    else:
        if kind == "bool":
            array = rng.random(x.shape) < 0.5
        elif kind == "int":
            array = x.integers(rng, unsigned)
        else:
            array = x.reals(rng)
            if kind == "complex":
                array = array + 1j * x.reals(rng)
        array = np.asarray(array if x.finish is None else x.finish(array))
    array.setflags(write=False)
    return array


@dataclass(frozen=True)
class Lib:
    """A name of the library: `Lib("float32")` becomes `L.float32`."""

    name: str

    def __repr__(self) -> str:
        return f"L.{self.name}"


@dataclass(frozen=True, eq=False)
class Sample:
    """One call: positional and named arguments, and what it is good for."""

    args: tuple
    kwargs: dict[str, Any] = field(default_factory=dict)
    kinds: tuple[str, ...] | None = None
    grad: bool = True
    smooth: bool = True

    def only(self, *kinds: str) -> "Sample":
        """For these kinds of dtype only."""
        return replace(self, kinds=kinds)

    def forward_only(self) -> "Sample":
        """Not for gradients: ties, poles, values that are not numbers."""
        return replace(self, grad=False)

    def kink(self) -> "Sample":
        """For gradients against torch, not against finite differences: ties, kinks, what torch defines."""
        return replace(self, smooth=False)

    def xs(self) -> list[X]:
        """The `X` of the call in order."""
        return list(walk((self.args, self.kwargs)))

    def map(self, change: Callable[[X], X]) -> "Sample":
        """The same call with every `X` changed."""
        return replace(self, args=swap(self.args, change), kwargs=swap(self.kwargs, change))

    def __repr__(self) -> str:
        return "(" + ", ".join([*map(repr, self.args), *(f"{k}={v!r}" for k, v in self.kwargs.items())]) + ")"


def S(*args: Any, **kwargs: Any) -> Sample:
    """A sample in the form of the call."""
    return Sample(args, kwargs)


def walk(item: Any) -> Iterator[X]:
    """The `X` inside nested tuples, lists and dicts."""
    if isinstance(item, X):
        yield item
    elif isinstance(item, dict):
        yield from walk(tuple(item.values()))
    elif isinstance(item, tuple | list):
        for part in item:
            yield from walk(part)


def swap(item: Any, change: Callable[[X], Any]) -> Any:
    """A copy of nested arguments with every `X` replaced."""
    if isinstance(item, X):
        return change(item)
    if isinstance(item, dict):
        return {key: swap(part, change) for key, part in item.items()}
    if isinstance(item, tuple | list):
        return type(item)(swap(part, change) for part in item)
    return item


@dataclass(eq=False)
class Op:
    """One op.

    Args:
        name: torch's function name ("add", "linalg.qr"), or "Tensor.foo" if only a method or attribute.
        samples: the calls; the first one must be good for floating point.
        fn: `fn(L, *args, **kwargs)` where a plain call will not do.
        gauge: `gauge(L, out)` turns a result that is only defined up to a factor into one that is unique.
        tolerance: dtype -> (rtol, atol), where the common one is too tight; say why beside it.
        loose: (pattern, reason): torch sentences of which only the exception type is compared.
        differs: template name -> reason, a deliberate difference from torch; that template leaves it out.
        skip_dtypes: dtype -> reason.
        only_dtypes: where a record is about one dtype (float64 for most of linear algebra is not a reason).
        values: False where values are undefined (`empty`) or random.
        strides: False where torch promises no memory layout.
        variants: False where shapes cannot be replaced by 0-d and empty ones.
        layouts: False where memory layout is the sample's own matter.
        grad_fn: False where the name is not torch's on purpose.
        reference: for an op that torch lacks, a function of torch tensors, with the op's own argument names, that
            gives what the op should give. Every template runs against it; of exceptions it says only that there is one.
    """

    name: str
    samples: list[Sample]
    fn: Callable[..., Any] | None = None
    gauge: Callable[[Any, Any], Any] | None = None
    tolerance: dict[str, tuple[float, float]] = field(default_factory=dict)
    loose: tuple[tuple[str, str], ...] = ()
    differs: dict[str, str] = field(default_factory=dict)
    skip_dtypes: dict[str, str] = field(default_factory=dict)
    only_dtypes: tuple[str, ...] | None = None
    values: bool = True
    strides: bool = True
    variants: bool = True
    layouts: bool = True
    grad_fn: bool = True
    reference: Callable[..., Any] | None = None
    tag: str = ""

    def __post_init__(self) -> None:
        """A reference says nothing of torch's memory layout, nor of the name of a node."""
        if self.reference is not None:
            self.strides = self.grad_fn = False

    @property
    def id(self) -> str:
        """The name in pytest's list."""
        return self.name + (f"[{self.tag}]" if self.tag else "")

    @property
    def base(self) -> str:
        """The last part of the name: the method's name."""
        return self.name.rpartition(".")[2]

    def is_loose(self, sentence: str) -> bool:
        """Whether this torch sentence is compared by type only."""
        return any(re.search(pattern, sentence) for pattern, _ in self.loose)


def unary(
    name: str, low: float = -2.0, high: float = 2.0, avoid: Any = (), special: bool = True, **more: Any
) -> Op:
    """A pointwise function of one tensor."""
    x = X((2, 3), low, high, avoid)
    samples = [S(x), S(replace(x, shape=(5,)))]
    if special:
        odd = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -2.5, 100.0, -100.0, np.inf, -np.inf, np.nan]
        samples.append(S(X(value=odd)).only("float").forward_only())
    return Op(name, samples, **more)


def binary(
    name: str,
    first: tuple = (-2.0, 2.0),
    second: tuple | None = None,
    avoid: Any = (),
    scalars: Sequence[Any] = (2, 1.5),
    special: bool = True,
    reflected: Sequence[Any] = (),
    more_samples: Sequence[Sample] = (),
    **more: Any,
) -> Op:
    """A pointwise function of two tensors, with broadcasting and Python scalars on either side."""
    second = first if second is None else second
    a, b = X((2, 3), *first, avoid=avoid), X((2, 3), *second, avoid=avoid)
    shapes = [
        ((2, 3), (2, 3)),
        ((2, 3), (3,)),
        ((2, 1), (1, 3)),
        ((3,), ()),
        ((), (2, 2)),
        ((1,), (2,)),
        ((2, 3), (2,)),
    ]
    samples = [S(replace(a, shape=p), replace(b, shape=q)) for p, q in shapes]
    samples += [S(a, scalar) for scalar in scalars]
    samples += [*(S(scalar, b) for scalar in reflected), *more_samples]
    if special:
        odd = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, np.inf, -np.inf, np.nan]
        grid = np.meshgrid(odd, odd)
        samples.append(S(X(value=grid[0].ravel()), X(value=grid[1].ravel())).only("float").forward_only())
    return Op(name, samples, **more)


def compare_op(name: str, **more: Any) -> Op:
    """A comparison of two tensors: integers of a small range so that equal pairs occur."""
    op = binary(name, scalars=(1, 0.5, True), **more)
    op.samples.append(S(X(value=[0.0, 1.0, 1.0, 2.0]), X(value=[0.0, 1.0, 2.0, 1.0])).forward_only())
    return op


def reduction(
    name: str, distinct: bool = False, dims: str = "many", more_samples: Sequence[Sample] = (), **more: Any
) -> Op:
    """A reduction: over all, one, several dims (`dims="many"`), kept or not, and a dim that is not there."""
    domain = {key: more.pop(key) for key in ("low", "high", "avoid") if key in more}
    x, y, v = (X(shape, distinct=distinct, **domain) for shape in ((2, 3), (2, 3, 2), (4,)))
    samples = [
        S(x),
        S(v),
        S(x, 1),
        S(x, dim=0, keepdim=True),
        S(y, -2),
        S(v, 0),
        S(x, 2),
        S(y, dim=-4),
        S(X(()), 0),
    ]
    if dims == "many":
        samples += [S(y, (0, 2)), S(y, dim=(1, -1), keepdim=True), S(y, [1]), S(x, (0, 0)), S(y, ())]
    return Op(name, [*samples, *more_samples], **more)
