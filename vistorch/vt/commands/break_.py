"""`%vt break`: where any later backward pass of the session stops, and shows itself as a stepper.

Invariant: while no breakpoint is on, nothing listens for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...debug.breakpoint_session import session
from ...debug.breaks.errors import ConditionError
from ...debug.breaks.points import Breakpoint
from ...debug.source import source_of
from ...widgets._frame.command import TEXT, Command, Parser
from ...widgets._frame.note import Note
from ...widgets._frame.shell import has_front_end, shell_of_user
from ...widgets._frame.user_error import Refusal, first_line
from ..words import unquoted


def break_(
    condition: str | Callable | None = None,
    *,
    remove: int | None = None,
    off: int | None = None,
    on: int | None = None,
    clear: bool = False,
    wait: bool = False,
) -> Note:
    """Stop any later `backward()` where a condition holds, before anything uses the result, and step from there.

    Conditions are read, never run: `nan`, `inf`, `bad`, `zero`, `unchanged`, `grad.norm > 1e3`, a node such as
    `ReluBackward0` or `Relu*`, a module after `@` such as `nan @ layer2.*`, with `and`, `or`, `not`.

    Args:
        condition: where to stop; a function of a frame where it is called; nothing lists what there is.
        remove: the number of a breakpoint to remove.
        off: the number of one to leave out for now.
        on: the number of one to look at again.
        clear: remove all.
        wait: with a condition: a running cell waits there while its page steps the pass both ways, and goes on when the
            pass is finished. Without a page that answers it ends there, as without `wait`.

    Returns:
        The breakpoints there are now, as text.

    Example:
        >>> from vistorch import vt
        >>> vt.break_("nan @ layer2.*")
        1: nan @ layer2.*
        >>> vt.break_(off=1)
        1: nan @ layer2.*  (off)
        >>> vt.break_(clear=True)
        no breakpoints
    """
    try:
        if clear:
            session.clear()
        for number, does in (
            (remove, session.remove),
            (off, lambda n: session.enable(n, False)),
            (on, session.enable),
        ):
            if number is not None:
                does(number)
        if condition is not None:
            if isinstance(condition, type) or source_of(condition) is not None:
                what = (
                    f"the class {condition.__name__}"
                    if isinstance(condition, type)
                    else type(condition).__name__
                )
                raise Refusal(
                    f"a breakpoint is a condition or a function of a frame, not {what}: type %vt break nan"
                )
            text = unquoted(condition.strip()) if isinstance(condition, str) else condition
            session.on_stop, session.names = _stopped, _names
            session.add(Breakpoint(text, waits=wait))
        elif wait:
            raise Refusal("wait is of a new breakpoint: name a condition, such as nan")
    except ConditionError as error:
        raise Refusal(str(error)) from None
    except (ValueError, TypeError) as error:
        raise Refusal(first_line(error).partition(": ")[2]) from None
    return Note(session.text())


def _names(run: Any) -> dict:
    """What the leaves of a pass are called in the notebook: of the engine's, or of tensors of PyTorch."""
    from ...widgets.graph.command import leaves

    shell = shell_of_user()
    return {} if shell is None else leaves(shell.user_ns, source_of(run))


def _stopped(stop: Any) -> str | None:
    """Show the stepper of a pass that was stopped; what stands after `backward()` does not run, unless it waits."""
    shell = shell_of_user()
    if not has_front_end(shell):
        return None
    from IPython.display import display

    from ...widgets.steps.command import shown
    from ...widgets.steps.waiting import OFF, SAYS, hindrance, waited

    points = [p.predicate or str(p.test) for p in session if p.enabled]
    why = hindrance() if stop.breakpoint.waits else ""
    waits = stop.breakpoint.waits and not why
    view = shown(
        stop.stepper, shell.user_ns, points, "on", [SAYS] if waits else [why] if why else [], waits=waits
    )
    display(view)
    if not waits or stop.stepper.closed:
        return None
    how = waited(view)
    if how == OFF:
        session.enable(stop.breakpoint.number, False)
    return "end" if how == "undo" else None


def _arguments(parser: Parser) -> None:
    parser.takes(
        "condition", "where to stop, such as nan @ layer2.*", kind=TEXT, metavar="CONDITION", nargs="?"
    )
    parser.takes("--remove", "remove the breakpoint of this number", type=int, metavar="NUMBER")
    parser.takes("--off", "leave it out for now", type=int, metavar="NUMBER")
    parser.takes("--on", "look at it again", type=int, metavar="NUMBER")
    parser.takes("--clear", "remove all", action="store_true")
    parser.takes(
        "--wait", "a running cell waits there, and goes on when the pass is left", action="store_true"
    )


COMMANDS = (
    Command(
        name="break",
        summary="Where any later backward pass stops",
        function=break_,
        arguments=_arguments,
        examples=(
            ("break nan", "before the first NaN is used, a stepper opens there"),
            ("break grad.norm > 1e3 @ layer2.*", "or where a gradient grows large in a module"),
            ("break Relu* --wait", "the training waits there while you step"),
            ("break", "what breakpoints there are"),
            ("break --remove 1", "one less"),
        ),
        about="where any later backward pass stops",
        rank=50,
    ),
)
