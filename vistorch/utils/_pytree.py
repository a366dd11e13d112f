"""Nested containers of values, taken apart and put together: PyTorch's own module of that, which libraries use.

Invariant: `tree_unflatten(leaves, spec)` undoes `tree_flatten(tree)`; a class takes part when it is registered.
"""

from __future__ import annotations

import collections
import functools
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

PyTree = Any
Context = Any
KeyEntry = Any
KeyPath = tuple
FlattenFunc = FlattenFn = Callable[[Any], tuple]
UnflattenFunc = UnflattenFn = Callable[[Iterable, Any], Any]
BUILTIN_TYPES = frozenset({tuple, list, dict, OrderedDict, defaultdict, deque})


class NodeDef(NamedTuple):
    """How one class is taken apart and put together."""

    type: type
    flatten_fn: Callable
    unflatten_fn: Callable
    flatten_with_keys_fn: Callable | None = None


@dataclass(frozen=True)
class SequenceKey:
    """A place in a sequence."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Sequence) -> Any:
        """What is there.

        Args:
            sequence: the sequence.
        """
        return sequence[self.idx]


@dataclass(frozen=True)
class MappingKey:
    """A key of a mapping."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Mapping) -> Any:
        """What is there.

        Args:
            mapping: the mapping.
        """
        return mapping[self.key]


@dataclass(frozen=True)
class GetAttrKey:
    """An attribute of an object."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """What is there.

        Args:
            obj: the object.
        """
        return getattr(obj, self.name)


def is_namedtuple_class(cls: Any) -> bool:
    """Whether a class is a named tuple's."""
    named = getattr(cls, "_fields", None)
    return isinstance(cls, type) and issubclass(cls, tuple) and isinstance(named, tuple)


def is_namedtuple_instance(obj: Any) -> bool:
    """Whether an object is a named tuple."""
    return is_namedtuple_class(type(obj))


def is_namedtuple(obj: Any) -> bool:
    """Whether an object, or a class, is a named tuple."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_structseq_class(cls: Any) -> bool:
    """Whether a class is one of `return_types`."""
    return isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "n_sequence_fields")


def is_structseq_instance(obj: Any) -> bool:
    """Whether an object is one of `return_types`."""
    return is_structseq_class(type(obj))


def is_structseq(obj: Any) -> bool:
    """Whether an object, or a class, is one of `return_types`."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


_is_namedtuple_instance = is_namedtuple_instance


def _sequence(kind: Any, build: Callable) -> NodeDef:
    return NodeDef(
        kind,
        lambda x: (list(x), None),
        lambda values, _: build(values),
        lambda x: ([(SequenceKey(i), value) for i, value in enumerate(x)], None),
    )


def _mapping(kind: Any, context: Callable, build: Callable) -> NodeDef:
    return NodeDef(
        kind,
        lambda d: (list(d.values()), context(d)),
        build,
        lambda d: ([(MappingKey(key), value) for key, value in d.items()], context(d)),
    )


namedtuple: Any = collections.namedtuple  # the class of the registry that all named tuples go by
SUPPORTED_NODES: dict[Any, NodeDef] = {
    tuple: _sequence(tuple, tuple),
    list: _sequence(list, list),
    dict: _mapping(dict, list, lambda values, keys: dict(zip(keys, values, strict=True))),
    namedtuple: NodeDef(
        namedtuple,
        lambda x: (list(x), type(x)),
        lambda values, kind: kind(*values),
        lambda x: ([(GetAttrKey(f), v) for f, v in zip(x._fields, x, strict=True)], type(x)),
    ),
    OrderedDict: _mapping(
        OrderedDict, list, lambda values, keys: OrderedDict(zip(keys, values, strict=True))
    ),
    defaultdict: _mapping(
        defaultdict,
        lambda d: [d.default_factory, list(d)],
        lambda values, context: defaultdict(context[0], zip(context[1], values, strict=True)),
    ),
    deque: NodeDef(
        deque,
        lambda x: (list(x), x.maxlen),
        lambda values, longest: deque(values, maxlen=longest),
        lambda x: ([(SequenceKey(i), value) for i, value in enumerate(x)], x.maxlen),
    ),
}
# The functions of each kind of container under the names that libraries take: `_dict_flatten_with_keys` and so on.
for _name, _kind in {
    "tuple": tuple,
    "list": list,
    "dict": dict,
    "namedtuple": namedtuple,
    "ordereddict": OrderedDict,
    "defaultdict": defaultdict,
    "deque": deque,
}.items():
    _row = SUPPORTED_NODES[_kind]
    globals()[f"_{_name}_flatten"] = _row.flatten_fn
    globals()[f"_{_name}_unflatten"] = _row.unflatten_fn
    globals()[f"_{_name}_flatten_with_keys"] = _row.flatten_with_keys_fn
