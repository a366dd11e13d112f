"""`%vt ranks`: ranks that stay, cells on all of them, and what becomes of them when one fails."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.distributed.launched import ROOT, environment, segments
from tests.distributed.test_faults import running
from vistorch.widgets.ranks.errors import RanksFailed
from vistorch.widgets.ranks.run import RANKS

pytestmark = pytest.mark.mpi
SOON = 5.0


@pytest.fixture(scope="module")
def kept():
    """Ranks for many tests: to start them takes longer than the tests."""
    pools = [None]
    yield pools
    if pools[0] is not None:
        pools[0].stop()


@pytest.fixture
def two(type_in, kept):
    """What is typed runs in a notebook with two ranks."""
    if kept[0] is not None and kept[0].open:
        RANKS.pool = kept[0]
    else:
        typed = type_in("%vt ranks 2")
        assert typed.out.startswith("2 ranks are there: "), typed.err
    before = segments()
    yield type_in
    kept[0], RANKS.pool = RANKS.pool, None  # the extension would end them
    RANKS.forget()
    assert segments() <= before


START = """
import os, torch
import torch.distributed as dist
if not dist.is_initialized():
    dist.init_process_group("mpi")
rank = dist.get_rank()
"""


@pytest.fixture
def begun(two):
    typed = two(
        "%%vt ranks\n"
        + START.replace("import os, torch", "import os, vistorch as torch").replace(
            "import torch.distributed", "import vistorch.distributed"
        )
    )
    assert typed.result.success, typed.err
    return two


def test_output_comes_by_rank_and_is_the_same_each_time(begun):
    typed = begun("%%vt ranks\nprint('a', rank)\nprint('b', end='')\ntorch.ones(2) * rank")
    assert typed.out == ("[0] a 0\n[0] b\n[0] tensor([0., 0.])\n[1] a 1\n[1] b\n[1] tensor([1., 1.])\n")
    assert begun("%%vt ranks --only 1\nrank").out == "[1] 1\n"


def test_what_a_cell_binds_stays_on_its_rank(begun):
    begun("x = 'of the notebook'")
    begun("%%vt ranks\nx = torch.full((1,), float(rank + 1))\ndist.all_reduce(x)")
    assert begun("%%vt ranks\nx.item()").out == "[0] 3.0\n[1] 3.0\n"
    assert begun("print(x)").out == "of the notebook\n"


DEFINED = """
from dataclasses import dataclass, field
import functools, math
from vistorch import nn

scale = 3
calls = []

@dataclass
class Settings:
    lr: float = 0.1
    layers: list = field(default_factory=lambda: [4, 2])

class Base(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.fc = nn.Linear(settings.layers[0], settings.layers[1])

class Net(Base):
    kinds = {"own": Settings}
    def forward(self, x):
        calls.append(1)
        return scaled(self.fc(x))
    @classmethod
    def made(cls):
        return cls(cls.kinds["own"]())
    @property
    def double(self):
        return 2 * scale

def scaled(x):
    return x * scale + offset()

def offset(_cache={}):
    return math.floor(0.5)

def counter():
    n = 0
    def count():
        nonlocal n
        n += 1
        return n
    return count

def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)

def nested():
    def inner(k):
        return 0 if not k else 1 + inner(k - 1)
    return inner

tick = counter()
tick()
deep = nested()
half = functools.partial(scaled, 0.5)
@functools.lru_cache
def cached(n):
    return n + scale
