"""Where a diagnosis is asked for: a context, a call, a script; it changes nothing of what runs."""

import subprocess
import sys

import pytest

import vistorch as L
from vistorch import vt
from vistorch.debug.diagnose import Diagnosis

from .bases import BASES


def train(steps=6, clear=False):
    L.manual_seed(0)
    net = L.nn.Linear(3, 1)
    opt = L.optim.SGD(net.parameters(), lr=0.01)
    losses = []
    for _ in range(steps):
        if clear:
            opt.zero_grad()
        loss = (net(L.ones(4, 3)) ** 2).mean()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses


def test_a_context_and_a_call_find_the_same():
    with vt.diagnose() as found:
        plain = train()
    called = vt.diagnose(train, steps=6)
    assert called.value == plain
    assert [f.rule for f in found.findings()] == [f.rule for f in called.findings()] == ["used twice"]
    assert called.record().title == "train"


def test_a_run_under_diagnosis_computes_what_it_computes_without():
    with Diagnosis():
        seen = train(clear=True)
    assert seen == train(clear=True)


def test_an_exception_goes_on_its_way_and_is_a_finding():
    with pytest.raises(RuntimeError), Diagnosis() as diagnosis:
        L.ones(2, 3) @ L.ones(2, 3)
    (one,) = diagnosis.findings()
    assert one.rule == "shapes" and one.place.text == "L.ones(2, 3) @ L.ones(2, 3)"


def test_a_rule_that_fails_is_named_and_ends_nothing(monkeypatch):
    with Diagnosis() as diagnosis:
        train()
    rule = diagnosis.evidence.rules[0]
    monkeypatch.setattr(rule, "findings", lambda: 1 / 0)
    assert [f.rule for f in diagnosis.findings()] == ["used twice"]
    assert diagnosis.failures == [f"{rule.name}: ZeroDivisionError: division by zero"]


def test_a_script_is_diagnosed_at_its_end_and_its_exit_code_stays(tmp_path):
    text = BASES["regression"].replace("    opt.zero_grad()\n", "") + "print('done')\nraise SystemExit(3)\n"
    script = tmp_path / "train.py"
    script.write_text(text)
    command = [sys.executable, "-m", "vistorch", "run", "--diagnose", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 3 and done.stdout == "done\n"
    assert "train.py" in done.stderr and "never cleared" in done.stderr


def test_a_script_and_a_call_show_cures_without_trying_them_where_that_is_asked(tmp_path, monkeypatch):
    script = tmp_path / "train.py"
    script.write_text(BASES["regression"].replace("    opt.zero_grad()\n", "") + "print('done')\n")
    command = [sys.executable, "-m", "vistorch", "run", "--diagnose", "--no-try", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout == "done\n"
    assert "never cleared" in done.stderr and "not tried: trials are switched off" in done.stderr
    monkeypatch.setattr("os.fork", lambda: pytest.fail("a copy was made"), raising=False)
    with vt.diagnose(no_try=True) as around:
        train()
    called = vt.diagnose(train, steps=6, no_try=True)
    for found in (around, called):
        (one,) = found.record().findings
        assert one.cure and one.tried.refused == "trials are switched off"
