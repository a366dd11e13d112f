"""The CUDA C++ of the project's own kernels, as rows of text: no cupy here, so they compile without it.

Invariant: a row computes in float (double for double): half and bfloat16 are widened before all arithmetic.
"""

from typing import NamedTuple


class Elementwise(NamedTuple):
    """One fused kernel over the elements of an array: `T x` in, `T y` out, and scalars given as doubles.

    Slots:
        scalars: the names of the scalar arguments after x.
        operation: statements that read `v`, the widened x, and set `r`, the result in the wide type `A`.
    """

    scalars: tuple[str, ...]
    operation: str

    @property
    def inputs(self) -> str:
        """The parameters in cupy's notation."""
        return ", ".join(["T x", *(f"float64 {name}" for name in self.scalars)])

    @property
    def body(self) -> str:
        """The whole loop body: widen, compute, narrow."""
        wide = "typedef typename widened<T>::type A; const A v = A(x); A r; "
        return f"{wide}{self.operation} y = T(r);"


# Everything but double is computed in float: half and bfloat16 convert to it, and PyTorch does the same.
PREAMBLE = """
template <typename T> struct widened { typedef float type; };
template <> struct widened<double> { typedef double type; };
"""

ELEMENTWISE = {
    # One exponential of a negative number: no overflow on either side, and NaN goes through both branches.
    "sigmoid": Elementwise(
        (), "const A e = exp(-fabs(v)); r = v < A(0) ? e / (A(1) + e) : A(1) / (A(1) + e);"
    ),
    "log_sigmoid": Elementwise((), "r = (v < A(0) ? v : A(0)) - log1p(exp(-fabs(v)));"),
    "softplus": Elementwise(
        ("beta", "threshold"),
        "const A b = A(beta); r = v * b > A(threshold) ? v : log1p(exp(v * b)) / b;",
    ),
    "silu": Elementwise((), "r = v / (A(1) + exp(-v));"),
    "mish": Elementwise((), "r = v * tanh((v > A(0) ? v : A(0)) + log1p(exp(-fabs(v))));"),
    "gelu": Elementwise((), "r = A(0.5) * v * (A(1) + erf(v * A(0.70710678118654752440)));"),
    "gelu_tanh": Elementwise(
        (),
        "r = A(0.5) * v * (A(1) + tanh(A(0.79788456080286535588) * (v + A(0.044715) * v * v * v)));",
    ),
}