"""


def test_classes_functions_closures_and_dataclasses_of_the_notebook(begun):
    assert begun(DEFINED).result.success
    typed = begun(
        "%%vt ranks --only 1\nnet = Net.made()\n"
        "print(type(net).__mro__[1].__name__, *net(torch.zeros(1, 4)).shape, len(calls), net.double)\n"
        "print(Settings(), tick(), tick(), factorial(5), deep(3), half())\n"
        "print(Settings(lr=1) == Settings(lr=1.0), offset.__defaults__)\nprint(cached(1), isinstance(net, Net))"
    )
    assert typed.out == (
        "[1] Base 1 2 1 6\n[1] Settings(lr=0.1, layers=[4, 2]) 2 3 120 3 1.5\n[1] True ({},)\n[1] 4 True\n"
    ), typed.err
    # the ranks changed their own copies
    assert begun("print(len(calls), tick())").out == "0 2\n"


def test_a_function_looks_up_what_the_rank_has_and_is_sent_again_when_it_changes(begun):
    begun("def show():\n    return state + 1\nstate = 10")
    begun("%%vt ranks\nstate = rank")
    assert begun("%%vt ranks\nshow()").out == "[0] 1\n[1] 2\n"
    begun("def show():\n    return -state")
    assert begun("%%vt ranks\nshow()").out == "[0] 0\n[1] -1\n"


def test_classes_of_the_notebook_go_from_rank_to_rank(begun):
    begun("class Point:\n    def __init__(self, x):\n        self.x = x")
    typed = begun(
        "%%vt ranks\nfound = [None, None]\ndist.all_gather_object(found, Point(rank))\n"
        "[type(one) is Point and one.x for one in found]"
    )
    assert typed.out == "[0] [0, 1]\n[1] [0, 1]\n", typed.err


def test_gradients_of_a_notebook_model_are_averaged(begun):
    begun(
        "import vistorch as torch\nfrom vistorch import nn\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.fc = nn.Linear(2, 1, bias=False)\n"
        "    def forward(self, x):\n        return self.fc(x)"
    )
    typed = begun(
        "%%vt ranks\nnet = nn.parallel.DistributedDataParallel(Net())\n"
        "net(torch.full((1, 2), float(rank))).sum().backward()\nnet.module.fc.weight.grad"
    )
    assert typed.out == "[0] tensor([[0.5000, 0.5000]])\n[1] tensor([[0.5000, 0.5000]])\n", typed.err


def test_what_cannot_be_sent_is_refused_before_anything_runs(two, sentence):
    two("import threading\nlock = threading.Lock()\ndef f():\n    return lock")
    said = sentence("%%vt ranks\nprint('not reached')\nf()")
    assert said.startswith("`lock` of the notebook cannot be sent to the ranks (TypeError: ")
    # a name that the cell binds itself is not missed
    assert two("%%vt ranks --only 0\nlock = 1\nprint(lock)").out == "[0] 1\n"


def failed(typed):
    error = typed.result.error_in_exec
    assert isinstance(error, RanksFailed), typed.err
    return str(error)


def test_an_exception_in_one_rank_ends_the_cell_with_its_traceback(begun):
    begin = time.monotonic()
    typed = begun(
        "%%vt ranks\nif rank == 1:\n    raise ValueError('the data set is empty')\ndist.barrier()\nprint(1)"
    )
    assert time.monotonic() - begin < SOON
    said = failed(typed)
    assert said.startswith(
        "rank 1: ValueError: the data set is empty; rank 0 was interrupted for it; the ranks stood"
    )
    assert "On rank 1:" in typed.err + typed.out
    assert "----> 3     raise ValueError('the data set is empty')" in typed.err + typed.out
    # they stay, with what they had
    assert begun("%%vt ranks\nrank").out == "[0] 0\n[1] 1\n"
    again = begun("%%vt ranks\ndist.init_process_group()\nx = torch.ones(1)\ndist.all_reduce(x)\nx.item()")
    assert again.out == "[0] 2.0\n[1] 2.0\n", again.err


def test_the_same_exception_on_all_ranks_is_shown_once_and_the_group_stays(begun):
    typed = begun("%%vt ranks\ntorch.ones(2) @ torch.ones(3)")
    assert failed(typed).startswith("ranks 0 and 1: RuntimeError: ")
    assert (typed.out + typed.err).count("On ranks 0 and 1:") == 1
    assert begun("%%vt ranks\ndist.is_initialized()").out == "[0] True\n[1] True\n"


def test_an_exception_in_a_function_of_the_notebook_shows_its_lines(begun):
    begun("def divide(x):\n    # the reason\n    return 1 / x")
    typed = begun("%%vt ranks\ndivide(rank)")
    assert failed(typed) == "rank 0: ZeroDivisionError: division by zero"
    assert "return 1 / x" in typed.out + typed.err


def test_a_killed_rank_is_named_and_all_end(begun):
    pids = [one.pid for one in RANKS.pool.ranks]
    begin = time.monotonic()
    typed = begun("%%vt ranks\nif rank == 1:\n    os.kill(os.getpid(), 9)\ndist.barrier()")
    assert time.monotonic() - begin < SOON
    said = failed(typed)
    assert "was ended by SIGKILL" in said and "type `%vt ranks 2` to start them again" in said
    assert not any(map(running, pids))
    assert begun("%vt ranks").out == "there are no ranks: type `%vt ranks 2` to start two\n"
    assert "2 ranks are there" in begun("%vt ranks 2").out
    assert "ranks: 0 (process " in begun("%vt ranks").out
    assert begun("%%vt ranks --only 0\n1").out == "[0] 1\n"


def test_a_rank_that_was_killed_between_two_cells_is_reported(two):
    os.kill(RANKS.pool.ranks[0].pid, signal.SIGKILL)
    time.sleep(0.2)
    assert "was ended by SIGKILL" in failed(two("%%vt ranks\nprint(1)"))


def test_an_interrupt_reaches_all_ranks(begun):
    timer = threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.monotonic()
    typed = begun("%%vt ranks\nimport time\nwhile True:\n    time.sleep(0.01)")
    assert time.monotonic() - begin < SOON
    assert isinstance(typed.result.error_in_exec, KeyboardInterrupt), typed.err
    assert begun("%%vt ranks\nrank").out == "[0] 0\n[1] 1\n"


def test_a_rank_that_ignores_the_interrupt_is_ended(begun):
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.monotonic()
    begun(
        "%%vt ranks\nimport time\nwhile rank == 1:\n    try:\n        time.sleep(9)\n"
        "    except KeyboardInterrupt:\n        pass"
    )
    assert time.monotonic() - begin < 0.5 + SOON
    assert not RANKS.open


def test_the_command_says_what_to_type(sentence, type_in):
    assert sentence("%%vt ranks\n1") == "there are no ranks: type `%vt ranks 2` to start two"
    assert (
        sentence("%vt ranks 0")
        == "`ranks` takes a number from 1 to 256, or stop, not '0': type `%vt ranks 2`"
    )
    assert "a number from 1 to 256, or stop, not 'tow'" in sentence("%vt ranks tow")


def test_stop_ends_the_processes(two):
    pids = [one.pid for one in RANKS.pool.ranks]
    assert two("%vt ranks stop").out == "2 ranks ended\n"
    assert not any(map(running, pids))
    assert two("%vt ranks stop").out == "there are no ranks: type `%vt ranks 2` to start two\n"


def test_unloading_the_extension_ends_them(two, shell):
    pids = [one.pid for one in RANKS.pool.ranks]
    shell.run_line_magic("unload_ext", "vistorch")
    assert not any(map(running, pids))


def test_a_second_number_is_refused(two, sentence):
    assert sentence("%vt ranks 3").startswith("there are 2 ranks already: type `%vt ranks stop` first")
    assert sentence("%%vt ranks --only 2\n1").startswith("--only takes numbers from 0 to 1, not '2'")


PROGRAM = """
import os, sys, time
from vistorch.rank_workers.pool import Pool
pool = Pool(2)
print(*[one.pid for one in pool.ranks], pool.agent.server.port, flush=True)
pool.run("import vistorch.distributed as dist; dist.init_process_group()")
print("ready", flush=True)
{end}
"""


@pytest.mark.parametrize(
    "end", ["sys.exit()", "os.kill(os.getpid(), 9)", "pool.run('import time; time.sleep(60)')"]
)
def test_nothing_stays_when_the_notebook_ends(end):
    before = segments()
    job = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(end=end)],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    *pids, port = map(int, job.stdout.readline().split())
    assert job.stdout.readline() == "ready\n"
    if "sleep" in end:
        time.sleep(0.3)
        job.kill()
    job.wait(10)
    job.stdout.close()
    until = time.monotonic() + SOON
    while any(map(running, pids)) and time.monotonic() < until:
        time.sleep(0.02)
    assert not any(map(running, pids))
    assert segments() <= before
    with socket.socket() as free:
        assert free.connect_ex(("127.0.0.1", port)) != 0


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs Linux's list of ports")
def test_ranks_open_no_port(begun):
    inodes = set()
    for one in RANKS.pool.ranks:
        for link in Path(f"/proc/{one.pid}/fd").iterdir():
            inodes.add(os.readlink(link).removeprefix("socket:[").removesuffix("]"))
    listening = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
        if line.split()[3] == "0A"
    ]
    assert not [one for one in listening if one[9] in inodes]
    ours = f"{RANKS.pool.agent.server.port:04X}"
    assert [one[1] for one in listening if one[1].endswith(f":{ours}")] == [f"0100007F:{ours}"]


TRAIN = """
import time
import vistorch as torch
import vistorch.distributed as dist
from vistorch import nn

