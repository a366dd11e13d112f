"""A share of the hostile files; `make hostile` reads thousands."""

import sys

import pytest

from . import corpus


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_hostile_files_of_every_kind():
    count = 5 * len(corpus.KINDS)
    found = corpus.run(count)
    assert len(found) == count
    assert [(number, result) for number, result in found if result.get("fault")] == []
    assert {result["kind"] for _, result in found} == set(corpus.KINDS)
    assert sum(result["how"] == "refused" for _, result in found) > count // 2


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.parametrize("fault", ["raw exception", "executed", "half loaded", "over memory"])
def test_the_watch_sees_faults(fault, monkeypatch):
    """What the run looks for, it finds."""
    from vistorch.vision.datasets.unpacking import Refused

    from . import corpus_readers

    readers = corpus_readers.Readers()

    def idx(data):
        if fault == "raw exception":
            raise KeyError("x")
        if fault == "executed":
            import subprocess

            subprocess.run(["true"], check=False)
        elif fault == "half loaded":
            raise AssertionError("half")
        else:
            assert sum(bytearray(400 << 20)[:: 1 << 12]) == 0
            raise Refused("x")

    readers._idx = idx
    assert readers.read(corpus.KINDS.index("idx")).get("fault") == fault
