"""What a test knows about one module class: how to build it, and what to feed it.

Invariant: a record names no library; what must be made by one is an `Of`, made when a library is chosen.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.ops.record import Sample


@dataclass(frozen=True)
class Of:
    """An argument that the library makes: `Of(lambda L: L.nn.ReLU())`."""

    make: Callable[[Any], Any]

    def __repr__(self) -> str:
        return "Of(...)"


@dataclass(frozen=True)
class Build:
    """One way to build a module, and calls of it; `feed=None` where only its text and parameters matter.

    A `feed` is a Sample: the arguments of the call as `X` (see tests/ops/record.py).
    """

    args: tuple = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    feeds: tuple[Sample, ...] = ()

    def on(self, *feeds: Sample) -> "Build":
        """The same module, called like this."""
        return Build(self.args, self.kwargs, (*self.feeds, *feeds))

    def __repr__(self) -> str:
        return "(" + ", ".join([*map(repr, self.args), *(f"{k}={v!r}" for k, v in self.kwargs.items())]) + ")"


def B(*args: Any, **kwargs: Any) -> Build:
    """A build in the form of the constructor's call."""
    return Build(args, kwargs)


@dataclass(eq=False)
class Layer:
    """One module class.

    Args:
        name: the class in torch.nn.
        builds: ways to build it.
        bad: builds that raise in the constructor, or (with feeds) in the call.
        dtypes: the types it is run in.
        tolerance: dtype -> (rtol, atol), where the common one is too tight; say why beside it.
        differs: template name -> reason, a deliberate difference from torch; that template leaves it out.
        loose: (pattern, reason): torch sentences of which only the exception's type is compared.
        fill: called with (library, module) after building, before anything is run.
        flatten: the result of a call as tensors, where it is not a tensor or a nest of tuples, lists and dicts.
        grads: False where a call has no gradients.
        reference: for a class that torch.nn lacks, a function of torch that gives a class of torch modules, with the
            same constructor, that does what this one should do. Of exceptions it says only that there is one.
    """

    name: str
    builds: list[Build]
    bad: list[Build] = field(default_factory=list)
    dtypes: tuple[str, ...] = ("float32", "float64")
    tolerance: dict[str, tuple[float, float]] = field(default_factory=dict)
    differs: dict[str, str] = field(default_factory=dict)
    loose: tuple[tuple[str, str], ...] = ()
    fill: Callable[[Any, Any], None] | None = None
    flatten: Callable[[Any], Any] | None = None
    grads: bool = True
    reference: Callable[[Any], Callable[..., Any]] | None = None
