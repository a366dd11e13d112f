"""What evidence keeps of a run: histories through another order in memory, and nothing of what goes wrong in a rule."""

import time
from unittest.mock import MagicMock

import pytest

import vistorch
from vistorch import nn
from vistorch.debug.diagnose import Diagnosis
from vistorch.debug.diagnose.rules.data import SameBatch
from vistorch.debug.diagnose.rules.meaning import SoftTwice
from vistorch.debug.line_lookup import Line
from vistorch.debug.lineage import Lineage, ancestors

from .harness import run
from .planted import said


def trained(steps=6, size=2):
    net = nn.Linear(2, size)
    opt = vistorch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(steps):
        loss = ((net(vistorch.ones(8, 2)) - 1) ** 2).mean()
        loss.backward()
        opt.step()
    return net


@pytest.mark.parametrize("name", ["at_look", "at_pass", "findings"])
def test_a_rule_that_goes_wrong_is_named_and_ends_nothing(monkeypatch, name):
    def wrong(self, *given):
        raise KeyError("mine")

    monkeypatch.setattr(SoftTwice, name, wrong, raising=False)
    with Diagnosis() as diagnosis:
        trained()
    found = diagnosis.findings()
    assert [f.rule for f in found] == ["used twice"]
    assert diagnosis.failures == ["soft twice: KeyError: 'mine'"]


def test_evidence_that_goes_wrong_ends_early_and_says_so(monkeypatch):
    def wrong(self, p):
        raise ValueError("mine")

    with Diagnosis() as diagnosis:
        monkeypatch.setattr(type(diagnosis.evidence), "calls_of", wrong)
        net = trained()
    assert net.weight.grad is not None
    assert diagnosis.failures[:1] and diagnosis.failures[0].startswith(
        "the evidence ends early: ValueError: mine"
    )


def test_a_loss_of_one_element_in_a_row_is_a_loss():
    net = nn.Linear(2, 1)
    opt = vistorch.optim.SGD(net.parameters(), lr=0.01)
    with Diagnosis() as diagnosis:
        for _ in range(6):
            opt.zero_grad()
            ((net(vistorch.ones(2)) - vistorch.ones(1)) ** 2).backward()
            opt.step()
    assert len(diagnosis.evidence.losses) == 6 and not diagnosis.failures


def test_what_a_convolution_gives_keeps_its_history_in_another_order():
    net = nn.Sequential(  # fast kernels keep results of 16 channels with the channels last
        nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Conv2d(16, 16, 3), nn.AdaptiveMaxPool2d(1), nn.Flatten()
    )
    x = vistorch.randn(32, 3, 32, 32)
    with Lineage() as lineage:
        out = net(x)
    ops = [v.op for v in ancestors(lineage.of(out))]
    assert sum(op.startswith("convolution") for op in ops) == 2, ops


def test_a_plain_copy_is_known_by_what_it_copies():
    w = nn.Parameter(vistorch.ones(3))
    with Lineage() as lineage, vistorch.no_grad():
        source = vistorch.arange(3.0) * 2
        w.copy_(source)
    assert [v.op for v in ancestors(lineage.of(w))][:1] == ["copy"]
    assert any(v.op == "mul" for v in ancestors(lineage.of(w)))


def test_measures_of_schedulers_and_loaded_states_are_kept():
    net = nn.Linear(2, 2)
    opt = vistorch.optim.SGD(net.parameters(), lr=0.1)
    plan = vistorch.optim.lr_scheduler.ReduceLROnPlateau(opt)
    with Diagnosis() as diagnosis:
        net.load_state_dict(nn.Linear(2, 2).state_dict())
        for k in range(3):
            plan.step(1.0 / (k + 1))
    assert list(diagnosis.evidence.reported.values()) == [[1.0, 0.5, pytest.approx(1 / 3)]]
    ((module, names, _, _),) = diagnosis.evidence.loads
    assert module is net and names == {"weight", "bias"}


def test_rules_of_data_know_rows_that_were_picked():
    x, y = vistorch.randn(60, 3), vistorch.randn(60, 1)
    net = nn.Linear(3, 1)
    opt = vistorch.optim.SGD(net.parameters(), lr=0.01)
    with Diagnosis() as diagnosis:
        for _ in range(4):
            at = vistorch.randint(0, 60, (10,))
            opt.zero_grad()
            nn.functional.mse_loss(net(x[at]), y[at]).backward()
            opt.step()
    assert next(r for r in diagnosis.evidence.rules if isinstance(r, SameBatch)).picked


def test_a_long_program_is_read_in_seconds():
    helper = """
def helper_{0}(dist, y):
    drawn = dist.sample()
    total = dist.log_prob(y)
    for k in range(10):
        total += k * drawn
    return total
"""
    training = """
x, y = torch.randn(32, 8), torch.randint(0, 2, (32,))
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for i in range(20):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
"""
    imports = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
    text = imports + "".join(map(helper.format, range(400))) + training
    begun = time.perf_counter()
    long = run("a long program", text)
    assert not long.findings and not long.failures
    assert time.perf_counter() - begun < 10  # with a walk over the file for each of its nodes: minutes


