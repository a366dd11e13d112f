"""`%load_ext vistorch`: the magic `%vt`, the defaults as traits, completion, and tensors that show themselves.

The magics parse and call `vistorch.vt`; no command has code here.

Invariant: what loading adds to a shell, unloading takes away, and both can be done twice.
"""

from __future__ import annotations

import re
import sys
import weakref
from collections.abc import Callable
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, needs_local_scope, no_var_expand
from traitlets import Bool, Enum, Int, TraitError, observe, validate

from . import vt
from .debug.graph import graph_listeners
from .engine.core.tensor import Tensor
from .vt.automatic import bundle_of
from .vt.completion import matcher_for
from .vt.dispatch import obey
from .vt.failures import Failures
from .widgets._frame.defaults import LARGEST, MAPS, SMALLEST, SWITCH, Defaults
from .widgets._frame.output import show
from .widgets._frame.shell import has_front_end

TORCH = ("torch", "Tensor")  # of the real one, which may be imported later or never
_ASKS = re.compile(r"^(\s*%%?vt(?:\s+\w+)?)\s*\?{1,2}\s*$")


@magics_class
class VisTorch(Magics):
    """`%vt`, and the defaults of what it shows: `%config VisTorch.size = 480`."""

    size = Int(Defaults.size, help="CSS pixels of a picture's widest side.").tag(config=True)
    map = Enum(MAPS, Defaults.map, help="Colour map; auto takes tide for values, ember for gradients.").tag(
        config=True
    )
    budget = Int(
        Defaults.budget, allow_none=True, help="Most bytes of one display; None: its own limit."
    ).tag(config=True)
    automatic = Bool(Defaults.automatic, help="Show a tensor that is a cell's last value as a picture.").tag(
        config=True
    )
    errors = Bool(
        Defaults.errors, help="After an exception, show only the user's frames, and draw a shape error."
    ).tag(config=True)
    live = Enum(SWITCH, Defaults.live, help="Whether displays ask the kernel for what they do not hold.").tag(
        config=True
    )

    @validate("size", "budget")
    def _within(self, proposal: Any) -> Any:
        """Keep numbers sensible."""
        name, value = proposal["trait"].name, proposal["value"]
        low, high = (SMALLEST, LARGEST) if name == "size" else (10_000, 10_000_000)
        if value is not None and not low <= value <= high:
            raise TraitError(f"VisTorch.{name} goes from {low} to {high}, got {value}")
        return value

    @observe("size", "map", "budget", "automatic", "errors", "live")
    def _changed(self, change: Any) -> None:
        """Hand a trait on to the functions."""
        setattr(vt.defaults, change["name"], change["new"])

    @no_var_expand
    @needs_local_scope
    @line_cell_magic("vt")
    def vt_magic(self, line: str, cell: str | None = None, local_ns: dict[str, Any] | None = None) -> None:
        """Look into tensors and networks: type `%vt` for the commands, `%vt show?` for the help of one."""
        shell = self.shell
        asked = vt.Asked({**shell.user_ns, **(local_ns or {})}, shell=shell)  # type: ignore[union-attr]
        try:
            found = obey(vt.COMMANDS, line, asked, cell)
        except vt.Refusal as refusal:
            sentence = str(refusal)
        else:
            return show(found, shell)
        del asked  # the shell keeps the last error, whose frames must not keep the user's variables
        raise UsageError(sentence)


def help_lines(lines: list[str]) -> list[str]:
    """Turn `%vt?` and `%vt show?`, which IPython would read as questions about a variable, into `%vt --help`.

    Args:
        lines: a cell's lines, as IPython hands them to its first transformers.
    """
    if len([line for line in lines if line.strip()]) != 1:
        return lines
    return [_ASKS.sub(lambda match: match[1].replace("%%", "%") + " --help", line) for line in lines]


class _Undo:
    """What loading did to a shell, to be undone; the shells are not kept alive by it."""

    def __init__(self) -> None:
        self.of: weakref.WeakKeyDictionary[Any, list[Callable[[], None]]] = weakref.WeakKeyDictionary()


_undo = _Undo().of


