"""What closes `make test` is true: counts from real reports, what did not run and why, and the exit code."""

import functools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import run_all

ROOT = Path(run_all.__file__).resolve().parents[1]
TESTS = """
import pytest

@pytest.fixture
def broken():
    raise OSError("gone")

def test_passes(): pass
def test_fails(): assert 0
def test_in_error(broken): pass
@pytest.mark.xfail
def test_known(): assert 0
@pytest.mark.parametrize("number", range(3))
def test_without_browser(number): pytest.skip("needs a browser: none is installed")
@pytest.mark.skip(reason="later")
def test_later(): pass
"""


def test_the_counts_are_those_of_pytest(pytester):
    pytester.makepyfile(TESTS)
    report = pytester.path / "report.xml"
    result = pytester.runpytest_subprocess(
        f"--junitxml={report}", "-n", "1", "-p", "no:hypothesispytest", "-p", "no:nbval"
    )
    result.assert_outcomes(passed=1, failed=1, errors=1, xfailed=1, skipped=4)
    passed, failures, reasons = run_all.read(report)
    assert passed == 2
    assert [line.partition(" ")[0].rpartition("::")[2] for line in failures] == [
        "test_fails",
        "test_in_error",
    ]
    assert "assert 0" in failures[0] and "OSError: gone" in failures[1]
    assert reasons == {"needs a browser: none is installed": 3, "later": 1}


def test_no_report_and_half_a_report_are_none(tmp_path):
    assert run_all.read(tmp_path / "none.xml") is None
    (tmp_path / "half.xml").write_text("<testsuites><testsuite>")
    assert run_all.read(tmp_path / "half.xml") is None


SKIPPED = "<skipped type='pytest.skip' message='needs a browser: none'/>"


@pytest.fixture
def make(tmp_path, monkeypatch, capsys):
    """`make(name="shell command", ...)`: run all with targets that do this; return exit code and printed lines."""
    monkeypatch.setenv("REPORTS", str(tmp_path))

    def make(**does):
        lines = [f"{name}:\n\t@{does.get(name, 'true')}" for name in run_all.PARTS]
        (tmp_path / "Makefile").write_text(
            ".PHONY: " + " ".join(run_all.PARTS) + "\n" + "\n".join(lines) + "\n"
        )
        code = run_all.main(["make", "-f", str(tmp_path / "Makefile")])
        return code, capsys.readouterr().out.splitlines()

    return make


def report(*cases):
    """A command that writes a report of these cases as its own."""
    text = "".join(f"<testcase>{case}</testcase>" for case in cases)
    return f'echo "<testsuites><testsuite>{text}</testsuite></testsuites>" > $(REPORTS)/$@.xml'


@pytest.mark.parametrize("folder", ["", "optim"])
def test_the_plan_is_said_before_there_is_an_environment(tmp_path, folder, capsys):
    assert run_all.main(["--plan", str(tmp_path / "none"), *filter(None, [folder])]) == 0
    first = capsys.readouterr().out
    assert run_all.main(["--plan", str(tmp_path), *filter(None, [folder])]) == 0
    lines = capsys.readouterr().out
    assert first == lines + run_all.FIRST + "\n"
    assert all(name in lines for name in ([folder] if folder else run_all.PARTS)) and "minute" in lines


def test_make_says_the_plan_first():
    asked = ["make", "--dry-run", "--always-make", "test"]
    alone = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(asked, cwd=ROOT, env=alone, capture_output=True, text=True, check=True)
    assert "--plan" in done.stdout.splitlines()[0]


def test_all_well(make):
    code, lines = make(pytest=report("", "", ""), ui=report("", ""))
    assert code == 0
    assert lines[-1].startswith("12 passed, 0 failed, 0 skipped in ")
    assert lines[-1].endswith("s")


def test_what_lacked_a_browser_is_in_the_last_line(make):
    code, lines = make(ui=report("", SKIPPED, SKIPPED))
    assert code == 0
    assert "  ui: 2 skipped: needs a browser: none" in lines
    assert lines[-1].startswith("9 passed, 0 failed, 2 skipped in ")
    assert lines[-1].endswith("s (2 lack a browser)")