def main(steps, slow=0.0):
    if not dist.is_initialized():
        dist.init_process_group()
    rank = dist.get_rank()
    net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 1)))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(steps):
        time.sleep(slow * rank)
        loss = net(torch.ones(4, 8)).pow(2).mean() + rank
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_a_training_is_watched_on_all_ranks(two):
    assert two(TRAIN).result.success
    typed = two("%%vt watch --ranks --title main\nmain(20, slow=0.02)\n'done'")
    assert typed.result.success, typed.err
    lines = typed.out.splitlines()
    assert lines[:3] == ["[0] 'done'", "[1] 'done'", lines[2]]
    assert lines[2].startswith("main on 2 ranks: Finished, 20 steps, ")
    assert lines[3].startswith("Rank 1 holds the others up. It loads data for ")
    assert lines[4].startswith("All-reduce: 1 bucket, ")
    first, second = lines[-2].split(), lines[-1].split()
    assert float(second[1]) - float(first[1]) == pytest.approx(1, abs=1e-3)  # losses by rank
    assert re.search("last in (19|20) of 20 steps", lines[-1])  # they may begin one after the other
    assert 0.5 * 20 < float(first[3]) < 4 * 20  # milliseconds that rank 0 waited


def test_a_watched_run_that_fails_says_so_and_shows_what_was_recorded(two):
    two(TRAIN)
    typed = two("%%vt watch --ranks\nmain(6)\nassert dist.get_rank(), 'of rank 0'")
    assert failed(typed).startswith("rank 0: AssertionError: of rank 0")
    assert "training on 2 ranks: Ended, 6 steps" in typed.out
    assert "Rank 0 raised AssertionError in step 6. of rank 0" in typed.out


