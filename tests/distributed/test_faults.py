"""A rank that raises, is killed, hangs or is interrupted ends the job, with its reason, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
import time

import pytest

from . import launched
from .launched import by_hand, environment, launch, program

pytestmark = pytest.mark.mpi
SOON = 5.0


@pytest.fixture(autouse=True)
def nothing_stays(tmp_path):
    before = launched.segments()
    yield
    assert launched.segments() <= before
    pids = tmp_path / "pids"
    if pids.exists():
        for pid in pids.read_text().split():
            assert not running(int(pid)), pid


def running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def fails(tmp_path, body, **more):
    """A job whose rank 1 does something while rank 0 waits for it; returns what was printed, and after how long."""
    text = f"""
with open({str(tmp_path / "pids")!r}, "a") as file:
    file.write(f"{{os.getpid()}} ")
dist.barrier()
begin = time.time()
with open({str(tmp_path)!r} + f"/began{{rank}}", "w") as file:
    file.write(str(begin))
if rank == 1:
    {body}
dist.all_reduce(torch.ones(2))
"""
    done = launch(program(tmp_path, text), **more)
    took = time.time() - float((tmp_path / "began1").read_text())
    assert done.returncode == 1
    return done.stderr, took


def test_an_exception_ends_the_job_with_its_traceback(tmp_path):
    said, took = fails(tmp_path, "raise ValueError('the data set is empty')")
    assert took < SOON
    assert "in <module>" in said and "ValueError: the data set is empty" in said
    assert "rank 1 (local rank 1, process" in said and "ended with exit code 1" in said


def test_a_killed_rank_ends_the_job(tmp_path):
    said, took = fails(tmp_path, "os.kill(os.getpid(), 9)")
    assert took < SOON
    assert "was ended by SIGKILL" in said


def test_a_hang_ends_with_the_timeout_and_names_the_rank(tmp_path):
    said, took = fails(tmp_path, "time.sleep(100)", PATIENCE="2")
    assert 2 < took < 2 + SOON
    assert "Timed out waiting 2000ms for all_reduce (number 2, float32 [2])" in said
    assert "rank 1 did not come to it" in said


def test_an_interrupt_of_one_rank_ends_the_job(tmp_path):
    said, took = fails(tmp_path, "import signal; os.kill(os.getpid(), signal.SIGINT)")
    assert took < SOON
    assert "KeyboardInterrupt" in said


def test_an_interrupt_of_the_launcher_ends_all(tmp_path):
    path = program(
        tmp_path, f"open({str(tmp_path)!r} + f'/up{{rank}}', 'w').write(str(os.getpid())); time.sleep(100)"
    )
    command = [sys.executable, "-m", "vistorch.distributed.run", "--nproc=2", str(path)]
    job = subprocess.Popen(command, cwd=launched.ROOT, env=environment(), stderr=subprocess.PIPE, text=True)
    ups = [tmp_path / "up0", tmp_path / "up1"]
    end = time.time() + 30
    while not all(up.exists() and up.read_text() for up in ups) and time.time() < end:
        time.sleep(0.05)
    job.send_signal(signal.SIGINT)
    assert job.wait(SOON) == 130
    assert job.communicate()[1].count("KeyboardInterrupt") == 2
    assert not any(running(int(up.read_text())) for up in ups)


def test_ranks_without_a_launcher_learn_why_another_ended(tmp_path):
    text = "dist.barrier()\nif rank == 1:\n    raise ValueError('boom')\ndist.all_reduce(torch.ones(2))"
    begin = time.time()
    (code, said), (other, own) = by_hand([program(tmp_path, text)])
    assert code == other == 1 and time.time() - begin < 15
    assert "rank 0 waited for rank 1, which has ended with this error:" in said and "ValueError: boom" in said
    assert own.count("ValueError: boom") == 1


def test_ranks_without_a_launcher_learn_that_another_was_killed(tmp_path):
    dies = 0  # which also served the others
    text = f"dist.barrier()\nif rank == {dies}:\n    os.kill(os.getpid(), 9)\ndist.all_reduce(torch.ones(2))"
    done = by_hand([program(tmp_path, text)])
    assert done[dies][0] == -9
    assert f"rank {1 - dies} waited for rank {dies}, which has ended without an error" in done[1 - dies][1]


def test_a_rank_that_came_to_its_end_is_not_waited_for(tmp_path):
    text = "dist.barrier()\nif rank == 1:\n    sys.exit()\ndist.all_reduce(torch.ones(2))"
    done = by_hand([program(tmp_path, text)])
    assert done[1][0] == 0
    assert "rank 0 waited for rank 1, which has left the job" in done[0][1]


def test_missing_ranks_are_named_and_a_broken_group_is_refused(tmp_path):
    text = """
if rank == 0:
    for call in (
        lambda: dist.monitored_barrier(timeout=timedelta(seconds=1)),
        lambda: dist.all_reduce(torch.ones(2)),
        lambda: dist.recv(torch.ones(2), group=own),
    ):
        try:
            call()
        except dist.DistBackendError as error:
            print("said:", error, flush=True)
else:
    time.sleep(3)
