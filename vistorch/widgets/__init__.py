"""How a record reaches the screen: packed bytes, a picture, a page that needs no kernel, a widget that has one.

Invariant: nothing here knows one kind of record from another. A kind brings its picture (`pictures/<kind>.py`), its
page (`static/<kind>.js`, built from `js/src/<kind>.ts`) and, where a kernel answers, a subclass of `live.Live`.
"""
