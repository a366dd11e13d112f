"""The exercises of the tutorial about several processes: a right answer is right, and a likely mistake is not."""

import sys
from types import SimpleNamespace

import pytest

from tests.tutorials.cells import said

NOTEBOOK = "14_several_processes"


@pytest.fixture(autouse=True)
def files(monkeypatch):
    """Stand-ins for the files that the notebook writes; no exercise needs them."""
    for name, functions in {
        "change": ["change"],
        "fractal": ["paint"],
        "hogwild": ["pattern", "train"],
    }.items():
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(**dict.fromkeys(functions)))


def verdict(number, *answers, **more):
    return said(NOTEBOOK, number, *answers, **more).partition(": ")[2].partition(".")[0]


def test_what_a_worker_gives():
    assert verdict(1, "lambda items, worker, count: items[worker::count]") == "right"
    assert verdict(1, "lambda items, worker, count: items") == "not yet"  # every worker all of them
    assert verdict(1, "lambda items, worker, count: items if worker == 0 else []") == "not yet"
    blocks = "lambda items, worker, count: items[worker * 3 : (worker + 1) * 3]"  # the tenth is lost
    assert verdict(1, blocks) == "not yet"


def test_what_is_shared():
    assert verdict(2, "False", "True", "True") == "right"
    assert verdict(2, "True", "True", "True") == verdict(2, "False", "False", "True") == "not yet"
    assert verdict(2, "False", "True", "...") == "still open"


def test_the_mean_of_state_dicts():
    mean = "lambda dicts: {{name: sum(d[name] for d in dicts) / {count} for name in dicts[0]}}"
    assert verdict(3, mean.format(count="len(dicts)")) == "right"
    assert verdict(3, mean.format(count="2")) == "not yet"
    assert verdict(3, "lambda dicts: dicts[0]") == "not yet"
