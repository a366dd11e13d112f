"""Every op that has a gradient is told of: its graph is captured, and its step is written down with right numbers.

Invariant: what explains a pass never ends it: a record fails where `backward()` does, and nowhere else.
"""

import numpy as np
import pytest

from tests.ops.cases import gradient_dtypes, shape_variants
from tests.ops.gradients import forward
from tests.ops.library import L, attempt
from tests.ops.record import Op
from tests.ops.samples import for_each
from tests.ops.test_gradients import is_differentiable
from vistorch.debug import Stepper
from vistorch.debug.graph import capture
from vistorch.debug.steps.build import record


def losses(op: Op):
    """A scalar of each sample, and of each with its tensors 0-d and empty, where the op records anything."""
    for sample in op.samples:
        cases = [(sample, dtypes) for dtypes in gradient_dtypes(op, sample)]
        for case, dtypes in [*cases, *((variant, "float64") for variant in shape_variants(op, sample))]:
            made = attempt(forward, op, L, case, dtypes).value
            outs = [] if made is None else [o for o in made.outs if o.requires_grad]
            if outs:
                yield sum((o.real + o.imag if o.is_complex() else o).sum() for o in outs), case


def check_numbers(made, case):
    """Each formula that is shown with numbers ends in an entry of what was sent."""
    for frame in made.frames:
        for flow in frame["outgoing"]:
            numbers, value = flow["numbers"], made.values[flow["gradient"]]
            if numbers is None or not value["exact"]:
                continue
            data = np.asarray(value["data"])
            entry = data[tuple(numbers["at"])] if numbers["at"] else data.reshape(-1)[0]
            text = numbers["text"].split(" = ")[-1].split(": ")[-1]
            told = (
                abs(complex(text)) if text.endswith("j") else float(text)
            )  # of complex ones it keeps absolute values
            assert told == pytest.approx(float(entry), rel=1e-3, nan_ok=True), (numbers["text"], case)


@for_each("gradient", is_differentiable)
def test_what_has_a_gradient_is_written_down(op: Op) -> None:
    for loss, case in losses(op):
        assert capture(loss).nodes, case
        stepper = Stepper(loss)
        made = record(stepper, budget=10**9)
        stepper.undo()
        ran = attempt(loss.backward)
        assert (made.failed is None) == (ran.error is None), (made.failed, ran.error, case)
        assert made.text()
        if ran.error is None:
            check_numbers(made, case)


def test_a_layer_on_a_batch_of_one():
    """The gradient of a bias has one dim less than what came, and no number of it is lost."""
    layer = L.nn.Linear(2, 3)
    made = record(Stepper(layer(L.ones(1, 2)).pow(2).sum(), names={layer.bias: "bias"}))
    frame = next(f for f in made.frames if made.nodes[f["node"]]["name"] == "AddmmBackward0")
    sent = {flow["input"]: flow for flow in frame["outgoing"]}["input"]
    entries = (2 * layer(L.ones(1, 2))[0]).tolist()
    at = max(range(3), key=lambda i: abs(entries[i]))
    assert made.failed is None
    assert sent["numbers"]["at"] == [at]
    assert sent["numbers"]["text"] == f"[{at}]: {entries[at]:.4g}"
