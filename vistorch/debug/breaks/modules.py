"""Which module an op ran in: the path as `named_modules()` gives it, noted at the node.

Invariant: while a module runs, everything in the same thread is in it; outside of all modules there is no path.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

from ...engine.base.events import Listener
from ...engine.core.graph import Out
from ..lines import note_of

_names: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def path_of(root: Any, module: Any) -> str:
    """The path of a module below another, "" where it is not there."""
    names = _names.get(root)
    if names is None or id(module) not in names:
        names = _names[root] = {id(m): path for path, m in root.named_modules()}
    return names.get(id(module), "")


class Modules(Listener):
    """Notes at each node the path of the module that made it, as `note_of(node)["module"]`.

    The outermost module that is called gives the names; its own path is "".

    Example:
        >>> import vistorch
        >>> from vistorch.debug import note_of
        >>> from vistorch.debug.breaks import Modules
        >>> net = vistorch.nn.Sequential(vistorch.nn.Linear(2, 1))
        >>> with Modules():
        ...     y = net(vistorch.ones(1, 2))
        >>> note_of(y.grad_fn)["module"]
        '0'
    """

    def __init__(self) -> None:
        self._here = threading.local()

    @property
    def path(self) -> str | None:
        """The path of the module that runs now in this thread, or None.

        Example:
            >>> import vistorch
            >>> from vistorch.debug import Modules
            >>> net = vistorch.nn.Sequential(vistorch.nn.Flatten(), vistorch.nn.Linear(2, 1))
            >>> with Modules() as modules:
            ...     _ = net[1].register_forward_hook(lambda *details: print(repr(modules.path)))
            ...     y = net(vistorch.ones(1, 2))
            '1'
            >>> print(modules.path)
            None
        """
        stack = getattr(self._here, "stack", None)
        return stack[-1] if stack else None

    def phase(self, name: str, subject: Any, *details: Any) -> None:
        """Follow modules as they begin and end.

        Example:
            >>> import vistorch
            >>> from vistorch.debug import Modules
            >>> class Loud(Modules):
            ...     def phase(self, name, subject, *details):
            ...         super().phase(name, subject, *details)
            ...         print(f"{name}: {self.path!r}")
            >>> with Loud():
            ...     y = vistorch.nn.Sequential(vistorch.nn.ReLU())(vistorch.ones(2))
            forward: ''
            forward: '0'
            forward_end: ''
            forward_end: None
        """
        if name == "forward":
            stack = getattr(self._here, "stack", None)
            if not stack:
                stack = self._here.stack = []
                root = getattr(self._here, "root", None)
                if root is None or root() is not subject:
                    self._name(subject)
            path = self._here.names.get(id(subject))
            if (
                path is None and stack
            ):  # a module that came later, or one that is called from outside of the tree
                path = stack[-1]
            stack.append(path or "")
        elif name == "forward_end":
            stack = getattr(self._here, "stack", None)
            if stack:
                stack.pop()

    def _name(self, root: Any) -> None:
        self._here.root = weakref.ref(root)
        self._here.names = {id(m): path for path, m in root.named_modules()}

    def op(self, rule: Any, ins: tuple, consts: tuple, outs: tuple) -> None:
        """Note where a node was made.

        Example:
            >>> import vistorch
            >>> from vistorch.debug import Modules, note_of
            >>> x = vistorch.ones(1, 2, requires_grad=True)
            >>> with Modules():
            ...     y = vistorch.nn.Sequential(vistorch.nn.Tanh())(x)
            ...     z = y.exp()  # outside of all modules
            >>> note_of(y.grad_fn), note_of(z.grad_fn)
            ({'module': '0'}, {})
        """
        stack = getattr(self._here, "stack", None)
        if not stack or not outs:
            return
        for t in outs:
            node = t._node
            if node is not None:
                node = node.node if node.__class__ is Out else node
                node.note = {**note_of(node), "module": stack[-1]}
                return
