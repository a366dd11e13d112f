"""A few tries of each campaign, and that a campaign can fail."""

import pytest

import vistorch

from . import interrupts
from .__main__ import CAMPAIGNS, run

FEW = {"workers": 0.02, "servers": 0.05, "loaders": 0.01, "displays": 0.02, "runs": 0.05, "arguments": 0.01}


@pytest.mark.timeout(120)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in CAMPAIGNS if name != "names"])
def test_a_share(name):
    result = run(name, FEW.get(name, 0.1))
    assert result.tries and not result.failures, result.failures


def test_a_campaign_can_fail(monkeypatch):
    monkeypatch.setattr(interrupts, "deep", lambda x: (x * vistorch.rand(())).sum())
    assert interrupts.backward(3).failures
