"""A server for each test, and no waiting between tries."""

import pytest

from tests.vision.datasets.server import serving
from vistorch.vision.datasets import fetching


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(fetching, "PAUSE", 0)
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def server():
    with serving() as running:
        yield running
