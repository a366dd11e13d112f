"""The command `vistorch`.

Invariant: a program is not imitated but run, by Python itself, in a fresh interpreter that takes the place of this
one: exit codes, tracebacks, signals, `sys.argv`, `sys.path` and `__main__` are Python's own.
JupyterLab is such a program too.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import NoReturn

from vistorch._version import __version__
from vistorch.torch_api.compat.import_torch import environment

USAGE = """\
usage: vistorch run script.py [arguments]
       vistorch run --diagnose [--no-try] script.py [arguments]
       vistorch run -m module [arguments]
       vistorch run -c command [arguments]
       vistorch launch [options] script.py [arguments]
       vistorch lab [folder] [--language zh] [options of jupyter lab]
       vistorch doctor

run     Run a PyTorch program on vistorch, unchanged: `import torch` and `import torchvision` give vistorch, in
        the program and in every process that it starts.
launch  Run a program as the ranks of one job, with torchrun's options: `vistorch launch --nproc 4 train.py`.
lab     Open JupyterLab on your own copies of the tutorials, in the folder vistorch-tutorials if none is named.
        What you have changed there is never overwritten; a notebook that you delete comes back.
        `--language zh`: in Chinese (中文), in vistorch-tutorials-zh.
doctor  List the versions, devices and parts of Jupyter that are here, what is missing, and how to fix it; the
        exit code is 1 if something is wrong.

`vistorch lab --help` (or `run`, `launch`, `doctor`) says more about one of them, with examples.

options:
  -h, --help  show this text
  --version   show the version"""


RUN = """\
usage: vistorch run script.py [arguments]
       vistorch run --diagnose [--no-try] script.py [arguments]
       vistorch run -m module [arguments]
       vistorch run -c command [arguments]

Run a PyTorch program on vistorch, unchanged: `import torch` and `import torchvision` give vistorch, in the program and
in every process that it starts. All that follows the program's name is the program's own.

options:
  -h, --help  show this text, if it comes before the program
  --diagnose  at the end, say on stderr what keeps the training from learning: the line, the proof, the cure. The exit
              code stays the program's own
  --no-try    after --diagnose: show cures without trying them on a copy of the program

examples:
  vistorch run train.py --epochs 3
  vistorch run --diagnose train.py
  vistorch run -c "import torch; print(torch.__name__)"
"""

LAB = """\
usage: vistorch lab [folder] [--language zh] [options of jupyter lab]

Open JupyterLab on your own copies of the tutorials.

  folder          where the copies are, or will be: vistorch-tutorials in the current folder if none is named. It comes
                  before the options. What you have changed there is never overwritten; a notebook that you delete
                  comes back.

options:
  -h, --help      show this text
  --language zh   the tutorials in Chinese (中文版教程), by default in vistorch-tutorials-zh
  Every other option is passed on to JupyterLab, whose own list is `jupyter lab --help`. The most useful:
  --no-browser    print the address and leave opening it to you
  --port=8899     listen on this port; by default the first free one from 8888 on
  --ip=0.0.0.0    accept connections from other machines; they need the token in the printed address

examples:
  vistorch lab
  vistorch lab lessons --no-browser --port=8899
  vistorch lab --language zh
"""

DOCTOR = """\
usage: vistorch doctor

List the versions, devices and parts of Jupyter that are here, what is missing, and how to fix it. The exit code is 1 if
something is wrong.

options:
  -h, --help  show this text

example:
  vistorch doctor
"""

HELP = {"run": RUN, "lab": LAB, "doctor": DOCTOR}
COMMANDS = (*HELP, "launch")  # which has a parser of its own


class Refusal(Exception):
    """What is wrong with a command line, in a sentence."""


def main(arguments: list[str] | None = None) -> int:
    """Do what a command line says.

    Args:
        arguments: the words after the command's name; those of this process if not given.

    Returns:
        The exit code. `run` and `lab` do not return: the program takes this process over.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        return _do(words)
    except Refusal as refusal:
        print(f"vistorch: {refusal}", file=sys.stderr)
        return 2


def _do(words: list[str]) -> int:
    first = words[0] if words else None
    if first in ("-h", "--help"):
        print(USAGE)
    elif first in HELP and _asks_for_help(first, words[1:]):
        print(HELP[first], end="")
    elif first == "--version":
        print(f"vistorch {__version__}")
    elif first == "run":
        diagnosed = words[1:2] == ["--diagnose"]
        untried = diagnosed and words[2:3] == ["--no-try"]
        program = words[1 + diagnosed + untried :]
        _check(program)
        os.environ.update(environment())
        if diagnosed:
            os.environ["VISTORCH_DIAGNOSE"] = "no-try" if untried else "1"
        _become([sys.executable, *subprocess._args_from_interpreter_flags(), *program])  # type: ignore[attr-defined]
    elif first == "launch":
        from vistorch.distributed.run import main as launch

        return launch(words[1:])
    elif first == "lab":
        _become(_lab(words[1:]))
    elif first == "doctor":
        return _doctor(words[1:])
    elif first is None:
        raise Refusal("say what to do: `vistorch run script.py` runs a PyTorch program; `vistorch --help`.")
    else:
        raise Refusal(
            f"there is no command {first!r}; `vistorch run script.py` runs a PyTorch program, "
            "`vistorch lab` opens the tutorials, `vistorch doctor` says what is missing."
        )
    return 0


def _asks_for_help(command: str, words: list[str]) -> bool:
    """Say whether words ask for a command's help; those behind a program's name ask the program."""
    return bool({"-h", "--help"} & set(words[:1] if command == "run" else words))


def _lab(words: list[str]) -> list[str]:
    """Copy the tutorials; return the command that opens them."""
    from .tutorials import copies, lab

    try:
        return lab.command_of(words)
    except copies.Refusal as refusal:
        raise Refusal(str(refusal)) from None


def _doctor(words: list[str]) -> int:
    """Print what is here and what is wrong."""
    from vistorch.vt.commands.doctor import examine

    if words:
        raise Refusal(f"`vistorch doctor` takes no {words[0]!r}: it looks at everything.")
    record = examine()
    print(record.text())
    return 1 if record.wrong else 0


def _check(words: list[str]) -> None:
    """Refuse what Python would refuse in its own name."""
    if not words:
        raise Refusal("`vistorch run` needs the program: a script, or -m and a module.")
    first = words[0]
    if first in ("-m", "-c"):
        if len(words) == 1:
            raise Refusal(
                f"-m needs the {'module' if first == '-m' else 'command'} to run.".replace("-m", first)
            )
    elif first.startswith("-") and first != "-":
        raise Refusal(f"`vistorch run` has no option {first}; the program's own options come after its name.")
    elif first != "-" and not os.path.exists(first):
        raise Refusal(f"there is no file {first!r} to run.")
    if sys.flags.ignore_environment or sys.flags.no_site:
        raise Refusal("`vistorch run` needs Python's environment: leave out its options -E, -I and -S.")


def _become(command: list[str]) -> NoReturn:
    """Give this process to a program."""
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "nt":  # there, exec returns to the shell while the program runs on
        sys.exit(_wait(command))
    os.execv(sys.executable, command)


def _wait(command: list[str]) -> int:
    """Run the program as a child; Ctrl-C reaches it as well, and it is the one to answer."""
    with subprocess.Popen(command) as child:
        while True:
            try:
                return child.wait()
            except KeyboardInterrupt:
                continue
