"""`%vt device`: which devices are there, which one new tensors go to, and simulated ones.

Invariant: a device that cannot be used is refused before anything is changed.
"""

from __future__ import annotations

from typing import Any

from ...cuda import devices, sensors
from ...debug.source import real_torch
from ...engine.base.device import default, get_default_device, set_default_device
from ...engine.memory import placement
from ...widgets._frame.command import PLACE, Command, Parser
from ...widgets._frame.note import Note
from ...widgets._frame.user_error import Refusal, first_line, perhaps

SIMULATE = "simulate"


def device(where: Any = None, number: int | None = None) -> Note:
    """Say which devices are there, make one the default, or simulate CUDA devices.

    Args:
        where: a device such as "cpu" or "cuda:0", which new tensors then go to; "simulate" with `number`;
            None only shows it.
        number: how many CUDA devices to pretend, 0 for none.

    Returns:
        What there is now, as text.

    Example:
        >>> from vistorch import vt
        >>> vt.device("simulate", 2)
        devices: cpu (default), cuda:0 (simulated), cuda:1 (simulated)
        >>> vt.device("cuda:1")
        devices: cpu, cuda:0 (simulated), cuda:1 (simulated, default)
        >>> vt.device("simulate", 0).startswith("devices: cpu (default)")
        True
    """
    if where is None:
        if number is not None:
            raise Refusal(f"a number is for simulated devices: type `%vt device simulate {number}`")
    elif isinstance(where, str) and where == SIMULATE:
        _simulate(number)
    else:
        if number is not None:
            raise Refusal(
                f"type `%vt device {where}:{number}` for that device, or `%vt device simulate {number}`"
            )
        _use(where)
    return Note(said() + (of_torch() if where is None else ""))


def said() -> str:
    """Return the devices in a line, the default marked, and why CUDA is not there if it is not."""
    found = devices.diagnose()
    now = get_default_device()
    names = ["cpu", *(f"cuda:{index}" for index in range(found.count if found.ok else 0))]
    shown = []
    for name in names:
        notes = []
        if name != "cpu" and placement.simulated.count():
            notes.append("simulated")
        elif name != "cpu":
            notes += _real(name)
        if name == str(now):
            notes.append("default")
        shown.append(name + (f" ({', '.join(notes)})" if notes else ""))
    missing = "" if found.ok else f"; no CUDA: {found.reason}"
    if found.ok and not placement.simulated.count() and (why := sensors.missing()):
        missing = f"; {why}"
    return f"devices: {', '.join(shown)}{missing}"


def _real(name: str) -> list[str]:
    """What is said of a real device: its name, how busy it is, its memory."""
    seen = sensors.glance(devices.index_of(name))
    if seen is None:
        return [devices.get_device_name(name)]
    busy, used, total = seen
    return [devices.get_device_name(name), f"{busy} % busy", f"{used / 2**30:.1f} of {total / 2**30:.1f} GiB"]


def of_torch() -> str:
    """Return the end of the line where a program has imported PyTorch: its tensors have devices of their own."""
    torch = real_torch()
    if torch is None:
        return ""
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    names = ", ".join(["cpu", *(f"cuda:{index}" for index in range(count))])
    return f"; tensors of PyTorch {torch.__version__} have its own: {names}"


def choices() -> list[str]:
    """Return what can be typed after `%vt device`."""
    return ["cpu", *(f"cuda:{index}" for index in range(devices.device_count())), SIMULATE]


def _use(where: Any) -> None:
    """Make a device the default."""
    try:
        place = placement.place_of(where)
        set_default_device(place.device)
    except (RuntimeError, TypeError, NotImplementedError, AssertionError) as error:
        if isinstance(where, str) and where.partition(":")[0] not in ("cpu", "cuda"):
            near = perhaps(where, choices())
            raise Refusal(
                f"there is no device {where!r}{near or ': type `%vt device` to see which there are'}"
            ) from None
        raise Refusal(first_line(error)) from None


def _simulate(number: int | None) -> None:
    """Pretend CUDA devices; a default device that goes with them becomes the CPU."""
    if number is None:
        raise Refusal("say how many devices to simulate: type `%vt device simulate 4`, or 0 for none")
    try:
        devices.simulate(number)
    except (RuntimeError, ValueError, TypeError) as error:
        raise Refusal(first_line(error)) from None
    now = default.device
    if now is not None and now.type == "cuda" and (now.index or 0) >= devices.device_count():
        set_default_device(None)


def _arguments(parser: Parser) -> None:
    parser.takes(
        "where",
        "cpu, cuda:0, ... for new tensors; or simulate",
        kind=PLACE,
        nargs="?",
        metavar="cpu|cuda:0|simulate",
    )
    parser.takes("number", "how many CUDA devices to simulate, 0 for none", nargs="?", type=int, metavar="N")


COMMANDS = (
    Command(
        name="device",
        summary="Which devices there are; choose one, or simulate CUDA",
        function=device,
        arguments=_arguments,
        examples=(
            ("device", "what there is"),
            ("device cuda:0", "new tensors go there"),
            ("device simulate 4", "four pretended CUDA devices, to learn without a GPU"),
            ("device simulate 0", "none of them"),
        ),
        about="which devices there are; CUDA devices can be simulated, to learn without a GPU",
        rank=200,
    ),
)