def test_watching_ranks_takes_no_model_and_needs_ranks(sentence, type_in):
    assert sentence("%%vt watch --ranks\n1") == "there are no ranks: type `%vt ranks 2` to start two"
    type_in("net = 3")
    assert sentence("%%vt watch net --ranks\n1") == "--ranks takes no model: type `%%vt watch --ranks`"


PARTS = """
import vistorch as torch
import vistorch.distributed as dist
from vistorch import nn

def parts(kind):
    if not dist.is_initialized():
        dist.init_process_group()
    rank = dist.get_rank()
    torch.manual_seed(rank if kind == "seed" else 0)
    net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
    ddp = nn.parallel.DistributedDataParallel(net, broadcast_buffers=kind != "buffer")
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.01)
    for step in range(3):
        x = torch.arange(32.0).reshape(8, 4)[rank::2] / 32 + step
        loss = ddp(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        if kind == "seed" and step == 1:
            gradient = net[2].weight.grad
            gradient += torch.randn_like(gradient)
        optimizer.step()
"""


def test_a_cell_on_ranks_says_where_they_part(two):
    assert two(PARTS).result.success
    agree = two("%%vt compare --ranks\nparts('')\n'done'")
    assert agree.result.success, agree.err
    assert agree.out.startswith(
        "[0] 'done'\n[1] 'done'\ncompared on 2 ranks: Finished\nRanks agree. In 3 steps "
    )
    seed = two("%%vt compare --ranks\nparts('seed')").out
    assert "Ranks part at step 1: 2.weight.grad differs first on rank 1 (forgotten seed?)" in seed
    assert re.search(r"→ .* gradient \+= torch.randn_like\(gradient\)", seed)
    assert re.search(r"→ +2.weight.grad +before step\(\), step 1 +\w{4} +≠\w{4} +\d", seed)
    assert "torch.initial_seed(): 0, 1" in seed
    buffer = two("%%vt compare --ranks\nparts('buffer')").out
    assert "Ranks part at step 1: 1.running_mean differs first on rank 1" in buffer


