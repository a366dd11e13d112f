"""`vistorch lab`: JupyterLab on the reader's own copies of the tutorials.

Invariant: nothing of Jupyter is imported before it is known to be there, and what is missing is one sentence with the
command that brings it.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence

from .copies import Copied, Refusal, copy_to, languages
from .translations import ENGLISH

FOLDER = "vistorch-tutorials"
LANGUAGE = "--language"


def command_of(words: Sequence[str]) -> list[str]:
    """Copy the tutorials and return the command that opens JupyterLab on the copies.

    Args:
        words: a folder, if it is not to be `vistorch-tutorials` here, `--language` and one that the tutorials are
            there in, and whatever `jupyter lab` takes.
    """
    if importlib.util.find_spec("jupyterlab") is None:
        raise Refusal(f"JupyterLab is not installed here: {pip('jupyterlab')}")
    language, words = language_of(words)
    usual = FOLDER if language == ENGLISH else f"{FOLDER}-{language}"
    folder, options = (words[0], words[1:]) if words and not words[0].startswith("-") else (usual, words)
    copied = copy_to(os.path.abspath(folder), language)
    print(copied.text(), flush=True)
    trust(copied)
    start = [f"--LabApp.default_url=/lab/tree/{copied.new[0]}"] if copied.new and not copied.kept else []
    return [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={copied.folder}", *start, *options]


def language_of(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return the language that is asked for, English if none is, and the other words.

    Args:
        words: what was typed behind `vistorch lab`.
    """
    language, others, left = ENGLISH, [], iter(words)
    for word in left:
        name, given, value = word.partition("=")
        if name != LANGUAGE:
            others.append(word)
        elif found := value if given else next(left, ""):
            language = found
        else:
            raise Refusal(f"{LANGUAGE} needs a language: {' or '.join(languages())}.")
    return language, others


def pip(what: str) -> str:
    """Return the command that installs something for this interpreter, whichever `pip` comes first on the path.

    Args:
        what: the distribution.
    """
    python = f'"{sys.executable}"' if " " in sys.executable else sys.executable
    return f"{python} -m pip install {what}"


def trust(copied: Copied) -> None:
    """Let Jupyter run what the tutorials' stored outputs carry: they are as the package carries them.

    Args:
        copied: what was copied.
    """
    try:
        import nbformat
        from nbformat.sign import NotebookNotary

        notary = NotebookNotary()
        for path in copied.written:
            notary.sign(nbformat.read(path, as_version=4))
    except (
        Exception
    ) as error:  # the notebooks open all the same, with pictures that do not move until they run
        said = " ".join(str(error).split())
        print(f"vistorch: the copies could not be marked as trusted ({said})", file=sys.stderr)
