"""The networks by name.

Invariant: weights are read from a file that is where PyTorch keeps it, or refused in one sentence that names it and
says how to load another.
"""

from __future__ import annotations

import fnmatch
import functools
import os
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from vistorch.engine.library_name import library

from ... import nn

BUILDERS: dict[str, Callable[..., nn.Module]] = {}
HOMES: dict[str, str] = {}  # the module of each, by its own name, also while the alias shows another


def _as_they_are(network: nn.Module, values: dict[str, Any], given: dict[str, Any]) -> None:
    """Put the values of a file into a network whose names are the file's."""
    network.load_state_dict(values)


def register_model(
    name: str | None = None,
    *,
    prepare: Callable[[dict[str, Any], Any], None] | None = None,
    fill: Callable[[nn.Module, dict[str, Any], dict[str, Any]], None] = _as_they_are,
) -> Callable[[Callable], Callable]:
    """Give a builder a name under which `get_model` finds it, and weights from a file that is there.

    Args:
        name: the name; the function's own if None.
        prepare: changes the arguments of a network that gets weights; takes them and the weights.
        fill: puts the values of a file into a network; takes both, and the arguments as they were given.

    Example:
        >>> from vistorch import nn
        >>> from vistorch.vision.models import get_model, register_model
        >>> from vistorch.vision.models.registry import BUILDERS
        >>> @register_model()
        ... def one_layer(*, weights=None, progress=True, num_classes=10):
        ...     return nn.Linear(8, num_classes)
        >>> get_model("one_layer", num_classes=2)
        Linear(in_features=8, out_features=2, bias=True)
        >>> _ = BUILDERS.pop("one_layer")  # as if nothing had been
    """

    def enter(build: Callable) -> Callable:
        called = build.__name__ if name is None else name
        if called in BUILDERS:
            raise ValueError(f"An entry is already registered under the name '{called}'.")

        @functools.wraps(build)
        def built(*old: Any, weights: Any = None, progress: bool = True, **arguments: Any) -> nn.Module:
            if len(old) > 2:  # long ago: (pretrained, progress)
                raise TypeError(f"{called}() takes at most 2 positional arguments ({len(old)} given)")
            asked = arguments.pop("pretrained", old[0] if old else False) or weights
            if not asked:
                return build(weights=None, progress=progress, **arguments)
            given = dict(arguments)
            weights, values = _trained(called, asked)
            fix(arguments, "num_classes", 1000)
            if prepare is not None:
                prepare(arguments, weights)
            network = build(weights=None, progress=progress, **arguments)
            fill(network, values, given)
            return network

        BUILDERS[called], HOMES[called] = built, build.__module__
        return built

    return enter


def _trained(name: str, asked: Any) -> tuple[Any, dict[str, Any]]:
    """Weights and the values of their file, if it is where PyTorch keeps it; else the sentence for who wants them."""
    from .weights import enums

    own, place = enums().get(name), ""
    if own is not None:
        weights = own.verify("DEFAULT" if asked is True else asked)
        if os.path.exists(weights.path):
            return weights, weights.get_state_dict()
        place = f". {weights!r} is the file {weights.path}: it is read if it is there"
    raise ValueError(
        f"No trained weights come with {name}, so it cannot take {asked!r}: build it with weights=None and load a file "
        f"that you have with model.load_state_dict({library}.load(PATH)); the names in PyTorch's files fit{place}"
    )


def named(name: str, summary: str, make: Callable[..., nn.Module], **how: Any) -> Callable[..., Any]:
    """A registered builder of this name, as if it were written where `make` is.

    Args:
        name: its name.
        summary: the first line of its docstring.
        make: makes the network from the keyword arguments.
        **how: for `register_model`.
    """

    def build(*, weights: None = None, progress: bool = True, **kwargs: Any) -> nn.Module:
        return make(**kwargs)

    build.__name__ = build.__qualname__ = name
    build.__module__ = make.__module__
    build.__doc__ = f"""{summary}

    Args:
        weights: a file of weights that is where PyTorch keeps it, by its name; None for none.
        progress: accepted for compatibility.
        **kwargs: for the class of the network.

    {refusal_shown(name)}"""
    return register_model(**how)(build)


def refusal_shown(name: str) -> str:
    """The example of a builder whose network takes long to draw, for a docstring."""
    return f"""Example:
        >>> from vistorch.vision import models
        >>> models.{name}(weights="DEFAULT")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        ValueError: No trained weights come with {name}, so it cannot take 'DEFAULT': build it with weights=None ...
    """


def list_models(
    module: ModuleType | None = None,
    include: Iterable[str] | str | None = None,
    exclude: Iterable[str] | str | None = None,
) -> list[str]:
    """The names of the networks, sorted.

    Args:
        module: only those that this module defines.
        include: only those that fit one of these patterns, as "resnet*".
        exclude: not those that fit one of these patterns.

    Example:
        >>> from vistorch.vision.models import list_models
        >>> list_models(include="resnet*")
        ['resnet101', 'resnet152', 'resnet18', 'resnet34', 'resnet50']
    """
    # by its spec: under the alias `__name__` says torchvision
    spec = getattr(module, "__spec__", None)
    home = None if module is None else getattr(spec, "name", getattr(module, "__name__", ""))
    names = {
        name for name in BUILDERS if home is None or home in (HOMES[name], HOMES[name].rsplit(".", 1)[0])
    }
    if include is not None:
        patterns = [include] if isinstance(include, str) else list(include)
        names &= {name for pattern in patterns for name in fnmatch.filter(names, pattern)}
    if exclude is not None:
        patterns = [exclude] if isinstance(exclude, str) else list(exclude)
        names -= {name for pattern in patterns for name in fnmatch.filter(names, pattern)}
    return sorted(names)


def get_model_builder(name: str) -> Callable[..., nn.Module]:
    """The function that builds a network.

    Args:
        name: as in `list_models()`, in small letters or capitals.

    Example:
        >>> from vistorch.vision.models import get_model_builder
        >>> get_model_builder("LeNet").__name__
        'lenet'
    """
    build = BUILDERS.get(name.lower())
    if build is None:
        raise ValueError(f"Unknown model {name}")
    return build


def get_model(name: str, **config: Any) -> nn.Module:
    """Build a network by its name.

    Args:
        name: as in `list_models()`.
        **config: for its builder, as `num_classes=10`.

    Example:
        >>> from vistorch.vision.models import get_model
        >>> get_model("lenet").fc3
        Linear(in_features=84, out_features=10, bias=True)
    """
    return get_model_builder(name)(**config)


def fix(config: dict[str, Any], name: str, value: Any) -> None:
    """Give an architecture the number that makes it what it is; refuse another.

    Args:
        config: what the network will be built with.
        name: of the argument.
        value: what it must be.
    """
    if config.setdefault(name, value) != value:
        raise ValueError(f"The parameter '{name}' expected value {value} but got {config[name]} instead.")
