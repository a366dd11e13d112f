"""What a test knows about one distribution: how to make it, which values it may take, and what it must refuse.

Invariant: a record names no library. What it makes comes from `D`, the `distributions` of either library, and
from `t`, which makes tensors there.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

# Gradients of gamma numbers by their shape: torch's come from polynomials that are good to three digits.
BY_POLYNOMIALS = (4e-3, 1e-3)
# Gradients of digammas: torch's trigamma is good to eight digits.
TRIGAMMA = {"float64": (1e-6, 1e-9)}


def column(*values: float) -> list:
    """Values that broadcast with batches of up to two dims."""
    return [[[value]] for value in values]


class Tensors:
    """Makes tensors of one library and type, and keeps those that are to have gradients."""

    def __init__(self, lib: Any, dtype: str) -> None:
        self.lib, self.dtype = lib, getattr(lib, dtype)
        self.leaves: list = []
        self.grads = True

    def __call__(self, values: Any, grad: bool = True) -> Any:
        """A parameter."""
        leaf = self.lib.tensor(values, dtype=self.dtype)
        if grad and self.grads:
            self.leaves.append(leaf.requires_grad_())
        return leaf

    def fixed_only(self) -> "Tensors":
        """The same, for tensors none of which has a gradient."""
        self.grads = False
        return self

    def fixed(self, values: Any) -> Any:
        """A tensor without gradient."""
        return self(values, grad=False)

    def whole(self, values: Any) -> Any:
        """Whole numbers."""
        return self.lib.tensor(values)


Make = Callable[[Any, Tensors], Any]


@dataclass(eq=False)
class Law:
    """One distribution.

    Args:
        name: the class.
        builds: ways to make it.
        values: samples that `log_prob` and `cdf` are asked about; they broadcast with every build.
        probs: probabilities that `icdf` is asked about.
        bad: ways to make it that are refused.
        outside: values that `log_prob` refuses.
        extra: further attributes and methods to be compared, as functions of the distribution.
        whole: whether values are integers.
        slopes: (rtol, atol) of the gradients of samples, where torch's are not exact; say why.
        tolerance: dtype -> (rtol, atol), where the common one is too tight; say why beside it.
        dtypes: the types it is run in.
        differs: template name -> reason, a deliberate difference from torch; that template leaves it out.
    """

    name: str
    builds: list[Make]
    values: list
    probs: list = field(default_factory=lambda: [0.1, 0.5, 0.8])
    bad: list[Make] = field(default_factory=list)
    outside: list = field(default_factory=list)
    extra: list[Callable[[Any], Any]] = field(default_factory=list)
    whole: bool = False
    slopes: tuple[float, float] | None = None
    tolerance: dict[str, tuple[float, float]] = field(default_factory=dict)
    dtypes: tuple[str, ...] = ("float32", "float64")
    differs: dict[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return self.name