SUPPORTED_SERIALIZED_TYPES: dict[Any, Any] = {}
CONSTANT_NODES: set[type] = set()


def register_pytree_node(
    cls: type,
    flatten_fn: Callable,
    unflatten_fn: Callable,
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Callable | None = None,
    from_dumpable_context: Callable | None = None,
    flatten_with_keys_fn: Callable | None = None,
) -> None:
    """Let a class take part.

    Args:
        cls: the class.
        flatten_fn: gives the values of an object, and what else it needs to be made again.
        unflatten_fn: makes it of values and that.
        serialized_type_name: accepted; trees are not written to files.
        to_dumpable_context: accepted, as the last.
        from_dumpable_context: accepted, as the last.
        flatten_with_keys_fn: gives pairs of a key and a value instead.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)


def _register_pytree_node(
    cls: type,
    flatten_fn: Callable,
    unflatten_fn: Callable,
    to_str_fn: Any = None,
    maybe_from_str_fn: Any = None,
    **options: Any,
) -> None:
    """The same by its older name."""
    register_pytree_node(cls, flatten_fn, unflatten_fn, **options)


_private_register_pytree_node = _register_pytree_node


def _deregister_pytree_node(cls: type) -> None:
    del SUPPORTED_NODES[cls]


def register_dataclass(
    cls: type,
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    **options: Any,
) -> None:
    """Let a dataclass take part by its fields.

    Args:
        cls: the dataclass.
        field_names: which fields hold values; those of `__init__` if none are named.
        drop_field_names: which are left out.
        **options: accepted.
    """
    named = field_names or [f.name for f in fields(cls) if f.init]  # type: ignore[arg-type]
    named = [name for name in named if name not in (drop_field_names or ())]

    def present(obj: Any) -> tuple[list[str], list[str]]:
        return [n for n in named if getattr(obj, n) is not None], [
            n for n in named if getattr(obj, n) is None
        ]

    def flatten(obj: Any) -> tuple[list, Any]:
        there, none = present(obj)
        return [getattr(obj, n) for n in there], [there, none]

    def unflatten(values: Iterable, context: Any) -> Any:
        return cls(**dict(zip(context[0], values, strict=True)), **dict.fromkeys(context[1]))

    def with_keys(obj: Any) -> tuple[list, Any]:
        there, none = present(obj)
        return [(GetAttrKey(n), getattr(obj, n)) for n in there], [there, none]

    register_pytree_node(cls, flatten, unflatten, flatten_with_keys_fn=with_keys)


def register_constant(cls: type) -> None:
    """Let objects of a class be part of a tree's form, and no values.

    Args:
        cls: the class; its objects are compared with ==.
    """
    register_pytree_node(cls, lambda x: ([], x), lambda _, x: x, flatten_with_keys_fn=lambda x: ([], x))
    CONSTANT_NODES.add(cls)


def is_constant_class(cls: type) -> bool:
    """Whether a class was registered as one of constants."""
    return cls in CONSTANT_NODES


def _get_node_type(tree: Any) -> Any:
    kind = type(tree)
    if kind not in SUPPORTED_NODES and is_namedtuple_class(kind):
        return namedtuple
    return kind


def _node(tree: Any) -> NodeDef | None:
    found = SUPPORTED_NODES.get(_get_node_type(tree))
    if found is None and is_structseq_instance(tree):
        kind = type(tree)
        found = SUPPORTED_NODES[kind] = NodeDef(
            kind,
            lambda x: (list(x), None),
            lambda values, _: kind(values),
            lambda x: ([(SequenceKey(i), v) for i, v in enumerate(x)], None),
        )
    return found


def tree_is_leaf(tree: Any, is_leaf: Callable | None = None) -> bool:
    """Whether something is a value, and no container that takes part.

    Args:
        tree: anything.
        is_leaf: says of more things that they are values.
    """
    return (is_leaf is not None and bool(is_leaf(tree))) or _node(tree) is None


_is_leaf = tree_is_leaf


class TreeSpec:
    """The form of a tree: classes, what they need to be made again, and the forms of what is inside."""

    __slots__ = ("_children", "_context", "num_children", "num_leaves", "num_nodes", "type")

    def __init__(self, type: Any, context: Any, children_specs: list[TreeSpec]) -> None:
        self.type, self._context, self._children = type, context, list(children_specs)
        self.num_children = len(self._children)
        self.num_nodes = 1 + sum(child.num_nodes for child in self._children)
        self.num_leaves = sum(child.num_leaves for child in self._children) if type is not None else 1

    @property
    def context(self) -> Any:
        """What the class needs to be made again."""
        return self._context

    @property
    def children_specs(self) -> list[TreeSpec]:
        """The forms of what is inside."""
        return self._children

    def children(self) -> list[TreeSpec]:
        """The forms of what is inside, in a list of its own."""
        return self._children.copy()

    def child(self, index: int) -> TreeSpec:
        """One of them.

        Args:
            index: which.
        """
        return self._children[index]

    def is_leaf(self) -> bool:
        """Whether it is the form of a single value."""
        return self.type is None

    def unflatten(self, leaves: Iterable) -> Any:
        """A tree of this form.

        Args:
            leaves: its values.
        """
        values = list(leaves)
        if len(values) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(values)} but the spec refers to a pytree that "
                f"holds {self.num_leaves} items ({self})."
            )
        return self._built(iter(values))

    def _built(self, values: Any) -> Any:
        if self.type is None:
            return next(values)
        inside = [child._built(values) for child in self._children]
        return SUPPORTED_NODES[self.type].unflatten_fn(inside, self._context)

    def flatten_up_to(self, tree: Any) -> list:
        """The parts of a tree that stand where this form has values.

        Args:
            tree: begins as this form does, and may go on inside.
        """
        if self.type is None:
            return [tree]
        found = _get_node_type(tree)
        if found is not self.type:
            raise ValueError(f"Node type mismatch; expected {self.type!r}, but got {type(tree)!r}.")
        node = _node(tree)
        assert node is not None  # a form has only registered classes
        inside, context = node.flatten_fn(tree)
        inside = list(inside)
        if len(inside) != self.num_children:
            raise ValueError(f"Node arity mismatch; expected {self.num_children}, but got {len(inside)}.")
        if isinstance(tree, dict):
            keys = list(self._context if not isinstance(tree, defaultdict) else self._context[1])
            if set(keys) != set(tree):
                raise ValueError(f"Node keys mismatch; expected {keys!r}, but got {list(tree)!r}.")
            inside = [tree[key] for key in keys]
        elif context != self._context:
            raise ValueError(
                f"Node context mismatch for custom node type {self.type!r}: expected {self._context!r}, but got "
                f"{context!r}."
            )
        return [
            part for child, x in zip(self._children, inside, strict=True) for part in child.flatten_up_to(x)
        ]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeSpec):
            return NotImplemented
        return (
            self.type is other.type and self._context == other._context and self._children == other._children
        )

    def __hash__(self) -> int:
        kind = self.type
        context = self._context
        if kind in (dict, OrderedDict, defaultdict) or isinstance(context, list):
            context = tuple(map(repr, context))
        return hash((kind, context, tuple(self._children)))

    def __repr__(self, indent: int = 0) -> str:
        if self.type is None:
            return "*"
        inside = ""
        if self._children:
            indent += 2
            inside = self._children[0].__repr__(indent) + ("," if self.num_children > 1 else "")
            inside += ",".join(f"\n{' ' * indent}{child.__repr__(indent)}" for child in self._children[1:])
        return f"TreeSpec({self.type.__name__}, {self._context}, [{inside}])"


class LeafSpec(TreeSpec):
    """The form of a single value."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(None, None, [])


