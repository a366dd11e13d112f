"""A few random programs in every test run; the many are `python -m tests.fuzz.run`.

Invariant: the fuzz that passes here has been seen to fail: a planted bug is found.
"""

import os

import pytest

from tests.fuzz.machine import judge
from tests.fuzz.program import program
from tests.fuzz.run import BAD, fuzz, library, show

LIBRARY = os.environ.get("VISTORCH_TEST_LIB", "vistorch")


@pytest.mark.parametrize("seed", [0, 100, 200, 300])
def test_programs_do_what_torch_does(seed: int) -> None:
    counts, failures = fuzz(LIBRARY, 100, seed, keep=2)
    assert not failures, "\n\n".join(show(failure, LIBRARY) for failure in failures)
    assert counts["same"] > 20, counts


def test_a_program_depends_on_its_seed_alone() -> None:
    assert program(5) == program(5)
    assert program(5) != program(6)


@pytest.mark.parametrize(("bug", "verdict"), [("forgetful", "outcome differs"), ("wrong", "WRONG")])
def test_a_planted_bug_is_found_and_shrunk(bug: str, verdict: str) -> None:
    counts, failures = fuzz(f"planted:{bug}", 150, keep=40)
    assert counts[verdict] > 0, counts
    seed, _, lines, difference = next(f for f in failures if f[1] == verdict)
    assert len(lines) < len(program(seed)), "nothing was left out"
    assert difference
    assert judge(lines, library(f"planted:{bug}"))[0] in BAD
    assert judge(lines, library("torch"))[0] not in BAD


def test_every_family_of_lines_is_written() -> None:
    written = "\n".join("\n".join(program(seed)) for seed in range(400))
    for said in (
        "no_grad(): a0.t_()",
        "L.nn.Parameter",
        "inference_mode",
        "autocast",
        "j)",
        "addcmul_",
        "g.mul_(2)",
    ):
        assert said in written, said
