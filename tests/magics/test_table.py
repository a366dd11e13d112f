"""One table for the magics and the functions: the same options, and rows that come later need no change."""

import inspect
import io
from contextlib import redirect_stderr, redirect_stdout
from keyword import iskeyword

import pytest

from vistorch import vt
from vistorch.vt.dispatch import obey
from vistorch.vt.help import WIDTH, help_of
from vistorch.vt.parse import read
from vistorch.widgets._frame.command import EXPRESSION, Asked, Command

ROWS = pytest.mark.parametrize("command", vt.COMMANDS.values(), ids=lambda command: command.name)
FROM_THE_PLACE = {
    "namespace",
    "index",
    "function",
    "given",
    "named",
}  # what no one types: a cell stands for a call


@ROWS
def test_a_command_and_its_function_take_the_same(command):
    named = f"{command.name}_" if iskeyword(command.name) else command.name
    function = getattr(vt, named)
    assert command.line in (function, None)  # of a command for cells alone, the function is a context
    assert named in vt.__all__
    taken = inspect.signature(function).parameters
    typed = {action.dest: action for action in command.parser._actions}
    assert set(taken) - FROM_THE_PLACE == set(typed)
    for name, action in typed.items():
        assert (taken[name].kind is inspect.Parameter.KEYWORD_ONLY) == bool(action.option_strings), name
        if action.option_strings:
            assert taken[name].default == action.default, name
            assert action.option_strings == [f"--{name.rstrip('_').replace('_', '-')}"]
    order = [name for name in taken if name in {action.dest for action in command.parser.positions}]
    assert order == [action.dest for action in command.parser.positions]


@ROWS
def test_every_argument_is_documented_where_it_is_called_and_where_it_is_typed(command):
    noted = inspect.getdoc(command.line or getattr(vt, command.name))
    for action in command.parser._actions:
        assert action.help
        assert f"{action.dest}:" in noted, action.dest
    assert "Example:" in noted


@ROWS
def test_help_shows_examples_that_can_be_typed(command):
    text = help_of(command)
    assert all(len(line) <= WIDTH + 4 for line in text.splitlines())
    for line, says in command.examples:
        assert f"vt {line}" in text
        assert says in text
        name, _, rest = line.partition(" ")
        assert name == command.name
        read(command, rest, Asked(Anything()))


class Anything(dict):
    """A namespace in which every plain name of an example is something."""

    def __init__(self):
        class Thing:
            def __getattr__(self, name):
                return self

            def __getitem__(self, index):
                assert isinstance(index, tuple)
                return self

        super().__init__(
            dict.fromkeys(("x", "model", "layer", "out", "hidden", "y", "loss", "before", "after"), Thing())
        )


@ROWS
def test_the_summary_fits_a_line_of_the_overview(command):
    assert len(command.summary) <= 58
    assert not command.summary.endswith(".")


def _row(**more):
    seen = []

    def arguments(parser):
        parser.takes("loss", "a loss", kind=EXPRESSION, nargs="?")
        parser.takes("--every", "how often", type=int, default=1)

    def cell(body, asked, loss=None, every=1):
        seen.append((body, loss, every, asked.texts))
        return "done"

    row = Command(
        "trace", "Find the first bad value", (("trace loss", "x"),), cell=cell, arguments=arguments, **more
    )
    return {**vt.COMMANDS, "trace": row}, seen


def test_a_cell_command_is_one_row():
    table, seen = _row()
    assert obey(table, "trace a + 1 --every 3", Asked({"a": 4}), "b = 1\n") == "done"
    assert seen == [("b = 1\n", 5, 3, {"loss": "a + 1"})]
    assert "%%vt trace [LOSS]" in obey(table, "", Asked({}))
    assert obey(table, "trace --help", Asked({})).startswith("%%vt trace")
    with pytest.raises(vt.Refusal, match=r"`trace` needs a cell: type `%%vt trace loss` on its first line"):
        obey(table, "trace a", Asked({"a": 1}))
    with pytest.raises(vt.Refusal, match=r"say what to do with the cell; type `%%vt trace`"):
        obey(table, "", Asked({}), "b = 1")


def test_two_expressions_are_a_word_each():
    def arguments(parser):
        parser.takes("a", "one", kind=EXPRESSION)
        parser.takes("b", "other", kind=EXPRESSION)

    row = Command(
        "compare", "Compare", (("compare x y", ""),), function=lambda a, b: (a, b), arguments=arguments
    )
    assert obey({"compare": row}, "compare x[0, 1] (y + 1)", Asked({"x": {(0, 1): 7}, "y": 1})) == (7, 2)
    with pytest.raises(vt.Refusal, match="needs other: type `%vt compare x y`"):
        obey({"compare": row}, "compare y", Asked({"y": 1}))


def test_argparse_neither_prints_nor_exits():
    spoken = io.StringIO()
    bad = ["--size", "--size=x", "--nope", "--grad=1", "x y z --theme", "--kind ten", "simulate x", "a b c d"]
    with redirect_stdout(spoken), redirect_stderr(spoken):
        for command in vt.COMMANDS.values():
            for text in bad:
                try:
                    read(command, text, Asked({"a": 1}))
                except vt.Refusal as refusal:
                    assert "\n" not in str(refusal)
    assert spoken.getvalue() == ""
