"""Ranks started by mpiexec, by spawn, over a file: the same job each time."""

import subprocess
import sys

import pytest

from .launched import ROOT, by_hand, environment, launch, program, segments

pytestmark = pytest.mark.mpi
# one write each: the outputs of two processes meet
SUM = r"t = torch.ones(3) * (rank + 1); dist.all_reduce(t); sys.stdout.write(f'{rank} {size} {t.tolist()}\n')"


def lines(text):
    return sorted(line for line in text.splitlines() if line[:1].isdigit())


SUMS = [f"{rank} 2 [3.0, 3.0, 3.0]" for rank in range(2)]


def test_mpiexec(tmp_path):
    path = program(tmp_path, SUM + "; assert os.environ['RANK'] == str(rank) == os.environ['LOCAL_RANK']")
    done = subprocess.run(
        ["mpiexec", "-n", "2", sys.executable, path],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert lines(done.stdout) == SUMS


def test_an_exception_under_mpiexec_ends_the_job(tmp_path):
    before = segments()
    path = program(tmp_path, "dist.barrier()\nif rank: raise ValueError('boom')\ndist.barrier()")
    done = subprocess.run(
        ["mpiexec", "-n", "2", sys.executable, path],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode != 0 and "ValueError: boom" in done.stderr
    assert segments() <= before


SPAWNED = r"""
import sys
import vistorch as torch
import vistorch.distributed as dist
import vistorch.multiprocessing as mp

def work(rank, size, path):
    dist.init_process_group("gloo", init_method=path, rank=rank, world_size=size)
    t = torch.ones(3) * (rank + 1); dist.all_reduce(t)
    sys.stdout.write(f'{rank} {size} {t.tolist()}\n'); sys.stdout.flush()
    dist.destroy_process_group()
    dist.init_process_group("gloo", init_method=path + "2", rank=rank, world_size=size)  # again
    dist.barrier()
    dist.destroy_process_group()

if __name__ == "__main__":
    mp.spawn(work, args=(2, sys.argv[1]), nprocs=2)
"""


def test_spawn_over_a_file(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(SPAWNED)
    done = subprocess.run(
        [sys.executable, path, f"file:{'//'}{tmp_path}/store"],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert lines(done.stdout) == SUMS


def test_another_jobs_token_is_refused(tmp_path):
    path = program(tmp_path, SUM)
    path.write_text(
        "import os; os.environ['VISTORCH_RANKS_TOKEN'] = 'of ' + os.environ['RANK']\n" + path.read_text()
    )
    (code, _), (other, said) = by_hand([path], PATIENCE="3")
    assert code != 0 and other != 0
    assert "the store refused this process: its token is another job's" in said


def test_a_program_of_pytorchs_is_launched_unchanged(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(
        "import argparse, os, torch\nimport torch.distributed as dist\n"
        "from torch.nn.parallel import DistributedDataParallel as DDP\n"
        "parser = argparse.ArgumentParser(); parser.add_argument('--epochs', type=int)\n"
        "assert parser.parse_args().epochs == 2\n"
        "dist.init_process_group('gloo')\n"
        "net = DDP(torch.nn.Linear(4, 1))\n"
        "data = torch.utils.data.TensorDataset(torch.randn(8, 4), torch.randn(8, 1))\n"
        "sampler = torch.utils.data.DistributedSampler(data)\n"
        "loader = torch.utils.data.DataLoader(data, batch_size=2, sampler=sampler)\n"
        "assert len(loader) == 2 and os.environ['OMP_NUM_THREADS']\n"
        "for x, y in loader:\n    torch.nn.functional.mse_loss(net(x), y).backward()\n"
        "import sys; sys.stdout.write(f'{dist.get_rank()} {torch.__spec__.name}\\n')\n"
        "dist.destroy_process_group()\n"
    )
    done = launch("--standalone", "--max_restarts=0", path, "--epochs", "2")
    assert done.returncode == 0, done.stderr
    assert lines(done.stdout) == ["0 vistorch", "1 vistorch"]
