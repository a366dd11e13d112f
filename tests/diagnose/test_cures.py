"""Cures: what is changed, that it was tried on a copy, and that the copy changes nothing of ours."""

import contextlib
import io
import linecache
import os
import random
import sys
import warnings

import numpy as np
import pytest

import vistorch as L
from vistorch import vt
from vistorch.debug.diagnose import Diagnosis
from vistorch.debug.diagnose.cures import CURES
from vistorch.debug.diagnose.cures.program import Program
from vistorch.debug.diagnose.finding import EXACT
from vistorch.debug.diagnose.rules import RULES
from vistorch.debug.diagnose.trial import standby as standby_module
from vistorch.debug.diagnose.trial.rerun import Body

from .bases import BASES
from .faults import FAULTS
from .harness import imported

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a program is copied on Linux")
ONE = {f.cause: f for f in reversed(FAULTS)}


@pytest.fixture(autouse=True)
def time_enough(monkeypatch):
    """What is tested here is no matter of how fast the machine is."""
    monkeypatch.setattr(standby_module, "SECONDS", 60.0)


def diagnosed(name, text, before=""):
    """The record of a program, its cures tried, and the namespace it left."""
    file = f"<program {name}>"
    text = before + text
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"__name__": "__main__"}
    with imported(), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        diagnosis = Diagnosis()
        diagnosis.prepare(Body("cell", file, text, space))
        with contextlib.suppress(Exception), diagnosis:
            exec(compile(text, file, "exec"), space)
        diagnosis.finish()
        return diagnosis.record(), space


@linux
@pytest.mark.parametrize(
    "cause",
    [
        "gradients never cleared",
        "gradients cleared before use",
        "optimizer never steps",
        "history cut",
        "loss without history",
        "parameters in no optimizer",
        "frozen at random values",
        "trained in evaluation mode",
        "dropout that ignores the mode",
        "softmax before a loss of scores",
        "broadcast loss",
        "the same batch each step",
        "exception: labels",
        "exception: second pass",
    ],
)
def test_a_cure_is_tried_and_mends(cause):
    fault = ONE[cause]
    record, _ = diagnosed(cause, fault.faulty)
    one = next(f for f in record.findings if f.rule in fault.rules)
    assert one.cure and one.tried is not None and not one.tried.refused, (
        one.text,
        one.tried,
        record.failures,
    )
    assert one.tried.with_it and all(np.isfinite(one.tried.with_it))
    assert "gone" in one.tried.after or "does not come" in one.tried.after
    # independently of the copy: the changed program, run from its beginning, has no such finding
    lines = fault.faulty.splitlines()
    for number, sign, text in sorted(one.cure, key=lambda c: -c[0]):
        if sign == "-":
            assert lines[number - 1] == text
            del lines[number - 1]
    for number, sign, text in sorted(one.cure, key=lambda c: c[0]):
        if sign == "+":
            lines.insert(number - 1, text)
    again, _ = diagnosed(f"{cause}, mended", "\n".join(lines) + "\n")
    assert one.rule not in [f.rule for f in again.findings]


def test_every_exact_rule_has_a_cure_in_code():
    exact = {rule.name for rule in RULES if rule.certainty == EXACT and rule.title}
    assert exact <= set(CURES)


@linux
def test_a_trial_leaves_the_program_its_values_and_its_random_numbers(tmp_path):
    fault = ONE["gradients never cleared"]
    record, tried = diagnosed("a", fault.faulty)
    state = L.get_rng_state().numpy().copy(), random.getstate(), np.random.get_state()[1].copy()
    file = "<program plain>"
    linecache.cache[file] = (1, None, fault.faulty.splitlines(True), file)
    plain = {"__name__": "__main__"}
    with imported():
        exec(compile(fault.faulty, file, "exec"), plain)
    assert record.findings[0].tried.with_it
    for a, b in zip(tried["net"].parameters(), plain["net"].parameters(), strict=True):
        assert np.array_equal(a.detach().numpy(), b.detach().numpy())
    assert np.array_equal(L.get_rng_state().numpy(), state[0])


@linux
@pytest.mark.parametrize(
    "line, said",
    [
        ("open('{path}', 'a').write('x')\n", "writes"),
        ("import os; os.makedirs('{path}', exist_ok=True)\n", "makes folders"),
        ("import subprocess; subprocess.run(['true'])\n", "starts another program"),
        ("import socket; socket.socket().connect_ex(('127.0.0.1', 9))\n", "uses the network"),
        ("import os; os.utime(os.path.dirname('{path}'))\n", "changes files"),
    ],
)
def test_what_reaches_outside_is_not_tried(line, said, tmp_path):
    path = tmp_path / "made"
    record, _ = diagnosed(
        "outside", BASES["regression"].replace("    opt.zero_grad()\n", ""), line.format(path=path)
    )
    one = record.findings[0]
    assert one.rule == "used twice" and one.cure
    assert one.tried.refused and said in one.tried.refused and not one.tried.with_it
    assert "not tried: the program" in record.text()
    if said == "writes":
        assert path.read_text() == "x"


