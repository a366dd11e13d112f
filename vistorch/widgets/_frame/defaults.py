"""What the commands do when an option is not given: the values that `%config VisTorch.size = 480` changes.

Invariant: one set of defaults for a process; it begins as `Defaults()` and unloading the extension brings that back.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

MAPS = ("auto", "tide", "ember")
SWITCH = ("auto", "on", "off")
SMALLEST, LARGEST = 64, 4096


@dataclass
class Defaults:
    """Defaults of every display.

    Args:
        size: CSS pixels of a picture's widest side.
        map: the colour map; "auto" takes tide for values and ember for gradients.
        budget: the most bytes one display may take; None keeps what the display itself keeps to.
        automatic: whether a tensor as a cell's last value shows its picture by itself.
        errors: whether a cell that fails shows only the user's frames, and a shape error drawn.
        live: whether displays ask the kernel for what they do not hold.
    """

    size: int = 640
    map: str = "auto"
    budget: int | None = None
    automatic: bool = True
    errors: bool = True
    live: str = "auto"

    def reset(self) -> None:
        """Bring back what was there at the start."""
        for field in fields(self):
            setattr(self, field.name, field.default)


defaults = Defaults()
