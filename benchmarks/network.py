"""One training step of the two-layer network 64 x 1000 x 100 x 10, by tensors and autograd alone."""

from benchmarks.rows import row

BATCH, INPUTS, HIDDEN, OUTPUTS = 64, 1000, 100, 10
RATE = 1e-6


@row("network", budget=1.0, memory=True)
def two_layer_step(lib):
    x = lib.randn(BATCH, INPUTS)
    y = lib.randn(BATCH, OUTPUTS)
    w1 = lib.randn(INPUTS, HIDDEN, requires_grad=True)
    w2 = lib.randn(HIDDEN, OUTPUTS, requires_grad=True)

    def step():
        y_pred = x.mm(w1).clamp(min=0).mm(w2)
        loss = (y_pred - y).pow(2).sum()
        loss.backward()
        with lib.no_grad():
            w1.sub_(RATE * w1.grad)
            w2.sub_(RATE * w2.grad)
            w1.grad = None
            w2.grad = None

    return step


@row("network")
def two_layer_forward(lib):
    x = lib.randn(BATCH, INPUTS)
    w1 = lib.randn(INPUTS, HIDDEN)
    w2 = lib.randn(HIDDEN, OUTPUTS)
    return lambda: x.mm(w1).clamp(min=0).mm(w2)
