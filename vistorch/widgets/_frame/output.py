"""What a command returned, on its way into the output of a cell.

Invariant: a terminal prints text and never asks for a picture.
"""

from __future__ import annotations

from typing import Any

from .shell import has_front_end

SUFFIXES = (".html", ".svg", ".png")  # of files that a display is written to


def keep(found: Any) -> None:
    """Remember what a magic shows; a terminal prints its text and does not ask for its picture.

    Args:
        found: what a command returned: a display, a view with a kernel, or a note, which is not kept.
    """
    from .display import Display, shown

    display = getattr(found, "display", found)
    if isinstance(display, Display):
        shown.add(display)


def show(found: Any, shell: Any) -> None:
    """Show what a command returned: a picture where there is a page, else text.

    Args:
        found: a display, a note, or None.
        shell: the IPython shell.
    """
    if found is None:
        return
    keep(found)
    if has_front_end(shell) and hasattr(found, "_repr_mimebundle_"):
        from IPython.display import display

        display(found)
    else:
        print(found)
