"""`%vt doctor`: is everything there that vistorch needs, and what to type if not."""

from __future__ import annotations

from ...widgets._frame.command import Command
from ...widgets._frame.shell import shell_of_user
from ..doctor import Doctor, examine


def doctor() -> Doctor:
    """Look at versions, kernel, widgets, pages, CUDA, trust and memory.

    Returns:
        A record with a line for each: ok, or what is wrong and what to type.

    Example:
        >>> from vistorch import vt
        >>> print(vt.doctor().findings[0].about)
        versions
    """
    return examine(shell_of_user())


COMMANDS = (
    Command(
        name="doctor",
        summary="Check kernel, widgets, CUDA and memory",
        function=doctor,
        examples=(("doctor", "look at everything"),),
        about="what is wrong between this notebook and vistorch",
        rank=230,
    ),
)
