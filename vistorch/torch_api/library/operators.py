"""Custom operators: what a name in `ops` runs, and how it is differentiated.

Invariant: an operator has one schema from the beginning; kernels and a backward formula are registered later, in any
order, and a call uses those that are there then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import vistorch
from vistorch.engine.base.errors import not_built
from vistorch.engine.core.graph import version
from vistorch.engine.library_name import library

from .schema import Schema, bind

ALIASED = (
    "{name} (with implementation in {module}): The output of this custom operator (1) must not also be an input to "
    "this custom operator and (2) may not alias any inputs to this custom operator or other returns. The most common "
    "way to trigger this error is if we have y = custom_op(x) and y and x are the same Tensor. Please instead return "
    "a clone of the offending output tensor(s) (e.g. return x.clone()) or refactor the custom operator to not return "
    "y."
)
ANY = "any"  # the kernel for every device
RECORDED = "recorded"  # a kernel whose own operations are recorded


class OpOverload:
    """One operator: `ops.<namespace>.<name>.default`.

    Args:
        namespace: what stands before `::`.
        schema: its name, arguments and results.
    """

    def __init__(self, namespace: str, schema: Schema) -> None:
        self.namespace = namespace
        self.schema = self._schema = schema
        self._overload = schema.overload or "default"
        self.kernels: dict[str, Callable] = {}
        self.fake: Callable | None = None
        self.cast: dict[str, Any] = {}
        self.checks_aliases = False
        self._formula: type | None = None
        self.backward: Callable | None = None
        self.setup_context: Callable | None = None
        self.__name__ = f"{schema.name}.{self._overload}"
        self.__qualname__ = self.__name__
        self.__module__ = f"vistorch.ops.{namespace}"

    def name(self) -> str:
        """Its name with its namespace, as the schema has it."""
        dotted = f".{self.schema.overload}" if self.schema.overload else ""
        return f"{self.namespace}::{self.schema.name}{dotted}"

    @property
    def overloadpacket(self) -> OpOverloadPacket:
        """All operators of this name."""
        return OPERATORS[self.namespace][self.schema.name]

    def __str__(self) -> str:
        return f"{self.namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.namespace}.{self.schema.name}', overload='{self._overload}')>"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Run it, and record it where an argument requires grad."""
        values = bind(self.schema, f"{self.namespace}::{self.schema.name}", args, kwargs)
        leaves, _ = _flat(values)
        tensors = [t for t in leaves if isinstance(t, vistorch.Tensor)]
        place = tensors[0].device.type if tensors else _place(values)
        if self.cast and (wanted := self.cast.get(place)) and vistorch.is_autocast_enabled(place):
            with vistorch.autocast(place, enabled=False):
                return self._run([_cast(v, wanted) for v in values], place)
        return self._run(values, place)

    def _run(self, values: list, place: str) -> Any:
        if RECORDED in self.kernels:
            return self._called(self.kernels[RECORDED], values)
        leaves, spec = _flat(values)
        tracked = any(isinstance(t, vistorch.Tensor) and t.requires_grad for t in leaves)
        if not tracked or not vistorch.is_grad_enabled() or self.schema.is_mutable:
            with vistorch.no_grad():
                out = self._computed(values, place)
            for a, v in zip(self.schema.arguments, values, strict=True):
                if a.mutated:
                    for t in _flat([v])[0]:
                        if t is not None:
                            version(t).n += 1
            return out
        if self._formula is None:
            self._formula = _formula(self)
        return self._formula.apply(place, spec, *leaves)  # type: ignore[attr-defined]

    def _computed(self, values: list, place: str) -> Any:
        kernel = self.kernels.get(place) or self.kernels.get(ANY)
        if kernel is None:
            has = ", ".join(sorted(self.kernels)) or "none"
            raise NotImplementedError(
                f"Could not run '{self.name()}' with arguments from the '{place.upper()}' backend: no kernel is "
                f"registered for it (there are: {has}). Register one with {library}.library.register_kernel or impl."
            )
        out = self._called(kernel, values)
        if self.checks_aliases:
            self._check_aliases(values, out, kernel)
        return out

    def _called(self, kernel: Callable, values: list) -> Any:
        pairs = list(zip(self.schema.arguments, values, strict=True))
        return kernel(
            *[v for a, v in pairs if not a.keyword_only], **{a.name: v for a, v in pairs if a.keyword_only}
        )

    def _check_aliases(self, values: list, out: Any, kernel: Callable) -> None:
        # By the storages: an expanded or reshaped input is one too.
        seen = {t.untyped_storage()._cdata for t in _flat(values)[0] if isinstance(t, vistorch.Tensor)}
        for t in _flat(out if isinstance(out, (list, tuple)) else [out])[0]:
            if isinstance(t, vistorch.Tensor):
                key = t.untyped_storage()._cdata
                if key in seen:
                    raise RuntimeError(ALIASED.format(name=self.schema.name, module=kernel.__module__))
                seen.add(key)


