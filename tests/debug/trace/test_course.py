"""A run that diverges: the loss grew before, and the op that overflows has no cure."""

import pytest

import vistorch as L
from tests.debug.trace.cells import traced
from vistorch.widgets.trace.picture import paint

RUN = """torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr={lr})
x, y = torch.randn(16, 4), torch.randn(16, 1)
losses = [] if 'losses' not in globals() else losses
for step in range(40):
    opt.zero_grad()
    {loss}
    losses.append(loss.item())
    loss.backward()
    opt.step()
"""


def ran(loss, lr=1.0):
    losses = []
    return traced(RUN.format(lr=lr, loss=loss), losses=losses), losses


@pytest.mark.parametrize(
    ("loss", "lr"),
    [
        ("loss = torch.nn.functional.mse_loss(net(x), y)", 5.0),
        ("loss = ((net(x) - y) ** 2).sum()", 0.5),
        ("loss = (net(1000 * x) - y).pow(2).mean()", 0.1),
        ("loss = (net(x) - y).abs().exp().mean()", 1.0),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_divergence_is_reported_and_the_op_is_not_to_blame(loss, lr):
    record, losses = ran(loss, lr)
    finite = [value for value in losses if abs(value) < float("inf")]
    assert record.cure.startswith("values grow beyond the type's range: lower the learning rate")
    least = min(finite)
    steps = len(finite) - 1 - finite.index(least)
    before = "the step before" if steps == 1 else f"the {steps} steps before"
    assert f"-fold over {before}, from {least:.4g} to {finite[-1]:.4g}: the run diverged" in record.course
    assert record.course in record.text() and record.wire()["course"] == record.course
    assert b"The loss grew" in paint(record)


def test_an_op_that_leaves_its_domain_keeps_its_cure():
    record, _ = ran("loss = (net(x) - y).pow(2).mean() + 0 * (1 / torch.tensor(step < 9.0))")
    assert record.first["op"] == "reciprocal" and record.cure.startswith("keep `torch.tensor(step < 9.0)`")
    record, _ = ran(
        "loss = (net(x) - y).pow(2).mean() * 3.0**step + (x * 0 + (step < 10)).log().mean()", 1e-9
    )
    assert record.first["op"] == "log" and "clamp_min" in record.cure
    assert record.course.startswith("The loss grew") and "diverged" not in record.course


def test_a_healthy_loss_says_nothing_of_a_course():
    record, _ = ran("loss = (net(x) - y).pow(2).mean() + (x * 0 + (step < 30)).log().mean()", 0.01)
    assert record.first["op"] == "log" and record.course == ""
    record, _ = ran("loss = torch.nn.functional.mse_loss(net(x), y)", 0.01)
    assert record.first is None and record.course == ""


def test_the_first_step_has_no_course():
    record = traced("x = torch.full((3,), 1e30, requires_grad=True)\n(x * x).sum().backward()")
    assert record.first["op"] == "mul" and record.course == "" and "lower the learning rate" in record.cure


def test_two_losses_are_two_courses():
    source = """a = torch.ones(1, requires_grad=True)
for step in range(60):
    (a * 1e6).sum().backward()
    (a * 10.0 ** step).sum().backward()
"""
    record = traced(source)
    assert "from 1 to 1e+38" in record.course


def test_a_number_in_the_line_is_no_tensor():
    record = traced("y = x / 0\nz = 1 / (x - x)", x=L.ones(2))
    assert record.cure == "the divisor is the number 0 itself: divide by one that is not zero"
    assert "`(x - x).clamp_min" in record.origins[0]["cure"]
    assert record.origins[0]["how"].startswith("reciprocal of (x - x)[0] = 0")
