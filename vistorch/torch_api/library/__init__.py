"""`library`: operators of one's own, with a schema, kernels for devices and a backward formula.

Invariant: an operator that is registered here is found under `vistorch.ops`, and is called and differentiated as any
other. There is no dispatcher and no compiler behind it: a function for fake tensors is kept and never called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from vistorch.engine.base.errors import not_built
from vistorch.engine.library_name import library

from .operators import ANY, OpOverload, add, find, kernel_key, parse_namespace, remove
from .schema import infer_schema, parse

__all__ = [
    "CustomOpDef",
    "Library",
    "custom_op",
    "define",
    "impl",
    "impl_abstract",
    "infer_schema",
    "register_autocast",
    "register_autograd",
    "register_fake",
    "register_kernel",
]


class CustomOpDef:
    """What `custom_op` gives: a function that runs the operator, and methods that add to it.

    Args:
        op: the operator.
        fn: the function that it was made of.

    Example:
        >>> import vistorch
        >>> @vistorch.library.custom_op("docs::half_of", mutates_args=())
        ... def half_of(x: vistorch.Tensor) -> vistorch.Tensor:
        ...     return x / 2
        >>> half_of
        <CustomOpDef(docs::half_of)>
        >>> half_of(vistorch.ones(2))
        tensor([0.5000, 0.5000])
    """

    def __init__(self, op: OpOverload, fn: Callable) -> None:
        self._opoverload = op
        self._init_fn = fn
        self._namespace, self._name, self._qualname = op.namespace, op.schema.name, op.name()
        self.__name__ = fn.__name__
        self.__doc__ = fn.__doc__

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the operator."""
        return self._opoverload(*args, **kwargs)

    def register_kernel(self, device_types: Any, fn: Callable | None = None, /) -> Callable:
        """Let a function compute on some devices; without it, a decorator.

        Args:
            device_types: "cpu", "cuda", or several.
            fn: the function.
        """
        return register_kernel(self, device_types, fn)

    def register_autograd(self, backward: Callable, /, *, setup_context: Callable | None = None) -> None:
        """Say how it is differentiated.

        Args:
            backward: `backward(ctx, *gradients)`, one gradient for each argument.
            setup_context: `setup_context(ctx, inputs, output)`, which keeps what backward needs.
        """
        register_autograd(self, backward, setup_context=setup_context)

    def register_fake(self, fn: Callable, /) -> Callable:
        """Keep a function for tensors without values, which nothing calls here.

        Args:
            fn: the function.
        """
        return register_fake(self, fn)

    def register_autocast(self, device_type: str, cast_inputs: Any) -> None:
        """Cast floating inputs where autocast is on.

        Args:
            device_type: where.
            cast_inputs: to which dtype.
        """
        register_autocast(self, device_type, cast_inputs)


