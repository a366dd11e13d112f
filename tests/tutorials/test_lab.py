"""`vistorch lab` and `vistorch doctor`, as they are typed."""

import json
import os
import re
import sys
import time
import urllib.request

import pytest

from tests.compat.run import ROOT, vistorch
from tests.ui import servers
from vistorch import cli
from vistorch.tutorials import copies, lab

FIRST = copies.originals()[0].name
# A program that stands where JupyterLab would, and says how it was called.
SAYS = "import json, os, sys\nprint(json.dumps([sys.argv[1:], os.getcwd()]))\n"


@pytest.fixture
def pretended(tmp_path):
    """An environment in which JupyterLab only says how it was called."""
    package = tmp_path / "lib" / "jupyterlab"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text(SAYS)
    return {"PYTHONPATH": f"{package.parent}{os.pathsep}{ROOT}", "JUPYTER_DATA_DIR": str(tmp_path / "data")}


def test_lab_is_opened_on_copies(tmp_path, pretended):
    done = vistorch("lab", cwd=tmp_path, env=pretended)
    assert done.returncode == 0, done.stderr
    mine = tmp_path / lab.FOLDER
    assert (mine / FIRST).read_bytes() == copies.originals()[0].read_bytes()
    words, where = json.loads(done.stdout.splitlines()[-1])
    assert where == str(tmp_path)
    assert words == [
        f"--ServerApp.root_dir={mine}",
        f"--LabApp.default_url=/lab/tree/{FIRST}",
    ]
    (mine / FIRST).write_text("my answers")
    again = vistorch("lab", lab.FOLDER, "--no-browser", "--port=8889", cwd=tmp_path, env=pretended)
    assert json.loads(again.stdout.splitlines()[-1])[0] == [
        f"--ServerApp.root_dir={mine}",
        "--no-browser",
        "--port=8889",
    ]
    assert (mine / FIRST).read_text() == "my answers"


def test_options_alone_mean_the_folder_of_that_name(tmp_path, pretended):
    done = vistorch("lab", "--no-browser", cwd=tmp_path, env=pretended)
    assert json.loads(done.stdout.splitlines()[-1])[0][-1] == "--no-browser"
    assert (tmp_path / lab.FOLDER).is_dir()


@pytest.mark.parametrize("words", [["--language", "zh", "--no-browser"], ["--no-browser", "--language=zh"]])
def test_lab_in_chinese(tmp_path, pretended, words):
    done = vistorch("lab", *words, cwd=tmp_path, env=pretended)
    mine = tmp_path / f"{lab.FOLDER}-zh"
    assert json.loads(done.stdout.splitlines()[-1])[0] == [
        f"--ServerApp.root_dir={mine}",
        f"--LabApp.default_url=/lab/tree/{FIRST}",
        "--no-browser",
    ]
    assert "# 看一看" in json.loads((mine / FIRST).read_text(encoding="utf-8"))["cells"][0]["source"][0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--language", "fr"], "there are no tutorials in 'fr'; they are there in en and zh."),
        (["--language=../zh"], "there are no tutorials in '../zh'; they are there in en and zh."),
        (["mine", "--language"], "--language needs a language: en or zh."),
        (["--language="], "--language needs a language: en or zh."),
    ],
)
def test_a_language_that_is_not_there(tmp_path, pretended, words, said):
    done = vistorch("lab", *words, cwd=tmp_path, env=pretended)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"vistorch: {said}\n")
    assert not [one for one in tmp_path.iterdir() if "tutorials" in one.name or one.name == "mine"]


