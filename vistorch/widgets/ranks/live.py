"""The panel of a run on ranks with a kernel: each picture of the run replaces the one before.

Invariant: the page asks nothing; what it shows is a record as of one moment.
"""

from __future__ import annotations

from typing import Any

from .._frame.display import Display
from .._frame.live import Live


class RanksView(Live):
    """The panel.

    Args:
        display: the run as it is now.
    """

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None, **more: Any) -> Any:
        """The widget alone: text and picture of a run stand in the output that follows its end."""
        data, meta = self._widget(include=include, exclude=exclude, **more)
        kept = "application/vnd.jupyter.widget-view+json"
        return {"text/plain": "", **({kept: data[kept]} if kept in data else {})}, meta

    def give(self, display: Display) -> None:
        """Show another state.

        Args:
            display: the run as it is now.
        """
        self.display = display
        if self.comm is not None:
            self.payload = display.payload()
