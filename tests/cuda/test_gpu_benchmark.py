"""The GPU benchmark runs (over a stand-in, so its figures mean nothing), and says why it does not."""

import pytest

from benchmarks import gpu
from vistorch import cuda


def test_it_runs(strict_gpu, capsys, monkeypatch):
    monkeypatch.setattr(gpu, "ROWS", (gpu.add, gpu.layers))
    assert gpu.main(calls=1, rounds=1) == 0
    first, *rows = capsys.readouterr().out.splitlines()
    assert first.startswith("Stand-in GPU 0: vistorch there, ")
    assert [row.split()[0] for row in rows] == ["add", "layers"]


@pytest.mark.parametrize("row", gpu.ROWS)
def test_every_row_can_be_called(row):
    import vistorch

    row(vistorch, lambda *shape: vistorch.ones(*[min(n, 4) for n in shape]))()


def test_simulated_devices_claim_no_speed(capsys):
    cuda.simulate(1)
    assert gpu.main() == 1
    assert capsys.readouterr().out.startswith("not run: 1 simulated")
