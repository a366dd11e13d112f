"""Two ranks do with vistorch what two ranks do with PyTorch: the same values, the same refusals."""

import json
import re

import pytest

from . import cases
from .launched import by_hand, launch

pytestmark = pytest.mark.mpi


def read(path):
    return [json.loads((path.parent / f"{path.name}.{rank}").read_text()) for rank in range(2)]


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    path = tmp_path_factory.mktemp("ours") / "found"
    done = launch("-m", "tests.distributed.cases", "vistorch", path)
    assert done.returncode == 0, done.stdout + done.stderr
    return read(path)


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    path = tmp_path_factory.mktemp("theirs") / "found"
    done = by_hand(["-m", "tests.distributed.cases", "torch", path])
    assert [code for code, _ in done] == [0, 0], "\n\n".join(said for _, said in done)
    return read(path)


@pytest.mark.parametrize("case", [case.__name__ for case in cases.CASES])
def test_ranks_compute_as_pytorchs(ours, theirs, case):
    for rank in range(2):
        assert not isinstance(theirs[rank][case], str), theirs[rank][case]
        assert not isinstance(ours[rank][case], str), ours[rank][case]
        assert ours[rank][case] == theirs[rank][case]


def plain(found):
    return found and [found[0], re.sub(r"\bvistorch\b", "torch", found[1])]


@pytest.mark.parametrize("name", cases.REFUSED)
def test_ranks_refuse_as_pytorchs(ours, theirs, name):
    for rank in range(2):
        assert theirs[rank]["refusals"][name] is not None
        assert plain(ours[rank]["refusals"][name]) == plain(theirs[rank]["refusals"][name])
