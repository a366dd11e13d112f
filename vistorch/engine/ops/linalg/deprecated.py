"""What PyTorch says once about the older forms of linear algebra. Invariant: once a process, as there."""

import warnings

from ...library_name import named

_SOON = " and will be removed in a future PyTorch release.\n"
SAID = {
    "cholesky": "vistorch.cholesky is deprecated in favor of vistorch.linalg.cholesky"
    + _SOON
    + "L = vistorch.cholesky(A)\n"
    "should be replaced with\nL = vistorch.linalg.cholesky(A)\nand\nU = vistorch.cholesky(A, upper=True)\n"
    "should be replaced with\nU = vistorch.linalg.cholesky(A).mH\n"
    "This transform will produce equivalent results for all valid (symmetric positive definite) inputs.",
    "qr": "vistorch.qr is deprecated in favor of vistorch.linalg.qr"
    + _SOON
    + "The boolean parameter 'some' has been "
    "replaced with a string parameter 'mode'.\nQ, R = vistorch.qr(A, some)\nshould be replaced with\n"
    "Q, R = vistorch.linalg.qr(A, 'reduced' if some else 'complete')",
    "lu": "vistorch.lu is deprecated in favor of vistorch.linalg.lu_factor / vistorch.linalg.lu_factor_ex"
    + _SOON
    + "LU, pivots = vistorch.lu(A, compute_pivots)\nshould be replaced with\n"
    "LU, pivots = vistorch.linalg.lu_factor(A, compute_pivots)\nand\n"
    "LU, pivots, info = vistorch.lu(A, compute_pivots, get_infos=True)\nshould be replaced with\n"
    "LU, pivots, info = vistorch.linalg.lu_factor_ex(A, compute_pivots)",
    "lu_solve": "vistorch.lu_solve is deprecated in favor of vistorch.linalg.lu_solveand will be removed in a future "
    "PyTorch release.\nNote that vistorch.linalg.lu_solve has its arguments reversed.\n"
    "X = vistorch.lu_solve(B, LU, pivots)\nshould be replaced with\nX = vistorch.linalg.lu_solve(LU, pivots, B)",
    "triangular_solve": "vistorch.triangular_solve is deprecated in favor of vistorch.linalg.solve_triangularand will "
    "be removed in a future PyTorch release.\nvistorch.linalg.solve_triangular has its arguments reversed and does not "
    "return a copy of one of the inputs.\nX = vistorch.triangular_solve(B, A).solution\nshould be replaced with\n"
    "X = vistorch.linalg.solve_triangular(A, B).",
}
_warned: set[str] = set()


def warn_once(name: str) -> None:
    """Warn of an older form, the first time it is called."""
    if name not in _warned:
        _warned.add(name)
        warnings.warn(named(SAID[name]), UserWarning, stacklevel=3)
