"""`vistorch run`: what the program sees, and what its starter sees, is what `python` gives."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

import vistorch as library
from tests.compat.run import ROOT, python, vistorch


@pytest.fixture
def folder(tmp_path):
    def write(**files):
        for name, text in files.items():
            (tmp_path / f"{name}.py").write_text(text)
        return tmp_path

    return write


SEEN = """
import json, sys
print(json.dumps([sys.argv, sys.path[0], __name__, __file__, __spec__ is None, sys.flags.optimize, sys.flags.dev_mode]))
"""


@pytest.mark.parametrize("flags", [(), ("-O", "-X", "dev")])
def test_what_a_script_sees(folder, flags):
    here = folder(script=SEEN)
    words = ("script.py", "a", "-b", "--help")
    ours = python(*flags, "-m", "vistorch", "run", *words, cwd=here)
    assert json.loads(ours.stdout) == json.loads(python(*flags, *words, cwd=here).stdout), ours.stderr


def test_what_a_module_sees(folder):
    here = folder(script=SEEN.replace("__spec__ is None", "__spec__.name"))
    words = ("-m", "script", "-x")
    ours = vistorch("run", *words, cwd=here)
    assert json.loads(ours.stdout) == json.loads(python(*words, cwd=here).stdout), ours.stderr


def test_alias_is_there(folder):
    here = folder(script="import torch, sys; print(torch.__spec__.name, sys.argv[1:])")
    assert vistorch("run", "script.py", "x", cwd=here).stdout == "vistorch ['x']\n"
    assert vistorch("run", "-m", "script", cwd=here).stdout == "vistorch []\n"
    assert vistorch("run", "-c", "import torch; print(torch.__spec__.name)").stdout == "vistorch\n"
    assert vistorch("run", "-", input="import torch; print(torch.__spec__.name)").stdout == "vistorch\n"


@pytest.mark.parametrize(
    "text",
    [
        "import sys; sys.exit(7)",
        "import sys; sys.exit('a sentence')",
        "raise SystemExit",
        "def f():\n    1 / 0\n\nf()",
        "import sys; print('x'); sys.stdout.flush(); raise KeyboardInterrupt",
        "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
        "import os; os._exit(3)",
        "x = = 1",
        "import torch\ntorch.ones(2) @ torch.ones(3)",
    ],
)
def test_exit_codes_and_tracebacks(folder, text):
    here = folder(script=text)
    ours, theirs = vistorch("run", "script.py", cwd=here), python("script.py", cwd=here)
    assert ours.returncode == theirs.returncode
    assert ours.stdout == theirs.stdout
    if "torch" not in text:
        assert ours.stderr == theirs.stderr
    else:
        assert ours.stderr.splitlines()[:3] == theirs.stderr.splitlines()[:3]
        assert not re.search(r"torch_api/compat|vt/cli", ours.stderr)


def test_ctrl_c(folder):
    here = folder(script="import time\nprint('ready', flush=True)\ntime.sleep(60)")
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "vistorch", "run", "script.py"]
    with subprocess.Popen(
        command, cwd=here, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        process.wait(30)
        assert process.returncode == -signal.SIGINT
        assert process.stderr.read().endswith(b"KeyboardInterrupt\n")


CHILDREN = """
import multiprocessing, subprocess, sys

def name(_):
    import torch
    return torch.__spec__.name

if __name__ == "__main__":
    for method in ("spawn", "forkserver", "fork"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            print(*pool.map(name, [0]))
    again = "import torch, sys; print(torch.__spec__.name)"
    print(subprocess.run([sys.executable, "-c", again], capture_output=True, text=True).stdout.strip())
    print([path for path in sys.path if path.endswith("start")])
"""


def test_children(folder):
    done = vistorch("run", "script.py", cwd=folder(script=CHILDREN))
    assert done.stdout.split() == ["vistorch"] * 4 + ["[]"], done.stderr


def test_vistorch_is_found_from_a_checkout(folder, tmp_path):
    here = folder(script=CHILDREN)
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-m", "vistorch", "run", str(here / "script.py")]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=240)
    assert done.stdout.split() == ["vistorch"] * 4 + ["[]"], done.stderr


def test_a_sitecustomize_of_ones_own_is_run(folder):
    here = folder(sitecustomize="print('mine')", script="import torch; print(torch.__spec__.name)")
    env = {"PYTHONPATH": f"{here}{os.pathsep}{ROOT}"}
    assert vistorch("run", "script.py", cwd=here, env=env).stdout.split() == ["mine", "mine", "vistorch"]


def test_another_python_is_left_alone(folder):
    here = folder(
        script="import sys\nprint('torch' in sys.modules, any(type(f).__name__ == 'Finder' for f in sys.meta_path))"
    )
    env = {
        "VISTORCH_ALIAS": "elsewhere",
        "PYTHONPATH": f"{library.compat.import_torch.START}{os.pathsep}{ROOT}",
    }
    done = python("script.py", cwd=here, env=env)
    assert done.stdout == "False False\n", done.stderr


def test_a_program_that_asks_for_no_torch_imports_none():
    done = vistorch("run", "-c", "import sys; print('vistorch' in sys.modules, 'numpy' in sys.modules)")
    assert done.stdout == "False False\n"


def test_async_gets_a_sentence(folder):
    here = folder(script="x.cuda(async=True)", caller="import script")
    for program in ("script.py", "caller.py"):
        done = vistorch("run", program, cwd=here)
        assert done.returncode == 1
        assert "SyntaxError" in done.stderr and "write `non_blocking=` in its place." in done.stderr
    assert "non_blocking" not in vistorch("run", "-c", "x = = 1").stderr


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("run",),
        ("run", "-m"),
        ("run", "-c"),
        ("run", "nowhere.py"),
        ("run", "-z"),
        ("walk",),
        ("--walk",),
    ],
)
def test_a_wrong_command_line_gets_one_sentence(words, tmp_path):
    done = vistorch(*words, cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("vistorch: ") and done.stderr.count("\n") == 1


def test_without_an_environment(tmp_path):
    done = python(
        "-E",
        "-c",
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from vistorch.cli import main; "
        "sys.exit(main(['run', '-c', '0']))",
    )
    assert done.returncode == 2 and "leave out its options -E, -I and -S" in done.stderr


def test_help_and_version():
    assert vistorch("run", "--help").stdout.startswith("usage: vistorch run script.py")
    assert "usage: vistorch run script.py" in vistorch("-h").stdout
    assert vistorch("--version").stdout == f"vistorch {library.__version__}\n"


def test_start_is_quick():
    begin = time.perf_counter()
    vistorch("run", "-c", "0")
    assert time.perf_counter() - begin < 5
