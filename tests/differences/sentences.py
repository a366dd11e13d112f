"""What docs/differences.md says, sentence by sentence, and which check each sentence has.

Invariant: a check belongs to one sentence, word for word; a sentence that is changed has none until its check is
looked at again.
"""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "differences.md"
CHECKS = {}
# Where a sentence ends; code spans are masked before it is looked for.
_END = re.compile(r"(?<=[.!?])(?:\*\*)?\s+(?=[A-Z`*])")


def claims(sentence):
    """Register a check of a sentence."""

    def register(check):
        assert sentence not in CHECKS, f"two checks of: {sentence}"
        CHECKS[sentence] = check
        return check

    return register


def sentences(text):
    """Return the sentences of a page in Markdown, without headings; each item of a list is at least one."""
    found = []
    for block in re.split(r"\n\s*\n|\n(?=- )", text):
        block = " ".join(block.split())
        if block.startswith("#"):
            continue
        block = block.removeprefix("- ").replace("**", "")
        spans = re.findall(r"`[^`]*`", block)
        masked = re.sub(r"`[^`]*`", lambda match: "`" + "_" * (len(match[0]) - 2) + "`", block)
        begin = 0
        for end in _END.finditer(masked):
            found.append(block[begin : end.start()])
            begin = end.end()
        found.append(block[begin:])
        assert len(spans) * 2 == masked.count("`"), f"a code span is not closed: {block}"
    return [one for one in found if one]


def message(call, *args, **kwargs):
    """Return "Type: message" of the exception that a call raises, or an empty string."""
    try:
        call(*args, **kwargs)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def nodes(tensor):
    """Return every node of the graph behind a tensor."""
    found, left = [], [tensor.grad_fn]
    while left:
        node = left.pop()
        if node is not None and node not in found:
            found.append(node)
            left += [one for one, _ in node.next_functions]
    return found
