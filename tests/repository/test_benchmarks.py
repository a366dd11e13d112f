"""The harness of the benchmarks: pairs, verdicts, rows that cannot run. Nothing is measured in earnest."""

import os
import subprocess
import sys

import pytest

from benchmarks import gate, harness, imports, report, rows

TORCH = pytest.importorskip("torch")
ROWS = {row.key: row for row in rows.load()}


@pytest.fixture(autouse=True)
def threads():
    """A row asks for one thread, of both libraries."""
    import vistorch

    before = [(library, library.get_num_threads()) for library in (TORCH, vistorch)]
    yield
    for library, number in before:
        library.set_num_threads(number)


class Scripted:
    """A worker that answers from a list, and remembers on which cores it was to run."""

    def __init__(self, library, *replies, threads=1):
        self.library, self.threads = library, threads
        self.replies = list(replies)
        self.cores = None

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        pass

    def keep_to(self, cores):
        self.cores = set(cores)

    def ask(self, **request):
        return self.replies.pop(0)


def microseconds(*values):
    return [{"us": value} for value in values]


def test_ratio_is_the_median_of_pairs():
    # The machine slows down tenfold in the second round: each pair still says 2, 2, 3.
    reference = Scripted("torch", *microseconds(1.0, 10.0, 1.0))
    other = Scripted("vistorch", *microseconds(2.0, 20.0, 3.0))
    row = rows.Row("f", "r", None, 1.0, False)
    result = harness.compare(row, [(reference, other)], harness.Pace(1, 3, 0.0))
    assert (result.torch_us, result.other_us, result.ratio) == (1.0, 3.0, 2.0)
    assert (result.low, result.high, result.verdict) == (2.0, 2.5, "OVER")


def test_rounds_go_round_the_pairs():
    pairs = [
        (Scripted("torch", *microseconds(1.0)), Scripted("x", *microseconds(v))) for v in (1.0, 2.0, 3.0)
    ]
    result = harness.compare(rows.Row("f", "r", None, None, False), pairs, harness.Pace(3, 3, 0.0))
    assert result.ratio == 2.0
    assert result.verdict == ""


@pytest.mark.parametrize(
    ("low", "ratio", "budget", "expected"),
    [
        (0.8, 0.9, 1.0, ""),
        (0.9, 1.0, 1.0, ""),
        (0.9, 1.1, 1.0, "near"),
        (1.1, 1.2, 1.0, "OVER"),
        (8, 9, None, ""),
    ],
)
def test_verdict(low, ratio, budget, expected):
    assert harness.verdict(low, ratio, budget) == expected


def test_row_that_cannot_run_says_why():
    other = Scripted("vistorch", {"error": "AttributeError: no svd"})
    pair = (Scripted("torch", *microseconds(1.0)), other)
    result = harness.compare(rows.Row("f", "r", None, None, False), [pair], harness.FULL)
    assert result.verdict == "not run: vistorch: AttributeError: no svd"
    assert report.summary([result]) == "1 rows: 0 over budget, 1 not run."


@pytest.mark.parametrize("key", [key for key, row in ROWS.items() if row.base is None])
def test_every_row_runs_twice_on_torch(key):
    call = ROWS[key].prepare(TORCH)
    call()
    call()


def twice(key):
    import vistorch

    for prepare in (ROWS[key].base, ROWS[key].prepare):
        call = prepare(vistorch)
        call()
        call()


@pytest.mark.parametrize("key", [key for key, row in ROWS.items() if row.base is not None])
def test_every_row_with_a_base_runs_twice_on_vistorch(key):
    if "TorchLens" not in key:
        return twice(key)
    # It wraps PyTorch's functions, and for good: other tests would compare with what is no longer PyTorch.
    code = f"from tests.repository.test_benchmarks import twice; twice({key!r})"
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_a_row_with_a_base_is_the_other_library_against_itself():
    row = rows.Row("f", "r", None, 1.5, False, base=lambda lib: None)
    asked = []

    class Reported(Scripted):
        def ask(self, **request):
            asked.append((self.library, request["side"]))
            return super().ask(**request)

    pair = (Reported("torch"), Reported("vistorch", *microseconds(1.0, 2.0, 1.0, 2.0)))
    result = harness.compare(row, [pair], harness.Pace(1, 2, 0.0))
    assert asked == [("vistorch", "base"), ("vistorch", "row")] * 2
    assert (result.ratio, result.verdict) == (2.0, "OVER")


