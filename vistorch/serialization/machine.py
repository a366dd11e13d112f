"""What the instructions of a pickle do when only weights are loaded: nothing but what the allow-list says.

Invariant: every instruction checks what it finds on the stack, every length is checked against what is left of the
file, and nothing recurses: the worst a file can do is to be refused.
"""

from __future__ import annotations

import pickle
import struct
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any, ClassVar

from .allowed import CALLED, check_key, is_added, thing_named
from .rebuild import budget, refuse

DICTS = (dict, OrderedDict, Counter)
STOP = pickle.STOP[0]


class Truncated(EOFError, pickle.UnpicklingError):
    """The file ends before the pickle does; PyTorch raises EOFError here."""


class Foreign(Exception):
    """What a callable that a person trusts has raised: it goes to them as it is."""


class Machine:
    """Reads one pickle; what its instructions do is here, which code means which is `weights_only`'s.

    Args:
        data: bytes, or a mapped file.
        at: where the pickle begins.
        persistent_load: from what stands for a storage to the storage.
        find_class: from a module and a name to an object; the allow-list's if None.
        encoding: of texts that Python 2 wrote, "bytes" to leave them so.
    """

    codes: ClassVar[list[Callable | None]]

    def __init__(
        self,
        data: Any,
        at: int = 0,
        persistent_load: Callable | None = None,
        find_class: Callable = thing_named,
        encoding: str = "utf-8",
    ) -> None:
        self.data, self.at, self.end = data, at, len(data)
        self._persistent_load = persistent_load
        self._find = find_class
        self._encoding = encoding
        self.stack: list = []
        self.below: list[list] = []
        self.memo: dict[int, Any] = {}

    def load(self) -> Any:
        """The object; `at` is then where the pickle has ended."""
        data, codes = self.data, self.codes
        try:
            while True:
                if self.at >= self.end:
                    raise Truncated("Ran out of input")
                code = data[self.at]
                self.at += 1
                if code == STOP:
                    if len(self.stack) != 1 or self.below:
                        raise refuse("the pickle ends with more than one object, or with none")
                    return self.stack.pop()
                step = codes[code]
                if step is None:
                    raise refuse(f"Unsupported operand {code}")
                step(self)
        except (IndexError, UnicodeDecodeError) as error:
            if isinstance(error, UnicodeDecodeError):
                raise refuse(f"a text is not {error.encoding}: {error.reason}") from None
            raise refuse("the pickle takes more from its stack than there is") from None
        except Foreign as error:
            raise error.args[0] from None

    # ---- reading ------------------------------------------------------------------------------------------------
    def take(self, count: int) -> bytes:
        """The next bytes, which must be there."""
        at = self.at
        if count > self.end - at:
            raise Truncated("pickle data was truncated")
        self.at = at + count
        return self.data[at : at + count]

    def number(self, form: struct.Struct) -> Any:
        """The next number."""
        return form.unpack(self.take(form.size))[0]

    def line(self) -> str:
        """The next line, without its end."""
        end = self.data.find(b"\n", self.at, self.at + 1000)
        if end < 0:
            raise Truncated("pickle data was truncated")
        text = self.data[self.at : end].decode("utf-8")
        self.at = end + 1
        return text

    def since_mark(self) -> list:
        """What was pushed since the last mark."""
        found = self.stack
        if not self.below:
            raise refuse("could not find MARK")
        self.stack = self.below.pop()
        return found

    # ---- what may be called -------------------------------------------------------------------------------------
    def call(self, function: Any, args: Any) -> Any:
        """Call what is on the list."""
        if type(args) is not tuple:
            raise refuse(f"arguments must be a tuple, not {type(args).__name__}")
        checked = CALLED.get(id(function))
        if checked is not None:
            try:
                return checked(*args)
            except TypeError as error:  # of the number of arguments: the types are checked within
                raise refuse(
                    f"{getattr(function, '__name__', function)} was called wrongly: {error}"
                ) from None
            except (ValueError, OverflowError, UnicodeError) as error:
                raise refuse(str(error)) from None
        if is_added(function):
            try:
                return function(*args)
            except Exception as error:
                raise Foreign(error) from error
        raise refuse(f"Trying to call reduce for unrecognized function {_shown(function)}")

    def reduce(self) -> None:
        """Call what is on the list."""
        args = self.stack.pop()
        self.stack[-1] = self.call(self.stack[-1], args)

    def newobj(self) -> None:
        """Make an instance of a class on the list."""
        args = self.stack.pop()
        cls = self.stack[-1]
        if is_added(cls) and isinstance(cls, type):
            try:
                self.stack[-1] = cls.__new__(cls, *args)
            except Exception as error:
                raise Foreign(error) from error
        elif isinstance(cls, type) and id(cls) in CALLED:
            self.stack[-1] = self.call(cls, args)
        else:
            raise refuse(
                "Can only create new object for nn.Parameter or classes allowlisted via `add_safe_globals` but got "
                f"{_shown(cls)}"
            )

    def build(self) -> None:
        """Give an object its state."""
        state = self.stack.pop()
        made = self.stack[-1]
        kind = type(made)
        if kind is OrderedDict:
            if type(state) is not dict or not all(type(name) is str for name in state):
                raise refuse("the attributes of an OrderedDict must be a dict")
            if any(hasattr(OrderedDict, name) for name in state):
                raise refuse("an attribute of an OrderedDict would hide one of its own")
            budget.spend(100 * len(state))
            made.__dict__.update(state)
        elif is_added(kind):
            try:
                _set_state(made, state)
            except Exception as error:
                raise Foreign(error) from error
        else:
            raise refuse(
                "Can only build Tensor, Parameter, OrderedDict or types allowlisted via `add_safe_globals`, but got "
                f"{_shown(kind)}"
            )

    def name(self) -> None:
        """Push what a name means."""
        module = self.line()
        self.stack.append(self._find(module, self.line()))

    def name_on_stack(self) -> None:
        """Push what the name on the stack means."""
        name, module = self.stack.pop(), self.stack.pop()
        if type(name) is not str or type(module) is not str:
            raise refuse("STACK_GLOBAL requires str")
        self.stack.append(self._find(module, name))

    def persistent(self) -> None:
        """Push a storage."""
        what = self.stack.pop()
        if type(what) not in (tuple, int):
            raise refuse(f"persistent_load id must be tuple or int, but got {type(what)}")
        if self._persistent_load is None:
            raise refuse("unsupported persistent id encountered")
        self.stack.append(self._persistent_load(what))

    # ---- containers ---------------------------------------------------------------------------------------------
    def mark(self) -> None:
        """Begin to collect."""
        self.below.append(self.stack)
        self.stack = []

    def append(self) -> None:
        """Append to a list."""
        item = self.stack.pop()
        self._target(list, "append to").append(item)

    def appends(self) -> None:
        """Extend a list."""
        items = self.since_mark()
        self._target(list, "extend").extend(items)

    def _target(self, kind: type, verb: str) -> Any:
        """The list that the next instruction changes."""
        found = self.stack[-1]
        if type(found) is not kind:
            raise refuse(f"Can only {verb} lists, but got {_shown(type(found))}")
        return found

    def additems(self) -> None:
        """Extend a set."""
        items = self.since_mark()
        found = self.stack[-1]
        if type(found) is not set:
            raise refuse(f"Can only add to sets, but got {_shown(type(found))}")
        for item in items:
            check_key(item)
            _put(found, item)

    def setitem(self) -> None:
        """Enter one item into a dict."""
        value, key = self.stack.pop(), self.stack.pop()
        self._fill("SETITEM", [key, value])

    def setitems(self) -> None:
        """Enter items into a dict."""
        items = self.since_mark()
        if len(items) % 2:
            raise refuse("odd number of items for SETITEMS")
        self._fill("SETITEMS", items)

    def _fill(self, code: str, items: list) -> None:
        """Enter keys and values into the dict on top."""
        found = self.stack[-1]
        if type(found) not in DICTS:
            raise refuse(
                f"Can only {code} for dict, collections.OrderedDict, collections.Counter, but got {_shown(type(found))}"
            )
        for i in range(0, len(items), 2):
            check_key(items[i])
            _put(found, items[i], items[i + 1])

    def tuple_(self) -> None:
        """Make a tuple of what was collected."""
        items = tuple(self.since_mark())
        self.stack.append(items)

    def tuple_of(self, count: int) -> None:
        """Make a tuple of the last few."""
        if len(self.stack) < count:
            raise refuse("the pickle takes more from its stack than there is")
        self.stack[-count:] = [tuple(self.stack[-count:])]

    def list_(self) -> None:
        """Make a list of what was collected."""
        items = self.since_mark()
        self.stack.append(items)

    def dict_(self) -> None:
        """Make a dict of what was collected."""
        items = self.since_mark()
        self.stack.append({})
        if len(items) % 2:
            raise refuse("odd number of items for DICT")
        self._fill("DICT", items)

    def frozen(self) -> None:
        """Make a frozenset of what was collected."""
        items = self.since_mark()
        for item in items:
            check_key(item)
        self.stack.append(_hashed(frozenset, items))

    # ---- texts, numbers, memo -----------------------------------------------------------------------------------
    def text(self, count: int) -> None:
        """Push a text."""
        self.stack.append(str(self.take(count), "utf-8", "surrogatepass"))

    def old_text(self, count: int) -> None:
        """Push a text that Python 2 wrote."""
        content = self.take(count)
        try:
            self.stack.append(content if self._encoding == "bytes" else content.decode(self._encoding))
        except LookupError as error:
            raise refuse(str(error)) from None

    def whole(self, count: int) -> None:
        """Push a whole number of any length."""
        self.stack.append(int.from_bytes(self.take(count), "little", signed=True))

    def remember(self, index: int) -> None:
        """Keep the last object under a number."""
        self.memo[index] = self.stack[-1]

    def recall(self, index: int) -> None:
        """Push the object kept under a number."""
        if index not in self.memo:
            raise refuse(f"Memo value not found at index {index}")
        self.stack.append(self.memo[index])

    def pop(self) -> None:
        """Forget the last object, or what was collected."""
        if self.stack:
            self.stack.pop()
        else:
            self.since_mark()

    def protocol(self) -> None:
        """Refuse a protocol that Python does not know."""
        number = self.take(1)[0]
        if number > pickle.HIGHEST_PROTOCOL:
            raise refuse(f"unsupported pickle protocol: {number}")


def _put(target: Any, *item: Any) -> None:
    """Enter something hashable."""
    try:
        if len(item) == 1:
            target.add(item[0])
        else:
            target[item[0]] = item[1]
    except TypeError as error:
        raise refuse(str(error)) from None


def _hashed(kind: type, items: list) -> Any:
    """A set of what must be hashable."""
    try:
        return kind(items)
    except TypeError as error:
        raise refuse(str(error)) from None


def _set_state(made: Any, state: Any) -> None:
    """What pickle does with the state of an instance, here of a class that a person trusts."""
    own = getattr(made, "__setstate__", None)
    if own is not None:
        own(state)
        return
    slots = None
    if type(state) is tuple and len(state) == 2:
        state, slots = state
    if state:
        made.__dict__.update(state)
    for name, value in (slots or {}).items():
        setattr(made, name, value)


def _shown(thing: Any) -> str:
    """A value in a sentence, without a `repr` of what came out of the file."""
    if isinstance(thing, type) or callable(thing):
        return repr(thing)[:100]
    return f"a {type(thing).__name__}"