def test_without_jupyterlab_it_says_the_command(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(lab.importlib.util, "find_spec", lambda name: None)
    assert cli.main(["lab"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert (
        said.err
        == f"vistorch: JupyterLab is not installed here: {sys.executable} -m pip install jupyterlab\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_place_of_the_folder(tmp_path, pretended):
    (tmp_path / "file").write_text("")
    done = vistorch("lab", "file", cwd=tmp_path, env=pretended)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"vistorch: {tmp_path / 'file'} is a file: name a folder for the tutorials.\n"


def test_copies_are_trusted_and_what_was_changed_is_not(tmp_path, monkeypatch):
    import nbformat
    from nbformat.sign import NotebookNotary

    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    copied = copies.copy_to(tmp_path / "mine")
    nb = nbformat.read(copied.written[0], as_version=4)
    assert not NotebookNotary().check_signature(nb)
    lab.trust(copied)
    assert NotebookNotary().check_signature(nb)
    nb.cells[0].source += "changed"
    assert not NotebookNotary().check_signature(nb)


def test_a_copy_that_cannot_be_trusted_is_opened_all_the_same(tmp_path, capsys):
    (tmp_path / "01.ipynb").write_text("no notebook")
    lab.trust(copies.Copied(tmp_path, new=["01.ipynb"]))
    assert "could not be marked as trusted" in capsys.readouterr().err


def test_a_server_answers_and_runs_in_the_folder(tmp_path):
    """The real thing, without a browser."""
    import subprocess

    port = servers.free_port()
    command = [sys.executable, "-m", "vistorch", "lab", "mine", "--no-browser", "--allow-root"]
    command += [
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        "--IdentityProvider.token=let-me-in",
    ]
    with (
        open(tmp_path / "log", "w") as log,
        subprocess.Popen(
            command, cwd=tmp_path, env=servers.environment(tmp_path / "home"), stdout=log, stderr=log
        ) as process,
    ):
        try:
            url = f"http://127.0.0.1:{port}/api/contents?token=let-me-in"
            for _ in range(240):
                assert process.poll() is None, (tmp_path / "log").read_text()
                try:
                    listed = json.load(urllib.request.urlopen(url, timeout=20))
                    break
                except OSError:
                    time.sleep(0.25)
            assert FIRST in [one["name"] for one in listed["content"]]
        finally:
            process.terminate()
            process.wait(20)


def test_doctor(capsys, monkeypatch):
    from vistorch.vt.commands import doctor

    assert cli.main(["doctor"]) in (0, 1)
    assert "jupyterlab" in capsys.readouterr().out
    for state, code in ((doctor.OK, 0), (doctor.WRONG, 1)):
        monkeypatch.setattr(
            doctor, "examine", lambda state=state: doctor.Doctor((doctor.Finding("a", state, "b"),))
        )
        assert cli.main(["doctor"]) == code
    assert cli.main(["doctor", "cuda"]) == 2
    assert capsys.readouterr().err == "vistorch: `vistorch doctor` takes no 'cuda': it looks at everything.\n"


@pytest.mark.parametrize("name", cli.HELP)
def test_each_command_has_a_help_of_its_own_with_examples(name, capsys):
    assert cli.main(["--help"]) == 0
    assert f"vistorch {name}" in capsys.readouterr().out
    assert cli.main([name, "--help"]) == cli.main([name, "-h"]) == 0
    text = capsys.readouterr().out[: len(cli.HELP[name])]
    assert text.startswith(f"usage: vistorch {name}")
    assert re.findall(rf"^  vistorch {name}\b.*$", text.partition("\nexample")[2], re.M)
    assert "--help" in text


def test_the_help_of_lab_names_options_that_jupyterlab_has(monkeypatch, tmp_path):
    """And its examples are commands that it takes."""
    from jupyter_server.serverapp import aliases, flags

    known = {f"--{name}" for name in (*aliases, *flags)}
    named = set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", cli.LAB, re.M)) - {"--help", lab.LANGUAGE}
    assert len(named) > 2 and named <= known
    monkeypatch.chdir(tmp_path)
    for words in re.findall(r"^  vistorch lab ?(.*)$", cli.LAB, re.M):
        assert set(re.findall(r"--[\w-]+", words)) <= {*named, lab.LANGUAGE}
        command = lab.command_of(words.split())
        usual = f"{lab.FOLDER}-zh" if lab.LANGUAGE in words else lab.FOLDER
        (folder,) = [word for word in words.split()[:1] if not word.startswith("-")] or [usual]
        assert command[2:4] == ["jupyterlab", f"--ServerApp.root_dir={tmp_path / folder}"]


def test_help_is_given_wherever_it_is_asked_for_and_nothing_is_copied(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["lab", "lessons", "--no-browser", "--help"]) == 0
    assert capsys.readouterr().out == cli.LAB
    assert not list(tmp_path.iterdir())
