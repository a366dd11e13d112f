"""Networks that ranks train have the gradients of one process on the whole batch, and the ranks the same bits."""

import json

import pytest

from . import training_cases as cases
from .launched import launch

pytestmark = pytest.mark.mpi
FOUR = ["lenet", "gpt", "unused", "uneven", "uneven_numbers", "accumulated", "sync_batchnorm", "zero"]


def run(path, ranks, *names):
    done = launch("-m", "tests.distributed.training_cases", path, *names, ranks=ranks, seconds=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads((path.parent / f"{path.name}.{rank}").read_text()) for rank in range(ranks)]


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    return run(tmp_path_factory.mktemp("two") / "found", 2)


@pytest.fixture(scope="module")
def four(tmp_path_factory):
    return run(tmp_path_factory.mktemp("four") / "found", 4, *FOUR)


def check(found, name):
    for rank, one in enumerate(found):
        assert not isinstance(one[name], str), f"rank {rank}: {one[name]}"
    assert all(one[name]["bits"] == found[0][name]["bits"] for one in found)
    assert all(one[name]["worst"] <= 1e-6 for one in found), [one[name]["worst"] for one in found]


@pytest.mark.parametrize("name", [case.__name__ for case in cases.CASES])
def test_two_ranks_train_as_one_process(two, name):
    check(two, name)


@pytest.mark.parametrize("name", FOUR)
def test_four_ranks_train_as_one_process(four, name):
    check(four, name)


@pytest.mark.parametrize("case", cases.SAID, ids=lambda case: case.__name__)
def test_what_cannot_be_averaged_is_said(two, case):
    for rank in range(2):
        said = two[rank][case.__name__]
        assert not isinstance(said, str), said
        assert cases.SAID[case].format(rank=rank, other=1 - rank) in said["said"]


def test_each_rank_did_its_own_steps(two):
    assert [one["uneven"]["steps"] for one in two] == [2, 3]
    assert two[0]["buffers"]["own"] != two[1]["buffers"]["own"]


def test_hooks_keep_as_many_digits_as_they_send(two):
    for one in two:
        assert not isinstance(one["half_hooks"], str), one["half_hooks"]
        found = one["half_hooks"]["found"]
        assert (
            found["none"] <= 1e-6 and found["power"] <= 1e-6 and found["batched"] <= 1e-6
        )  # not yet compressed
        assert 1e-6 < found["fp16"] <= 2e-3 and 1e-6 < found["wrapped"] <= 2e-3
        assert 1e-4 < found["bf16"] <= 2e-2
    assert two[0]["half_hooks"]["bits"] == two[1]["half_hooks"]["bits"]


def test_each_rank_keeps_its_part_of_the_state(two, four):
    assert sum(one["zero"]["share"] for one in two) == pytest.approx(1)
    assert max(one["zero"]["share"] for one in two) < 0.8
    assert sum(one["zero"]["share"] for one in four) == pytest.approx(1)
    assert two[0]["zero"]["same"]
