"""`%%vt record NAME` and `%vt compare A B`: keep what a run computed, and find where another one differs first."""

from __future__ import annotations

import os
import sys
from keyword import iskeyword
from pathlib import Path
from typing import Any

from ...debug.source import Unsupported, active
from .._frame.command import EXPRESSION, PATH, Asked, Command, Parser
from .._frame.finding import find
from .._frame.note import Note
from .._frame.output import SUFFIXES
from .._frame.run_cell import finish, run
from .._frame.shell import names_around
from .._frame.user_error import Refusal, first_line, is_number

NAME = "compare"
MAKES = "type `%%vt record NAME` on a cell's first line to make that recording"


class Recorded:
    """What `vt.record` gives: a context whose `as` is a recording, complete when the context ends.

    Args:
        name: what the run is called.
        save: also a file.
        namespace: where leaves are named.
    """

    def __init__(self, name: str, save: Any, namespace: dict[str, Any]) -> None:
        from ...debug.compare import Recording

        self.save, self.name, self.namespace = save, name, namespace
        self.recording = Recording(name, [])
        self._records: list[Any] = []

    def __enter__(self) -> Any:
        """Begin to record: what runs shows whose it is, so every source that is in use is recorded."""
        around = self.namespace
        for source in active():
            try:
                made = source.recorder(self.name, lambda leaf: find(leaf, around)[0])
                made.__enter__()
            except Unsupported:
                continue
            self._records.append(made)
        return self.recording

    def __exit__(self, *exc: Any) -> None:
        """End; what ran before an exception is kept."""
        for one in reversed(self._records):
            one.__exit__(*exc)
        made = max(self._records, key=lambda one: len(one.rows)).recording()  # of what ran most
        self.recording.ops, self.recording.leaves = made.ops, made.leaves
        self.recording.source = made.source
        self._records.clear()  # and with it what still listens to tensors
        if self.save is not None:
            _save(self.recording, self.save)


def record(name: str = "", *, save: Any = None) -> Recorded:
    """Record a run op by op, forward and backward, to compare it with another.

    Args:
        name: what the run is called.
        save: also write it to this file, for another day, program or device.

    Returns:
        A context: what follows its `as` is the recording.

    Example:
        >>> import vistorch
        >>> from vistorch import vt
        >>> x = vistorch.ones(2, requires_grad=True)
        >>> with vt.record("before") as before:
        ...     (x * 3).sum().backward()
        >>> before
        recording 'before': 2 ops, gradients of 1 leaf, 40 B
    """
    if not isinstance(name, str):
        raise Refusal(
            f"record takes the name of the run, as text, not {type(name).__name__}: with vt.record('first')"
        )
    return Recorded(name, _place(save), names_around(sys._getframe(1)))


def compare(
    a: Any = None,
    b: Any = None,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    plain: bool = False,
    ranks: bool = False,
    same: bool = False,
) -> Any:
    """Compare two recordings op by op: where they first differ, and whether by the op's own doing.

    Args:
        a: the reference: a recording, or the name of its file.
        b: the other run.
        rtol: relative tolerance; one for each type, as `testing.assert_close` has, if not given.
        atol: absolute tolerance.
        plain: only compare; otherwise an op that differs is run once more on the reference's inputs, so that
            it is not blamed for what came before it.
        ranks: for `%%vt compare --ranks` alone: the cell runs on the ranks of `%vt ranks`, and what is shown is the
            first tensor in which they part.
        same: for the same: all ranks are given the same data, so every op has to be alike.

    Returns:
        A display: the first difference, and a table of all ops.

    Example:
        >>> import vistorch
        >>> from vistorch import vt
        >>> x = vistorch.ones(2)
        >>> with vt.record("a") as a:
        ...     y = (x * 2.0).sin()
        >>> with vt.record("b") as b:
        ...     y = (x * 2.5).sin()
        >>> vt.compare(a, b).record.sentence.partition(":")[0]
        'The first difference is in mul (number 1)'
    """
    from ...debug.compare import compare as compared
    from .._frame.display import Display

    if ranks or same:
        raise Refusal(
            "--ranks is for a cell: type `%%vt compare --ranks` on its first line, after `%vt ranks 2`"
        )
    if a is None or b is None:
        which = "two recordings" if a is None else "the other recording"
        raise Refusal(f"`%vt compare` needs {which}: type `%vt compare before after`")
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value is not None and not (is_number(value) and value >= 0):
            raise Refusal(f"{name} is a number from 0 up, not {value!r}: type --{name} 1e-5")
    runs = [_run(value, which) for value, which in ((a, "first"), (b, "second"))]
    return Display(compared(*runs, rtol=rtol, atol=atol, single_step=not plain), NAME)


