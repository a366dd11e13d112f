"""Programs in the manner of PyTorch's tutorials print the same on vistorch as on PyTorch."""

import re

import pytest

from tests.compat.run import ROOT, python, vistorch

PROGRAMS = sorted((ROOT / "tests" / "compat" / "programs").glob("*.py"))
NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+)(?:e[-+]?\d+)?|[-+]?\d+e[-+]?\d+", re.I)


def printed(process):
    assert process.returncode == 0, process.stderr
    text = re.sub(r" at 0x[0-9a-f]+", "", process.stdout)
    return NUMBER.split(text), [float(number) for number in NUMBER.findall(text)]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_same_output(path, tmp_path):
    words, numbers = printed(vistorch("run", path, cwd=tmp_path))
    their_words, their_numbers = printed(python(path, cwd=tmp_path))
    assert [word.split() for word in words] == [word.split() for word in their_words]
    assert numbers == pytest.approx(their_numbers, rel=1e-4, abs=1e-4)
    assert "".join(words).strip()


def test_there_are_programs():
    assert len(PROGRAMS) >= 10


def test_a_difference_is_seen(tmp_path):
    (tmp_path / "one.py").write_text("import torch\nprint(torch.__spec__.name == 'torch', 1.0)")
    ours, theirs = printed(vistorch("run", "one.py", cwd=tmp_path)), printed(python("one.py", cwd=tmp_path))
    assert ours != theirs