def _flat(values: Any) -> tuple[list, tuple]:
    """The values with those of lists in their place, and the length of each list, None for what is none."""
    leaves: list = []
    for v in values:
        leaves += v if isinstance(v, (list, tuple)) else [v]
    return leaves, tuple([len(v) if isinstance(v, (list, tuple)) else None for v in values])


def _nested(leaves: Any, spec: tuple) -> list:
    """What `_flat` took apart."""
    rest = iter(leaves)
    return [next(rest) if length is None else [next(rest) for _ in range(length)] for length in spec]


def _place(values: list) -> str:
    """Where an operator without tensors computes: the device among its arguments."""
    found = next((v for v in values if isinstance(v, vistorch.device)), None)
    return "cpu" if found is None else found.type


def _cast(value: Any, wanted: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)([_cast(v, wanted) for v in value])
    return value.to(wanted) if isinstance(value, vistorch.Tensor) and value.is_floating_point() else value


def _formula(op: OpOverload) -> type:
    """The Function of an operator: its lists of tensors are laid out flat, and gradients of lists taken apart."""

    def forward(ctx: Any, place: str, spec: Any, *leaves: Any) -> Any:
        values = _nested(leaves, spec)
        out = op._computed(values, place)
        ctx.spec, ctx.several = spec, isinstance(out, list)
        if op.backward is not None and op.setup_context is not None:
            asked = ctx.needs_input_grad
            ctx.needs_input_grad = tuple(_nested(asked[2:], spec))
            by_name = {a.name: v for a, v in zip(op.schema.arguments, values, strict=True) if a.keyword_only}
            inputs = tuple(
                [v for a, v in zip(op.schema.arguments, values, strict=True) if not a.keyword_only]
            )
            extra = {"keyword_only_inputs": by_name} if by_name else {}
            op.setup_context(ctx=ctx, inputs=inputs, output=out, **extra)
        return tuple(out) if isinstance(out, list) else out

    def backward(ctx: Any, *gradients: Any) -> Any:
        if op.backward is None:
            raise RuntimeError(
                f"Trying to backward through {op} but no autograd formula was registered. Please use "
                "register_autograd to add one."
            )
        given = (list(gradients),) if ctx.several else gradients
        found = op.backward(ctx, *given)
        found = list(found) if isinstance(found, tuple) else [found]
        names = [a.name for a in op.schema.arguments if not a.keyword_only]
        if len(found) != len(names):
            raise RuntimeError(
                f"the backward formula of {op} returned {len(found)} gradients, but it has {len(names)} arguments "
                f"({', '.join(names)}): return one for each, None where there is none"
            )
        found += [None] * (len(ctx.spec) - len(found))
        flat: list = []
        for length, g in zip(ctx.spec, found, strict=True):
            flat += [g] if length is None else ([None] * length if g is None else list(g))
        return None, None, *flat

    name = f"GeneratedBackwardFor_{op.namespace}_{op.schema.name}_{op._overload}"
    members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type(name, (vistorch.autograd.Function,), members)


