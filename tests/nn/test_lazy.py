"""LazyModuleMixin: its hooks, loading, and what it becomes; both libraries give the same story."""

import copy
import importlib
from typing import Any

import pytest

from tests.ops.library import L, attempt, renamed, torch


def mixin(lib: Any) -> Any:
    return importlib.import_module(f"{lib.__name__}.nn.modules.lazy").LazyModuleMixin


def both(story: Any) -> None:
    ours, theirs = story(L), story(torch)
    assert ours == (renamed(theirs) if isinstance(theirs, str) else theirs)


def test_it_becomes_the_plain_module() -> None:
    def story(lib: Any) -> list:
        lazy = lib.nn.LazyConv2d(6, 3)
        noted = [repr(lazy), lazy.in_channels, lazy.has_uninitialized_params(), list(lazy.state_dict())]
        noted += [repr(lazy.weight), len(lazy._forward_pre_hooks), len(lazy._load_state_dict_pre_hooks)]
        y = lazy(lib.ones(2, 4, 5, 5))
        noted += [
            tuple(y.shape),
            repr(lazy),
            type(lazy).__name__,
            type(lazy.weight).__name__,
            lazy.in_channels,
        ]
        noted += [len(lazy._forward_pre_hooks), len(lazy._load_state_dict_pre_hooks)]
        return [*noted, hasattr(lazy, "_load_hook"), hasattr(lazy, "_initialize_hook")]

    both(story)


def test_loading_gives_it_shapes() -> None:
    def story(lib: Any) -> list:
        plain, lazy = lib.nn.Conv2d(4, 6, 3), lib.nn.LazyConv2d(6, 3)
        lazy.load_state_dict(plain.state_dict())
        noted = [tuple(lazy.weight.shape), lazy.has_uninitialized_params(), repr(lazy)]
        same = bool((lazy(lib.ones(1, 4, 3, 3)) == plain(lib.ones(1, 4, 3, 3))).all())
        return [*noted, same, repr(lazy)]

    both(story)


def test_a_lazy_state_goes_to_a_lazy_module_only() -> None:
    def story(lib: Any) -> list:
        lazy = lib.nn.LazyConv2d(6, 3)
        other = lib.nn.LazyConv2d(6, 3)
        fine = repr(other.load_state_dict(lazy.state_dict()))
        refused = attempt(lib.nn.Conv2d(4, 6, 3).load_state_dict, lazy.state_dict())
        return [fine, type(refused.error).__name__]

    both(story)


@pytest.mark.parametrize("kind", ["none", "nothing", "names"])
def test_refusals(kind: str) -> None:
    def story(lib: Any) -> str:
        class Lazy(mixin(lib), lib.nn.Module):  # type: ignore[misc]
            def forward(self, x: Any) -> Any:
                return x

        if kind == "nothing":
            Lazy.initialize_parameters = lambda self, *args: None
        lazy = Lazy()
        lazy.weight = lib.nn.UninitializedParameter()
        if kind == "names":
            return renamed(attempt(lambda: lazy._replicate_for_data_parallel()).sentence)
        return renamed(attempt(lazy, lib.ones(1)).sentence)

    both(story)


def test_named_arguments_reach_it_and_the_class_may_stay() -> None:
    def story(lib: Any) -> list:
        seen: list = []

        class Lazy(mixin(lib), lib.nn.Module):  # type: ignore[misc]
            def initialize_parameters(self, x: Any, scale: Any = None) -> None:
                seen.append((tuple(x.shape), scale))

            def forward(self, x: Any, scale: Any = None) -> Any:
                return x

        lazy = Lazy()
        lazy(lib.ones(2), scale=3)
        lazy(lib.ones(3), scale=4)
        return [seen, type(lazy).__name__]

    both(story)


USES = {
    "+": lambda lib, p: p + 1,
    "on the right": lambda lib, p: lib.ones(2) * p,
    "/": lambda lib, p: p / 2,
    "+=": lambda lib, p: p.__iadd__(1),
    "-": lambda lib, p: -p,
    "@": lambda lib, p: lib.ones(2) @ p,
    "<": lambda lib, p: p < 1,
    "==": lambda lib, p: p == p,
    "sum": lambda lib, p: p.sum(),
    "add_": lambda lib, p: p.add_(1),
    "detach": lambda lib, p: p.detach(),
    "numel": lambda lib, p: p.numel(),
    "bool": lambda lib, p: bool(p),
    "requires_grad_": lambda lib, p: p.requires_grad_(False),
}


@pytest.mark.parametrize("kind", ["UninitializedParameter", "UninitializedBuffer"])
@pytest.mark.parametrize("use", USES)
def test_nothing_can_be_computed_before_there_is_a_shape(kind: str, use: str) -> None:
    def story(lib: Any) -> str:
        waiting = getattr(lib.nn.parameter, kind)()
        refused = attempt(lambda: USES[use](lib, waiting))
        waiting.materialize((2, 2))
        assert (waiting.detach() * 0 + 1).numel() == 4
        said = f"{type(refused.error).__name__}: {renamed(refused.sentence)}"
        return said.replace("_C.TensorBase", "Tensor").replace("calling vistorch", "calling torch")

    both(story)


def test_what_a_waiting_parameter_answers() -> None:
    def story(lib: Any) -> list:
        p = lib.nn.UninitializedParameter(dtype=lib.float64)
        noted = [p.size(), p.is_complex(), p.is_floating_point(), p.get_device(), p.ndim, p.is_leaf, p.dtype]
        noted += [p.double(), p.to("cpu"), type(p.data).__name__, p.requires_grad, hash(p) == hash(p)]
        return [renamed(repr(one)) for one in noted]

    both(story)


def test_a_copy_of_a_lazy_module_waits_too() -> None:
    def story(lib: Any) -> list:
        lazy = lib.nn.LazyLinear(2, dtype=lib.float64)
        other = copy.deepcopy(lazy)
        y = other(lib.ones(4, 3, dtype=lib.float64))
        weight = copy.deepcopy(lazy.weight)
        return [tuple(y.shape), repr(other), repr(lazy.weight), repr(weight), renamed(repr(weight.dtype))]

    both(story)


def test_attributes_of_the_lazy_parameter_are_refused() -> None:
    def story(lib: Any) -> list:
        lazy = lib.nn.LazyConv2d(6, 3)
        return [renamed(attempt(lambda: lazy.weight.shape).sentence)]

    both(story)
