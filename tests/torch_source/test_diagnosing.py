"""The faulty programs of the bench, run on the real torch: the same accusations as over our own engine."""

import contextlib
import io
import linecache
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import torch

from tests.diagnose.bases import BASES
from tests.diagnose.faults import FAULTS
from tests.diagnose.harness import judge
from tests.diagnose.healthy import HEALTHY
from vistorch.debug.diagnose import Diagnosis
from vistorch.debug.diagnose.rules import RULES
from vistorch.engine.base.events import _kinds
from vistorch.torch_source.diagnosing import TorchEvidence

CAUSES = [
    "gradients never cleared",
    "gradients cleared before use",
    "optimizer never steps",
    "history cut",
    "loss without history",
    "wrong parameters in the optimizer",
    "parameters in no optimizer",
    "frozen at random values",
    "equal units",
    "trained in evaluation mode",
    "evaluated in training mode",
    "dropout that ignores the mode",
    "softmax before a loss of scores",
    "likelihood of no log-probabilities",
    "softmax over samples",
    "broadcast loss",
    "targets out of reach",
    "binary targets beyond 0 to 1",
    "sign of the loss",
    "target among the inputs",
    "sorted data",
    "the same batch each step",
    "learning rate of 0",
    "scheduler by batch",
    "graphs that grow",
    "rate too large",
    "rate too small",
]
ONE = {fault.cause: fault for fault in reversed(FAULTS)}


def diagnosed(name, text):
    """A program on torch, under diagnosis."""
    file = f"<torch {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    state = torch.get_rng_state()
    diagnosis = Diagnosis()
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            with contextlib.suppress(Exception), diagnosis:
                exec(compile(text, file, "exec"), {"__name__": "__main__"})
    finally:
        torch.set_rng_state(state)
    return diagnosis


@pytest.mark.parametrize("cause", CAUSES)
def test_a_planted_fault_is_found_with_its_line(cause):
    fault = ONE[cause]
    diagnosis = diagnosed(cause, fault.faulty)
    found = diagnosis.findings()
    said = type("Said", (), {"findings": found})
    assert judge(said, fault.rules, fault.line) == (True, True), [(f.rule, f.where, f.text) for f in found]
    assert not diagnosis.failures
    assert isinstance(diagnosis.evidence, TorchEvidence)


@pytest.mark.parametrize("name", [*BASES, *[f"healthy {n}" for n in HEALTHY]])
def test_a_healthy_program_is_not_accused(name):
    text = HEALTHY[name.removeprefix("healthy ")] if name.startswith("healthy ") else BASES[name]
    diagnosis = diagnosed(name, text)
    assert [f.text for f in diagnosis.findings()] == [] and not diagnosis.failures


def test_a_run_under_diagnosis_computes_what_it_computes_without_and_nothing_stays():
    classes = (torch.Tensor, torch.nn.Module, torch.optim.Optimizer, torch.utils.data.DataLoader)
    before = [dict(vars(kind)) for kind in classes]
    kinds = dict(_kinds)

    def train():
        torch.manual_seed(3)
        net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 2))
        opt = torch.optim.Adam(net.parameters(), lr=0.01)
        losses = []
        for _ in range(10):
            loss = torch.nn.functional.cross_entropy(net(torch.randn(8, 4)), torch.arange(8) % 2)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        return losses

    with Diagnosis():
        seen = train()
    assert seen == train()
    assert [dict(vars(kind)) for kind in classes] == before
    assert {k: v for k, v in _kinds.items() if k in kinds} == kinds
    assert not [f for f in _kinds if "/torch/" in f and _kinds[f] != kinds.get(f, _kinds[f])]


def test_what_goes_wrong_within_ends_the_evidence_and_not_the_program(monkeypatch):
    monkeypatch.setattr(TorchEvidence, "called", lambda *given: 1 / 0)
    with Diagnosis() as diagnosis:
        w = torch.ones(2, requires_grad=True)
        (w * 2).sum().backward()
        diagnosis._each[-1].passes = 1  # as if it had seen it
    assert w.grad.tolist() == [2, 2]
    assert "the evidence ends early: ZeroDivisionError: division by zero" in diagnosis.failures


def test_exceptions_of_torch_are_findings():
    with contextlib.suppress(IndexError), Diagnosis() as diagnosis:
        torch.nn.functional.cross_entropy(torch.zeros(3, 2), torch.tensor([0, 1, 2]))
    (one,) = diagnosis.findings()
    assert one.place is not None and "cross_entropy" in one.place.text