_LEAF = LeafSpec()


def treespec_leaf() -> LeafSpec:
    """The form of a single value."""
    return _LEAF


def treespec_tuple(iterable: Iterable[TreeSpec] = (), /) -> TreeSpec:
    """The form of a tuple.

    Args:
        iterable: the forms of what is inside.
    """
    return TreeSpec(tuple, None, list(iterable))


def treespec_dict(mapping: Any = (), /, **kwargs: TreeSpec) -> TreeSpec:
    """The form of a dict.

    Args:
        mapping: forms by key.
        **kwargs: more of them.
    """
    forms = dict(mapping, **kwargs)
    return TreeSpec(dict, list(forms), list(forms.values()))


def tree_flatten(tree: Any, is_leaf: Callable | None = None) -> tuple[list, TreeSpec]:
    """The values of a tree in order, and its form.

    Args:
        tree: nested containers.
        is_leaf: says of more things that they are values.
    """
    leaves: list = []
    return leaves, _flatten(tree, leaves, is_leaf)


def _flatten(tree: Any, leaves: list, is_leaf: Callable | None) -> TreeSpec:
    node = None if is_leaf is not None and is_leaf(tree) else _node(tree)
    if node is None:
        leaves.append(tree)
        return _LEAF
    inside, context = node.flatten_fn(tree)
    return TreeSpec(_get_node_type(tree), context, [_flatten(x, leaves, is_leaf) for x in inside])


