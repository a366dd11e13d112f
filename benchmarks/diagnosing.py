"""What a diagnosis costs: training steps while all rules look on, beside the same without, of vistorch and of torch.

A row is a run of many steps from the beginning of its diagnosis to its findings: the first steps are looked at closer
than those that follow, and what is found is said at the end.

Invariant: both sides of a row do the same work; those of torch hold torch against itself in the same process.
"""

from benchmarks import models
from benchmarks.rows import add
from benchmarks.training import images, step_of


def lenet(lib):
    """LeNet at batch 32."""
    model = models.lenet(lib.nn)
    return step_of(lib, model, lib.optim.SGD(model.parameters(), lr=0.001, momentum=0.9), *images(lib, 32))


def two_layers(lib):
    """The smallest network: two linear layers of 8, 16 and 2 units, and 32 samples."""
    nn = lib.nn
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
    sgd = lib.optim.SGD(model.parameters(), lr=0.01)
    return step_of(lib, model, sgd, lib.randn(32, 8), lib.randint(0, 2, (32,)))


def library_of(name):
    """PyTorch on one thread, as the rows of it are asked for in the process of another library, or vistorch."""
    if name == "torch":
        import torch

        torch.set_num_threads(1)
        return torch
    import vistorch

    return vistorch


def many(step, count):
    """A loop of so many steps."""

    def run():
        for _ in range(count):
            step()

    return run


def plain(make, count, name):
    """The loop alone."""
    return lambda lib: many(make(library_of(name)), count)


def diagnosed(make, count, name):
    """The loop under a diagnosis, whose findings are asked for."""

    def prepare(lib):
        from vistorch.debug.diagnose import Diagnosis

        step = make(library_of(name))

        def run():
            with Diagnosis() as diagnosis:
                many(step, count)()
            return diagnosis

        return run

    return prepare


for _name in ("vistorch", "torch"):
    for _label, _make, _count, _budget in (
        ("LeNet, batch 32, 100 steps", lenet, 100, 1.5),
        ("two small layers, 1,000 steps", two_layers, 1000, 3.0),
    ):
        add(
            "diagnosing",
            f"{_label}" + (" of torch" if _name == "torch" else ""),
            diagnosed(_make, _count, _name),
            base=plain(_make, _count, _name),
            budget=_budget if _name == "vistorch" else None,
        )
