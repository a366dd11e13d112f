"""The check behind `gradcheck`: two Jacobians, one by backward and one by finite differences.

Jacobians are arrays of shape (elements of the input, elements of the output). A complex input z = x + iy has the row
d/dx + i d/dy, which is what backward computes; a complex output is checked as its real and its imaginary part.
Invariant: the inputs' memory is as it was when a check returns or raises.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.core.registry import FUNCTIONS
from ..engine.core.tensor import Tensor, wrap
from .run import grad

REENTRANT = (
    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times "
    "gives different values, although analytical gradient matches numerical gradient.The tolerance for "
    "nondeterminism was {}."
)
UNDEFINED = 'Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'


class GradcheckError(RuntimeError):
    """What `gradcheck` and `gradgradcheck` raise when a gradient is wrong.

    Example:
        >>> import vistorch
        >>> x = vistorch.ones(2, dtype=vistorch.float64, requires_grad=True)
        >>> try:
        ...     vistorch.autograd.gradcheck(lambda x: x.detach() * x, x)
        ... except vistorch.autograd.GradcheckError as error:
        ...     print(str(error).splitlines()[0])
        Jacobian mismatch for output 0 with respect to input 0,
    """


def as_tuple(value: Any) -> tuple:
    """A value, or a sequence of them, as a tuple."""
    return value if isinstance(value, tuple) else tuple(value) if isinstance(value, list) else (value,)


def differentiable(value: Any) -> tuple:
    """The tensors among the outputs that require grad."""
    return tuple([o for o in as_tuple(value) if isinstance(o, Tensor) and o.requires_grad])


def _host(d: Any) -> np.ndarray:
    """An array of any library as numpy's, in double precision."""
    d = d.get() if hasattr(d, "get") else np.asarray(d)
    return d.astype(np.complex128 if d.dtype.kind == "c" else np.float64)