def test_a_name_is_looked_for_in_the_file_that_trains(tmp_path):
    files = [tmp_path / "helpers.py", tmp_path / "train.py"]
    files[0].write_text("table = [1, 2]\n")
    files[1].write_text("import math\n\ntable = math.pi\nonce = 3\n")
    evidence = Diagnosis().evidence
    evidence.seen_code = {compile(one.read_text(), str(one), "exec") for one in files}
    beside = [Line(str(one), 1, "<module>", "") for one in files]
    assert [evidence.assigned("table", one).line for one in beside] == [1, 3]
    assert [evidence.assigned("once", one).line for one in beside] == [4, 4]
    assert evidence.assigned("table") is None  # no pass says which


class Anything(dict):
    """A table of settings whose every attribute is there."""

    __getattr__ = dict.get


@pytest.mark.parametrize("stranger", [Anything, MagicMock, lambda: Anything(_data=1, _node=2)])
def test_things_that_have_any_attribute_are_no_optimizers(stranger):
    namespace = {"vistorch": vistorch, "nn": nn, "args": stranger(), "kept": [stranger(), stranger()]}
    text = """
net = nn.Linear(2, 1)
opt = vistorch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(12):
    ((net(vistorch.ones(8, 2)) - 1) ** 2).mean().backward()
    opt.step()
    kept.append(kept[0])
"""
    with Diagnosis(namespace) as diagnosis:
        exec(compile(text, "<program strangers>", "exec"), namespace)
    assert [f.rule for f in diagnosis.findings()] == ["used twice"]
    assert not diagnosis.failures


@pytest.mark.parametrize("engine", ["vistorch", "torch"])
def test_a_run_with_functions_of_many_samples_at_once_is_looked_at(engine):
    text = """
import torch
from torch import nn
from torch.func import grad, hessian, vmap
x, y = torch.randn(4, 30, 3), torch.randn(4, 30)
def cost(w, a, b):
    return ((a @ w - b) ** 2).mean() + 0.01 * (w ** 2).sum()
w = torch.zeros(4, 3)
for _ in range(6):
    g, h = vmap(grad(cost))(w, x, y), vmap(hessian(cost))(w, x, y)
    w = w - torch.linalg.solve(h, g)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(12):
    (net(x[0]).squeeze(1) - y[0]).pow(2).mean().backward()
    opt.step()
"""
    found, failures, error = said(engine, "many samples at once", text)
    assert [f.rule for f in found] == ["used twice"] and not failures and not error


@pytest.mark.parametrize("clears", [True, False])
def test_sparse_gradients_of_the_real_torch_are_read(clears):
    text = """
import torch
from torch import nn
words, labels = torch.randint(0, 50, (200, 4)), torch.randint(0, 2, (200,)).float()
table, out = nn.Embedding(50, 8, sparse=True), nn.Linear(8, 1)
opts = [torch.optim.SparseAdam(table.parameters(), lr=0.01), torch.optim.Adam(out.parameters(), lr=0.01)]
for step in range(30):
    i = torch.randint(0, 200, (32,))
    loss = nn.functional.binary_cross_entropy_with_logits(out(table(words[i]).mean(1)).squeeze(1), labels[i])
    CLEAR
    loss.backward()
    for opt in opts:
        opt.step()
"""
    text = text.replace("CLEAR", "[opt.zero_grad() for opt in opts]" if clears else "opts[1].zero_grad()")
    found, failures, error = said("torch", "sparse gradients", text)
    assert not failures and not error
    assert [f.rule for f in found] == ([] if clears else ["used twice"])


@pytest.mark.parametrize(
    "entries",
    [
        "[torch.autograd.grad(g, w, retain_graph=True)[0] for g in grad]",
        "[torch.autograd.grad(grad[i], w, retain_graph=True)[0] for i in range(3)]",
        "[torch.autograd.grad(grad @ e, w, retain_graph=True)[0] for e in torch.eye(3)]",
        "[torch.autograd.grad((grad * e).sum(), w, retain_graph=True)[0] for e in torch.eye(3)]",
    ],
)
@pytest.mark.parametrize("engine", ["vistorch", "torch"])
def test_passes_through_a_gradient_are_no_losses(engine, entries):
    """They are not the course of a run: the loss falls, and what a Hessian is taken of is of either sign."""
    program = f"""
import torch
torch.manual_seed(0)
x, y = torch.randn(64, 3), torch.rand(64)
w = torch.zeros(3, requires_grad=True)
for step in range(20):
    loss = ((x @ w).sigmoid() - y).square().mean()
    (grad,) = torch.autograd.grad(loss, w, create_graph=True)
    hessian = torch.stack({entries})
    w = (w - 0.5 * grad).detach().requires_grad_(True)
"""
    if engine == "vistorch":
        program = program.replace("import torch", "import vistorch as torch")
    with Diagnosis() as diagnosis:
        exec(compile(program, "<newton>", "exec"), {})
    seen = [loss for _, loss, _ in diagnosis.evidence.losses]
    assert len(seen) >= 8 and seen == sorted(seen, reverse=True) and seen[-1] > 0