def tree_unflatten(leaves: Iterable, treespec: TreeSpec) -> Any:
    """A tree of this form with these values.

    Args:
        leaves: the values.
        treespec: the form.
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            f"tree_unflatten(leaves, treespec): Expected `treespec` to be instance of TreeSpec but got item of type "
            f"{type(treespec)}."
        )
    return treespec.unflatten(leaves)


def tree_iter(tree: Any, is_leaf: Callable | None = None) -> Iterable:
    """The values of a tree, one by one.

    Args:
        tree: nested containers.
        is_leaf: says of more things that they are values.
    """
    yield from tree_flatten(tree, is_leaf)[0]


def tree_leaves(tree: Any, is_leaf: Callable | None = None) -> list:
    """The values of a tree.

    Args:
        tree: nested containers.
        is_leaf: says of more things that they are values.
    """
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: Callable | None = None) -> TreeSpec:
    """The form of a tree.

    Args:
        tree: nested containers.
        is_leaf: says of more things that they are values.
    """
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func: Callable, tree: Any, *rests: Any, is_leaf: Callable | None = None) -> Any:
    """A tree of the same form with what a function makes of its values.

    Args:
        func: gets a value, and the parts of the other trees that stand there.
        tree: nested containers.
        *rests: trees that begin as it does.
        is_leaf: says of more things that they are values.
    """
    leaves, form = tree_flatten(tree, is_leaf)
    return form.unflatten(map(func, leaves, *(form.flatten_up_to(rest) for rest in rests)))


def tree_map_(func: Callable, tree: Any, *rests: Any, is_leaf: Callable | None = None) -> Any:
    """Call a function with each value; gives the tree as it is.

    Args:
        func: what to call.
        tree: nested containers.
        *rests: trees that begin as it does.
        is_leaf: says of more things that they are values.
    """
    leaves, form = tree_flatten(tree, is_leaf)
    deque(map(func, leaves, *(form.flatten_up_to(rest) for rest in rests)), maxlen=0)
    return tree


def _asks(wanted: Any) -> Callable[[Any], Any]:
    """What says whether a value is meant: by its type, or by a function."""
    if not isinstance(wanted, (type, tuple)) and callable(wanted) and not hasattr(wanted, "__args__"):
        return wanted
    kinds: Any = wanted
    return lambda x: isinstance(x, kinds)


def map_only(type_or_types_or_pred: Any, /) -> Callable:
    """A decorator: the function is called with values that are meant, others are given back.

    Args:
        type_or_types_or_pred: a type, several of them, or a function that says it.
    """
    asks = _asks(type_or_types_or_pred)

    def wrapper(func: Callable) -> Callable:
        @functools.wraps(func)
        def wrapped(x: Any) -> Any:
            return func(x) if asks(x) else x

        return wrapped

    return wrapper


def tree_map_only(wanted: Any, /, func: Callable, tree: Any, is_leaf: Callable | None = None) -> Any:
    """`tree_map` over the values that are meant.

    Args:
        wanted: a type, several of them, or a function that says it.
        func: gets a value.
        tree: nested containers.
        is_leaf: says of more things that they are values.
    """
    return tree_map(map_only(wanted)(func), tree, is_leaf=is_leaf)


def tree_map_only_(wanted: Any, /, func: Callable, tree: Any, is_leaf: Callable | None = None) -> Any:
    """`tree_map_` over the values that are meant.

    Args:
        wanted: a type, several of them, or a function that says it.
        func: gets a value.
        tree: nested containers.
        is_leaf: says of more things that they are values.
    """
    return tree_map_(map_only(wanted)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable, tree: Any, is_leaf: Callable | None = None) -> bool:
    """Whether something holds of every value."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred: Callable, tree: Any, is_leaf: Callable | None = None) -> bool:
    """Whether something holds of some value."""
    return any(map(pred, tree_leaves(tree, is_leaf)))


