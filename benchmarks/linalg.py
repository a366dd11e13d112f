"""Matrix products and factorisations, in one thread."""

from benchmarks.rows import row

SIDE = 256


def well_conditioned(lib):
    """Make a symmetric positive definite matrix, so that every factorisation below exists."""
    x = lib.rand(SIDE, SIDE)
    return x @ x.transpose(0, 1) + SIDE * lib.eye(SIDE)


@row("linalg")
def matmul(lib):
    x, y = lib.rand(SIDE, SIDE), lib.rand(SIDE, SIDE)
    return lambda: x @ y


@row("linalg")
def matmul_batched(lib):
    x, y = lib.rand(64, 32, 32), lib.rand(64, 32, 32)
    return lambda: x @ y


@row("linalg")
def matmul_batched_small(lib):
    x, y = lib.rand(16, 16, 16), lib.rand(16, 16, 16)
    return lambda: x @ y


@row("linalg")
def matmul_forward_backward(lib):
    x, y = lib.rand(SIDE, SIDE, requires_grad=True), lib.rand(SIDE, SIDE, requires_grad=True)
    g = lib.ones(SIDE, SIDE)

    def run():
        x.grad = y.grad = None
        (x @ y).backward(g)

    return run


@row("linalg")
def einsum(lib):
    x, y = lib.rand(64, 32, 32), lib.rand(64, 32, 32)
    return lambda: lib.einsum("bij,bjk->bik", x, y)


@row("linalg")
def einsum_transposed(lib):
    x, y = lib.rand(8, 64, 32), lib.rand(8, 64, 32)
    return lambda: lib.einsum("bij,bkj->bik", x, y)


@row("linalg")
def einsum_small(lib):
    x, y = lib.rand(8, 8), lib.rand(8, 8)
    return lambda: lib.einsum("ij,jk->ik", x, y)


@row("linalg")
def solve(lib):
    a, b = well_conditioned(lib), lib.rand(SIDE, 4)
    return lambda: lib.linalg.solve(a, b)


@row("linalg")
def inv(lib):
    a = well_conditioned(lib)
    return lambda: lib.linalg.inv(a)


@row("linalg")
def cholesky(lib):
    a = well_conditioned(lib)
    return lambda: lib.linalg.cholesky(a)


@row("linalg")
def svd(lib):
    a = lib.rand(64, 64)
    return lambda: lib.linalg.svd(a)


@row("linalg")
def det(lib):
    a = well_conditioned(lib)
    return lambda: lib.linalg.det(a)


@row("linalg")
def lu_factor(lib):
    a = well_conditioned(lib)
    return lambda: lib.linalg.lu_factor(a)


@row("linalg")
def lu_factor_small(lib):
    a = lib.rand(8, 8) + lib.eye(8)
    return lambda: lib.linalg.lu_factor(a)


@row("linalg")
def qr(lib):
    a = lib.rand(2 * SIDE, SIDE)
    return lambda: lib.linalg.qr(a)


@row("linalg")
def solve_triangular(lib):
    a, b = lib.linalg.cholesky(well_conditioned(lib)), lib.rand(SIDE, 64)
    return lambda: lib.linalg.solve_triangular(a, b, upper=False)


@row("linalg")
def lstsq(lib):
    a, b = lib.rand(2 * SIDE, SIDE), lib.rand(2 * SIDE, 4)
    return lambda: lib.linalg.lstsq(a, b).solution


@row("linalg")
def matrix_exp(lib):
    a = lib.rand(SIDE, SIDE) / SIDE
    return lambda: lib.linalg.matrix_exp(a)