TABLE = """
import torch
torch.manual_seed(0)
table = torch.nn.Embedding(5, 3, padding_idx=0)
opt = torch.optim.SGD(table.parameters(), lr=0.1)
for step in range(3):
    loss = table(torch.tensor([1, 2, 0])).pow(2).mean()
    loss.backward()
    opt.step()
"""


def test_a_row_of_a_table_that_is_cleared_as_it_is_made_does_not_end_the_evidence():
    diagnosis = diagnosed("table", TABLE)
    assert diagnosis.evidence.passes == 3 and not diagnosis.failures
    assert [f.rule for f in diagnosis.findings()] == ["used twice"]


FORGETS = """
import torch
from vistorch import vt
from vistorch.debug.diagnose.trial import standby

standby.SECONDS = 60.0
torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)


def train(net, opt):
    for _ in range(8):
        loss = (net(torch.ones(4, 3)) ** 2).mean()
        loss.backward()
        opt.step()


one = vt.diagnose(train, net, opt).record().findings[0]
print(one.rule, [text.strip() for _, _, text in one.cure], len(one.tried.with_it), one.tried.text())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a program is copied on Linux")
def test_a_cure_is_tried_on_torch(tmp_path):
    """In a process of its own: PyTorch refuses a backward pass in a copy of one whose threads have run one."""
    (tmp_path / "forgets.py").write_text(FORGETS)
    command = [sys.executable, str(tmp_path / "forgets.py")]
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("used twice ['opt.zero_grad()'] 5 "), done.stdout
    assert "gone" in done.stdout


def test_every_rule_is_a_rule_over_torch_too():
    assert len(TorchEvidence(RULES).rules) == len(RULES)


def scripted(folder, text, *options):
    """A script, run on PyTorch itself under diagnosis."""
    (folder / "train.py").write_text(text)
    command = [sys.executable, "-m", "vistorch", "run", "--diagnose", "--torch", *options, "train.py"]
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root), "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, timeout=200, env=environment, cwd=folder)


def test_a_script_runs_on_torch_itself_and_is_diagnosed_at_its_end(tmp_path):
    lines = BASES["regression"].replace("    opt.zero_grad()\n", "")
    done = scripted(tmp_path, lines + "print(torch.__version__)\nraise SystemExit(3)\n", "--no-try")
    assert (done.returncode, done.stdout.strip()) == (3, torch.__version__), done.stderr
    assert "train.py" in done.stderr and "never cleared" in done.stderr
    assert f"train.py:{lines.splitlines().index('    opt.step()') + 1}" in done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a program is copied on Linux")
def test_a_script_that_makes_its_first_optimizer_has_its_cure_tried(tmp_path):
    """PyTorch loads much as a first optimizer is made, and makes a folder: that is nothing of the program's."""
    text = BASES["regression"].replace("    opt.zero_grad()\n", "")
    patient = "from vistorch.debug.diagnose.trial import standby\nstandby.SECONDS = 60.0\n"
    done = scripted(tmp_path, patient + text)
    assert done.returncode == 0 and "never cleared" in done.stderr, done.stderr
    assert "With it the finding is gone" in done.stderr and "not tried" not in done.stderr, done.stderr


def test_shapes_that_do_not_fit_are_placed_in_the_lines_of_a_script(tmp_path):
    lines = [
        "import torch",
        "net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Linear(12, 2))",
        "x = torch.zeros(4, 8)",
        "net(x)",
    ]
    done = scripted(tmp_path, "\n".join(lines), "--no-try")
    assert done.returncode == 1 and "RuntimeError: mat1 and mat2 shapes" in done.stderr
    assert "train.py:4 or 2" in done.stderr and "net[1] takes 12 features, 16 arrive." in done.stderr, (
        done.stderr
    )


@pytest.mark.parametrize("around", ["with torch.no_grad():", "with torch.inference_mode():"])
def test_an_evaluation_in_training_mode_is_found_at_the_line_it_begins_with(around):
    text = BASES["vision"].replace("    model.eval()\n", "").replace("with torch.no_grad():", around)
    (one,) = diagnosed(around, text).findings()
    assert one.rule == "draws in evaluation" and one.place.text == around