def test_every_part_runs_though_one_fails_and_the_last_line_names_it(make):
    code, lines = make(lint="exit 3", pytest=report("", "<failure/>", "<error/>") + "; exit 1")
    assert code == 1
    assert lines[-1].startswith("8 passed, 3 failed, 0 skipped in ")
    assert lines[-1].endswith("(failed: lint, pytest)")
    assert [
        line.split()[0] for line in lines[lines.index("---- summary ----") :] if line.endswith(" s")
    ] == list(run_all.PARTS)


def test_the_summary_names_what_failed(make):
    broken = "".join(
        f"<testcase classname='tests.ops' name='test_{i}'><failure message='assert {i}&#10;more'/></testcase>"
        for i in range(run_all.MOST + 2)
    )
    xml = f"<testsuites>{broken}</testsuites>"
    _, lines = make(
        pytest=f'echo "{xml}" > $(REPORTS)/$@.xml; exit 1', speed="echo add 1.49 of 1.30 OVER; exit 2"
    )
    closing = lines[lines.index("---- summary ----") :]
    assert "  pytest: tests.ops::test_0 assert 0" in closing
    assert "  pytest: and 2 more" in closing
    assert sum("tests.ops::" in line for line in closing) == run_all.MOST
    assert "  speed: add 1.49 of 1.30 OVER" in closing


def test_a_report_without_failures_does_not_make_a_failed_part_good(make):
    """As of a run that ends badly for a skip, or for a report of an earlier run."""
    code, lines = make(ui=report("", SKIPPED) + "; exit 1", pytest="exit 2")
    assert code == 1
    assert lines[-1].endswith("(1 lack a browser; failed: ui, pytest)")
    again, lines = make(pytest="exit 2")
    assert again == 1 and lines[-1].startswith("8 passed, 1 failed, 0 skipped")


def test_an_interrupt_is_said_and_nothing_is_called_good(tmp_path):
    (tmp_path / "Makefile").write_text(".PHONY: ui fuzz\n%:\n\t@true\nui fuzz:\n\t@sleep 60\n")
    command = [sys.executable, "-u", "-m", "tests.run_all", "make", "-f", str(tmp_path / "Makefile")]
    options = {"env": {**os.environ, "REPORTS": str(tmp_path)}, "start_new_session": True}
    # A shell that starts this in the background has its children ignore interrupts.
    options["preexec_fn"] = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options) as run:
        while not all((tmp_path / f"{name}.log").exists() for name in ("ui", "fuzz")):
            time.sleep(0.05)
        os.kill(run.pid, signal.SIGINT)  # what it started is not in its group
        rest = run.stdout.read()
    assert time.monotonic() - began < 30
    assert run.returncode == 130
    assert rest.splitlines()[-1].startswith("2 passed, 0 failed, 0 skipped in ")
    assert rest.splitlines()[-1].endswith("(interrupted: lint, type, docs, fuzz, speed, vitest, ui)")


def test_a_part_that_starts_as_an_interrupt_comes_is_ended(tmp_path, monkeypatch):
    run = run_all.Run([sys.executable, "-c", "import time; time.sleep(60)"], tmp_path)
    start = subprocess.Popen

    def interrupted(*args, **options):
        process = start(*args, **options)
        run.interrupt()  # it is not known yet as one that runs
        return process

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    began = time.monotonic()
    run.part("fuzz")
    assert time.monotonic() - began < 30 and run.parts == {}


def test_what_parts_print_is_not_mixed_and_comes_with_its_verdict(make):
    slow = "echo one; sleep 0.3; echo two"
    _, lines = make(ui=slow, pytest=slow, docs="echo bad; exit 1")
    for name in ("ui", "pytest"):
        start = lines.index(f"---- {name} ----")
        assert lines[start + 1 : start + 3] == ["one", "two"]
        assert lines[start + 3].startswith(f"{name:<10} ")
    assert lines[lines.index("---- docs ----") + 1] == "bad"


def test_lanes_hold_every_part_once():
    assert sorted(name for lane in run_all.LANES for name in lane) == sorted(run_all.PARTS)
