"""What runs in threads that a program starts is seen as what runs in its own."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
import torch
from torch import nn

from vistorch import vt
from vistorch.debug.compare import compare
from vistorch.debug.source import named
from vistorch.torch_source import threads

TORCH = named("torch")


def in_threads(work, count=3):
    """As `DataParallel` runs its copies: a thread for each, started and joined."""
    failed = []

    def run(i):
        try:
            work(i)
        except BaseException as error:
            failed.append(error)

    made = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for one in made:
        one.start()
    for one in made:
        one.join()
    assert not failed, failed


def in_pool(work, count=3):
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, range(count)))


def in_own_class(work, count=3):
    class Own(threading.Thread):
        def __init__(self, i):
            super().__init__()
            self.i = i

        def run(self):
            work(self.i)

    made = [Own(i) for i in range(count)]
    for one in made:
        one.start()
    for one in made:
        one.join()


WAYS = [in_threads, in_pool, in_own_class]


@pytest.mark.parametrize("run", WAYS)
def test_a_bad_value_of_a_thread_is_found_with_its_line(run):
    def work(i):
        x = torch.zeros(3, requires_grad=True)
        for _ in range(i):  # the numbers of nodes are another's in each thread
            x * 2
        x.sqrt().sum().backward()

    with TORCH.tracer() as trace:
        torch.ones(2, requires_grad=True).exp().sum().backward()
        run(work)
    record = trace.record()
    assert record.first["op"] == "sqrt" and record.first["pass"] == "backward"
    assert [row["op"] for row in record.rows if row["backward"] is not None].count("sqrt") == 3
    assert "x.sqrt().sum().backward()" in record.text() and "test_threads.py" in record.first["where"]


@pytest.mark.parametrize("run", WAYS[:2])
def test_forward_in_threads_and_backward_in_one(run):
    net = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    outs = {}

    def work(i):
        for _ in range(2 - i):
            torch.ones(1, requires_grad=True) * 2
        outs[i] = net(torch.full((2, 3), float(i))).sqrt()

    with torch.no_grad():
        net[0].bias.fill_(-100.0)
    with TORCH.tracer(namespace={"net": net}) as trace:
        for _ in range(20):  # these have the numbers that the threads give, too
            torch.ones(1, requires_grad=True) * 3
        run(work)
        (outs[0].sum() + outs[1].sum() + outs[2].sum()).backward()
    record = trace.record()
    assert record.first["op"] == "sqrt" and record.first["pass"] == "backward"
    backward = [(row["op"], row["module"]) for row in record.rows if row["backward"] is not None]
    assert backward.count(("relu", "[1]")) == 3 and backward.count(("addmm", "[0]")) == 3, backward
    assert all(row["op"] != "mul" for row in record.rows if row["backward"] is not None)


def test_passes_that_run_at_once_do_not_disturb_each_other():
    both = threading.Barrier(2)

    class Waits(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            both.wait(10)  # each is in the midst of its pass when the other begins
            return g * float("inf")

    def work(i):
        x = torch.ones(2, requires_grad=True)
        Waits.apply(x.exp()).sum().backward()

    with TORCH.tracer() as trace:
        in_threads(work, 2)
    record = trace.record()
    assert record.first["pass"] == "backward" and len(record.origins) == 1  # beside the first
    assert len(record.leaves) == 2


def test_a_pass_of_a_thread_that_was_there_before_is_not_passed_over_in_silence():
    go, done = threading.Event(), threading.Event()
    x = torch.zeros(2, requires_grad=True)

    def work():
        go.wait(10)
        x.sqrt().sum().backward()
        done.set()

    early = threading.Thread(target=work)
    early.start()
    with TORCH.tracer() as trace:
        go.set()
        done.wait(10)
    early.join()
    assert any("thread that was there before" in says for says in trace.record().says)


def test_nothing_is_left_in_a_thread_that_goes_on():
    go = threading.Event()
    stack = torch.utils._python_dispatch._get_current_dispatch_mode_stack
    seen = []

    def work():
        torch.ones(2).exp()
        go.wait(10)
        seen.append(float(torch.zeros(2).log()[0]))
        torch.ones(2, requires_grad=True).sqrt().sum().backward()

    start, submit = threading.Thread.start, ThreadPoolExecutor.submit
    with TORCH.tracer() as trace, TORCH.recorder("run", None) as run, TORCH.timeline() as time:
        assert threading.Thread.start is not start
        thread = threading.Thread(target=work)
        thread.start()
        while len(run.rows) < 1:
            pass
    rows = len(trace.rows), len(run.rows), time.account.tick
    assert threading.Thread.start is start and ThreadPoolExecutor.submit is submit
    go.set()
    thread.join()
    assert seen == [float("-inf")] and rows == (len(trace.rows), len(run.rows), time.account.tick)
    assert stack() == [] and "run" not in vars(thread)


def test_a_recording_of_threads_is_the_same_again():
    def run(i, change):
        weight = torch.full((2, 3), (i + 1) / 8, requires_grad=True)
        out = torch.ones(2, 3) @ weight.t() * (2.0 if i == change else 1.0)
        out.tanh().sum().backward()

    def recorded(change=None):
        with vt.record("run") as made:
            in_threads(lambda i: run(i, change), 4)
        return made

    first = recorded()
    for _ in range(3):
        assert compare(first, recorded()).sentence.startswith("The runs agree")
    record = compare(first, recorded(2))
    assert record.rows[record.first["row"]]["op"] == "mul" and "by its own doing" in record.sentence
    assert len(record.leaves) == 1, record.leaves


def test_the_graph_has_the_lines_and_modules_of_threads():
    net = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
    outs = {}
    TORCH.listen()
    try:
        in_threads(lambda i: outs.update({i: net(torch.ones(1, 3) * i)}), 2)
        record = TORCH.capture(outs[0].sum() + outs[1].sum(), {"net": net})
    finally:
        TORCH.deafen()
    lines = [node.line for node in record.nodes if node.kind == "op"]
    assert all("test_threads.py" in line for line in lines) and len(set(lines)) == 2, lines
    assert {g.path for g in record.groups} >= {"0", "1"}


def test_memory_counts_what_threads_keep():
    outs = {}

    def work(i):
        outs[i] = torch.ones(1000, requires_grad=True).exp().exp()

    with TORCH.timeline() as time:
        in_threads(work, 2)
        (outs[0].sum() + outs[1].sum()).backward()
    made = time.record()
    assert [row["name"] for row in made.rows].count("ExpBackward0") == 4, made.rows
    assert time.account.top >= 4 * 4000


def test_followers_of_threads():
    seen = []

    @contextmanager
    def follower():
        seen.append(threading.current_thread().name)  # entered in the thread that begins
        yield

    end = threads.follow(follower)
    other = threads.follow(follower)
    new = threading.Thread(target=lambda: None, name="new")
    new.start()
    new.join()
    end()
    end()
    assert threading.Thread.start is threads._started
    other()
    assert threading.Thread.start is threads._start
    late = threading.Thread(target=lambda: None, name="late")
    late.start()
    late.join()
    assert seen == ["new", "new"]
