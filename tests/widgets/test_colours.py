"""The maps are what the look says, and what their names promise."""

import re
from pathlib import Path

import numpy as np
import pytest

from vistorch.widgets._frame.colours import STOPS, from_lab, sampled, table, to_lab

MAPS = [(name, theme) for name in ("tide", "ember", "phase") for theme in ("light", "dark")]


@pytest.mark.parametrize("name, theme", MAPS)
def test_stops_stand_where_they_are_given(name, theme):
    hexes = STOPS[name, theme].split()
    for index, text in enumerate(hexes):
        place = index / 10 * 256
        if place == int(place):
            assert table(name, theme)[int(place)].tolist() == [int(text[i : i + 2], 16) for i in (0, 2, 4)]


@pytest.mark.parametrize("name, theme", MAPS)
def test_no_jump_within_a_map(name, theme):
    steps = np.linalg.norm(np.diff(to_lab(table(name, theme)), axis=0), axis=1)
    assert steps.max() < 0.025


@pytest.mark.parametrize("name, theme", MAPS[:4])
def test_lightness_follows_the_distance_from_the_centre(name, theme):
    light = to_lab(table(name, theme))[:, 0]
    towards = np.diff(light) * (1 if theme == "light" else -1)
    assert (towards[:128] > -0.004).all() and (towards[128:] < 0.004).all()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_map_that_goes_round_meets_itself(theme):
    colours = table("phase", theme)
    np.testing.assert_array_equal(colours[0], colours[-1])
    assert len(np.unique(colours[:-1], axis=0)) > 200


def test_there_and_back():
    cube = np.stack(np.meshgrid(*[np.arange(0, 256, 17)] * 3), -1).reshape(-1, 3)
    assert abs(from_lab(to_lab(cube)).astype(int) - cube).max() == 0


def test_a_sequential_scale_is_the_upper_half():
    np.testing.assert_array_equal(sampled("tide", "light", False, 3), table("tide")[[128, 192, 256]])
    np.testing.assert_array_equal(sampled("tide", "light", True, 3), table("tide")[[0, 128, 256]])


def test_the_page_has_the_same_stops():
    """The style sheet of the pages is where a person changes a colour; the pictures must follow."""
    css = (Path(__file__).parents[2] / "js" / "src" / "shared" / "tokens.css").read_text()
    for name in ("tide", "ember", "phase"):
        found = [re.sub("#", "", text).split() for text in re.findall(rf"--vt-{name}: *([#0-9a-f ]+);", css)]
        assert STOPS[name, "light"].split() in found and STOPS[name, "dark"].split() in found
        assert all(stops in (STOPS[name, "light"].split(), STOPS[name, "dark"].split()) for stops in found)