def custom_op(
    name: str,
    fn: Callable | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Make an operator of a function; without one, a decorator.

    Args:
        name: "namespace::name".
        fn: the function, with annotations that say its schema.
        mutates_args: the names of the arguments that it writes into, or "unknown".
        device_types: the devices it computes on; all by default.
        schema: the schema, instead of the annotations.
        tags: accepted, changes nothing.

    Example:
        >>> import vistorch
        >>> @vistorch.library.custom_op("docs::cube", mutates_args=())
        ... def cube(x: vistorch.Tensor) -> vistorch.Tensor:
        ...     return vistorch.from_numpy(x.numpy() ** 3)
        >>> def keep(ctx, inputs, output):
        ...     ctx.save_for_backward(*inputs)
        >>> cube.register_autograd(lambda ctx, g: 3 * g * ctx.saved_tensors[0] ** 2, setup_context=keep)
        >>> x = vistorch.tensor([2.0], requires_grad=True)
        >>> vistorch.ops.docs.cube(x).backward()
        >>> x.grad
        tensor([12.])
    """

    def made(function: Callable) -> CustomOpDef:
        namespace, own = parse_namespace(name)
        text = infer_schema(function, mutates_args=mutates_args) if schema is None else schema
        if not callable(function):
            raise TypeError(f"custom_op takes a function, but got {type(function).__name__}")
        op = add(namespace, parse(own + text.strip()), replace=True)
        op.checks_aliases = True
        for device in _several(device_types):
            op.kernels[kernel_key(device, False)] = function
        return CustomOpDef(op, function)

    return made if fn is None else made(fn)


def _several(types: Any) -> list[str]:
    return ["default"] if types is None else [types] if isinstance(types, str) else list(types)


def define(qualname: str, schema: str, *, lib: Library | None = None, tags: Any = ()) -> Any:
    """Declare an operator, whose kernels follow.

    Args:
        qualname: "namespace::name".
        schema: "(Tensor x) -> Tensor".
        lib: the Library that it belongs to.
        tags: accepted, changes nothing.

    Example:
        >>> import vistorch
        >>> vistorch.library.define("docs::plus", "(Tensor x, float by=1.0) -> Tensor")
        >>> @vistorch.library.impl("docs::plus", "cpu")
        ... def plus(x, by):
        ...     return x + by
        >>> vistorch.ops.docs.plus(vistorch.zeros(2))
        tensor([1., 1.])
    """
    if not isinstance(schema, str):
        raise ValueError(
            f"define(qualname, schema): expected schema to be of type str, but got type {type(schema)}"
        )
    namespace, own = parse_namespace(qualname)
    op = add(namespace, parse(own + schema.strip()))
    if lib is not None:
        lib._own.append(op)


def impl(qualname: Any, types: Any, func: Callable | None = None, *, lib: Library | None = None) -> Any:
    """Give a declared operator a kernel; without a function, a decorator.

    Args:
        qualname: "namespace::name"; as in `Library.impl`, also a Library, with `types` the name.
        types: "cpu", "cuda", "default", or several.
        func: the kernel.
        lib: the Library that it belongs to.

    Example:
        >>> import vistorch
        >>> vistorch.library.define("docs::minus", "(Tensor x) -> Tensor")
        >>> vistorch.library.impl("docs::minus", "default", lambda x: -x)
        >>> vistorch.ops.docs.minus(vistorch.ones(1))
        tensor([-1.])
    """
    if isinstance(qualname, Library):  # the decorator's older form: impl(library, name, key)
        library, name, key = qualname, types, func if isinstance(func, str) else ""
        return lambda f: (library.impl(name, f, key), f)[1]
    op = find(qualname)

    def registered(f: Callable) -> Callable:
        for kind in _several(types):
            op.kernels[kernel_key(kind, False)] = f
        return f

    if func is None:
        return registered
    registered(func)
    return None


def register_kernel(op: Any, device_types: Any, func: Callable | None = None, /, *, lib: Any = None) -> Any:
    """Let a function compute an operator on some devices; without one, a decorator.

    Args:
        op: the operator, or its name.
        device_types: "cpu", "cuda", several, or None for all.
        func: the function.
        lib: accepted, changes nothing.

    Example:
        >>> import vistorch
        >>> @vistorch.library.custom_op("docs::same", mutates_args=(), device_types="cuda")
        ... def same(x: vistorch.Tensor) -> vistorch.Tensor:
        ...     return x.clone()
        >>> _ = vistorch.library.register_kernel("docs::same", "cpu", lambda x: x.clone())
        >>> same(vistorch.ones(1))
        tensor([1.])
    """
    target = find(op)

    def registered(f: Callable) -> Callable:
        for kind in _several(device_types):
            target.kernels[kernel_key(kind, False)] = f
        return f

    return registered if func is None else registered(func)


def register_autograd(
    op: Any, backward: Callable, /, *, setup_context: Callable | None = None, lib: Any = None
) -> None:
    """Say how an operator is differentiated.

    Args:
        op: the operator, or its name.
        backward: `backward(ctx, *gradients)`, which returns one gradient for each argument.
        setup_context: `setup_context(ctx, inputs, output)`, which keeps what backward needs.
        lib: accepted, changes nothing.

    Example:
        >>> import vistorch
        >>> @vistorch.library.custom_op("docs::doubled", mutates_args=())
        ... def doubled(x: vistorch.Tensor) -> vistorch.Tensor:
        ...     return x * 2
        >>> vistorch.library.register_autograd("docs::doubled", lambda ctx, g: g * 2)
        >>> x = vistorch.ones(1, requires_grad=True)
        >>> doubled(x).backward()
        >>> x.grad
        tensor([2.])
    """
    target = find(op)
    if target.schema.is_mutable:
        raise RuntimeError(
            "Cannot register autograd formula for non-functional operator "
            f"{op if isinstance(op, CustomOpDef) else target} with schema "
            f"{target.namespace}::{target.schema}. Please create a functional operator and register an autograd "
            "formula for that."
        )
    if any(a.keyword_only and a.type.startswith("Tensor") for a in target.schema.arguments):
        raise NotImplementedError(
            f"register_autograd with kwarg-only Tensor args. Please make your tensors not kwarg-only. Got: "
            f"{target.schema}"
        )
    target.backward, target.setup_context = backward, setup_context


def register_fake(
    op: Any,
    func: Callable | None = None,
    /,
    *,
    lib: Any = None,
    _stacklevel: int = 1,
    allow_override: bool = True,
) -> Any:
    """Keep an operator's function for tensors without values, which a compiler would call.

    Args:
        op: the operator, or its name.
        func: the function; without it, a decorator.
        lib: accepted, changes nothing.
        allow_override: accepted, changes nothing.

    Example:
        >>> import vistorch
        >>> vistorch.library.define("docs::first", "(Tensor x) -> Tensor")
        >>> @vistorch.library.register_fake("docs::first")
        ... def first(x):
        ...     return x.new_empty(())
    """
    target = find(op)

    def kept(f: Callable) -> Callable:
        target.fake = f
        return f

    return kept if func is None else kept(func)


def impl_abstract(
    qualname: Any, func: Callable | None = None, *, lib: Any = None, _stacklevel: int = 1
) -> Any:
    """Older name of `register_fake`.

    Args:
        qualname: the operator, or its name.
        func: the function; without it, a decorator.
        lib: accepted, changes nothing.

    Example:
        >>> import vistorch
        >>> vistorch.library.define("docs::second", "(Tensor x) -> Tensor")
        >>> _ = vistorch.library.impl_abstract("docs::second", lambda x: x.new_empty(()))
    """
    return register_fake(qualname, func, lib=lib)


def register_autocast(op: Any, device_type: str, cast_inputs: Any, /, *, lib: Any = None) -> None:
    """Cast the floating inputs of an operator where autocast is on.

    Args:
        op: the operator, or its name.
        device_type: "cpu" or "cuda".
        cast_inputs: the dtype.
        lib: accepted, changes nothing.

    Example:
        >>> import vistorch
        >>> @vistorch.library.custom_op("docs::kind_of", mutates_args=())
        ... def kind_of(x: vistorch.Tensor) -> vistorch.Tensor:
        ...     return x.clone()
        >>> kind_of.register_autocast("cpu", vistorch.bfloat16)
        >>> with vistorch.autocast("cpu"):
        ...     kind_of(vistorch.ones(1)).dtype
        vistorch.bfloat16
    """
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if device_type not in ("cpu", "cuda"):
        raise ValueError(f"Unknown device type: {device_type}")
    find(op).cast[device_type] = cast_inputs


class Library:
    """Operators of one namespace, declared and given kernels one by one.

    Args:
        ns: the namespace.
        kind: "DEF", "FRAGMENT" or "IMPL".
        dispatch_key: for kernels that name none.

    Example:
        >>> import vistorch
        >>> own = vistorch.library.Library("docs2", "DEF")
        >>> own.define("twice(Tensor x) -> Tensor")
        'twice'
        >>> own.impl("twice", lambda x: x * 2, "CPU")
        >>> vistorch.ops.docs2.twice(vistorch.ones(1))
        tensor([2.])
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns in ("prim", "prims"):
            raise ValueError(
                f"{ns} is a reserved namespace. Please try creating a library with another name."
            )
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._own: list[OpOverload] = []

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Declare an operator and return its name.

        Args:
            schema: "name(Tensor x) -> Tensor".
            alias_analysis: accepted, changes nothing.
            tags: accepted, changes nothing.
        """
        op = add(self.ns, parse(schema))
        self._own.append(op)
        return op.schema.name + (f".{op.schema.overload}" if op.schema.overload else "")

    def impl(
        self,
        op_name: Any,
        fn: Callable,
        dispatch_key: str = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = False,
    ) -> None:
        """Give an operator of this namespace a kernel.

        Args:
            op_name: its name, or the operator.
            fn: the kernel.
            dispatch_key: "CPU", "CUDA", "CompositeExplicitAutograd", or "" for a function of other operations.
            with_keyset: refused: there are no keys to give.
            allow_override: whether a kernel that is there may be replaced.
        """
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        if with_keyset:
            raise not_built(
                f"{library}.library.Library.impl with_keyset=True",
                "vistorch has no dispatcher; leave it out.",
            )
        named = f"{self.ns}::{op_name}" if isinstance(op_name, str) and "::" not in op_name else op_name
        op, key = find(named), kernel_key(dispatch_key or self.dispatch_key, True)
        if key in op.kernels and not allow_override:
            raise RuntimeError(
                f"This is not allowed since there's already a kernel registered from python overriding "
                f"{op.schema.name}'s behavior for {dispatch_key or self.dispatch_key} dispatch key and {self.ns} "
                "namespace."
            )
        op.kernels[key] = fn

    def _destroy(self) -> None:
        """Take its operators out again."""
        for op in self._own:
            remove(op)
        self._own.clear()