@pytest.mark.parametrize(
    "update",
    [
        "loss.backward(); w = (w - 0.1 * w.grad).detach().requires_grad_(True)",
        "loss.backward(); w.data = w.data - 0.1 * w.grad; w.grad = None",
        "(grad,) = torch.autograd.grad(loss, w); w.data -= 0.1 * grad",
        "(grad,) = torch.autograd.grad(loss, w); w = (w - 0.1 * grad).detach().requires_grad_(True)",
        "(grad,) = torch.autograd.grad(loss, w, create_graph=True); w = (w - 0.1 * grad).detach().requires_grad_()",
    ],
)
@pytest.mark.parametrize("engine", ["vistorch", "torch"])
def test_training_by_hand_has_no_history_that_grows(engine, update):
    """Each look walks through what a loss came of: through all updates since the first, it took half a second."""
    program = f"""
import torch
torch.manual_seed(0)
x, y = torch.randn(64, 3), torch.rand(64)
w = torch.zeros(3, requires_grad=True)
for step in range(301):
    loss = ((x @ w).sigmoid() - y).square().mean()
    {update}
"""
    if engine == "vistorch":
        program = program.replace("import torch", "import vistorch as torch")
    longest, diagnosis = [], Diagnosis()
    diagnosis.on_pass.append(lambda p: longest.append(sum(1 for _ in ancestors(p.root))))
    with diagnosis:
        exec(compile(program, "<by hand>", "exec"), {})
        held = len(diagnosis.evidence.reached)
    assert len(diagnosis.evidence.losses) > 200 and diagnosis.findings() == [] and not diagnosis.failures
    assert len(longest) == 301 and max(longest) < 200 and max(longest[-100:]) < 80 and held < 220


@pytest.mark.parametrize("engine", ["vistorch", "torch"])
def test_leaves_that_one_pass_had_alone_are_let_go_of(engine):
    """A program whose inputs have a gradient would be held whole, batch by batch."""
    program = """
import torch
net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(400):
    x = torch.randn(8, 3, requires_grad=True)
    optimizer.zero_grad()
    net(x).square().mean().backward()
    optimizer.step()
"""
    if engine == "vistorch":
        program = program.replace("import torch", "import vistorch as torch")
    with Diagnosis() as diagnosis:
        exec(compile(program, "<inputs>", "exec"), {})
    kept = diagnosis.evidence.reached
    assert diagnosis.evidence.passes == 400 and len(kept) < 220
    assert max(times for _, times in kept.values()) == 400


UPDATES = [
    "p.data.sub_(p.grad, alpha=0.3)",
    "p.data -= 0.3 * p.grad",
    "p.data = p.data - 0.3 * p.grad",
    "p.data[:] = p.data - 0.3 * p.grad",
    "p -= 0.3 * p.grad",
    "p.copy_(p - 0.3 * p.grad)",
    "p.detach().sub_(0.3 * p.grad)",
]


@pytest.mark.parametrize("weights", ["w, b", "net.parameters()"])
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("engine", ["vistorch", "torch"])
def test_updates_by_hand_are_seen_however_they_are_written(engine, update, weights):
    """A gradient that no one clears is found at the update's line, by the parameter's name; a cleared one is not."""
    text = f"""
import torch
torch.manual_seed(0)
x = torch.randn(150, 4)
y = torch.tanh(x @ torch.tensor([1.0, -1.0, 0.5, 0.0]))
w, b = torch.zeros(4, requires_grad=True), torch.zeros(1, requires_grad=True)
net = torch.nn.Linear(4, 1)
for step in range(30):
    out = {"x @ w + b" if weights == "w, b" else "net(x).squeeze(1)"}
    loss = (torch.tanh(out) - y).square().mean()
    loss.backward()
    with torch.no_grad():
        for p in {weights if weights != "w, b" else "(w, b)"}:
            {update}
            p.grad = None
"""
    found, failures, error = said(engine, "updates by hand", text)
    assert (found, failures, error) == ([], [], "")
    found, failures, error = said(engine, "updates by hand", text.replace("            p.grad = None\n", ""))
    assert [f.rule for f in found] == ["used twice by hand"] and not failures and not error
    assert found[0].place.line == 14
    assert found[0].text.split(".grad")[0] in ("w", "b", "net.weight", "net.bias")
