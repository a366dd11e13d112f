"""Small states of kind "array", written by hand, for what reads them."""

import numpy as np


def scale(**more):
    """A scale diverging around zero, ending at one."""
    plain = {
        "id": "max",
        "label": "to max |x|",
        "map": "tide",
        "centre": True,
        "curve": "linear",
        "lo": -1.0,
        "hi": 1.0,
    }
    said = {"linear": 0.01, "beyond": 0, "say": "diverging around 0 · linear", "under": 0, "over": 0}
    return {**plain, **said, "counts": np.zeros(60, np.uint32), "edges": np.linspace(-1, 1, 61), **more}


def item(values, *, roles=None, scales=None, **more):
    """One item whose every value is here."""
    values = np.asarray(values)
    fallback = ["down"] * max(0, values.ndim - 3) + ["across", "rows", "cols"][max(0, 3 - values.ndim) :]
    layer = {
        "name": "value",
        "values": {"data": values},
        "stats": {},
        "scales": scales or [scale()],
        "scale": 0,
    }
    place = {
        "shape": list(values.shape),
        "grid": list(values.shape),
        "block": [1] * values.ndim,
        "pooled": "",
    }
    plain = {
        "name": "x",
        "index": "x",
        "role": "",
        "dtype": str(values.dtype),
        "device": "cpu",
        "notes": [],
        "image": None,
    }
    return {
        **plain,
        **place,
        "dims": [f"axis {i}" for i in range(values.ndim)],
        "nbytes": values.nbytes,
        "roles": roles or fallback,
        "layers": [layer],
        "bad": {
            "nan": 0,
            "posinf": 0,
            "neginf": 0,
            "at": np.zeros(0, np.int64),
            "which": np.zeros(0, np.uint8),
        },
        **more,
    }


class Record:
    """Anything with a kind, a text and a state."""

    kind = "array"

    def __init__(self, *items, layout="one", text="tensor([...])", **more):
        self.state = {
            "layout": layout,
            "title": "x",
            "text": text,
            "items": list(items),
            "size": 640,
            "says": [],
            **more,
        }

    def text(self):
        return self.state["text"]

    def wire(self):
        return self.state
