"""Small programs whose guilty lines are marked, `# <-`, and what is said of them."""

import contextlib
import io

from .harness import run

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\ntorch.manual_seed(0)\n"
MARK = "# <-"


def guilty(text):
    """The lines that are marked."""
    return {i for i, one in enumerate((HEAD + text).splitlines(), 1) if MARK in one}


def said(text, name="marked"):
    """The rules that say something, each with the lines that it names."""
    with contextlib.redirect_stderr(io.StringIO()):
        found = run(name, HEAD + text)
    assert not found.failures and not found.error, (found.failures, found.error)
    return {one.rule: [line.line for line in one.named] for one in found.findings}
