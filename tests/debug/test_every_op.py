"""Every op that has a gradient is shown by every tool: graph, steps, trace, recording, memory.

Invariant: what watches or explains a pass never ends it: a record fails where the pass does, and nowhere else.
"""

import io

import numpy as np
import pytest

from tests.ops.cases import gradient_dtypes, shape_variants
from tests.ops.gradients import forward
from tests.ops.library import L, attempt
from tests.ops.record import Op
from tests.ops.samples import for_each
from tests.ops.test_gradients import is_differentiable
from vistorch.debug import Record, Recording, Stepper, Timeline, Trace
from vistorch.debug.compare import compare
from vistorch.debug.graph import capture
from vistorch.debug.steps.build import record


def cases(op: Op, wide: bool = True):
    """Each sample in its dtypes, and with its tensors 0-d and empty; `wide`: in all of them, else in double alone."""
    for sample in op.samples:
        dtypes = gradient_dtypes(op, sample)
        yield from ((sample, d) for d in dtypes if wide or d in ("float64", "complex128"))
        yield from ((variant, "float64") for variant in shape_variants(op, sample))


def loss_of(op: Op, case, dtype):
    """A scalar of all that is recorded; None where nothing is."""
    made = attempt(forward, op, L, case, dtype).value
    outs = [] if made is None else [o for o in made.outs if o.requires_grad]
    return sum((o.real + o.imag if o.is_complex() else o).sum() for o in outs) if outs else None


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
            seen = (
                abs(complex(text)) if text.endswith("j") else float(text)
            )  # of complex ones it keeps absolute values
            assert seen == pytest.approx(float(entry), rel=1e-3, nan_ok=True), (numbers["text"], case)


@for_each("gradient", is_differentiable)
def test_what_has_a_gradient_is_written_down(op: Op) -> None:
    for case, dtype in cases(op):
        loss = loss_of(op, case, dtype)
        if loss is None:
            continue
        assert capture(loss).nodes, case
        stepper = Stepper(loss)
        made = record(stepper, budget=10**9)
        stepper.undo()
        ran = attempt(loss.backward)
        assert (made.failed is None) == (ran.error is None), (made.failed, ran.error, case)
        assert made.text()
        if ran.error is None:
            check_numbers(made, case)


@for_each("gradient", is_differentiable)
def test_what_has_a_gradient_is_recorded(op: Op) -> None:
    for case, dtype in cases(op, wide=False):
        plain = loss_of(op, case, dtype)
        if plain is None or attempt(plain.backward).error is not None:
            continue
        trace, run, memory = Trace(), Record("run"), Timeline()
        for tool in (trace, run, memory):
            with tool:
                loss = loss_of(op, case, dtype)
                loss.backward()
            assert repr(loss.item()) == repr(plain.item()), case
        file = io.BytesIO()
        run.recording().save(file)
        found = compare(run.recording(), Recording.load(file), rtol=0, atol=0)
        assert found.sentence.startswith("The runs agree"), (found.sentence, case)
        for record_ in (trace.record(), memory.record(), found):
            assert record_.text() and record_.wire(), case


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
