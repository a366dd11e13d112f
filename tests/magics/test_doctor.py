"""Each line of `%vt doctor` says ok, or what is wrong and what to type."""

import sys
import types
from pathlib import Path

import pytest

import vistorch
from vistorch.compat import alias_torch, unalias_torch
from vistorch.vt.commands import doctor
from vistorch.vt.commands.doctor import KNOW, OK, WRONG, Doctor, Finding, examine
from vistorch.widgets import kinds

ROOT = Path(__file__).parents[2]


def finding(about, shell=None):
    found = [one for one in examine(shell).findings if one.about == about]
    assert len(found) == 1, found
    return found[0]


class Kernel:
    _supports_kernel_subshells = True


Kernel.__module__ = "ipykernel.ipkernel"


def notebook():
    return types.SimpleNamespace(kernel=Kernel())


def versions(monkeypatch, **given):
    real = doctor.version
    monkeypatch.setattr(doctor, "version", lambda name: given.get(name, real(name)))


def test_what_is_wrong_says_what_to_type():
    for shell in (None, types.SimpleNamespace(kernel=None), notebook()):
        for one in examine(shell).findings:
            assert one.state in (OK, WRONG, KNOW)
            assert one.says
            assert "\n" not in one.says + one.type_this
            assert one.type_this or one.state != WRONG, one


@pytest.mark.parametrize("release", ["7.0.0", "7.0.1", "7.0.0rc1"])
def test_ipykernel_7_0_is_refused(monkeypatch, release):
    versions(monkeypatch, ipykernel=release)
    one = finding("kernel", notebook())
    assert one.state == WRONG
    assert "LookupError" in one.says
    assert one.type_this == '%pip install "ipykernel>=7.1", then restart the kernel'


@pytest.mark.parametrize("release", ["6.29.5", "6.31.0", "7.1.0", "7.4.0", "10.0"])
def test_other_ipykernels_are_welcome(monkeypatch, release):
    versions(monkeypatch, ipykernel=release)
    one = finding("kernel", notebook())
    assert one.state == OK
    assert release in one.says


def test_an_old_ipykernel_is_refused(monkeypatch):
    versions(monkeypatch, ipykernel="6.28.0")
    assert finding("kernel", notebook()).state == WRONG


def test_without_a_page_it_says_that_displays_are_text():
    assert "displays are text" in finding("kernel").says
    assert "in a terminal" in finding("kernel", types.SimpleNamespace(kernel=None)).says


def test_subshells():
    shell = notebook()
    assert finding("while a cell runs", shell).says == "the kernel has subshells"
    shell.kernel._supports_kernel_subshells = False
    assert finding("while a cell runs", shell).says.startswith("no subshells")


@pytest.mark.parametrize(("release", "says"), [("", "not installed"), ("0.8.1", "0.8.1 is too old")])
def test_widgets_that_are_missing_or_old(monkeypatch, release, says):
    versions(monkeypatch, anywidget=release)
    one = finding("anywidget", notebook())
    assert one.state == WRONG
    assert one.says.startswith(says)
    assert one.type_this.startswith("%pip install ")


def test_in_a_terminal_it_says_what_is_typed_in_a_terminal(monkeypatch):
    named = "anywidget ipywidgets jupyterlab notebook jupyterlab_widgets ipykernel".split()
    versions(monkeypatch, **dict.fromkeys(named, ""))
    monkeypatch.setattr("vistorch.engine.kernels.simulated.complaint", lambda: "four is no number")
    for shell, sign in ((None, f"{sys.executable} -m pip install "), (notebook(), "%pip install ")):
        found = {one.about: one for one in examine(shell).findings}
        assert found["anywidget"].type_this == f"{sign}anywidget"
        assert any("%" in one.type_this for one in found.values()) == (shell is not None)
    found = {one.about: one for one in examine().findings}
    assert found["front end"].type_this == f"{sys.executable} -m pip install jupyterlab"
    assert found["ipykernel"].type_this == f"{sys.executable} -m pip install ipykernel"
    versions(monkeypatch, ipykernel="7.0.1")
    assert finding("ipykernel").type_this == f'{sys.executable} -m pip install "ipykernel>=7.1"'


