"""Names that PyTorch took away: each says what came in its place, in PyTorch's words.

Invariant: nothing here computes.
"""

from __future__ import annotations

from typing import Any

from ...core.registry import expose
from ...library_name import named

_GONE = "This function was deprecated since version 1.9 and is now removed."
_SENTENCES = {
    "symeig": """ The default behavior has changed from using the upper triangular portion of the matrix by \
default to using the lower triangular portion.

L, _ = torch.symeig(A, upper=upper) should be replaced with:
L = torch.linalg.eigvalsh(A, UPLO='U' if upper else 'L')

and

L, V = torch.symeig(A, eigenvectors=True) should be replaced with:
L, V = torch.linalg.eigh(A, UPLO='U' if upper else 'L')""",
    "eig": """ `torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble` rather than real tensors \
mimicking complex tensors.

L, _ = torch.eig(A) should be replaced with:
L_complex = torch.linalg.eigvals(A)

and

L, V = torch.eig(A, eigenvectors=True) should be replaced with:
L_complex, V_complex = torch.linalg.eig(A)""",
    "lstsq": """ `torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`.
`torch.linalg.lstsq` has reversed arguments and does not return the QR decomposition in the returned tuple (although \
it returns other information about the problem).

To get the QR decomposition consider using `torch.linalg.qr`.

The returned solution in `torch.lstsq` stored the residuals of the solution in the last m - n columns of the returned \
value whenever m > n. In torch.linalg.lstsq, the residuals are in the field 'residuals' of the returned named tuple.

The unpacking of the solution, as in
X, _ = torch.lstsq(B, A).solution[:A.size(1)]
should be replaced with:
X = torch.linalg.lstsq(A, B).solution""",
    "solve": """ `torch.solve` is deprecated in favor of `torch.linalg.solve`. `torch.linalg.solve` has its arguments \
reversed and does not return the LU factorization.

To get the LU factorization see `torch.lu`, which can be used with `torch.lu_solve` or `torch.lu_unpack`.
X = torch.solve(B, A).solution should be replaced with:
X = torch.linalg.solve(A, B)""",
    "matrix_rank": """
Please use the `torch.linalg.matrix_rank` function instead. The parameter 'symmetric' was renamed in \
`torch.linalg.matrix_rank()` to 'hermitian'.""",
}


# The ellipsis stands for what to use instead.
_DOC = """Removed; raises a RuntimeError that says what to use.

Example:
    >>> import vistorch
    >>> vistorch.{name}(vistorch.ones(2, 2))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    RuntimeError: {begins}...
"""


def _removed(name: str, sentence: str) -> Any:
    def call(input: Any, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(named(sentence))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = _DOC.format(name=name, begins=_GONE[:-1])
    return call


for _name, _sentence in _SENTENCES.items():
    expose(_removed(_name, (_GONE + _sentence).replace("torch.", "vistorch.")), method=_name != "matrix_rank")