def _run(value: Any, which: str) -> Any:
    """Return the recording that is meant."""
    from ...debug.compare import Record, Recording

    if isinstance(value, (Recording, Record)):
        return value if isinstance(value, Recording) else value.recording()
    if not isinstance(value, (str, os.PathLike)):
        kind = type(value).__name__
        raise Refusal(
            f"the {which} is a {kind}, no recording: type `%%vt record NAME` on a cell's first line"
        )
    try:
        return Recording.load(Path(value).expanduser())
    except FileNotFoundError:
        raise Refusal(
            f"there is no file {str(value)!r}: name a recording that `%%vt record NAME` made, or a file it was saved in"
        ) from None
    except OSError as error:
        raise Refusal(f"cannot read {str(value)!r}: {first_line(error)}") from None
    except ValueError as error:
        raise Refusal(str(error)) from None


def _place(save: Any) -> Path | None:
    """Return a file to write to, which must be possible before a long run begins."""
    if save is None:
        return None
    if not isinstance(save, (str, os.PathLike)):
        raise Refusal(f"save is a file's name, not {type(save).__name__}: type save='run.vtr'")
    path = Path(save).expanduser()
    if path.suffix.lower() in SUFFIXES:
        raise Refusal(f"{str(save)!r} would be a picture: a recording's file ends otherwise, as in run.vtr")
    if not path.parent.is_dir():
        raise Refusal(f"cannot write {str(save)!r}: there is no such folder; type another path")
    return path


def _save(recording: Any, path: Path) -> None:
    """Write a recording."""
    try:
        recording.save(path)
    except OSError as error:
        raise Refusal(f"cannot write {str(path)!r}: {first_line(error)}; type another path") from None


def _cell(cell: str, asked: Asked, *, name: str, save: Any = None) -> Any:
    """Run a cell and put its recording into the user's namespace."""
    if not name.isidentifier() or iskeyword(name):
        raise Refusal(f"{name!r} is no name for a variable: type `%%vt record before`")
    recorded = Recorded(name, _place(save), asked.namespace if asked.shell is None else asked.shell.user_ns)
    with recorded as made:
        error = run(cell, asked.shell, f"%%vt record {name}")
    assert asked.shell is not None  # `run` refuses without one
    asked.shell.user_ns[name] = made
    there = f"; wrote {save}" if save is not None else ""
    return finish(Note(f"{made!r}{there}; type `%vt compare {name} OTHER`"), error, asked.shell)


def _compare_cell(cell: str, asked: Asked, *, ranks: bool, same: bool, **options: Any) -> None:
    """Run a cell on all ranks and compare them."""
    from ..ranks.compare import compare_on_ranks

    if not ranks:
        raise Refusal("on a cell, compare takes --ranks: type `%%vt compare --ranks`")
    given = [f"--{one}" if one not in ("a", "b") else "recording" for one, value in options.items() if value]
    if given:
        raise Refusal(f"--ranks takes no {given[0]}: type `%%vt compare --ranks`")
    compare_on_ranks(cell, asked.shell, NAME, same)


def _record_arguments(parser: Parser) -> None:
    parser.takes("name", "the variable that will hold the recording", metavar="NAME")
    parser.takes("--save", "also write it to this file", kind=PATH, metavar="PATH")


def _compare_arguments(parser: Parser) -> None:
    first = "the reference: a recording, or its file in quotes"
    parser.takes("a", first, kind=EXPRESSION, cure=MAKES, metavar="A", nargs="?")
    second = "the other recording, or its file in quotes"
    parser.takes("b", second, kind=EXPRESSION, cure=MAKES, metavar="B", nargs="?")
    parser.takes("--rtol", "relative tolerance; one for each type if not given", type=float, metavar="NUMBER")
    parser.takes("--atol", "absolute tolerance", type=float, metavar="NUMBER")
    parser.takes("--plain", "run no op again on the reference's inputs", action="store_true")
    parser.takes(
        "--ranks", "run the cell on the ranks of `%vt ranks`, and compare these", action="store_true"
    )
    parser.takes("--same", "with --ranks: all are given the same data", action="store_true")


RECORD = Command(
    name="record",
    summary="Run a cell and keep all it computes, for `%vt compare`",
    function=record,
    cell=_cell,
    only_cell=True,
    arguments=_record_arguments,
    examples=(
        ("record before", "the lines below it, as a variable"),
        ("record before --save before.vtr", "also as a file, for another day, program or device"),
    ),
    about="all that a cell computes, kept",
    rank=90,
)
COMPARE = Command(
    name="compare",
    summary="Where two recordings of `%%vt record` first differ",
    function=compare,
    cell=_compare_cell,
    arguments=_compare_arguments,
    examples=(
        ("compare before after", "two cells that %%vt record kept"),
        ('compare "before.vtr" after --rtol 1e-3', "a file of --save, less strictly"),
    ),
    about="where two recordings first differ",
    rank=100,
)
COMMANDS = (RECORD, COMPARE)