def load_ipython_extension(shell: Any) -> None:
    """Add `%vt`, its completion and the display of tensors to a shell; a second time nothing happens.

    Args:
        shell: the IPython shell.
    """
    if shell in _undo:
        return
    undo: list[Callable[[], None]] = []
    _undo[shell] = undo
    _add_magics(shell, undo)
    _add_to(shell.input_transformers_cleanup, help_lines, undo)
    if getattr(shell, "Completer", None) is not None:
        _add_to(shell.Completer.custom_matchers, matcher_for(shell), undo)
    _add_formatter(shell, undo)
    undo.append(Failures(shell).start())
    shell.events.register("pre_run_cell", _listen)
    undo.append(lambda: shell.events.unregister("pre_run_cell", _listen))
    if graph_listeners.start():
        undo.append(graph_listeners.stop)
    undo.append(_deafen)
    undo.append(_forget_updates)
    undo.append(_end_ranks)


def _listen(info: Any = None) -> None:
    """Before each cell: record its first passes."""
    graph_listeners.start()
    package = sys.modules.get("vistorch.torch_source.listening")
    if package is not None:
        package.next_cell()
    breakpoints = sys.modules.get("vistorch.debug.breakpoint_session")
    if breakpoints is not None:
        breakpoints.session.look_again()


def _deafen() -> None:
    """Leave torch as if nothing had ever looked at it."""
    package = sys.modules.get("vistorch.torch_source.listening")
    if package is not None:
        package.stop()


def _forget_updates() -> None:
    """Keep no parameter's updates any more, if a view asked for some."""
    updates = sys.modules.get("vistorch.debug.updates")
    if updates is not None:
        updates.forget()


def _end_ranks() -> None:
    """End the ranks of `%vt ranks`, if there are some."""
    command = sys.modules.get("vistorch.widgets.ranks.run")
    if command is not None:
        command.RANKS.stop()


def unload_ipython_extension(shell: Any) -> None:
    """Take away what `load_ipython_extension` added; a second time nothing happens.

    Args:
        shell: the IPython shell.
    """
    for step in reversed(_undo.pop(shell, [])):
        step()


def _add_magics(shell: Any, undo: list[Callable[[], None]]) -> None:
    """Register the magics class, and remember what had its place."""
    manager = shell.magics_manager
    before = {kind: manager.magics[kind].get("vt") for kind in ("line", "cell")}
    magics = VisTorch(shell=shell, parent=shell)
    for name in magics.trait_names(
        config=True
    ):  # a value from the user's configuration file came with no change
        setattr(vt.defaults, name, getattr(magics, name))
    shell.register_magics(magics)

    def remove() -> None:
        for kind, one in before.items():
            manager.magics[kind].pop("vt", None)
            if one is not None:
                manager.magics[kind]["vt"] = one
        manager.registry.pop(VisTorch.__name__, None)
        shell.configurables[:] = [one for one in shell.configurables if one is not magics]
        vt.defaults.reset()

    undo.append(remove)


def _add_to(listed: list[Any], one: Any, undo: list[Callable[[], None]]) -> None:
    """Append to one of the shell's lists."""
    listed.append(one)

    def remove() -> None:
        if one in listed:
            listed.remove(one)

    undo.append(remove)


def _add_formatter(shell: Any, undo: list[Callable[[], None]]) -> None:
    """Let tensors show themselves, where there is a page and `VisTorch.automatic` is on."""
    formatter = shell.display_formatter.mimebundle_formatter

    def show(tensor: Any, include: Any = None, exclude: Any = None) -> Any:
        return bundle_of(tensor) if has_front_end(shell) and vt.defaults.automatic else None

    before = formatter.type_printers.get(Tensor)
    formatter.for_type(Tensor, show)
    deferred = formatter.deferred_printers.get(TORCH)
    formatter.for_type_by_name(*TORCH, show)

    def remove() -> None:
        if formatter.type_printers.get(Tensor) is show:
            formatter.pop(Tensor)
            if before is not None:
                formatter.for_type(Tensor, before)
        # once such a tensor was shown, its printer is no longer a deferred one
        printers = [key for key, printer in formatter.type_printers.items() if printer is show]
        for key in printers:
            formatter.pop(key)
        if formatter.deferred_printers.get(TORCH) is show:
            del formatter.deferred_printers[TORCH]
        if deferred is not None:
            formatter.for_type_by_name(*TORCH, deferred)

    undo.append(remove)