def test_why_there_is_no_cuda(monkeypatch):
    monkeypatch.setattr(doctor.util, "find_spec", lambda name: None)
    monkeypatch.setattr(doctor.os.path, "exists", lambda path: True)
    one = finding("CUDA")
    assert one.state == WRONG
    assert one.says.startswith("not available: ")
    assert "cupy is not installed" in one.says and "vistorch[cuda13]" in one.says


def test_pages(monkeypatch, tmp_path):
    (tmp_path / "js").mkdir()
    (tmp_path / "vistorch" / "widgets" / "static").mkdir(parents=True)
    monkeypatch.setattr(doctor, "STATIC", tmp_path / "vistorch" / "widgets" / "static")
    one = finding("pages")
    assert (one.state, one.type_this) == (WRONG, "make bundles")
    for page in kinds():
        (doctor.STATIC / f"{page}.js").write_text("x" * 2000)
    assert finding("pages").says == ", ".join(f"{page} 2 kB" for page in kinds())


def test_every_page_is_looked_at():
    assert {path.parent.name for path in (ROOT / "js" / "src").glob("*/page.ts")} == {*kinds()}


def test_a_front_end_without_widgets(monkeypatch):
    versions(monkeypatch, jupyterlab="4.4.0", notebook="", jupyterlab_widgets="")
    one = finding("front end", notebook())
    assert one.state == WRONG
    versions(monkeypatch, jupyterlab="", notebook="")
    assert finding("front end", notebook()).state == KNOW


def test_simulated_devices_and_a_wrong_number_of_them(monkeypatch):
    vistorch.cuda.simulate(2)
    try:
        assert finding("simulated").says.startswith("2 CUDA devices: numpy on the CPU, no speed claimed")
        assert not [one for one in examine().findings if one.about == "CUDA"]
    finally:
        vistorch.cuda.simulate(None)
    monkeypatch.setattr("vistorch.engine.kernels.simulated.complaint", lambda: "four is no number")
    assert finding("simulated").says == "four is no number"


def test_the_alias():
    with alias_torch(force=True):
        assert finding("import torch").says == "gives vistorch"
    unalias_torch()
    assert finding("import torch").says.startswith("gives PyTorch")


def test_what_is_fine_is_not_said_to_fail(monkeypatch):
    unalias_torch()
    monkeypatch.delitem(doctor.sys.modules, "torch", raising=False)
    monkeypatch.setattr(doctor.util, "find_spec", lambda name: None)
    seen = doctor._alias(None)[0]
    assert seen.says == "finds no PyTorch, which vistorch does not need" and "fails" not in seen.says


def test_little_memory(monkeypatch):
    monkeypatch.setattr("vistorch.engine.kernels.simulated.host_memory", lambda: (1 << 28, 1 << 34))
    assert finding("memory").state == WRONG
    monkeypatch.setattr("vistorch.engine.kernels.simulated.host_memory", lambda: (0, 0))
    assert finding("memory").state in (OK, KNOW)


def test_a_look_that_fails_is_a_line(monkeypatch):
    def broken(name):
        raise OSError("no\nway")

    monkeypatch.setattr(doctor, "version", broken)
    said = {one.about: one.says for one in examine(notebook()).findings}
    assert said["kernel"] == "could not look: OSError: no way"
    assert "memory" in said


def test_text_and_state():
    record = Doctor((Finding("a", OK, "fine"), Finding("bcd", WRONG, "bad", "do this")))
    assert record.text().splitlines() == [
        "ok  a    fine",
        "!!  bcd  bad",
        "         type: do this",
        "1 thing to mend, marked !!",
    ]
    assert Doctor((Finding("a", OK, "fine"),)).text().endswith("all is well")
    assert record.wire()["findings"][1] == {
        "about": "bcd",
        "state": WRONG,
        "says": "bad",
        "type_this": "do this",
    }


def test_trust_names_the_notebook(monkeypatch):
    monkeypatch.setenv("JPY_SESSION_NAME", "lessons/my work.ipynb")
    assert finding("trust", notebook()).type_this == '!jupyter trust "my work.ipynb"'


def test_the_magic_prints_it(type_in):
    assert "versions" in type_in("%vt doctor").out
