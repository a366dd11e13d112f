"""The command `vistorch`.

Invariant: a program is not imitated but run, by Python itself, in a fresh interpreter that takes the place of this
one: exit codes, tracebacks, signals, `sys.argv`, `sys.path` and `__main__` are Python's own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import NoReturn

from ._version import __version__
from .compat.alias import environment

USAGE = """\
usage: vistorch run script.py [arguments]
       vistorch run -m module [arguments]
       vistorch run -c command [arguments]

Run a PyTorch program on vistorch, unchanged: `import torch` and `import torchvision` give vistorch, in the
program and in every process that it starts.

options:
  -h, --help  show this text
  --version   show the version"""


class Refusal(Exception):
    """What is wrong with a command line, in a sentence."""


def main(arguments: list[str] | None = None) -> int:
    """Do what a command line says.

    Args:
        arguments: the words after the command's name; those of this process if not given.

    Returns:
        The exit code. `run` does not return: the program takes this process over.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        return _do(words)
    except Refusal as refusal:
        print(f"vistorch: {refusal}", file=sys.stderr)
        return 2


def _do(words: list[str]) -> int:
    first = words[0] if words else None
    if first in ("-h", "--help") or words[:2] in (["run", "-h"], ["run", "--help"]):
        print(USAGE)
    elif first == "--version":
        print(f"vistorch {__version__}")
    elif first == "run":
        _check(words[1:])
        _become(words[1:])
    elif first is None:
        raise Refusal("say what to do: `vistorch run script.py` runs a PyTorch program.")
    else:
        raise Refusal(f"there is no command {first!r}; `vistorch run script.py` runs a PyTorch program.")
    return 0


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


def _become(words: list[str]) -> NoReturn:
    """Give this process to the program."""
    os.environ.update(environment())
    command = [sys.executable, *subprocess._args_from_interpreter_flags(), *words]  # type: ignore[attr-defined]
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