@linux
def test_open_files_and_prints_of_the_program_are_its_own(tmp_path, capfd):
    path = tmp_path / "log"
    source = tmp_path / "data"
    source.write_text("abcdefgh" * 100)
    text = BASES["regression"].replace(
        "    opt.zero_grad()\n", "    log.write('x'); log.flush(); data.read(1); print('p', flush=True)\n"
    )
    file = "<program files>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    with open(path, "w") as log, open(source, buffering=1) as data, imported():
        space = {"__name__": "__main__", "log": log, "data": data}
        diagnosis = Diagnosis()
        diagnosis.prepare(Body("cell", file, text, space))
        with diagnosis:
            exec(compile(text, file, "exec"), space)
        at = os.lseek(data.fileno(), 0, os.SEEK_CUR)
        diagnosis.finish()
        assert os.lseek(data.fileno(), 0, os.SEEK_CUR) == at
        one = diagnosis.record().findings[0]
    assert one.tried.with_it, one.tried
    assert path.read_text() == "x" * 80
    assert capfd.readouterr().out.count("p") == 80


@linux
def test_a_program_that_does_not_come_to_a_loss_is_left(monkeypatch):
    monkeypatch.setattr(standby_module, "SECONDS", 0.3)
    text = (
        BASES["regression"]
        .replace("    opt.zero_grad()\n", "")
        .replace("history = []", "history = []\nimport time\ntime.sleep(slow)")
    )
    file = "<program slow>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    with imported():
        space = {"__name__": "__main__", "slow": 30}
        diagnosis = Diagnosis()
        diagnosis.prepare(Body("cell", file, text, space))
        space["slow"] = 0
        with diagnosis:
            exec(compile(text, file, "exec"), space)
        pid = diagnosis.standby.pid
        diagnosis.finish()
    one = diagnosis.record().findings[0]
    assert "no loss came" in one.tried.refused and one.cure
    with pytest.raises(OSError):
        os.kill(pid, 0)


@linux
def test_a_change_that_does_not_mend_is_not_shown(monkeypatch):
    from vistorch.debug.diagnose.cures import Cure

    def useless(case):
        yield Cure(case.program, case.program.before(case.program.at(case.line)[0], "x = x"))

    monkeypatch.setitem(CURES, "used twice", useless)
    fault = ONE["gradients never cleared"]
    record, _ = diagnosed("useless", fault.faulty)
    assert record.findings[0].cure == [] and record.findings[0].tried is None


@linux
def test_memory_that_others_share_is_not_written_to():
    from multiprocessing.shared_memory import SharedMemory

    shared = SharedMemory(create=True, size=4096)
    try:
        assert "shares memory" in standby_module.cannot()
    finally:
        shared.close()
        shared.unlink()


def test_no_copy_elsewhere_than_on_linux(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    record, _ = diagnosed("windows", ONE["gradients never cleared"].faulty)
    one = record.findings[0]
    assert one.cure and "Linux only" in one.tried.refused


def train(net, opt, steps=8):
    for _ in range(steps):
        loss = (net(L.ones(4, 3)) ** 2).mean()
        loss.backward()
        opt.step()


@linux
def test_a_call_is_tried_with_what_it_was_given():
    net = L.nn.Linear(3, 1)
    opt = L.optim.SGD(net.parameters(), lr=0.01)
    found = vt.diagnose(train, net, opt)
    one = found.record().findings[0]
    assert one.tried, found.failures
    assert one.tried.with_it and [s for _, s, _ in one.cure] == ["+"]
    assert [text.strip() for _, _, text in one.cure] == ["opt.zero_grad()"]


def test_a_block_in_a_function_is_not_tried_and_says_why():
    net = L.nn.Linear(3, 1)
    opt = L.optim.SGD(net.parameters(), lr=0.01)
    with vt.diagnose() as found:
        train(net, opt)
    assert "`with` inside of a function" in found.record().findings[0].tried.refused


@pytest.mark.parametrize(
    "before, after",
    [
        ("a(); b(); c()\n", "a(); c()\n"),
        ("a(); b()\n", "a()\n"),
        ("for x in y: b()\n", "for x in y: pass\n"),
        ("if x:\n    b()  # é ü\n    c()\n", "if x:\n    c()\n"),
        ("if x:\n    b()\n", "if x:\n    pass\n"),
        ("é = 'ü'; b(); d()\n", "é = 'ü'; d()\n"),
    ],
)
def test_a_statement_is_taken_out_and_the_rest_stays(before, after):
    program = Program("f", before)
    line = 1 + before[: before.index("b()")].count("\n")
    (call,) = program.calls(line, "b")
    assert program.changed(program.without(program.statement(call))) == after


def test_lines_are_put_in_beside_others():
    program = Program("f", "for x in y: b()\n@d\ndef f():\n    return 1")
    (call,) = program.calls(1, "b")
    assert program.changed(program.after(program.statement(call), "c()")).startswith("for x in y: b(); c()\n")
    assert program.changed(program.before(program.statement(call), "c()")).startswith(
        "for x in y: c(); b()\n"
    )
    function = program.tree.body[1]
    assert "c()\n@d" in program.changed(program.before(function, "c()"))
    assert program.changed(program.after(function, "c()")).endswith("return 1\nc()")


@pytest.mark.parametrize(
    "head, module, said",
    [
        ("import torch\n", "nn", "torch.nn"),
        ("from torch import nn\n", "nn", "nn"),
        ("import torch.nn as N\n", "nn", "N"),
        ("import vistorch as torch\n", "nn", "torch.nn"),
        ("import torch.nn.functional as G\n", "nn.functional", "G"),
    ],
)
def test_names_are_those_of_the_file(head, module, said):
    assert Program("f", head).alias(module) == said
