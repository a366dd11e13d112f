"""How a record reaches the screen: packed bytes, a picture, a page that needs no kernel, a widget that has one.

A kind of record has a folder here: `picture.py` paints it, `live.py` answers its page where a kernel is asked, and
`command.py` has the rows of its commands. Its page is `js/src/<kind>/page.ts`, built into `static/<kind>.js`. What all
views share is in `_frame`.

Invariant: nothing outside of a kind's folder names the kind; `kinds()` finds it.
"""

from ._frame.kinds import kinds

__all__ = ["kinds"]