def tree_all_only(wanted: Any, /, pred: Callable, tree: Any, is_leaf: Callable | None = None) -> bool:
    """Whether something holds of every value that is meant."""
    return all(pred(x) for x in tree_leaves(tree, is_leaf) if _asks(wanted)(x))


def tree_any_only(wanted: Any, /, pred: Callable, tree: Any, is_leaf: Callable | None = None) -> bool:
    """Whether something holds of some value that is meant."""
    return any(pred(x) for x in tree_leaves(tree, is_leaf) if _asks(wanted)(x))


def arg_tree_leaves(*args: Any, **kwargs: Any) -> list:
    """The values of the arguments of a call."""
    return [leaf for x in (*args, *kwargs.values()) for leaf in tree_leaves(x)]


def _broadcast_to_and_flatten(tree: Any, treespec: TreeSpec, is_leaf: Callable | None = None) -> list | None:
    """One value for each of a form's, where a tree may end earlier; None where they do not go together."""
    if treespec.is_leaf() or tree_is_leaf(tree, is_leaf):
        whole = tree_is_leaf(tree, is_leaf)
        return [tree] * treespec.num_leaves if whole else None
    if _get_node_type(tree) != treespec.type:
        return None
    node = _node(tree)
    assert node is not None  # it is no leaf
    inside, context = node.flatten_fn(tree)
    if len(inside) != treespec.num_children or context != treespec.context:
        return None
    found: list = []
    for x, form in zip(inside, treespec.children_specs, strict=True):
        part = _broadcast_to_and_flatten(x, form, is_leaf)
        if part is None:
            return None
        found += part
    return found


def tree_flatten_with_path(tree: Any, is_leaf: Callable | None = None) -> tuple[list, TreeSpec]:
    """Pairs of a path and a value, and the form.

    Args:
        tree: nested containers.
        is_leaf: says of more things that they are values.
    """
    return list(_paths((), tree, is_leaf)), tree_structure(tree, is_leaf)


def tree_leaves_with_path(tree: Any, is_leaf: Callable | None = None) -> list:
    """Pairs of a path and a value.

    Args:
        tree: nested containers.
        is_leaf: says of more things that they are values.
    """
    return list(_paths((), tree, is_leaf))


def _paths(at: tuple, tree: Any, is_leaf: Callable | None) -> Iterable:
    node = None if is_leaf is not None and is_leaf(tree) else _node(tree)
    if node is None:
        yield at, tree
        return
    if node.flatten_with_keys_fn is None:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {node.type}. Please pass a flatten_with_keys_fn argument "
            "to register_pytree_node."
        )
    for key, x in node.flatten_with_keys_fn(tree)[0]:
        yield from _paths((*at, key), x, is_leaf)


def tree_map_with_path(func: Callable, tree: Any, *rests: Any, is_leaf: Callable | None = None) -> Any:
    """`tree_map` with a function that gets the path first.

    Args:
        func: gets a path, a value, and the parts of the other trees that stand there.
        tree: nested containers.
        *rests: trees that begin as it does.
        is_leaf: says of more things that they are values.
    """
    pairs, form = tree_flatten_with_path(tree, is_leaf)
    others = [form.flatten_up_to(rest) for rest in rests]
    return form.unflatten(
        func(path, value, *more) for (path, value), *more in zip(pairs, *others, strict=True)
    )


def keystr(kp: tuple) -> str:
    """A path as it is written in Python."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: tuple) -> Any:
    """What is at a path of an object."""
    for key in kp:
        obj = key.get(obj)
    return obj
