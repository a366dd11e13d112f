"""Ops on 10 floats: the cost of a call, not of arithmetic. Forward alone, then forward and backward."""

from benchmarks.rows import add

EXPRESSIONS = {
    "add": lambda lib, x, y: x + y,
    "mul": lambda lib, x, y: x * y,
    "div": lambda lib, x, y: x / y,
    "exp": lambda lib, x, y: x.exp(),
    "tanh": lambda lib, x, y: x.tanh(),
    "sum": lambda lib, x, y: x.sum(),
    "matmul": lambda lib, x, y: x @ y,
    "index_int": lambda lib, x, y: x[3],
    "index_slice": lambda lib, x, y: x[2:8],
    "view": lambda lib, x, y: x.view(2, 5),
    "add_scalar": lambda lib, x, y: x + 1.0,
    "softmax_by_hand": lambda lib, x, y: (x - x.max()).exp() / (x - x.max()).exp().sum(),
}


def operands(lib, requires_grad):
    """Make the two vectors of 10 floats; both stay away from zero, so that div is ordinary."""
    x = (lib.arange(10, dtype=lib.float32) / 10 + 0.5).requires_grad_(requires_grad)
    y = (2.0 - lib.arange(10, dtype=lib.float32) / 10).requires_grad_(requires_grad)
    return x, y


def forward(expression):
    """Prepare the forward alone, on tensors that record nothing."""

    def prepare(lib):
        x, y = operands(lib, False)
        return lambda: expression(lib, x, y)

    return prepare


def forward_backward(expression):
    """Prepare forward and backward with a gradient given, so that no extra sum is timed."""

    def prepare(lib):
        x, y = operands(lib, True)
        g = lib.ones_like(expression(lib, x, y)).detach()

        def run():
            x.grad = y.grad = None
            expression(lib, x, y).backward(g)

        return run

    return prepare


for _name, _expression in EXPRESSIONS.items():
    add("small", f"{_name} forward", forward(_expression), budget=1.0)
for _name, _expression in EXPRESSIONS.items():
    add("small", f"{_name} forward+backward", forward_backward(_expression), budget=1.0)
