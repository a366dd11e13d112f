"""`nn.grad`: gradients of convolutions by themselves; and the small names beside it."""

import pytest

from tests.story import story


@pytest.mark.parametrize("dims", [1, 2, 3])
@story(rtol=1e-9, atol=1e-12)
def test_gradients(L, report, dims):
    grad = L.nn.grad
    for options in ({}, {"stride": 2, "padding": 1}, {"dilation": 2, "groups": 2, "padding": 2}):
        groups = options.get("groups", 1)
        x = L.arange(2 * 4 * 7**dims).reshape(2, 4, *[7] * dims).double().sin()
        w = L.arange(6 * (4 // groups) * 3**dims).reshape(6, 4 // groups, *[3] * dims).double().cos()
        out = getattr(L.nn.functional, f"conv{dims}d")(x, w, **options)
        g = (out * 3).cos()
        report(getattr(grad, f"conv{dims}d_input")(x.shape, w, g, **options))
        report(getattr(grad, f"conv{dims}d_weight")(x, w.shape, g, **options))
    report(getattr(grad, f"conv{dims}d_input")(x.shape, w, g, 1, 2, 2, 2).requires_grad)


@story
def test_factory_kwargs(L, report):
    report(L.nn.factory_kwargs(None), L.nn.factory_kwargs({"device": "cpu"}))
    report(L.nn.factory_kwargs({"device": "cpu", "factory_kwargs": {"dtype": L.float64}}))
    report.raises(lambda: L.nn.factory_kwargs({"bias": True}))
    report.raises(lambda: L.nn.factory_kwargs({"device": "cpu", "factory_kwargs": {"device": "cpu"}}))


@story
def test_types(L, report):
    types = L.nn.common_types
    report(types._size_2_t, types._size_any_t, types._ratio_3_t)
    report(L.nn.modules.container.ParameterList is L.nn.ParameterList)
