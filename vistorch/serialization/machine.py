"""What the instructions of a pickle do when only weights are loaded: nothing but what the allow-list says.

Invariant: every instruction checks what it finds on the stack, every length is checked against what is left of the
file, what is made is paid for, and nothing recurses: the worst a file can do is to be refused.
"""

from __future__ import annotations

import pickle
import struct
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any, ClassVar

from .allowed import CALLED, is_added, thing_named
from .budget import budget, refuse
from .calls import Foreign, called, give_state, instance, shown
from .keys import check_key, check_keys

DICTS = (dict, OrderedDict, Counter)
STOP = pickle.STOP[0]
BATCH = 4096  # instructions between two payments
POINTER, LIST, DICT, SET, ENTRY, OBJECT = 8, 64, 64, 216, 64, 32  # bytes, roughly


class Truncated(EOFError, pickle.UnpicklingError):
    """The file ends before the pickle does; PyTorch raises EOFError here."""


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
        self.memo: list = []
        self.far: dict[int, Any] = {}  # what is remembered out of turn
        self.owed = 0  # bytes taken and not yet paid for
        self.met: dict[
            int, tuple[Any, dict[int, int]]
        ] = {}  # by container: how many keys of each hash it has

    def load(self) -> Any:
        """The object; `at` is then where the pickle has ended."""
        data, codes = self.data, self.codes
        try:
            while True:
                for _ in range(BATCH):
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
                budget.spend(self.owed + BATCH * POINTER)  # no instruction pushes more than one object
                self.owed = 0
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
        return called(function, args)

    def reduce(self) -> None:
        """Call what is on the list."""
        args = self.stack.pop()
        self.stack[-1] = self.call(self.stack[-1], args)

    def newobj(self) -> None:
        """Make an instance of a class on the list."""
        args = self.stack.pop()
        cls = self.stack[-1]
        known = isinstance(cls, type) and id(cls) in CALLED and not is_added(cls)
        self.stack[-1] = self.call(cls, args) if known else instance(cls, args)

    def build(self) -> None:
        """Give an object its state."""
        state = self.stack.pop()
        give_state(self.stack[-1], state)

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
        self.owed += LIST
        self.below.append(self.stack)
        self.stack = []

    def append(self) -> None:
        """Append to a list."""
        item = self.stack.pop()
        self.owed += POINTER
        self._target(list, "append to").append(item)

    def appends(self) -> None:
        """Extend a list."""
        items = self.since_mark()
        self.owed += POINTER * len(items)
        self._target(list, "extend").extend(items)

    def _target(self, kind: type, verb: str) -> Any:
        """The list that the next instruction changes."""
        found = self.stack[-1]
        if type(found) is not kind:
            raise refuse(f"Can only {verb} lists, but got {shown(type(found))}")
        return found

    def additems(self) -> None:
        """Extend a set."""
        items = self.since_mark()
        found = self.stack[-1]
        if type(found) is not set:
            raise refuse(f"Can only add to sets, but got {shown(type(found))}")
        self.owed += ENTRY * len(items)
        self._checked(found, items)
        for item in items:
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
                f"Can only {code} for dict, collections.OrderedDict, collections.Counter, but got {shown(type(found))}"
            )
        self.owed += ENTRY * len(items)
        self._checked(found, items[::2])
        for i in range(0, len(items), 2):
            _put(found, items[i], items[i + 1])

    def _checked(self, container: Any, keys: list) -> None:
        """Check keys for a container, with those it has got already."""
        known = self.met.get(id(container))
        met = {} if known is None else known[1]
        for key in keys:
            check_key(key, met)
        if known is None and met:
            self.met[id(container)] = container, met

    def tuple_(self) -> None:
        """Make a tuple of what was collected."""
        items = tuple(self.since_mark())
        self.owed += LIST + POINTER * len(items)
        self.stack.append(items)

    def tuple_of(self, count: int) -> None:
        """Make a tuple of the last few."""
        if len(self.stack) < count:
            raise refuse("the pickle takes more from its stack than there is")
        self.owed += LIST
        self.stack[-count:] = [tuple(self.stack[-count:])]

    def empty_list(self) -> None:
        """Push an empty list."""
        self.owed += LIST
        self.stack.append([])

    def empty_dict(self) -> None:
        """Push an empty dict."""
        self.owed += DICT
        self.stack.append({})

    def empty_set(self) -> None:
        """Push an empty set."""
        self.owed += SET
        self.stack.append(set())

    def list_(self) -> None:
        """Make a list of what was collected."""
        items = self.since_mark()
        self.stack.append(items)

    def dict_(self) -> None:
        """Make a dict of what was collected."""
        items = self.since_mark()
        self.empty_dict()
        if len(items) % 2:
            raise refuse("odd number of items for DICT")
        self._fill("DICT", items)

    def frozen(self) -> None:
        """Make a frozenset of what was collected."""
        items = self.since_mark()
        self.owed += SET + ENTRY * len(items)
        check_keys(items)
        self.stack.append(_hashed(frozenset, items))

    # ---- texts, numbers, memo -----------------------------------------------------------------------------------
    def text(self, count: int) -> None:
        """Push a text."""
        self.owed += OBJECT + 4 * count  # a letter may take four bytes
        self.stack.append(str(self.take(count), "utf-8", "surrogatepass"))

    def raw(self, count: int, made: Callable = bytes) -> None:
        """Push bytes."""
        self.owed += OBJECT + 2 * count
        self.stack.append(made(self.take(count)))

    def value(self, form: struct.Struct) -> None:
        """Push a number of a fixed length."""
        self.owed += OBJECT
        self.stack.append(self.number(form))

    def old_text(self, count: int) -> None:
        """Push a text that Python 2 wrote."""
        self.owed += OBJECT + 4 * count
        content = bytes(self.take(count))
        try:
            self.stack.append(content if self._encoding == "bytes" else content.decode(self._encoding))
        except LookupError as error:
            raise refuse(str(error)) from None

    def whole(self, count: int) -> None:
        """Push a whole number of any length."""
        self.owed += OBJECT + 2 * count
        self.stack.append(int.from_bytes(self.take(count), "little", signed=True))

    def remember(self, index: int) -> None:
        """Keep the last object under a number."""
        if index < len(self.memo):
            self.memo[index] = self.stack[-1]
        elif index == len(self.memo):
            self.memo.append(self.stack[-1])
            self.owed += POINTER
        else:
            self.far[index] = self.stack[-1]
            self.owed += 2 * ENTRY

    def recall(self, index: int) -> None:
        """Push the object kept under a number."""
        if index < len(self.memo):
            self.stack.append(self.memo[index])
        elif index in self.far:
            self.stack.append(self.far[index])
        else:
            raise refuse(f"Memo value not found at index {index}")

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
