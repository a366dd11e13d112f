"""vistorch in a CPython that lacks what a browser's Python lacks: types of indices, refusals, a training run."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import vistorch
from tests.lite.results import differences, results
from vistorch.engine import browser

ROOT = Path(__file__).resolve().parents[2]
# What gives whole numbers that numpy makes; `python -m tests.lite` compares every record.
INDEXED = frozenset(
    "arange argmax argmin argsort argwhere aminmax bincount bucketize count_nonzero embedding_bag frexp gather histc "
    "isin kthvalue linalg.inv linalg.lstsq linalg.matrix_rank max median min mode msort multinomial nanmedian nonzero "
    "nonzero_static nn.functional.embedding_bag nn.functional.max_pool1d_with_indices randperm repeat_interleave "
    "searchsorted sort sum take_along_dim topk tril_indices triu_indices unique unique_consecutive unravel_index where "
    "nn.functional.max_pool2d_with_indices nn.functional.embedding nn.functional.grid_sample nn.functional.one_hot "
    "cumsum prod tensor_split index_add scatter_add all any".split()
)


REFUSED = {
    "vistorch.ones(2).share_memory_()": "leave it out",
    "vistorch.nn.Linear(2, 1).share_memory()": "leave it out",
    "vistorch.ones(2).untyped_storage().share_memory_()": "leave it out",
    "mp.Process(target=print).start()": "call the function itself",
    "mp.spawn(print, nprocs=2)": "call the function itself",
    "mp.Queue()": "plain objects",
    "mp.get_context('spawn').Queue()": "plain objects",
    "mp.Pool(2)": "plain objects",
    "mp.Lock()": "plain objects",
    "dist.init_process_group('gloo', 'tcp://127.0.0.1:29511', rank=0, world_size=1)": "HashStore",
    "dist.FileStore('store', 1)": "HashStore",
    "Pool(2)": "train in this one",
}


PROGRAM = """
import io, json, pickle, sys, warnings
from tests.lite.like_a_browser import pretend
pretend()
import numpy as np
from tests.lite.results import results
import vistorch, vistorch.multiprocessing as mp
from vistorch import distributed as dist, nn, vt
from vistorch.engine.kernels import order
from vistorch.rank_workers.pool import Pool
from vistorch.utils.data import DataLoader, TensorDataset

asked, found, says = json.loads(sys.argv[1]), sys.argv[2], {}
with open(found, "wb") as file:
    pickle.dump(results(frozenset(asked["records"])), file)

narrow = order.__narrow__
says["widths"] = [str(one.dtype) for one in (
    narrow("argsort", np.argsort, np.ones(3)),
    narrow("argsort", np.ones(3).argsort),
    narrow("sum", np.ones(3, bool).sum),
    narrow("sum", np.ones(3, "i8").sum),
    narrow("arange", np.arange, 3, dtype=np.int64),
)]

says["refusals"] = []
for call in asked["calls"]:
    try:
        eval(call)
    except RuntimeError as error:
        says["refusals"].append(str(error))
    else:
        says["refusals"].append("nothing was refused")
says["methods"] = mp.get_all_start_methods()

vistorch.manual_seed(0)
x = vistorch.randn(64, 4)
data = TensorDataset(x, (x[:, 0] > 0).long())
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = vistorch.optim.Adam(model.parameters(), lr=0.05)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    loader = DataLoader(data, 16, shuffle=True, num_workers=2, timeout=3, persistent_workers=True)
    with vt.watch(model, optimizer) as run:
        for epoch in range(10):
            for batch, label in loader:
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(model(batch), label)
                loss.backward()
                optimizer.step()
says["warnings"] = [str(one.message) for one in said]
says["loss"] = loss.item()
file = io.BytesIO()
vistorch.save(model.state_dict(), file)
file.seek(0)
model.load_state_dict(vistorch.load(file))
vistorch.set_num_threads(4)
says["threads"] = vistorch.get_num_threads()
says["doctor"] = str(vt.doctor())
with open(found + ".json", "w") as file:
    json.dump(says, file)
"""


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """What one program gave in such a Python: its sentences and numbers, and the results of the records."""
    found = tmp_path_factory.mktemp("browser") / "found"
    asked = json.dumps({"records": sorted(INDEXED), "calls": list(REFUSED)})
    command = [sys.executable, "-W", "error", "-c", PROGRAM, asked, str(found)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(Path(f"{found}.json").read_text()), pickle.loads(found.read_bytes())


def test_indices_are_64_bits_wide_where_sizes_are_32(elsewhere):
    right = results(INDEXED)
    assert len(right) > 2000
    assert not differences(elsewhere[1], right)


def test_the_pretence_makes_numpy_answer_in_32_bits(elsewhere):
    assert elsewhere[0]["widths"] == ["int32", "int32", "int32", "int64", "int64"]


def test_what_cannot_be_done_is_refused_in_one_sentence(elsewhere):
    says = elsewhere[0]
    assert says["methods"] == []
    for call, sentence in zip(REFUSED, says["refusals"], strict=True):
        assert "which Python in a browser does not have" in sentence and REFUSED[call] in sentence, call
        assert sentence.endswith(".") and "\n" not in sentence


def test_a_network_is_trained_with_one_note_about_workers(elsewhere):
    says = elsewhere[0]
    (note,) = says["warnings"]
    assert note.startswith("Python in a browser has no worker processes: this process loads the batches")
    assert says["loss"] < 0.2
    assert says["threads"] == 1
    assert (
        "Python in a browser" in says["doctor"] and "pip install" not in says["doctor"].partition("fast")[0]
    )


def test_replicas_run_one_after_the_other_where_there_are_no_threads(monkeypatch):
    from vistorch.nn.parallel import parallel_apply

    monkeypatch.setattr(browser, "HERE", True)
    monkeypatch.setattr("threading.Thread.start", lambda self: pytest.fail("a thread was started"))
    layers = [vistorch.nn.Linear(2, 1), vistorch.nn.Linear(2, 1)]
    x = vistorch.ones(1, 2)
    found = parallel_apply(layers, [(x,), (x,)], devices=["cpu", "cpu"])
    assert [one.item() for one in found] == [layer(x).item() for layer in layers]


def test_archives_are_unpacked_where_python_lacks_lzma():
    program = (
        "import sys; sys.modules['lzma'] = sys.modules['_lzma'] = None\n"
        "from vistorch.vision.datasets import unpacking\n"
        "print(sorted(unpacking.SINGLES))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "['.bz2', '.gz']\n", done.stderr


def test_a_run_without_widgets_says_so_in_one_line(monkeypatch, capsys):
    from vistorch.widgets.watch import command

    monkeypatch.setitem(sys.modules, "vistorch.widgets.watch.live", None)
    shown = command.Panel(type("Run", (), {"asked_live": True})())
    assert shown.view is None
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("There is no live panel here: ") and "%vt doctor" in line


def test_clicks_wait_in_a_browser_and_a_kernel_without_a_session_is_one(monkeypatch):
    from vistorch.widgets._frame import pump

    class Kernel:
        """That of JupyterLite: no session, no loop."""

    monkeypatch.setattr(browser, "HERE", True)
    monkeypatch.setitem(
        sys.modules,
        "IPython",
        type("IPython", (), {"get_ipython": lambda: type("Shell", (), {"kernel": Kernel()})()}),
    )
    assert (
        pump.why_not()
        == "Clicks wait for the end of the cell: Python in a browser takes one message at a time."
    )
    monkeypatch.setattr(pump, "_next", 0.0)
    assert pump.pump() == 0
