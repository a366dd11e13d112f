"""`%vt show`: values as a picture, with their text above it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._frame.command import EXPRESSION, Asked, Command, Parser
from .._frame.defaults import LARGEST, MAPS, SMALLEST, SWITCH, defaults
from .._frame.finding import find
from .._frame.shell import has_front_end, last_value, shell_of_user
from .._frame.user_error import Refusal, either, perhaps

SCALES = ("clip", "max", "log", "fixed")


def show(
    x: Any,
    *,
    name: str | None = None,
    grad: bool = False,
    scale: str | None = None,
    map: str | None = None,
    size: int | None = None,
    dims: str | Sequence[str] | None = None,
    roles: str | Sequence[str] | None = None,
    image: str | bool = "auto",
    live: str | bool | None = None,
    index: str | None = None,
) -> Any:
    """Show values as a picture: a heatmap with numbers, statistics and a scale that says what it does.

    A parameter is shown with its gradient and its last update; a module, a dict or a list as a strip.

    Args:
        x: a tensor, an array, a number, a parameter, a module, or a dict or list of such.
        name: what it is called, also for `vt.export`; the variable's name, or what was typed, if not given.
        grad: the gradient instead of the value.
        scale: "clip", "max", "log" or "fixed"; chosen from the data if not given.
        map: the colour map "tide" or "ember"; "auto" takes ember for gradients.
        size: CSS pixels of the widest side.
        dims: a name for each axis: "out,in,kh,kw" or a list.
        roles: what each axis is at first: "across,down,rows,cols" or a list; slider, channels too.
        image: "on" or "off": whether a picture is shown as one.
        live: "on" asks the kernel for exact values, "off" never; "auto" where not all are carried.
        index: what a click copies before an index; how the thing is written if not given.

    Returns:
        A display: the last value of a cell shows itself, `print` shows its text.

    Example:
        >>> import vistorch
        >>> from vistorch import vt
        >>> vt.show(vistorch.eye(2), name="identity")
        tensor([[1., 0.],
                [0., 1.]])
    """
    from ...debug.array.codes import EXACT_BYTES
    from .._frame.display import Display
    from .followed import follow
    from .record_of import Wish, make

    live = _one_of("live", defaults.live if live is None else live, SWITCH)
    pictured = _one_of("image", image, SWITCH)
    colours = _one_of("map", defaults.map if map is None else map, MAPS)
    for option, text in (("name", name), ("index", index)):
        if text is not None and not isinstance(text, str):
            raise Refusal(f"{option} is text, not {type(text).__name__}: type {option}='weights'")
    written, axes = ("", None) if name is not None and index is not None else find(x, _around())
    wish = Wish(
        name=name or written or "x",
        index=index or written or name or "x",
        grad=grad,
        scale=None if scale is None else _one_of("scale", scale, SCALES),
        map=None if colours == "auto" else colours,
        size=_size(defaults.size if size is None else size),
        dims=axes if dims is None else _listed("dims", dims),
        roles=_listed("roles", roles),
        image=None if pictured == "auto" else pictured == "on",
        budget=EXACT_BYTES if defaults.budget is None else defaults.budget,
    )
    made = make(x, wish)
    follow(wish.index or "", x, _around())
    display = Display(made.record, wish.name)
    pooled = any(item.pooled for item in made.record.items)
    if live == "on" or (live == "auto" and pooled):
        return _alive(display, made.sources, live == "on", hold=not find(x, _around())[0])
    return display


def plain(tensor: Any) -> Any:
    """Return the display of a tensor that is a cell's last value: its value alone, and no kernel behind it.

    Args:
        tensor: the tensor.
    """
    from .._frame.display import Display
    from .record_of import make

    written, axes = find(tensor, _around())
    name = written or last_value(shell_of_user()) or "x"
    made = make(tensor, _plain_wish(name, linked=False, dims=axes))
    return Display(made.record, name)


def opened(x: Any, name: str) -> tuple[Any, list[Any]]:
    """Return the display of what a name holds, and the arrays behind it: what `%vt show NAME` would show.

    Args:
        x: the value.
        name: its name.
    """
    from .._frame.display import Display
    from .followed import follow
    from .record_of import make

    made = make(x, _plain_wish(name, dims=find(x, _around())[1]))
    follow(name, x, _around())
    return Display(made.record, name), made.sources


def _plain_wish(name: str, **more: Any) -> Any:
    """Return what is wished for where nothing was typed: the defaults."""
    from ...debug.array.codes import EXACT_BYTES
    from .record_of import Wish

    budget = EXACT_BYTES if defaults.budget is None else defaults.budget
    colours = None if defaults.map == "auto" else defaults.map
    return Wish(name, map=colours, size=defaults.size, budget=budget, **more)


def _around() -> dict[str, Any]:
    """Return the variables of the notebook."""
    shell = shell_of_user()
    return {} if shell is None else shell.user_ns


def _alive(display: Any, sources: list[Any], asked: bool, hold: bool) -> Any:
    """Return a view that asks the kernel, or where it cannot the display: refused if it was asked for."""
    if not has_front_end(shell_of_user()):
        if asked:
            raise Refusal("a live view needs a notebook's kernel: leave out --live on")
        return display
    try:
        from .live import ArrayView

        return ArrayView(display, sources, hold)
    except (ImportError, FileNotFoundError) as error:
        if asked:
            raise Refusal(f"{error}; `%vt doctor` looks at the rest") from None
        return display


def _one_of(option: str, value: Any, choices: Sequence[str]) -> str:
    """Return a choice; True and False are on and off."""
    if isinstance(value, bool) and "on" in choices:
        value = "on" if value else "off"
    if not isinstance(value, str) or value not in choices:
        raise Refusal(
            f"{option} does not take {value!r}{perhaps(str(value), choices)}: type {either(choices)}"
        )
    return value


def _size(size: Any) -> int:
    """Return a size in pixels that can be."""
    if isinstance(size, bool) or not isinstance(size, int) or not SMALLEST <= size <= LARGEST:
        raise Refusal(f"size is a number of pixels from {SMALLEST} to {LARGEST}, not {size!r}")
    return size


def _listed(option: str, words: str | Sequence[str] | None) -> list[str] | None:
    """Return a list of words, which may be typed with commas between them."""
    if words is None:
        return None
    if not isinstance(words, str):
        if not isinstance(words, Sequence):
            raise Refusal(
                f"{option} has a word for each axis, not {type(words).__name__}: type rows,cols or a list"
            )
        return [str(word) for word in words]
    return [word.strip() for word in words.strip("[]() ").split(",")]


def _arguments(parser: Parser) -> None:
    parser.takes(
        "x", "a tensor, parameter, array, module, dict or list", kind=EXPRESSION, metavar="EXPRESSION"
    )
    parser.takes("--grad", "the gradient instead of the value", action="store_true")
    parser.takes("--scale", "chosen from the data if not given", choices=SCALES)
    parser.takes("--map", "the colour map; auto takes ember for gradients", choices=MAPS)
    parser.takes("--size", "of the widest side", type=int, metavar="PIXELS")
    parser.takes("--dims", "a name for each axis, as in out,in,kh,kw", metavar="NAMES")
    parser.takes(
        "--roles", "what each axis is, as in across,down,rows,cols; or slider, channels", metavar="ROLES"
    )
    parser.takes("--image", "whether a picture is shown as one", choices=SWITCH, default="auto")
    parser.takes("--live", "ask the kernel for values that are not carried", choices=SWITCH)
    parser.takes("--name", "what it is called; the expression if not given", metavar="NAME")


def _prepare(options: dict[str, Any], asked: Asked) -> dict[str, Any]:
    """Name what is shown after what was typed, and its axes after the module that holds it."""
    typed = asked.texts["x"]
    found = {**options, "index": typed, "name": typed if options["name"] is None else options["name"]}
    if options["dims"] is None:
        found["dims"] = find(options["x"], asked.namespace)[1]
    return found


COMMANDS = (
    Command(
        name="show",
        summary="Values as a picture: a tensor, a parameter, a module",
        function=show,
        arguments=_arguments,
        prepare=_prepare,
        examples=(
            ("show x", "a heatmap, its numbers and what the colours mean"),
            ("show model.conv1.weight", "value, gradient and last update side by side"),
            ("show model", "every parameter in a strip"),
            ("show x[0, :, 2] --scale log", "a part, on a logarithmic scale"),
            ("show {'hidden': hidden, 'out': out} --size 300", "several, smaller"),
            ("show x --grad --map tide", "the gradient, in the colours of values"),
        ),
        about="values, gradient, last update of a tensor or of a whole network, losing no NaN and no extreme",
        rank=10,
    ),
)
