"""What it costs to see a graph of the real PyTorch: lines while a step runs, the record of a graph, a walked pass.

Every row holds plain torch against torch that is looked at, in one process; torch's own anomaly mode and TorchLens
stand beside them in the family `recording`.
"""

from benchmarks import models
from benchmarks.graphs import clock
from benchmarks.rows import add

STEPS = 4


def _torch():
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    return torch


def lenet():
    torch = _torch()
    net, x = models.lenet(torch.nn), torch.randn(16, 3, 32, 32)
    y = torch.randint(0, 10, (16,))
    return net, lambda: torch.nn.functional.cross_entropy(net(x), y)


def resnet():
    torch = _torch()
    net, x = models.resnet18(torch.nn), torch.randn(2, 3, 32, 32)
    y = torch.randint(0, 10, (2,))
    return net, lambda: torch.nn.functional.cross_entropy(net(x), y)


def gpt():
    torch = _torch()
    net, x = models.gpt(torch), torch.randint(0, 256, (4, 65))
    loss = torch.nn.functional.cross_entropy
    return net, lambda: loss(net(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())


def lstm():
    torch = _torch()
    net, x = models.language_lstm(torch), torch.randint(0, 1000, (20, 8))
    loss = torch.nn.functional.cross_entropy

    def run():
        out = net(x)
        out = out[0] if isinstance(out, tuple) else out
        return loss(out.flatten(0, 1), x.flatten())

    return net, run


def perceptron():
    torch = _torch()
    nn = torch.nn
    net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))
    x, y = torch.randn(128, 64), torch.randint(0, 10, (128,))
    return net, lambda: torch.nn.functional.cross_entropy(net(x), y)


def steps(make):
    """A few steps of plain torch."""

    def prepare(lib):
        net, loss = make()

        def run():
            for _ in range(STEPS):
                net.zero_grad()
                loss().backward()

        return run

    return prepare


def noted(make):
    """The same while lines and modules are noted."""

    def prepare(lib):
        run = steps(make)(lib)
        from vistorch.torch_source.notes import Noting

        noting = Noting()

        def inside():
            with noting:
                run()

        return inside

    return prepare


def loaded(make):
    """The same where the extension's listeners would be, and no command has asked for torch."""

    def prepare(lib):
        import vistorch.magics  # noqa: F401

        return steps(make)(lib)

    return prepare


def captured(lib):
    """The record of a graph whose forward pass was noted."""
    net, make = resnet()
    from vistorch.debug.source import named
    from vistorch.torch_source.notes import Noting

    with Noting():
        loss = make()
    return lambda: len(named("torch").capture(loss, {"net": net, "loss": loss}).nodes)


def walked(lib):
    """A whole pass, node by node."""
    _, make = lenet()
    from vistorch.torch_source.stepper import TorchStepper

    return lambda: TorchStepper(make(), search=False).finish()


for _make in (perceptron, lenet, resnet, gpt, lstm):
    # three small layers take no longer than what is noted of them
    _budget = None if _make is perceptron else 1.15
    add(
        "torch_graphs",
        f"{_make.__name__}: lines and modules",
        noted(_make),
        base=steps(_make),
        budget=_budget,
    )
    add(
        "torch_graphs",
        f"{_make.__name__}: loaded, nothing asked",
        loaded(_make),
        base=steps(_make),
        budget=1.02,
    )
add("torch_graphs", "ResNet-18: capture (20 ms)", captured, base=clock(0.02), budget=10.0)
add("torch_graphs", "LeNet: a walked pass", walked, base=steps(lenet))
