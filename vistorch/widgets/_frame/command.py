"""`Command`: one row of the table that `%vt`, its help, its completion and the functions of `vistorch.vt` share.

Invariant: an option's `dest` is the name of a parameter of the command's function: what can be typed can be called.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NoReturn

from .user_error import Refusal

# What a positional argument or an option's value is, for reading it and for completing it.
EXPRESSION = "expression"  # Python, evaluated in the user's namespace
PATH = "path"
DISPLAY = "display"  # the name of something that was shown
PLACE = "place"  # a device
WORD = "word"
TEXT = "text"  # the rest of the line as it was typed


class Parser(argparse.ArgumentParser):
    """An argparse parser that neither exits nor prints, and knows what each argument is.

    Args:
        prog: what is typed before the arguments, as `%vt show`.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, add_help=False, allow_abbrev=False, exit_on_error=False)
        self.kinds: dict[str, str] = {}
        self.cures: dict[str, str] = {}

    def takes(self, name: str, help: str, *, kind: str = WORD, cure: str = "", **settings: Any) -> None:
        """Add a positional argument or, where the name begins with `--`, an option.

        Args:
            name: the parameter's name, or `--` and the name.
            help: a few words that say what it is.
            kind: what it is, for completion; an EXPRESSION is handed to the function as its value.
            cure: what makes an EXPRESSION's name that is not there; NAME in it stands for that name.
            settings: what `add_argument` takes besides.
        """
        action = self.add_argument(name, help=help, **settings)
        self.kinds[action.dest] = kind
        if cure:
            self.cures[action.dest] = cure

    @cached_property
    def options(self) -> Mapping[str, argparse.Action]:
        """The options by what is typed for them."""
        return {word: action for action in self._actions for word in action.option_strings}

    @cached_property
    def positions(self) -> list[argparse.Action]:
        """The positional arguments in their order."""
        return [action for action in self._actions if not action.option_strings]

    def error(self, message: str) -> NoReturn:
        """Refuse instead of ending the process."""
        raise Refusal(f"{message}: type `{self.prog}?` for help")


@dataclass(frozen=True)
class Asked:
    """Where a magic was typed: the names it sees and the shell it runs in.

    Args:
        namespace: the user's variables, those of the running function included.
        texts: each expression as it was typed, by the parameter it was typed for.
        shell: the shell; None outside of IPython.

    Example:
        >>> import vistorch
        >>> from vistorch.vt import COMMANDS, Asked
        >>> from vistorch.vt.parse import read
        >>> asked = Asked({"x": vistorch.ones(2)})
        >>> read(COMMANDS["show"], "x + 1", asked)["x"], asked.texts
        (tensor([2., 2.]), {'x': 'x + 1'})
    """

    namespace: dict[str, Any]
    texts: dict[str, str] = field(default_factory=dict)
    shell: Any = None


@dataclass(frozen=True)
class Command:
    """One row of the table.

    Args:
        name: the word after `%vt`.
        summary: one sentence without a full stop, for the overview.
        examples: pairs of a line without its `%vt` and what it does; the first is quoted in errors.
        function: what `vistorch.vt` has under its own name, and what `%vt name` calls with the options as
            keywords; what it returns is shown.
        cell: what `%%vt name` calls with the cell's text, an `Asked` and the options; None if there is none.
        arguments: adds the arguments to a parser.
        prepare: sees the options as they were typed before the function does, with the place they were
            typed in, and returns what the function is to get: the namespace, or a name that was typed.
        only_cell: whether it needs a cell: `%%vt name` alone.
        about: what its first example shows, as README's table says it; the summary if not given.
        rank: where it stands in the overview; of the same rank by name.

    Example:
        >>> from vistorch import vt
        >>> vt.COMMANDS["show"].typed, vt.COMMANDS["trace"].typed
        ('%vt show', '%%vt trace')
        >>> from vistorch.widgets._frame.command import EXPRESSION, Asked, Command, Parser
        >>> def plus(x, number, name):
        ...     return f"{name} plus {number} is {x + number}"
        >>> def arguments(parser):
        ...     parser.takes("x", "a value", kind=EXPRESSION)
        ...     parser.takes("--number", "what is added", type=int)
        >>> def prepare(options, asked):
        ...     return {**options, "name": asked.texts["x"]}
        >>> row = Command(
        ...     "plus", "A sum", (("plus x --number 3", "x + 3"),), plus, arguments=arguments, prepare=prepare
        ... )
        >>> row.arguments(parser := Parser(row.typed))
        >>> vars(parser.parse_args(["2 * x", "--number=3"]))
        {'x': '2 * x', 'number': 3}
        >>> row.line(**row.prepare({"x": 10, "number": 3}, Asked({"x": 5}, {"x": "2 * x"})))
        '2 * x plus 3 is 13'
    """

    name: str
    summary: str
    examples: tuple[tuple[str, str], ...]
    function: Callable[..., Any] | None = None
    cell: Callable[..., Any] | None = None
    arguments: Callable[[Parser], None] = lambda parser: None
    prepare: Callable[[dict[str, Any], Asked], dict[str, Any]] = lambda options, asked: options
    only_cell: bool = False
    about: str = ""
    rank: int = 150

    @property
    def line(self) -> Callable[..., Any] | None:
        """What `%vt name` calls; None for a command that needs a cell."""
        return None if self.only_cell else self.function

    @property
    def typed(self) -> str:
        """What is typed for it: `%vt show`, or `%%vt trace` for a command that needs a cell."""
        return f"%vt {self.name}" if self.line else f"%%vt {self.name}"

    @cached_property
    def parser(self) -> Parser:
        """Its parser, built when it is first needed."""
        parser = Parser(self.typed)
        self.arguments(parser)
        return parser


COMMANDS = ()
