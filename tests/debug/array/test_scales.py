"""Which scale is chosen for which data, and the sentence that says so."""

import math

import numpy as np
import pytest

from vistorch.debug.array import record

RNG = np.random.default_rng(5)


def scales(x, **how):
    layer = record(np.asarray(x), **how).items[0].layers[0]
    return layer.scales, layer.scales[layer.scale]


OUTLIERS = np.concatenate([np.linspace(-1, 1, 500), [90.0, -7.0, 8.0]])

CASES = [
    (RNG.standard_normal((50, 50)), "max", True, "diverging around 0 · linear · ends at ±max |x|"),
    (OUTLIERS, "clip", True, "diverging around 0 · linear · clipped at p99 of |x|, 5 beyond"),
    (np.arange(10), "max", False, "sequential · linear · from 0 to 9"),
    (np.linspace(100, 101, 50), "max", False, "sequential · linear · from 100 to 101"),
    (np.linspace(-9, -1, 50), "max", False, "sequential · linear · from \N{MINUS SIGN}9 to 0"),
    (np.logspace(-3, 3, 400), "log", False, "sequential · log · from 0.001 to 1000"),
    (np.linspace(0, 1, 50), "fixed", False, "sequential · linear · fixed from 0 to 1"),
    (np.tanh(np.linspace(-3, 3, 50)), "fixed", True, "diverging around 0 · linear · fixed at ±1"),
    (np.linspace(0, 0.2, 50), "max", False, "sequential · linear · from 0 to 0.2"),
    (np.array([True, False]), "fixed", False, "false is 0, true is 1"),
    (np.array(0.3522), "fixed", False, "sequential · linear · fixed from 0 to 1"),
    (np.array(3.2), "max", False, "sequential · linear · from 0 to 5"),
    (np.array(-17), "max", False, "sequential · linear · from \N{MINUS SIGN}20 to 0"),
    (np.array(0), "max", False, "sequential · linear · from 0 to 1"),
    (np.zeros(4), "max", False, "sequential · linear · from 0 to 1"),
    (np.full(4, 3.0), "max", False, "sequential · linear · from 0 to 3"),
    (np.full(4, -3.0), "max", False, "sequential · linear · from \N{MINUS SIGN}3 to 0"),
    (np.array([np.nan, np.inf]), "max", False, "nothing finite to show"),
    (np.zeros((0, 3)), "max", False, "nothing finite to show"),
]


@pytest.mark.parametrize(("x", "id", "centre", "say"), CASES)
def test_the_choice(x, id, centre, say):
    one = scales(x)[1]
    assert (one.id, one.centre, one.say) == (id, centre, say)
    assert one.lo < one.hi and one.map == "tide"


def test_every_array_offers_the_same_choices():
    for x in (RNG.standard_normal(9), np.arange(9), np.zeros(3), -np.arange(9.0)):
        assert [s.id for s in scales(x)[0]][:3] == ["clip", "max", "log"]
    assert [s.id for s in scales(np.linspace(-0.5, 0.5, 9))[0]] == ["clip", "max", "log", "fixed"]
    assert [s.id for s in scales(np.array([True]))[0]] == ["fixed"]


def test_the_caller_may_choose():
    assert scales(np.arange(9.0), scale="log")[1].id == "log"
    assert scales(np.arange(9.0), map="ember")[1].map == "ember"
    assert scales(np.arange(9.0), role="gradient")[1].map == "ember"
    with pytest.raises(ValueError, match="there is no scale 'sideways': choose one of clip, max, log, fixed"):
        scales(np.arange(9.0), scale="sideways")
    with pytest.raises(ValueError, match="there is no map 'jet': choose one of tide, ember"):
        scales(np.arange(9.0), map="jet")


def test_beyond_counts_what_the_clipped_scale_leaves_out():
    x = RNG.standard_t(1.5, 200_000).astype(np.float32)
    every, one = scales(x)
    assert one.id == "clip"
    assert one.beyond == (np.abs(x) > one.hi).sum() and 0.009 < one.beyond / x.size < 0.0101
    assert f"{one.beyond:,} beyond" in one.say
    assert every[1].beyond == every[2].beyond == 0


def test_logarithms_of_both_signs_and_with_zeros():
    one = scales(np.array([-100.0, 0, 1e-6, 5]), scale="log")[1]
    assert one.centre and one.curve == "log" and one.hi == 100 and 0 < one.linear < 1
    t = np.sign(one.edges) * np.log1p(np.abs(one.edges) / one.linear) / math.log1p(one.hi / one.linear)
    np.testing.assert_allclose(t, np.linspace(-1, 1, 61), atol=1e-12)
    one = scales(np.array([0.0, 0, 1e-3, 10]), scale="log")[1]
    assert not one.centre and one.lo == 1e-3 and one.under == 2 and one.say.endswith("2 below")


@pytest.mark.parametrize("x", [[1.7e308, -1.7e308], [5e-324], [-5e-324, 5e-324], [1e-310, 2e-310, 1e300]])
def test_the_ends_of_the_doubles(x):
    for one in scales(np.array(x))[0]:
        assert math.isfinite(one.lo) and math.isfinite(one.hi) and one.lo < one.hi
        assert np.isfinite(one.edges).all()
        assert one.counts.sum() + one.under + one.over == len(x)
