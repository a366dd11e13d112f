"""What is wrong raises what PyTorch raises under gloo, in a group of two processes."""

import json

import pytest

from .launched import launch
from .two_ranks_errors import CASES

pytestmark = pytest.mark.mpi


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    done = launch("-m", "tests.distributed.two_ranks_errors", folder, seconds=180, GLOO_SOCKET_IFNAME="lo")
    assert done.returncode == 0, done.stderr
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(2)]


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("name", [*CASES, "after all"])
def test_as_gloo(found, name, rank):
    (theirs, text), (ours, said) = (library[name] for library in found[rank])
    if theirs is None:
        assert (ours, said) == (None, text)
    else:
        assert ours is not None and theirs[0] in ours, (theirs, text, ours, said)
        assert said.strip()


def test_the_rank_whose_tensor_does_not_fit_is_named(found):
    for _, ours in found:
        assert (
            "the tensor of rank 1 has 2 elements, and its place in tensor_list 3"
            in ours["all_gather another shape"][1]
        )
