"""Where the history of a layer's output ends: listened for in one step, when an optimizer's layer gets no gradient.

Invariant: nothing is listened to before a layer was seen without a gradient, and never for more than `STEPS` steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.base.events import Listener, where
from ...engine.core.graph import Leaf
from ..line_lookup import line_of
from .layers import LayerSizes, owner_of

STEPS = 2  # one that may be under way, and a whole one
MOST = 64  # cuts that are followed
NODES = 20_000  # of a graph that is followed
CALLS = {"detach": "detach()", "data": ".data", "item": "item()", "tolist": "tolist()", "numpy": "numpy()"}


class Cuts(Listener):
    """Follows what is cut off back to the parameters that it came from.

    Args:
        sizes: the parameters.
        reached: whether each of them ever had a gradient.
    """

    def __init__(self, sizes: LayerSizes, reached: np.ndarray) -> None:
        self.left, self.followed = STEPS, 0
        self.places: dict[str, str] = {}  # by layer: "detach() in line 7 of cell [3]"
        self.open = False
        self.layers = {id(p): owner_of(n) for n, p in sizes.parameters}
        self.wanted = {owner_of(n) for n, there in zip(sizes.names, reached, strict=True) if not there}
        self.wanted -= {owner_of(n) for n, there in zip(sizes.names, reached, strict=True) if there}

    def of(self, layer: str) -> str:
        """Where a layer is cut off; "" where that was not seen.

        Args:
            layer: its name.
        """
        return self.places.get(layer, "")

    def stepped(self) -> None:
        """A step is over: begin to listen, or stop."""
        if not self.open and self.left == STEPS and self.wanted:
            self.open = True
            self.__enter__()
        elif self.open and self.left <= 0:
            self.close()
        self.left -= 1

    def close(self) -> None:
        """Stop listening."""
        if self.open:
            self.open = False
            self.__exit__()

    def cut(self, kind: str, tensor: Any) -> None:
        """History ends here: which layers does it come from?"""
        node = getattr(tensor, "grad_fn", None)
        if node is None or self.followed >= MOST or not self.wanted - self.places.keys():
            return
        self.followed += 1
        found, seen, todo = set(), set(), [node]
        while todo and len(seen) < NODES:
            n = todo.pop()
            if n is None or id(n) in seen:
                continue
            seen.add(id(n))
            if n.__class__ is Leaf:
                found.add(self.layers.get(id(n.variable)))
            else:
                todo.extend(n.edges)
        missing = (found & self.wanted) - self.places.keys()
        line = line_of(where()) if missing else None
        if line is None:
            return
        place = f"line {line.line}" + (f" of cell [{line.cell}]" if line.cell is not None else "")
        for layer in missing:
            self.places[layer] = f"{CALLS.get(kind, kind)} in {place}"
