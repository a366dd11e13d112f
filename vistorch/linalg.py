"""Linear algebra under PyTorch's names."""

from .engine.ops.linalg.checks import LinAlgError
from .engine.ops.linalg.contract import multi_dot, vecdot
from .engine.ops.linalg.determinant import det, slogdet
from .engine.ops.linalg.eigen import eig, eigh, eigvals, eigvalsh
from .engine.ops.linalg.exponential import cholesky_ex, inv_ex, matrix_exp, solve_ex
from .engine.ops.linalg.geometry import linalg_cross as cross
from .engine.ops.linalg.householder import householder_product
from .engine.ops.linalg.ldl import ldl_factor, ldl_factor_ex, ldl_solve
from .engine.ops.linalg.lu import lu, lu_factor, lu_factor_ex
from .engine.ops.linalg.norms import matrix_norm, norm, vector_norm
from .engine.ops.linalg.pinv_lstsq import cond, lstsq, matrix_rank, pinv
from .engine.ops.linalg.products import matmul
from .engine.ops.linalg.qr_svd import qr, svd, svdvals
from .engine.ops.linalg.solve import cholesky, inv, matrix_power, solve
from .engine.ops.linalg.solve_factored import lu_solve
from .engine.ops.linalg.triangular import diagonal, solve_triangular
from .engine.ops.linalg.vander import linalg_vander as vander
from .engine.ops.linalg.vander import tensorinv, tensorsolve

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]