os._exit(0)
"""
    text = "own = dist.new_group([0, 1], timeout=timedelta(seconds=0.5))" + text
    first, second, third = launch(program(tmp_path, text)).stdout.splitlines()
    assert first == "said: [Rank 0]: Rank 1 failed to pass monitoredBarrier in 1000 ms"
    assert second == "said: all_reduce: the group is broken since ranks 1 did not come to a monitored_barrier"
    assert third.startswith(
        "said: rank 0: Timed out waiting 500ms for recv (number 1, float32 [2], from any rank)"
    )


DETAIL = r"""
def said(call):
    try:
        call()
    except RuntimeError as error:
        sys.stdout.write(f"rank {rank}: {error}\n".replace("\t", " "))
    else:
        sys.stdout.write(f"rank {rank}: fine\n")
said(lambda: dist.all_reduce(torch.ones(3)))
dist.barrier()
said(lambda: dist.all_reduce(torch.ones(2 + rank)))
said(lambda: dist.broadcast(torch.ones(2), 0) if rank else dist.all_reduce(torch.ones(2)))
said(lambda: dist.all_gather([torch.ones(2)] * 2, torch.ones(2).to(torch.int64 if rank else torch.float32))
     if not rank else dist.all_gather([torch.ones(2).long()] * 2, torch.ones(2).long()))
"""


def test_detail_names_rank_op_and_shape(tmp_path):
    done = launch(program(tmp_path, DETAIL), TORCH_DISTRIBUTED_DEBUG="DETAIL")
    assert done.returncode == 0, done.stderr
    for rank, other in ((0, 1), (1, 0)):
        lines = [line for line in done.stdout.splitlines() if line.startswith(f"rank {rank}: ")]
        assert lines[0] == f"rank {rank}: fine"
        assert f"TensorShape=[{2 + rank}], TensorDtypes=float32" in lines[1] and "Tensor shapes" in lines[1]
        assert f"but Rank {other} is running collective" in lines[1] and "OpType=ALL_REDUCE" in lines[1]
        assert "Op type: " in lines[2] and "OpType=BROADCAST" in lines[2]
        assert "Tensor dtypes" in lines[3]


def listening(pids):
    """The addresses at which processes listen."""
    found = set()
    inodes = set()
    for pid in pids:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            try:
                inodes.add(os.readlink(f"/proc/{pid}/fd/{fd}"))
            except OSError:
                continue
    for table in ("tcp", "tcp6"):
        with open(f"/proc/net/{table}") as file:
            for line in list(file)[1:]:
                words = line.split()
                if words[3] == "0A" and f"socket:[{words[9]}]" in inodes:
                    found.add(words[1])
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="needs MPI: and /proc")
def test_nothing_listens_but_on_this_machine(tmp_path):
    text = f"""
open({str(tmp_path)!r} + f"/up{{rank}}", "w").write(f"{{os.getpid()}} {{os.getppid()}}")
dist.barrier(); time.sleep(100)
"""
    command = [sys.executable, "-m", "vistorch.distributed.run", "--nproc=2", str(program(tmp_path, text))]
    job = subprocess.Popen(command, cwd=launched.ROOT, env=environment(), stderr=subprocess.DEVNULL)
    try:
        ups = [tmp_path / "up0", tmp_path / "up1"]
        end = time.time() + 30
        while not all(up.exists() and up.read_text() for up in ups) and time.time() < end:
            time.sleep(0.05)
        found = listening({int(pid) for up in ups for pid in up.read_text().split()})
        assert found and {address.split(":")[0] for address in found} == {"0100007F"}
    finally:
        job.send_signal(signal.SIGTERM)
        job.wait(10)


def test_max_restarts_starts_all_ranks_again(tmp_path):
    text = f"""
at = {str(tmp_path / "checkpoint")!r}
step = torch.load(at)["step"] if os.path.exists(at) else 0
while step < 4:
    t = torch.ones(1); dist.all_reduce(t); step += 1
    if rank == 0:
        torch.save({{"step": step}}, at)
    dist.barrier()
    if step == 2 and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0" and rank == 1:
        raise ValueError("once")
sys.stdout.write(f"rank {{rank}} attempt {{os.environ['TORCHELASTIC_RESTART_COUNT']}} ends at {{step}} ")
"""
    done = launch("--max-restarts", "1", program(tmp_path, text))
    assert done.returncode == 0, done.stderr
    assert "rank 1 (local rank 1" in done.stderr
    assert "all ranks start again (1 restart(s) left)" in done.stderr
    for rank in range(2):
        assert f"rank {rank} attempt 1 ends at 4" in done.stdout


def test_a_killed_rank_goes_on_from_the_last_checkpoint(tmp_path):
    text = f"""
import torch
path = r"{tmp_path / "net.pt"}"
net, begin = torch.nn.Linear(2, 1), 0
torch.nn.init.zeros_(net.weight)
if os.path.exists(path):
    kept = torch.load(path)
    net.load_state_dict(kept["net"])
    begin = kept["step"] + 1
again = os.environ["TORCHELASTIC_RESTART_COUNT"] != "0"
dist.barrier()  # all have read before one writes
for step in range(begin, 4):
    with torch.no_grad():
        net.weight += 1
    if rank == 0:
        torch.save({{"net": net.state_dict(), "step": step}}, path)
    dist.barrier()
    if rank == 1 and step == 1 and not again:
        os.kill(os.getpid(), 9)
    dist.barrier()
if rank == 0:
    print("begun at", begin, "ended with", net.weight.tolist())
"""
    done = launch("--max-restarts", "1", program(tmp_path, text))
    assert done.returncode == 0, done.stderr
    assert "begun at 2 ended with [[4.0, 4.0]]" in done.stdout
