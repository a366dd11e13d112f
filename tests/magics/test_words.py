"""A line is taken apart outside of brackets and quotes only."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vistorch.vt.words import split, unquoted


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", []),
        ("   ", []),
        ("show x", ["show", "x"]),
        ("model.conv1.weight[0, :, 2] --scale log", ["model.conv1.weight[0, :, 2]", "--scale", "log"]),
        ("{'a b': x, \"c]\": [1, (2, 3)]} --grad", ["{'a b': x, \"c]\": [1, (2, 3)]}", "--grad"]),
        ("f('it\\'s', x)  y", ["f('it\\'s', x)", "y"]),
        ("'''a ' b''' c", ["'''a ' b'''", "c"]),
        ("'' x", ["''", "x"]),
        ("x[1, --size 3", ["x[1, --size 3"]),
        ("'open --size 3", ["'open --size 3"]),
        ("x ) y", ["x", ")", "y"]),
        ("x # a comment --size 3", ["x"]),
        ("x['#'] y", ["x['#']", "y"]),
        ("--name='a b' z", ["--name='a b'", "z"]),
    ],
)
def test_words(line, words):
    assert [word.text for word in split(line)] == words


@given(st.text(alphabet="ab '\"[](){}\\#-=\t", max_size=40))
def test_words_keep_their_places(line):
    words = split(line)
    assert all(line[word.start : word.stop] == word.text and word.text for word in words)
    assert all(a.stop < b.start and line[a.stop : b.start].isspace() for a, b in pairwise(words))
    rest = line[words[-1].stop :] if words else line
    assert not rest.strip() or rest.lstrip().startswith("#")


def test_quotes_come_off_a_whole_word_only():
    assert unquoted("'a b'") == "a b"
    assert unquoted("'a' + 'b\"") == "'a' + 'b\""
    assert unquoted("'") == "'"
