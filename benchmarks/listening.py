"""What it costs to be listened to, and to be able to listen: vistorch against itself.

Invariant: both sides of a row do the same work and leave the same tensors behind.
"""

from itertools import repeat

from benchmarks.rows import add

TESTS = 1000


def tests(lib):
    """A thousand times what every op asks when it has run."""
    from vistorch.engine.base.events import listeners

    def run():
        for _ in repeat(None, TESTS):
            if (seen := listeners.op) is not None:
                seen()

    return run


def turns(lib):
    """The same loop without the question."""

    def run():
        for _ in repeat(None, TESTS):
            pass

    return run


def training_step(lib):
    """Two layers, 64 samples of 100 numbers to 32 to 10, and SGD by hand."""
    x = lib.randn(64, 100)
    target = lib.randn(64, 10)
    w1, b1 = (lib.randn(100, 32) * 0.1).requires_grad_(), lib.zeros(32, requires_grad=True)
    w2, b2 = (lib.randn(32, 10) * 0.1).requires_grad_(), lib.zeros(10, requires_grad=True)
    parameters = (w1, b1, w2, b2)

    def run():
        hidden = (x @ w1 + b1).tanh()
        loss = ((hidden @ w2 + b2 - target) ** 2).mean()
        loss.backward()
        with lib.no_grad():
            for p in parameters:
                p -= 0.01 * p.grad
                p.grad = None

    return run


def received(listener):
    """The same step while a listener listens."""

    def prepare(lib):
        step = training_step(lib)
        listeners = listener()

        def run():
            with listeners:
                step()

        return run

    return prepare


def lines():
    from vistorch.debug import Lines

    return Lines()


def lines_and_values():
    from vistorch.debug import Lines

    return Lines(values=True)


def nothing():
    from vistorch.engine.base.events import Listener

    class Deaf(Listener):
        """Gets every op and does nothing."""

        def op(self, rule, ins, consts, outs):
            pass

    return Deaf()


def chain(lib):
    """A scalar below 40 ops on 1000 floats, and the leaf."""
    x = lib.ones(1000, requires_grad=True)
    y = x
    for _ in range(20):
        y = (y * 1.01).tanh()
    return x, y.sum()


def plain_backward(lib):
    x, y = chain(lib)

    def run():
        x.grad = None
        y.backward(retain_graph=True)

    return run


def stepper(move):
    """A stepper made, moved and closed."""

    def prepare(lib):
        from vistorch.debug import Stepper

        x, y = chain(lib)

        def run():
            x.grad = None
            steps = Stepper(y, retain_graph=True)
            move(steps)
            steps.finish()

        return run

    return prepare


def there_and_back(steps):
    steps.last()
    steps.first()


def frame_by_frame(steps):
    while steps.step() is not None:
        pass


add("listening", f"{TESTS} tests of listeners.op", tests, base=turns)
add("listening", "training step, a listener that does nothing", received(nothing), base=training_step)
add("listening", "training step, lines", received(lines), base=training_step, budget=1.3)
add(
    "listening", "training step, lines and values", received(lines_and_values), base=training_step, budget=3.0
)
add("listening", "stepper to the end, without frames", stepper(lambda steps: None), base=plain_backward)
add("listening", "stepper to the end, a frame each", stepper(frame_by_frame), base=plain_backward)
add("listening", "stepper to the end, back, to the end", stepper(there_and_back), base=plain_backward)
