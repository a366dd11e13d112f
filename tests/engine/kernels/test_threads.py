"""The number of threads: who sets it, that results do not depend on it, and that forked children do not wait."""

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from math import prod

import numpy as np
import pytest

import vistorch as L
from vistorch.engine.core import pointwise
from vistorch.engine.core.registry import FUNCTIONS
from vistorch.engine.kernels import threads
from vistorch.engine.kernels.fast import spread
from vistorch.engine.kernels.fast.switch import onednn

there = pytest.mark.skipif(not onednn.available(), reason=f"needs oneDNN: {onednn.why}")
linux = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs oneDNN: no fork here")


@pytest.fixture
def many():
    """Set the number of threads, and put it back."""
    before, asked = L.get_num_threads(), threads.state.asked
    yield L.set_num_threads
    L.set_num_threads(before)
    threads.state.asked = asked


def python(code, **environment):
    env = {k: v for k, v in os.environ.items() if k not in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=100, env={**env, **environment}
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split()


def test_the_environment_decides_first_and_then_the_cores():
    asks = "import vistorch; print(vistorch.get_num_threads())"
    assert python(asks, OMP_NUM_THREADS="3") == ["3"]
    assert python(asks, OMP_NUM_THREADS="2,1") == ["2"]
    for odd in ("", "0", "many"):
        (found,) = python(asks, OMP_NUM_THREADS=odd)
        assert 1 <= int(found) <= (os.cpu_count() or 1)


def test_set_num_threads_reaches_blas(many):
    with L.backends.mkldnn.flags(enabled=False):
        many(2)
        assert set(threads.blas_counts()) <= {2}
        many(1)
        assert set(threads.blas_counts()) <= {1}


@there
def test_solvers_of_large_matrices_get_the_threads_and_qr_does_not(many, monkeypatch):
    many(2)
    assert onednn.ready()
    asked = []
    monkeypatch.setattr(threads, "_set_blas", asked.append)
    x = L.eye(1100)
    L.linalg.qr(x[:, :8])
    assert not asked
    L.linalg.lu_factor(x)
    assert asked == [2, 1]


@there
def test_blas_leaves_the_threads_to_onednn_and_gets_them_for_what_that_does_not_do(many):
    many(3)
    assert onednn.ready()
    assert set(threads.blas_counts()) <= {1}
    with threads.blas():
        assert set(threads.blas_counts()) <= {3}
    assert set(threads.blas_counts()) <= {1}
    with L.backends.mkldnn.flags(enabled=False):
        assert set(threads.blas_counts()) <= {3}


@pytest.mark.parametrize("number", [0, -1, 2.0, True, "2", None])
def test_a_number_of_threads_that_is_none(number):
    before = L.get_num_threads()
    with pytest.raises(RuntimeError, match="set_num_threads expects a"):
        L.set_num_threads(number)
    assert L.get_num_threads() == before


# ---- results -------------------------------------------------------------------------------------------------------
N = spread.BIG + 12345


def large(seed=0, n=N):
    return L.tensor(np.random.default_rng(seed).standard_normal(n).astype("f4"))


F = L.nn.functional


def shaped(*shape, seed=0):
    return large(seed, prod(shape)).view(shape)


@pytest.mark.parametrize(("name", "count"), [("exp", 800_000), ("sin", 800_000), ("hypot", 150_000)])
def test_functions_that_take_long_are_shared_out_sooner(name, count, many, monkeypatch):
    x = [large(seed, count) for seed in range(2 if name == "hypot" else 1)]
    many(1)
    want = getattr(L, name)(*x).numpy()
    many(3)
    runs, run = [], threads.Pool.run
    monkeypatch.setattr(threads.Pool, "run", lambda *args: (runs.append(args), run(*args)))
    assert (getattr(L, name)(*x).numpy() == want).all() and len(runs) == 1
    getattr(L, name)(*[t[:50_000] for t in x])
    assert len(runs) == 1


def slopes():
    x = large().requires_grad_(True)
    (x.relu() + x.tanh() * 2 + x.sigmoid() * 3).backward(large(1))
    return x.grad


RESULTS = {
    "add": lambda: large() + large(1),
    "add a number": lambda: large() * 3 + 1,
    "add a row": lambda: shaped(1 << 15, 64) + large(1, 64),
    "compare": lambda: large() > large(1),
    "exp": lambda: large().exp(),
    "tanh of doubles": lambda: large().double().tanh(),
    "in place": lambda: large().mul_(3).add_(large(1)).exp_(),
    "in place with a row": lambda: shaped(1 << 15, 64).add_(large(1, 64)),
    "clone": lambda: large().clone(),
    "clone of what lies otherwise": lambda: shaped(64, 32, 1024).permute(2, 0, 1).clone(),
    "contiguous": lambda: shaped(64, 32, 1024).permute(2, 0, 1).contiguous(),
    "cast": lambda: shaped(64, 32, 1024).permute(2, 0, 1).double(),
    "cast to integers": lambda: (large() * 100).long(),
    "a copy of repeated elements": lambda: large(0, 1024).expand(2048, 1024).clone(),
    "relu": lambda: large().relu(),
    "gradients of activations": lambda: slopes(),
    "gelu": lambda: F.gelu(large()),
    "erf": lambda: large().erf(),
    "sum": lambda: large().sum(),
    "sum of rows": lambda: shaped(1 << 12, 512).sum(1),
    "softmax": lambda: shaped(1 << 12, 512).softmax(1),
    "product": lambda: shaped(512, 512) @ shaped(512, 512, seed=1),
    "batch norm": lambda: F.batch_norm(shaped(8, 64, 64, 64), None, None, training=True),
    "layer norm": lambda: F.layer_norm(shaped(1 << 12, 512), (512,)),
    "convolution": lambda: F.conv2d(shaped(4, 16, 32, 32), shaped(16, 16, 3, 3)),
    "places in a sorted row": lambda: L.searchsorted(large(0, 1000).sort()[0], large(1)),
    "places in a sorted row, of a matrix": lambda: L.bucketize(
        shaped(1 << 11, 513), large(0, 1000).sort()[0]
    ),
    "Fourier transforms of rows": lambda: L.fft.fft(shaped(1 << 11, 513)),
    "Fourier transforms of pictures": lambda: L.fft.rfft2(shaped(37, 3, 128, 100)),
    "Fourier transforms back": lambda: L.fft.irfft(L.fft.rfft(shaped(1 << 12, 514))),
    "Fourier transforms of columns": lambda: L.fft.fft(shaped(40, 512, 65), dim=1),
    "attention": lambda: F.scaled_dot_product_attention(*[shaped(4, 8, 128, 32, seed=i) for i in range(3)]),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_the_same_bits_for_any_number(many, monkeypatch, name):
    monkeypatch.setattr(threads, "WAKE", 1)  # threads take part in what is over in no time too
    many(1)
    want = RESULTS[name]().numpy()
    for number in (2, 3):
        many(number)
        found = RESULTS[name]().numpy()
        np.testing.assert_array_equal(found, want)
        assert found.strides == want.strides


POINTWISE = sorted(
    name for name, fn in FUNCTIONS.items() if hasattr(fn, "plain_types") and not name.endswith("_")
)


@pytest.mark.parametrize("name", POINTWISE)
def test_elementwise_ops_in_blocks_are_those_in_one_piece(many, monkeypatch, name):
    """At sizes that end within a block, and with values of all magnitudes."""
    fn = FUNCTIONS[name]
    rng = np.random.default_rng(0)
    x = rng.standard_normal(40_001) * 10.0 ** rng.integers(-4, 3, 40_001)
    for kind in (L.float32, L.float64):
        a = L.tensor(x).to(kind)
        arguments = (a, a.flip(0)) if hasattr(fn, "takes") else (a,)
        try:
            many(1)
            want = fn(*arguments)
        except (RuntimeError, TypeError, NotImplementedError):
            continue  # not of floats
        for module, length in ((spread, "BIG"), (spread, "MANY"), (pointwise, "MANY")):
            monkeypatch.setattr(module, length, 1 << 12)
        monkeypatch.setattr(spread, "_BLOCK", 1 << 13)
        monkeypatch.setattr(spread, "_SHARED", 1 << 14)
        monkeypatch.setattr(threads, "LEAST", 1)
        monkeypatch.setattr(threads, "WAKE", 1)
        many(3)
        found = fn(*arguments)
        monkeypatch.undo()
        np.testing.assert_array_equal(found.numpy(), want.numpy())


def trained(steps=2):
    L.manual_seed(0)
    net = L.nn.Sequential(
        L.nn.Conv2d(3, 32, 3), L.nn.Flatten(), L.nn.LayerNorm(28800), L.nn.Linear(28800, 64)
    )
    opt = L.optim.AdamW(net.parameters(), lr=1e-3)
    x = L.randn(8, 3, 32, 32)
    for _ in range(steps):
        opt.zero_grad()
        net(x).square().sum().backward()
        opt.step()
    return [p.detach().numpy().copy() for p in net.parameters()]


@pytest.fixture
def same_when_deterministic(many):
    """Checks that what is computed is the same bits for one thread and for three."""

    def check(compute):
        L.use_deterministic_algorithms(True)
        try:
            many(1)
            want = compute()
            many(3)
            for a, b in zip(compute(), want, strict=True):
                np.testing.assert_array_equal(a, b)
        finally:
            L.use_deterministic_algorithms(False)

    return check


def test_deterministic_algorithms_make_training_the_same_for_any_number(same_when_deterministic):
    same_when_deterministic(trained)


def products():
    """Of each type, as they lie and turned; with a long sum in each element, and without."""
    found = []
    for kind in (L.float32, L.float64, L.complex64, L.float16):
        a, b = shaped(128, 2048).to(kind), shaped(2048, 96, seed=1).to(kind)
        c, d = shaped(65, 775).to(kind), shaped(711, 775, seed=1).to(kind)
        square = shaped(3, 256, 256).to(kind)
        found += [a @ b, a.t().contiguous().t() @ b, c @ d.t(), square @ square, square[0].t() @ square[0]]
    found.append(L.linalg.solve(square[0].double() + 99 * L.eye(256).double(), square[1].double()))
    return [y.numpy() for y in found]


@pytest.mark.parametrize("kernels", ["oneDNN", "numpy"])
def test_deterministic_algorithms_make_products_the_same_for_any_number(same_when_deterministic, kernels):
    with L.backends.mkldnn.flags(enabled=kernels == "oneDNN"):
        same_when_deterministic(products)
        if kernels == "numpy":
            assert set(threads.blas_counts()) <= {3}  # BLAS has its threads back


# ---- sharing out ----------------------------------------------------------------------------------------------------
class Clock:
    """Time that goes by as work is done: so many nanoseconds for each element."""

    def __init__(self, rate):
        self.rate, self.now, self.parts = rate, 0, []

    def perf_counter_ns(self):
        return self.now

    def run(self, start, stop):
        self.parts.append((start, stop, threads.pool.busy))
        self.now += int(self.rate * (stop - start))


@pytest.mark.parametrize(("rate", "users"), [(0.05, 1), (0.3, 2), (0.6, 3), (20, 4)])
def test_what_the_work_takes_decides_how_many_threads_are_woken(many, monkeypatch, rate, users):
    """Waking costs 65 us a thread: a million elements at 0.3 ns are shared by two, at 0.05 by nobody."""
    clock, asked = Clock(rate), []
    monkeypatch.setattr(threads, "time", clock)
    monkeypatch.setattr(threads.pool, "run", lambda jobs, n: [asked.append(n), *[job() for job in jobs]])
    many(4)
    threads.split(clock.run, 1 << 20, 1 << 20, 1024)
    assert asked == ([users] if users > 1 else [])
    ends = sorted((start, stop) for start, stop, _ in clock.parts)
    assert ends[0][0] == 0 and ends[-1][1] == 1 << 20
    assert all(a[1] == b[0] for a, b in itertools.pairwise(ends))
    assert all(start % 1024 == 0 for start, _ in ends)


@pytest.mark.parametrize("n", [1, 7, 1023, 1025, 40 * 1024 + 1, 3_000_001])
def test_each_element_is_given_once_whatever_the_length(many, monkeypatch, n):
    monkeypatch.setattr(threads, "WAKE", 1)
    many(3)
    seen = np.zeros(n, int)

    def run(start, stop):
        seen[start:stop] += 1

    threads.split(run, n, 1e9, 1024)
    for joined in (False, True):
        spread.blocks(run, n, 100, spread.BIG, joined=joined)
    assert (seen == 3).all()


def test_threads_that_share_work_are_given_longer_pieces_where_they_may_be(many, monkeypatch):
    """Each call of numpy in several threads waits for the interpreter's lock."""
    monkeypatch.setattr(threads, "WAKE", 1)
    many(2)
    n, block = 1 << 21, 1 << 14
    for joined in (False, True):
        clock = Clock(1)
        spread.blocks(clock.run, n, block, n, joined=joined)
        alone = [stop - start for start, stop, busy in clock.parts if not busy]
        shared = [stop - start for start, stop, busy in clock.parts if busy]
        assert set(alone) == {block}
        assert set(shared) == ({block} if not joined else {max(shared)})
        assert max(shared) == (block if not joined else 507904)  # half of what the first part left


# ---- the pool ------------------------------------------------------------------------------------------------------
def test_an_error_in_a_block_is_raised_and_the_pool_goes_on():
    pool = threads.Pool()

    def fails():
        raise ValueError("of a block")

    seen = []
    with pytest.raises(ValueError, match="of a block"):
        pool.run([lambda: seen.append(1), fails, lambda: seen.append(2)], 3)
    pool.run([lambda: seen.append(3)] * 4, 3)
    assert seen.count(3) == 4


@linux
def test_an_interrupt_waits_for_the_blocks_that_run():
    pool, ended = threads.Pool(), []

    def job():
        time.sleep(0.05)
        ended.append(threading.get_ident())

    for _ in range(5):
        before = len(ended)
        timer = threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            pool.run([job] * 100, 3)
        timer.join()
        now = len(ended)
        assert before < now < before + 20
        time.sleep(0.1)
        assert len(ended) == now
    seen = []
    pool.run([lambda i=i: seen.append(i) for i in range(50)], 3)
    assert sorted(seen) == list(range(50))


def test_blocks_within_blocks_and_from_several_threads():
    pool, done = threads.Pool(), []

    def inner():
        pool.run([lambda: done.append(1)] * 3, 3)

    def outer():
        for _ in range(20):
            pool.run([inner] * 3, 3)

    users = [threading.Thread(target=outer) for _ in range(4)]
    for user in users:
        user.start()
    for user in users:
        user.join(60)
        assert not user.is_alive()
    assert len(done) == 4 * 20 * 9


# ---- fork ----------------------------------------------------------------------------------------------------------
FORK = """
import os, sys, time
import numpy as np, vistorch as L
x = L.tensor(np.random.default_rng(0).standard_normal((1 << 21,)).astype("f4"))
w = L.ones(32, 3, 3, 3)
def work():
    y = L.nn.functional.gelu(x)
    z = L.nn.functional.conv2d(x[: 3 << 18].view(16, 3, 128, 128), w)
    m = x[: 1 << 20].view(1024, 1024)
    return float((y * 2 + 1).sum() + z.sum() + (m @ m).sum() + (m.double() @ m.double()).sum())
before = work() if {first} else None
pid = os.fork()
if not pid:
    found = work()
    os._exit(0 if before is None or found == before else 1)
for _ in range(600):
    ended, status = os.waitpid(pid, os.WNOHANG)
    if ended:
        break
    time.sleep(0.1)
else:
    os.kill(pid, 9)
    status = "hangs"
print(status, before is None or work() == before)
"""


@linux
@pytest.mark.parametrize("first", [True, False], ids=["used before", "not used before"])
def test_a_forked_child_computes_the_same_and_does_not_wait(first):
    assert python(FORK.replace("{first}", str(first)), OMP_NUM_THREADS="3") == ["0", "True"]


LOADER = """
import vistorch as L
from vistorch.utils.data import DataLoader, Dataset

class Asks(Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, i):
        from vistorch.engine.kernels import threads
        x = L.ones(1 << 16)
        y = L.nn.functional.gelu(x) + (L.ones(256, 256) @ L.ones(256, 256)).sum()
        return L.get_num_threads(), max(threads.blas_counts() or [1]), float(y[0])

if __name__ == "__main__":
    L.nn.functional.gelu(L.ones(1 << 21)) + L.ones(1 << 21)
    for context in (None, "fork", "spawn"):
        found = [row for batch in DataLoader(Asks(), num_workers=2, multiprocessing_context=context) for row in [batch]]
        print(context, [(int(a), int(b)) for a, b, _ in found] == [(1, 1)] * 4)
"""


@linux
def test_workers_of_a_loader_keep_to_one_thread(tmp_path):
    path = tmp_path / "loads.py"
    path.write_text(LOADER)
    env = {**os.environ, "OMP_NUM_THREADS": "3"}
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=200, env=env)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines() == ["None True", "fork True", "spawn True"]


RANKS = """
import sys
import vistorch as L
import vistorch.multiprocessing as mp
from vistorch.engine.kernels import threads

def rank(i, path):
    open(f"{path}/{i}", "w").write(str(L.get_num_threads()))

def ask(_):
    return L.get_num_threads()

if __name__ == "__main__":
    threads.state.cores = 4
    threads._cores = lambda: 4
    mp.spawn(rank, args=(sys.argv[1],), nprocs=2)
    with mp.get_context("fork").Pool(2) as pool:
        print(pool.map(ask, range(3)))
    L.set_num_threads(3)
    with mp.get_context("fork").Pool(2) as pool:
        print(pool.map(ask, range(3)))
"""


@linux
def test_processes_that_compute_side_by_side_share_the_cores(tmp_path):
    path = tmp_path / "ranks.py"
    path.write_text(RANKS)
    env = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    for given, ranks in ((None, max(threads._cores() // 2, 1)), ("3", 3)):
        if given:
            env["OMP_NUM_THREADS"] = given
        done = subprocess.run(
            [sys.executable, path, tmp_path], capture_output=True, text=True, timeout=200, env=env
        )
        assert done.returncode == 0, done.stderr[-2000:]
        assert [(tmp_path / str(i)).read_text() for i in range(2)] == [str(ranks)] * 2
        if not given:
            assert done.stdout.split("\n")[:2] == ["[2, 2, 2]", "[3, 3, 3]"]


def test_threads_that_compute_side_by_side_share_the_threads(many):
    many(4)
    assert threads.share(1e9) == 4
    with threads.beside(2):
        assert threads.share(1e9) == 2
        with threads.beside(3):
            assert threads.share(1e9) == 1
    assert threads.share(1e9) == 4