class Check:
    """One gradcheck: the function, its inputs and the tolerances."""

    def __init__(
        self,
        func: Callable,
        inputs: tuple,
        eps: float,
        atol: float,
        rtol: float,
        nondet: float,
        types: bool,
        fast: bool,
    ) -> None:
        self.func, self.inputs, self.eps, self.atol, self.rtol = func, inputs, eps, atol, rtol
        self.nondet, self.types, self.fast = nondet, types, fast
        self.wanted = [t for t in inputs if isinstance(t, Tensor) and t.requires_grad]

    def run(self, undefined: bool) -> bool:
        """All checks, in PyTorch's order."""
        self._check_inputs()
        outs = as_tuple(self.func(*self.inputs))
        complex_ones = [i for i, o in enumerate(differentiable(outs)) if o._data.dtype.kind == "c"]
        if any(isinstance(o, Tensor) and o._data.dtype.kind == "c" for o in outs):
            for part, name in (("imag", "imaginary"), ("real", "real")):
                self._compare(self._part(part), complex_ones, name)
        else:
            self._compare(self.func, [], "")
        outs = differentiable(self.func(*self.inputs))
        if not outs:
            return True
        self._check_zero(outs)
        if undefined:
            self._check_undefined(len(outs))
        return True

    def _part(self, name: str) -> Callable:
        take = FUNCTIONS[name]

        def part(*args: Any) -> tuple:
            return tuple([take(o) if o._data.dtype.kind == "c" else o for o in as_tuple(self.func(*args))])

        return part

    def _check_inputs(self) -> None:
        for i, t in enumerate(self.inputs):
            if not (isinstance(t, Tensor) and t.requires_grad):
                continue
            if t._data.dtype not in (np.float64, np.complex128):
                warnings.warn(
                    f"Input #{i} requires gradient and is not a double precision floating point or complex. "
                    "This check will likely fail if all the inputs are not of double precision floating "
                    "point or complex. ",
                    UserWarning,
                    stacklevel=4,
                )
            if any(s == 0 and n > 1 for s, n in zip(t._data.strides, t._data.shape, strict=True)):
                raise RuntimeError(
                    f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                    "non-overlapping to be able to compute the numerical gradients correctly. You should call "
                    ".contiguous on the input before passing it to gradcheck."
                )
            t.retain_grad()
        if not self.wanted:
            raise ValueError(
                "gradcheck expects at least one input tensor to require gradient, but none of them have "
                "requires_grad=True."
            )

    # ---- the two Jacobians ------------------------------------------------------------------------------------
    def _compare(self, func: Callable, complex_ones: list, part: str) -> None:
        outs = [o for o in as_tuple(func(*self.inputs)) if isinstance(o, Tensor)]
        which = [i for i, o in enumerate(outs) if o.requires_grad]
        if self.fast and which and self._projections_agree(func, [outs[i] for i in which], which):
            return
        numerical = [self._numerical(func, t, outs) for t in self.wanted]
        if not which:
            if any(j.any() for per_input in numerical for j in per_input):
                raise GradcheckError("Numerical gradient for function expected to be zero")
            return
        for nr, i in enumerate(which):
            for k, a in enumerate(self._analytical(outs[i])):
                n = numerical[k][i]
                if not np.allclose(a, n, self.rtol, self.atol):
                    prefix = (
                        f"While considering the {part} part of complex outputs only, "
                        if nr in complex_ones
                        else ""
                    )
                    raise GradcheckError(
                        f"{prefix}Jacobian mismatch for output {nr} with respect to input {k},\n"
                        f"numerical:{self._shown(n, k, outs[i])}\nanalytical:{self._shown(a, k, outs[i])}\n"
                    )

    def _shown(self, jacobian: np.ndarray, k: int, out: Tensor) -> Tensor:
        dtype = np.result_type(self.wanted[k]._data.dtype, out._data.dtype)
        return wrap(jacobian.astype(dtype))

    def _at(self, func: Callable, outs: list) -> list:
        """The outputs' values as flat arrays of their own."""
        return [_host(o._data).ravel().copy() for o in as_tuple(func(*self.inputs)) if isinstance(o, Tensor)]

    def _numerical(self, func: Callable, t: Tensor, outs: list) -> list:
        """d(out)/d(t) for every output, by central differences."""
        d = t._data
        cells = list(np.ndindex(d.shape))
        kind = d.dtype.kind
        jacobians = [
            np.zeros((len(cells), o._data.size), np.complex128 if kind == "c" else np.float64) for o in outs
        ]
        for row, cell in enumerate(cells):
            for step, unit in ((self.eps, 1), (1j * self.eps, 1j)) if kind == "c" else ((self.eps, 1),):
                for j, slope in enumerate(self._slopes(func, d, cell, step, outs)):
                    jacobians[j][row] += slope * unit
        return jacobians

    def _slopes(self, func: Callable, d: Any, cell: Any, step: Any, outs: list) -> list:
        """Central differences of all outputs when `d[cell]` moves by `step`."""
        kept = d[cell].copy()
        try:
            d[cell] = kept - step
            low = self._at(func, outs)
            d[cell] = kept + step
            high = self._at(func, outs)
        finally:
            d[cell] = kept
        return [(b - a) / (2 * self.eps) for a, b in zip(low, high, strict=True)]

    def _analytical(self, out: Tensor) -> list:
        """d(out)/d(t) for every wanted input, by backward."""
        jacobians = [
            np.zeros(
                (t._data.size, out._data.size), np.complex128 if t._data.dtype.kind == "c" else np.float64
            )
            for t in self.wanted
        ]
        reentrant = True
        for col, cell in enumerate(np.ndindex(out._data.shape)):
            seed = out._place.xp.zeros(out._data.shape, out._data.dtype)
            seed[cell] = 1
            first, second = [self._vjp(out, seed) for _ in range(2)]
            for k, (g, again, t) in enumerate(zip(first, second, self.wanted, strict=True)):
                if g is None:
                    continue
                if self.types and g.dtype is not t.dtype:
                    raise GradcheckError("Gradient has dtype mismatch")
                jacobians[k][:, col] = _host(g._data).ravel()
                if np.abs(_host(again._data) - _host(g._data)).max(initial=0.0) > self.nondet:
                    reentrant = False
        if not reentrant:
            raise GradcheckError(REENTRANT.format(self.nondet))
        return jacobians

    def _vjp(self, out: Tensor, seed: Any) -> tuple:
        return grad(out, self.wanted, wrap(seed, out._place), retain_graph=True, allow_unused=True)

    # ---- fast mode: v . J u for random u and v -----------------------------------------------------------------
    def _projections_agree(self, func: Callable, outs: list, which: list) -> bool:
        noise = np.random.default_rng(0)
        for k, t in enumerate(self.wanted):
            u = self._direction(t, noise)
            values = self._slopes(func, t._data, ..., t._place.xp.asarray(u * self.eps), outs)
            for o, i in zip(outs, which, strict=True):
                v = self._direction(o, noise)
                (g,) = [self._vjp(o, o._place.xp.asarray(v))[k]]
                a = 0.0 if g is None else float((_host(g._data).conj() * u).real.sum())
                n = float((v.ravel() * values[i]).real.sum())
                if not np.allclose(a, n, self.rtol, self.atol):
                    return False
        return True

    def _direction(self, t: Tensor, noise: Any) -> np.ndarray:
        v = noise.standard_normal(t._data.shape)
        if t._data.dtype.kind == "c":
            v = v + 1j * noise.standard_normal(t._data.shape)
        v = v / (np.sqrt((np.abs(v) ** 2).sum()) or 1.0)
        return np.asarray(v, t._data.dtype)

    # ---- zero in, zero out -------------------------------------------------------------------------------------
    def _check_zero(self, outs: tuple) -> None:
        zeros = [wrap(o._place.xp.zeros_like(o._data), o._place) for o in outs]
        for g, t in zip(grad(outs, self.wanted, zeros, allow_unused=True), self.wanted, strict=True):
            if g is None:
                continue
            if (_host(g._data) != 0).any():
                raise GradcheckError("backward not multiplied by grad_output")
            if g.dtype is not t.dtype:
                raise GradcheckError("grad is incorrect type")

    def _check_undefined(self, count: int) -> None:
        """Leave out one output at a time: its gradient is then undefined, and must count as zero."""
        for left_out in range(count if count > 1 else 0):
            outs = differentiable(self.func(*self.inputs))
            rest = [o for i, o in enumerate(outs) if i != left_out]
            zeros = [wrap(o._place.xp.zeros_like(o._data), o._place) for o in rest]
            try:
                found = grad(rest, self.wanted, zeros, allow_unused=True)
            except RuntimeError as exc:
                raise GradcheckError(
                    f"Expected backward function to handle undefined output grads. {UNDEFINED}"
                ) from exc
            if any(g is not None and (_host(g._data) != 0).any() for g in found):
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are undefined or zero. "
                    + UNDEFINED
                )
