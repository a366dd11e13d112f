"""What a script prints of a shape error that nobody caught."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 prints no notes")
SCRIPT = """import sys
import {library} as torch

def product(w, b):
    return w @ b

{before}
product(torch.ones(3, 4), torch.ones(5, 6))
"""
WORDS = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (3x4 and 5x6)\n"


def printed(tmp_path, *command, before="", library="vistorch", **environment):
    file = tmp_path / "script.py"
    file.write_text(SCRIPT.format(before=before, library=library))
    run = subprocess.run(
        [sys.executable, *command, str(file)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert run.returncode == 1 and not run.stdout
    return run.stderr


@pytest.mark.parametrize("command", [[], ["-m", "vistorch", "run"]])
def test_a_note_below_the_exceptions_own_words(tmp_path, command):
    said = printed(tmp_path, *command, library="torch" if command else "vistorch")
    own, _, note = said.partition(WORDS)
    assert own.startswith("Traceback") and "products.py" in own  # all frames, as ever
    assert "w has 4 columns, b has 5 rows: they must be equal." in note
    assert "w  3 × 4   @   b  5 × 6" in note


def test_the_environment_switches_it_off(tmp_path):
    assert printed(tmp_path, VISTORCH_ERRORS="off").endswith(WORDS)


def test_a_programs_own_hook_stays(tmp_path):
    hook = "sys.excepthook = lambda *given: print('mine', file=sys.stderr)"
    assert printed(tmp_path, before=hook) == "mine\n"
