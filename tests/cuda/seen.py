"""A device whose transfers and waits are counted: the strict stand-in for cupy, with each look from the host listed.

Invariant: what a real device would wait for is counted, whichever way the host asks for it.
"""

import contextlib
import traceback

from tests.cuda.strict_array import Array


class Counted:
    """What crossed: for each look from the host, its bytes and where it was asked for."""

    def __init__(self):
        self.looks = []

    def __len__(self):
        return len(self.looks)

    def note(self, array, name):
        """Write down one look."""
        place = [
            f"{f.filename.rpartition('vistorch/')[2]}:{f.lineno}" for f in traceback.extract_stack(limit=12)
        ]
        self.looks.append((name, array.nbytes, [p for p in place if not p.startswith("tests/")][-4:]))

    @contextlib.contextmanager
    def at_most(self, number):
        """Fail where more crosses in between."""
        before = len(self.looks)
        yield
        more = self.looks[before:]
        assert len(more) <= number, "\n".join(str(look) for look in more)


def counted(monkeypatch, xp):
    """Count what crosses from now on.

    Args:
        monkeypatch: pytest's.
        xp: the stand-in.
    """
    found = Counted()

    def wrap(name):
        plain = getattr(Array, name)

        def looked(self, *args, **kwargs):
            found.note(self, name)
            return plain(self, *args, **kwargs)

        monkeypatch.setattr(Array, name, looked)

    for name in (
        "__bool__",
        "__int__",
        "__float__",
        "__complex__",
        "item",
        "tolist",
        "get",
        "nonzero",
        "__repr__",
    ):
        wrap(name)
    plain_item = Array.__getitem__

    def getitem(self, key):
        parts = key if isinstance(key, tuple) else (key,)
        if any(isinstance(k, Array) and k.dtype == bool for k in parts):
            found.note(self, "mask")  # its size is not known before it has run
        return plain_item(self, key)

    monkeypatch.setattr(Array, "__getitem__", getitem)
    for name in ("argwhere", "flatnonzero", "nonzero", "unique"):
        if hasattr(xp, name):
            plain = getattr(xp, name)

            def looked(a, *args, _plain=plain, _name=name, **kwargs):
                found.note(a, _name)
                return _plain(a, *args, **kwargs)

            monkeypatch.setattr(xp, name, looked)
    return found