class OpOverloadPacket:
    """All operators of one name: `ops.<namespace>.<name>`; a call runs the first whose arguments fit."""

    def __init__(self, namespace: str, name: str) -> None:
        self._qualified_op_name = f"{namespace}::{name}"
        self.__name__ = name
        self.__module__ = f"vistorch.ops.{namespace}"
        self._found: dict[str, OpOverload] = {}

    def overloads(self) -> list[str]:
        """Their names."""
        return list(self._found)

    def __getattr__(self, name: str) -> OpOverload:
        found = self.__dict__.get("_found", {}).get(name)
        if found is None:
            title = self.__dict__.get("_qualified_op_name", "")
            raise AttributeError(
                f"The underlying op of '{title.replace('::', '.')}' has no overload name '{name}'"
            )
        return found

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Run the operator whose arguments these are."""
        found = list(self._found.values())
        for op in found[:-1]:
            try:
                bind(op.schema, op.name(), args, kwargs)
            except RuntimeError:
                continue
            return op(*args, **kwargs)
        return found[-1](*args, **kwargs)

    def __str__(self) -> str:
        return self._qualified_op_name.replace("::", ".")

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"


# namespace -> name -> its operators
OPERATORS: dict[str, dict[str, OpOverloadPacket]] = {}


def parse_namespace(qualname: str) -> tuple[str, str]:
    """Namespace and name of "namespace::name".

    Args:
        qualname: both.
    """
    parts = qualname.split("::")
    if len(parts) != 2:
        raise ValueError(
            f'Expected `qualname` to be of the form "namespace::name", but got {qualname}. The qualname passed to the '
            f"{library}.library APIs must consist of a namespace and a name, e.g. mylib::sin"
        )
    return parts[0], parts[1]


def add(namespace: str, schema: Schema, replace: bool = False) -> OpOverload:
    """Enter an operator; RuntimeError where its name is taken.

    Args:
        namespace: what stands before `::`.
        schema: the rest.
        replace: whether an operator of that name may be replaced.
    """
    packet = OPERATORS.setdefault(namespace, {}).setdefault(
        schema.name, OpOverloadPacket(namespace, schema.name)
    )
    key = schema.overload or "default"
    if key in packet._found and not replace:
        raise RuntimeError(
            f"Tried to register an operator ({namespace}::{schema}) with the same name and overload name multiple "
            "times. Each overload's schema should only be registered with a single call to def()."
        )
    packet._found[key] = op = OpOverload(namespace, schema)
    return op


def remove(op: OpOverload) -> None:
    """Take an operator out again.

    Args:
        op: the operator.
    """
    packet = OPERATORS.get(op.namespace, {}).get(op.schema.name)
    if packet is not None and packet._found.get(op._overload) is op:
        del packet._found[op._overload]
        if not packet._found:
            del OPERATORS[op.namespace][op.schema.name]


def find(op: Any) -> OpOverload:
    """The operator that is meant by a name, or by what `custom_op` or `ops` gave.

    Args:
        op: any of these.
    """
    if isinstance(op, OpOverload):
        return op
    if (own := getattr(op, "_opoverload", None)) is not None:
        return own
    if isinstance(op, OpOverloadPacket):
        return next(iter(op._found.values()))
    if not isinstance(op, str):
        raise ValueError(f"expected an operator or its name, but got {type(op).__name__}")
    namespace, name = parse_namespace(op)
    name, _, overload = name.partition(".")
    packet = OPERATORS.get(namespace, {}).get(name)
    if packet is None:
        raise AttributeError(f"'_OpNamespace' '{namespace}' object has no attribute '{name}'")
    return getattr(packet, overload or "default") if overload else next(iter(packet._found.values()))


def kernel_key(named: str, by_dispatch_key: bool) -> str:
    """Where a kernel is kept: by a device, for all of them, or as one whose operations are recorded.

    Args:
        named: a device type, "default", or a dispatch key.
        by_dispatch_key: whether it is a key.
    """
    if not by_dispatch_key:
        return ANY if named == "default" else vistorch.device(named).type
    keys = {
        "CPU": "cpu",
        "CUDA": "cuda",
        "Meta": "meta",
        "CompositeExplicitAutograd": ANY,
        "CompositeImplicitAutograd": RECORDED,
        "": RECORDED,
    }
    if named not in keys:
        raise not_built(
            f"{library}.library.impl for the key {named!r}",
            "register kernels for CPU, CUDA or Composite keys, and a backward with register_autograd.",
        )
    return keys[named]