def test_a_worker_keeps_both_sides_of_a_row(monkeypatch):
    from benchmarks import worker

    made = []

    def side(name):
        def prepare(lib):
            made.append(name)
            return lambda: None

        return prepare

    monkeypatch.setitem(rows.ROWS, "f/r", rows.Row("f", "r", side("row"), None, False, side("base")))
    bench = worker.Bench("json")
    for _ in range(3):
        assert bench.time("f/r", 1e-4, "base")["us"] > 0
        assert bench.time("f/r", 1e-4)["us"] > 0
    assert made == ["base", "row"]


def test_workers_measure_and_survive_a_bad_row():
    with harness.Worker("torch") as worker:
        assert worker.ask(do="hello") == {"version": TORCH.__version__}
        assert worker.ask(do="time", row="small/nothing", seconds=0.001) == {
            "error": "KeyError: 'small/nothing'"
        }
        # An add of 10 floats takes about a microsecond; a second or a nanosecond would be a wrong unit.
        assert 0.05 < worker.ask(do="time", row="small/add forward", seconds=0.001)["us"] < 500


def test_memory_of_a_million_floats():
    mib = harness.memory(ROWS["pointwise/add"], "torch")
    assert 3 < mib < 30  # the result alone is 3.8 MiB


def test_a_worker_that_ends_is_noticed():
    with (
        harness.Worker("a_library_nobody_has") as worker,
        pytest.raises(harness.WorkerDied, match="status 1"),
    ):
        worker.ask(do="hello")


def test_import_is_timed_and_heavy_modules_are_found(monkeypatch):
    seconds, found = imports.import_once("json")
    assert 0 <= seconds < 5 and found == []
    monkeypatch.setattr(imports, "HEAVY", ("decimal", "email"))
    assert imports.import_once("statistics")[1] == ["decimal"]


def test_markdown_has_a_cell_for_every_column():
    result = harness.Result("f/r", "1.00x", 1.0, 2.0, 2.0, 1.9, 2.1, verdict="OVER")
    text = report.markdown([result], "vistorch", ["torch 2", "vistorch 0"], harness.QUICK)
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in table} == {len(report.COLUMNS) + 1}
    assert "| f/r | 1.00 | 2.00 | 2.00 | 1.90 - 2.10 |  |  | 1.00x | OVER |" in table


# ---- the gate ------------------------------------------------------------------------------------------------------
def test_every_row_of_the_gate_is_there():
    assert set(gate.LIMITS) <= set(ROWS)


def gated(monkeypatch, tries):
    """What the gate says of one row with a limit of 1.5, and the processes it did not need."""
    rounds = gate.PACE.rounds
    made = []
    for one in tries:
        replies = one if isinstance(one, list) else microseconds(*[one] * rounds)
        made += [Scripted("torch", *microseconds(*[1.0] * rounds)), Scripted("vistorch", *replies)]
    monkeypatch.setattr(gate, "LIMITS", {"small/add forward": (1.5, 1.5)})
    monkeypatch.setattr(harness, "Worker", lambda library: made.pop(0))
    return gate.main(), len(made) // 2


@pytest.mark.parametrize(
    ("tries", "expected"),
    [
        ([1.0, 1.0], (0, 1)),
        ([2.0, 1.4, 1.0], (0, 1)),  # a process with an unlucky layout of its memory
        ([2.0, 1.9, 2.1, 1.6, 1.7], (1, 0)),
        ([[{"error": "no"}]] * 5, (1, 0)),
    ],
)
def test_a_row_fails_only_if_it_is_over_in_each_new_process(tries, expected, monkeypatch, capsys):
    assert gated(monkeypatch, tries) == expected
    assert f"{1 - expected[0]} rows within their limits, {expected[0]} over" in capsys.readouterr().out


# ---- one core for both sides ----------------------------------------------------------------------------------------
@pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity"), reason="only Linux says which cores a process may use"
)
def test_the_workers_of_a_group_share_a_core():
    groups = [[Scripted("torch"), Scripted("vistorch"), Scripted("vistorch", threads=2)] for _ in range(2)]
    harness.share_a_core(groups)
    mine = os.sched_getaffinity(0)
    for first, second, wide in groups:
        assert first.cores == second.cores <= mine and len(first.cores) == 1
        assert wide.cores is None
    if len(mine) > 1:
        assert groups[0][0].cores != groups[1][0].cores
    harness.share_a_core(groups, alone=False)
    assert groups[0][0].cores == mine


@pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity"), reason="only Linux says which cores a process may use"
)
def test_a_worker_runs_on_the_core_it_is_kept_to():
    core = max(os.sched_getaffinity(0))
    with harness.Worker("torch") as worker:
        worker.ask(do="hello")
        worker.keep_to({core})
        assert os.sched_getaffinity(worker.process.pid) == {core}