def test_a_compared_cell_that_fails_still_shows_what_ran(two):
    two(PARTS)
    typed = two("%%vt compare --ranks\nparts('')\nassert dist.get_rank(), 'of rank 0'")
    assert failed(typed).startswith("rank 0: AssertionError: of rank 0")
    assert "compared on 2 ranks: Ended" in typed.out and "Ranks agree." in typed.out


def test_comparing_ranks_says_what_to_type(sentence, type_in):
    assert sentence("%%vt compare --ranks\n1") == "there are no ranks: type `%vt ranks 2` to start two"
    assert sentence("%%vt compare\n1") == "on a cell, compare takes --ranks: type `%%vt compare --ranks`"
    assert sentence("%vt compare --ranks").startswith("--ranks is for a cell: type `%%vt compare --ranks`")
    assert sentence("%vt compare") == "`%vt compare` needs two recordings: type `%vt compare before after`"


def test_controls_reach_all_ranks_while_a_cell_runs(two):
    two(TRAIN)
    from vistorch.debug.ranks import RanksRun
    from vistorch.debug.ranks.controls import Controls
    from vistorch.widgets._frame.shell import shell_of_user
    from vistorch.widgets.ranks.run import run_on_ranks

    run = RanksRun(2, "main")
    controls = run.controls = Controls(2, RANKS.pool.control)
    seen, wanted = [], iter(["pause", "step", "rate", "resume", "stop"])

    def message(what, rank, said):
        if what == "seen":
            run.take(rank, said)
        elif what == "ended":
            controls.ended(rank)

    def wait():
        if not run.done or controls.asked is not None or controls.over:
            return
        record = run.record()
        seen.append((record.state, run.done, controls.rate))
        if (word := next(wanted, None)) is not None:
            controls.command(word, 0.5)

    outcomes = run_on_ranks(
        "main(100_000)\n", shell_of_user(), "%%vt watch", watch={"on": True}, on_message=message, on_wait=wait
    )
    run.end(outcomes)
    assert all(one.ok for one in outcomes.values())
    assert run.record().state == "Stopped" and run.done == controls.step + 1
    (_, _, _), (paused, at, _), (again, more, _), (still, same, rate) = seen[:4]
    assert (paused, again, still) == ("Paused",) * 3
    assert more == at + 1 == same and rate == 0.5
    assert run.beats[0]["rate"] == 0.5
