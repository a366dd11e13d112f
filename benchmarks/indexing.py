"""Reading and writing by index: slices, integer arrays, masks."""

from benchmarks.rows import row

SIDE = 1000


def scattered(lib):
    """Make 1000 scattered row numbers without a random generator, so that both libraries read the same."""
    return (lib.arange(SIDE) * 389) % SIDE


@row("indexing")
def read_column(lib):
    x = lib.rand(SIDE, SIDE)
    return lambda: x[:, 3]


@row("indexing")
def read_steps(lib):
    x = lib.rand(SIDE, SIDE)
    return lambda: x[::2, 1::3].contiguous()


@row("indexing")
def read_rows_by_integers(lib):
    x, rows = lib.rand(SIDE, SIDE), scattered(lib)
    return lambda: x[rows]


@row("indexing")
def read_by_mask(lib):
    x = lib.rand(SIDE, SIDE)
    mask = x > 0.5
    return lambda: x[mask]


@row("indexing")
def gather(lib):
    x = lib.rand(SIDE, SIDE)
    columns = scattered(lib).unsqueeze(1)
    return lambda: x.gather(1, columns)


@row("indexing")
def write_slice(lib):
    x, values = lib.rand(SIDE, SIDE), lib.rand(SIDE)

    def run():
        x[:, 3] = values

    return run


@row("indexing")
def write_by_mask(lib):
    x = lib.rand(SIDE, SIDE)
    mask = x > 0.5

    def run():
        x[mask] = 0.0

    return run


@row("indexing")
def embedding_forward_backward(lib):
    x, rows = lib.rand(SIDE, 64, requires_grad=True), scattered(lib)
    g = lib.ones(SIDE, 64)

    def run():
        x.grad = None
        x[rows].backward(g)

    return run
