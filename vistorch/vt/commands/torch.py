"""`%vt torch on|off`: whether `import torch` gives vistorch in this kernel.

Invariant: a name that is already bound (`torch` in the notebook) stays what it is; the answer says so.
"""

from __future__ import annotations

from ...torch_api.compat import alias_torch, is_aliased, unalias_torch
from ...widgets._frame.command import Command, Parser
from ...widgets._frame.note import Note
from ...widgets._frame.user_error import Refusal, one_line, perhaps


def torch(switch: str | bool | None = None, *, force: bool = False) -> Note:
    """Let `import torch` give vistorch in this process, or stop that; say how it is.

    Args:
        switch: "on" or "off"; None only shows it.
        force: also when PyTorch itself is already imported: its modules are put aside until "off".

    Example:
        >>> from vistorch import vt
        >>> vt.torch("on", force=True)
        import torch gives vistorch; a `torch` that was imported before stays what it is: import it again
        >>> vt.torch("off")
        import torch gives PyTorch, where it is installed
    """
    if isinstance(switch, bool):
        switch = "on" if switch else "off"
    if switch is not None and not isinstance(switch, str):
        raise Refusal(f"`torch` takes on or off, not {type(switch).__name__}")
    before = is_aliased()
    if switch == "on":
        try:
            alias_torch(force=force)
        except RuntimeError as error:
            why = one_line(error).partition(":")[0]
            raise Refusal(
                f"{why}: restart the kernel and type `%vt torch on` first, or `%vt torch on --force`"
            ) from None
    elif switch == "off":
        unalias_torch()
    elif switch is not None:
        raise Refusal(f"`torch` takes on or off, not {switch!r}{perhaps(str(switch), ('on', 'off'))}")
    changed = "; a `torch` that was imported before stays what it is: import it again"
    text = (
        "import torch gives vistorch" if is_aliased() else "import torch gives PyTorch, where it is installed"
    )
    return Note(text + (changed if is_aliased() and not before else ""))


def _arguments(parser: Parser) -> None:
    parser.takes("switch", "on or off; without it, what it is now", nargs="?", choices=("on", "off"))
    parser.takes(
        "--force", "also when PyTorch itself is already imported; it comes back with off", action="store_true"
    )


COMMANDS = (
    Command(
        name="torch",
        summary="Let `import torch` give vistorch in this kernel",
        function=torch,
        arguments=_arguments,
        examples=(
            ("torch on", "import torch gives vistorch from now on"),
            ("torch off", "import torch gives PyTorch again"),
            ("torch", "how it is"),
        ),
        about="`import torch` gives vistorch in this kernel",
        rank=210,
    ),
)
