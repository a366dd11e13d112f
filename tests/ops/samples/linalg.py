"""Records of linear algebra and Fourier transforms. Invariant: matrices of gradients are well conditioned."""

from dataclasses import replace
from typing import Any

import numpy as np

from tests.ops.record import COMPLEX, DTYPES, Lib, Op, S, X

v2, v3, v4 = X((2,)), X((3,)), X((4,))
m23, m32, m33, m22 = X((2, 3)), X((3, 2)), X((3, 3)), X((2, 2))
b23, b32 = X((2, 2, 3)), X((2, 3, 2))
x0 = X(())
# torch adds products into memory that several elements share; these forms are in tests/engine/ops/test_linalg.py
SHARED = {"in_place": "ours refuses memory that several elements share, before it looks at shapes"}
EMPTY = "torch's own sentences for empty and 0-d inputs here are about its kernels"


def calls(name: str, *argument_lists: tuple, **more: Any) -> Op:
    """A record from plain positional argument lists."""
    return Op(name, [S(*arguments) for arguments in argument_lists], **more)


def diagonally(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Random matrices with distinct large diagonals: far from singular, eigenvalues apart."""
    array = rng.uniform(-0.6, 0.6, shape)
    for i in range(min(shape[-2:], default=0)):
        array[..., i, i] += 2.0 + 1.5 * i
    return array


def positive(array: np.ndarray) -> np.ndarray:
    """A A^H + I of a made array."""
    if array.ndim < 2 or array.shape[-1] != array.shape[-2]:
        return array
    return array @ np.conj(np.swapaxes(array, -1, -2)) + np.eye(array.shape[-1], dtype=array.dtype)


# distinct: not to be expanded, which would make them singular
a33, a22, a233, a43, a34 = (
    X(shape, make=diagonally, distinct=True) for shape in ((3, 3), (2, 2), (2, 3, 3), (4, 3), (3, 4))
)
p33, p233 = replace(a33, finish=positive, hermitian=True), replace(a233, finish=positive, hermitian=True)

PRODUCTS = [
    calls("mm", (m23, m32), (m33, m33), (m23, m23), (v3, m33), (m23, v3), (X((2, 0)), X((0, 3)))),
    calls("bmm", (b23, b32), (b23, b23), (m23, m32), (b23, X((3, 3, 2)))),
    calls("mv", (m23, v3), (m23, v2), (v3, v3)),
    calls(
        "matmul",
        (m23, m32),
        (v3, v3),
        (m23, v3),
        (b23, b32),
        (b23, m32),
        (m23, b32),
        (b23, v3),
        (v2, b23),
        (X((2, 1, 2, 3)), b32),
        (v3, v4),
        (m23, m23),
        (x0, v3),
        (b23, X((3, 3, 2))),
    ),
    # torch's mm makes `out` a matrix on its way to a vector, and warns of it
    Op("matmul", [S(v2, m23)], tag="row", differs={"out": "ours is resized once"}),
    calls("dot", (v3, v3), (v3, v4), (m23, v3), (x0, x0)),
    calls("vdot", (v3, v3), (v3, v4), (m23, v3)),
    calls("inner", (v3, v3), (m23, m33), (x0, v3), (m23, m32), (b23, v3)),
    calls("outer", (v3, v2), (m23, v2)),
    calls("ger", (v3, v2)),
    Op(
        "addmm",
        [
            S(m22, m23, m32),
            S(v2, m23, m32, beta=0.5, alpha=2),
            S(x0, m23, m32),
            S(m22, m23, m32, beta=0),
            S(m33, m23, m32),
            S(m22, m23, m23),
        ],
        differs=SHARED,
    ),
    Op("addmv", [S(v2, m23, v3), S(v3, m23, v3), S(v2, m23, v2)], differs=SHARED),
    # torch gives an empty product a shape of its own choice
    Op("addmv", [S(x0, m23, v3, beta=0.5, alpha=2)], tag="number", differs=SHARED, variants=False),
    # of one kind only: torch's own gradient fails where real and complex vectors meet
    *(
        Op(
            "addr",
            [S(m23, v2, v3), S(x0, v2, v3, beta=0.5, alpha=2), S(m22, v2, v3)],
            tag=tag,
            only_dtypes=dtypes,
            differs=differs,
        )
        for tag, dtypes, differs in (
            ("", tuple(d for d in DTYPES if d not in COMPLEX), SHARED),
            ("complex", COMPLEX, {**SHARED, "method": "tried with real numbers only"}),
        )
    ),
    # torch makes `self` larger where the products are, and `out` without its warning
    Op(
        "addbmm",
        [S(m22, b23, b32), S(v2, b23, b32, beta=0.5, alpha=2), S(m33, b23, b32)],
        differs={**SHARED, "in_place_gradient": "ours keeps its shape", "out": "ours warns of a new shape"},
    ),
    Op(
        "baddbmm",
        [S(X((2, 2, 2)), b23, b32), S(v2, b23, b32, beta=0.5, alpha=2), S(X((2, 3, 3)), b23, b32)],
        differs=SHARED,
    ),
    Op(
        "einsum",
        [
            S("ij,jk->ik", m23, m32),
            S("ij,jk", m23, m32),
            S("ii", m33),
            S("ii->i", m33),
            S("ij->ji", m23),
            S("i,j->ij", v2, v3),
            S("bij,bjk->bik", b23, b32),
            S("...ij,...jk->...ik", b23, m32),
            S("ij->", m23),
            S("i,i,i->", v3, v3, v3),
            S("ij,ij->i", m23, m23),
            S("ij,kj->ik", (m23, m33)),
            S("b...->...", b23),
            S("ij,jk->il", m23, m32),
            S("ij,jk->ik", m23, m23),
            S("ijk->ik", m23),
            S("ij->ii", m23),
            S(m23, [0, 1], m32, [1, 2], [0, 2]),
            S("iJ, Jk -> ik", m23, m32),
        ],
    ),
    Op(
        "tensordot",
        [
            S(m23, m32, 1),
            S(m23, m23, 2),
            S(b23, b32, ([1, 2], [2, 1])),
            S(m23, v2, 0),
            S(m23, m32, ([0], [0])),
            S(m23, m32, dims=([0], [1])),
        ],
    ),
    calls("kron", (m22, m23), (v2, v3), (x0, m22)),
    # torch itself stumbles over its own view where a batch is transposed
    Op("kron", [S(b23, m22)], tag="batch", layouts=False),
    Op(
        "cross",
        [S(m33, m33), S(m23, m23, dim=1), S(v3, v3), S(m23, v3, dim=-1), S(m23, m23, dim=0), S(v4, v4)],
    ),
    Op("linalg.cross", [S(m33, m33), S(m23, m23), S(X((3, 2)), X((3, 2)), dim=0), S(m23, v3), S(v4, v4)]),
    Op(
        "cdist",
        [
            S(m23, X((4, 3), seed=1)),
            *(S(m23, X((4, 3), seed=1), p) for p in (1.0, 3.0, float("inf"))),
            S(m23, m32),
            S(b23, X((2, 4, 3), seed=1)),
        ],
    ),
    calls("chain_matmul", (m23, m32), (m23, m33, m32), (m23,)),
    Op(
        "linalg.multi_dot",
        [S([m23, m32]), S([m23, m33, m32, m22]), S([v2, m23, v3]), S([m23]), S([m23, m23])],
    ),
    calls("trace", (m33,), (m23,), (v3,)),
    Op("linalg.vecdot", [S(m23, m23), S(v3, m23), S(m23, m23, dim=0)]),
]


def norms(name: str, *orders: Any, tensors: tuple = (m23,), dims: tuple = (None,)) -> Op:
    """A norm by order and dim."""
    samples = [S(x) for x in tensors]
    samples += [S(x, order, dim) for x in tensors for order in orders for dim in dims]
    return Op(
        name,
        [*samples, S(tensors[0], dim=-1, keepdim=True), S(tensors[0], dtype=Lib("float64")).only("float")],
    )


inf = float("inf")
NORMS = [
    norms("linalg.norm", None, 2, 1, inf, -inf, tensors=(a34, v3), dims=(None, 0)),
    Op(
        "linalg.norm",
        [
            *(S(a34, order) for order in ("fro", "nuc", -2, -1, "foo", 3)),
            S(v3, 0),
            S(v3, -1),
            S(a233, "fro", (1, 2), True),
        ],
        tag="matrix",
    ),
    norms("linalg.vector_norm", 2, 1, 3, 0.5, 0, inf, -inf, -1, dims=(None, 0, (0, 1))),
    Op(
        "linalg.matrix_norm",
        [
            *(S(a34, order) for order in ("fro", "nuc", 1, -1, 2, -2, inf, -inf, "foo", 3)),
            S(a233, 2),
            S(a34, dim=(0, 0)),
            S(a233, "nuc", (-2, -1), True),
            S(v3),
        ],
    ),
    Op(
        "linalg.cond",
        # torch overwrites the inverse that its own gradient needs, for all orders but 2 and -2
        [
            S(a33),
            *(S(a33, p).forward_only() for p in (1, "fro", inf)),
            S(a33, 2),
            S(a33, -2),
            S(a34),
            S(a233),
        ],
    ),
]

singular = X(value=[[1.0, 2.0], [2.0, 4.0]])
indefinite = X(value=[[1.0, 2.0], [2.0, 1.0]])
SOLVE = [
    calls("linalg.det", (a33,), (a233,), (a22,), (m23,), (v3,)),
    calls("det", (a33,)),
    calls("linalg.slogdet", (a33,), (a233,), (m23,)),
    calls("slogdet", (a33,)),
    calls("logdet", (a33,), (a233,), (m23,)),
    calls("linalg.inv", (a33,), (a233,), (singular,), (m23,), (v3,)),
    calls("inverse", (a33,), (singular,)),
    Op(
        "linalg.solve",
        [
            S(a33, v3),
            S(a33, m32),
            S(a233, X((2, 3, 2))),
            S(a33, m23, left=False),
            S(singular, v2),
            S(a33, v4),
            S(m23, v2),
        ],
    ),
    Op(
        "linalg.solve_triangular",
        [
            S(a33, m32, upper=True).only("float", "complex"),
            S(a33, m32, upper=False).only("float", "complex"),
            S(a33, m23, upper=True, left=False).only("float", "complex"),
            S(a33, m32, upper=True, unitriangular=True).only("float", "complex"),
        ],
        differs={"mixed": "torch reads memory of the other type"},
    ),
    Op(
        "linalg.lstsq",
        [S(a43, X((4, 2))), S(a43, X((4, 2)), driver="gelsd"), S(a34, X((3, 2))), S(a43, X((3, 2)))],
        gauge=lambda L, out: out[0],
    ),
    Op(
        "linalg.cholesky",
        [S(p33), S(p233), S(p33, upper=True), S(indefinite), S(m23)],
        variants=False,
        layouts=False,
    ),
    calls("linalg.matrix_rank", (a33,), (a34,), (singular,), (a233,), (v3,)),
    Op(
        "linalg.matrix_rank",
        [S(singular, tol=10.0), S(p33, hermitian=True), S(a33, rtol=0.5)],
        tag="options",
        variants=False,
        layouts=False,
    ),
    Op(
        "linalg.pinv",
        [S(a33), S(a34), S(a43), S(a233), S(p33, hermitian=True), S(a33, rtol=0.1)],
        variants=False,
        layouts=False,
    ),
    Op(
        "linalg.matrix_power",
        [S(a33, 2), S(a33, 0).forward_only(), *(S(a33, n) for n in (-1, 3, 5)), S(m23, 2), S(a233, 3)],
    ),
    calls("linalg.diagonal", (m33,), (b23,)),
]


def absolute(L: Any, out: Any) -> Any:
    """Vectors up to a factor of modulus one, by their moduli."""
    return tuple(part.abs() for part in out)


def eigen(L: Any, out: Any) -> Any:
    """Eigenvalues in order of their real parts, and eigenvectors by their moduli in the same order."""
    values = out[0] if isinstance(out, tuple) else out
    order = values.detach().real.argsort(-1)
    if not isinstance(out, tuple):
        return values.gather(-1, order)
    index = order.unsqueeze(-2).expand(out[1].shape)
    return values.gather(-1, order), out[1].abs().gather(-1, index)


FACTORS = [
    Op(
        "linalg.qr",
        [S(a33), S(a43), S(a34), S(a43, "complete"), S(a43, mode="r"), S(a43, "foo"), S(v3)],
        gauge=absolute,
    ),
    Op(
        "linalg.svd",
        [S(a33, False), S(a43, False), S(a34, full_matrices=False), S(a233, False), S(v3)],
        gauge=absolute,
    ),
    Op(
        "linalg.svd",
        [S(a43).forward_only(), S(a34, full_matrices=True).forward_only()],
        gauge=lambda L, out: (out[1], [u.abs().shape for u in out]),
        tag="full",
    ),
    calls("linalg.svdvals", (a33,), (a43,), (a233,), (v3,)),
    Op(
        "linalg.eigh",
        [S(p33), S(p233), S(p33, "U"), S(p33, UPLO="L"), S(p33, "X"), S(m23)],
        gauge=absolute,
        variants=False,
        layouts=False,
    ),
    Op("linalg.eigvalsh", [S(p33), S(p233), S(p33, "U"), S(m23)], variants=False, layouts=False),
    Op("linalg.eig", [S(a33), S(a233), S(m23)], gauge=eigen),
    Op("linalg.eigvals", [S(a33), S(a233), S(m23)], gauge=eigen),
]

# Close to singular values that meet, float32 keeps fewer digits than the common tolerance asks for.
for op in [*NORMS, *SOLVE, *FACTORS]:
    op.strides = False
    op.tolerance = {"float32": (2e-4, 2e-5), "complex64": (2e-4, 2e-5)}

x5, x8, x45 = X((5,)), X((8,)), X((4, 5))


def transform(name: str, *tensors: X, twice: bool = False) -> Op:
    """A Fourier transform by n (or s), dim and norm."""
    size: Any = (lambda n: (n, n)) if twice else (lambda n: n)
    samples = [S(x) for x in tensors]
    samples += [S(tensors[0], size(n)) for n in (3, 6)]
    samples += [S(tensors[0], norm=norm) for norm in ("forward", "ortho", "backward", "foo")]
    samples += [
        S(x45, dim=(0, 1) if twice else 0),
        S(tensors[0], size(0)),
        S(x45, dim=(0, 0) if twice else 7),
    ]
    samples.append(S(X(())))
    # a conjugated transform is a lazy view in torch; empty batches are an error of the library behind torch
    lazy = {"sharing": "ours is no view"} if name in ("fft.ifft", "fft.ihfft") else {}
    return Op(name, samples, strides=False, variants=False, differs=lazy)


FFT = [
    *(transform(f"fft.{name}", x5, x8, x45) for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")),
    *(
        transform(f"fft.{name}", x45, X((2, 3, 4)), twice=True)
        for name in ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn")
    ),
    *(
        Op(f"fft.{name}", [S(x5), S(x45), S(x45, 0), S(x45, (0, 1)), S(x45, dim=-1)])
        for name in ("fftshift", "ifftshift")
    ),
    *(
        Op(f"fft.{name}", [S(5), S(6, 0.5), S(4, dtype=Lib("float64")), S(0)])
        for name in ("fftfreq", "rfftfreq")
    ),
]

OPS = [*PRODUCTS, *NORMS, *SOLVE, *FACTORS, *FFT]
