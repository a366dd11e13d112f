"""docs/differences.md is true: each of its sentences has a check that runs both libraries."""

import pytest

from tests.differences import away, engine, processes, training
from tests.differences.sentences import CHECKS, PAGE, sentences

MODULES = (away, engine, processes, training)  # each registers its checks when it is imported
SAID = sentences(PAGE.read_text(encoding="utf-8"))
# A title before sentences that have checks, and a promise about this file.
NOT_CLAIMS = {
    "More is differentiable.",
    "One optimizer, one implementation.",
    "Sparse and batched.",
    "Parametrizations.",
    "Distributions.",
    "Everything else that differs from PyTorch 2.13 is a bug: please report it.",
    "Each sentence on this page is checked by a test that runs both libraries (`tests/differences`).",
}


def test_every_sentence_has_a_check_and_every_check_a_sentence():
    assert len(SAID) > 60 and len(set(SAID)) == len(SAID)
    assert [one for one in SAID if one not in CHECKS and one not in NOT_CLAIMS] == []
    assert sorted({*CHECKS, *NOT_CLAIMS} - set(SAID)) == []


@pytest.mark.parametrize("name", sorted({check.__name__ for check in CHECKS.values()}))
def test_what_the_page_says_is_so(name):
    (check,) = {check for check in CHECKS.values() if check.__name__ == name}
    check()


def test_a_page_is_read_sentence_by_sentence():
    text = "# Title\n\nOne `a. B` two.\nThree, e.g. four.\n\n**Five.** Six\n`seven`. Eight (nine. Ten)."
    text += "\n\n- Item: x.\n- y"
    assert sentences(text) == [
        "One `a. B` two.",
        "Three, e.g. four.",
        "Five.",
        "Six `seven`.",
        "Eight (nine.",
        "Ten).",
        "Item: x.",
        "y",
    ]
