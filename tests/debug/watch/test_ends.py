"""How a run ends, and what is left: errors, interrupts, nesting, runs left open, a long run's memory."""

import gc
import subprocess
import sys
import weakref

import numpy as np
import pytest

import vistorch
from tests.debug.watch.loops import F, blobs, conv_net, pictures, small_net, small_training
from vistorch import nn, optim
from vistorch.debug.watch import watch
from vistorch.debug.watch.build import memory_of
from vistorch.engine.base.events import Listener, listeners
from vistorch.engine.memory.placement import CPU
from vistorch.widgets._frame.wire import pack


def silent():
    return listeners.op is None and listeners.phase is None and listeners.backward is None


def test_an_exception_leaves_the_last_state():
    net, opt, loop = small_training()
    x, _ = blobs(10)
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        with watch(net, opt) as run:
            loop(7)
            opt.zero_grad()
            net(x[:, :3])
    head = run.state()["head"]
    assert (head["status"], head["step"], head["error"]["kind"], head["error"]["module"]) == (
        "error",
        7,
        "RuntimeError",
        "0",
    )
    assert head["say"].startswith("Step 8 did not finish: RuntimeError in 0, test_ends.py, line ")
    assert head["say"].endswith("Shown: the last whole step, 7; the model holds its weights.")
    assert len(run.metrics.window.rows) == 70 and "Error after step 7" in run.text() and silent()


def test_an_interrupt_leaves_the_last_state():
    net, opt, loop = small_training()

    def at(i):
        if i == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        with watch(net, opt) as run:
            loop(9, at)
    assert run.status == "interrupted" and "Interrupted in step 5" in run.text() and silent()


def test_an_error_inside_a_validation_and_inside_a_looked_at_forward():
    net, (x, _) = conv_net(), pictures(8)
    opt = optim.SGD(net.parameters(), lr=0.1)
    with pytest.raises(RuntimeError):
        with watch(net, opt) as run:
            net(x[:, :2])
    assert silent() and run.step == 0
    with pytest.raises(RuntimeError):
        with watch(net, opt) as run, vistorch.no_grad():
            net(x)
            net(x[:, :2])
    assert silent()


def test_nested_and_side_by_side():
    net, opt, loop = small_training()
    other, other_opt, other_loop = small_training(seed=1)
    with watch(net, opt) as a, watch(other, other_opt) as b, watch(net) as c:
        loop(4)
        other_loop(6)
    assert (a.step, b.step, c.step) == (4, 6, 4)
    assert (len(a.metrics.window.rows), len(b.metrics.window.rows)) == (40, 60) and silent()
    assert a.metrics.loss.wire()["mean"].tolist()[0][1:] == c.metrics.loss.wire()["mean"].tolist()[0][1:]


def test_inner_modules_are_silent_only_where_nobody_else_listens():
    net, opt, loop = small_training()
    seen = []

    class Other(Listener):
        def phase(self, name, subject, *details):
            seen.append((name, subject))

    x, y = blobs(10)
    with watch(net, opt, findings=False) as run:
        loop(1)  # the first forward is looked into
        hook = net[0].register_forward_hook(lambda *_: seen.append(("phase", listeners.phase)))
        F.cross_entropy(net(x), y).backward()
        opt.step()
        assert seen == [("phase", None)] and listeners.phase is not None
        hook.remove()
        seen.clear()
        with Other():
            F.cross_entropy(net(x), y).backward()
            opt.step()
        assert ("forward", net[0]) in seen and ("forward_end", net[2]) in seen
        entered = Other()
        hook = net[0].register_forward_hook(lambda *_: (entered.__enter__(), None)[1])
        seen.clear()
        F.cross_entropy(net(x), y).backward()
        hook.remove()
        opt.step()
        entered.__exit__()
        assert ("forward", net[2]) in seen and ("step", opt) in seen
        loop(3)
    assert run.step == 7 and run.says == [] and silent()


def test_a_run_left_open_is_closed_by_the_next():
    net, opt, loop = small_training()
    first = watch(net, opt).start()
    loop(3)
    with watch(net, opt) as second:
        assert not first.open and first.status == "interrupted" and "left open" in first.say
        loop(2)
    assert (first.step, second.step) == (3, 2) and silent()
    first.close()
    with pytest.raises(RuntimeError, match="a run is opened once"):
        first.start()


def test_an_error_of_the_watching_is_not_the_loops():
    net, opt, loop = small_training()
    with watch(net, opt) as run:
        loop(2)
        run.metrics.add_losses = None
        loop(2)
        run.refresh = None
        run.refresher.next_refresh = 0
        run.loop.after_step = None
        loop(3)
    assert run.step == 4 and run.says and "Watching stopped: TypeError" in run.text()
    assert silent()


def test_nothing_of_the_graph_or_of_batches_is_kept():
    net, opt, _ = small_training()
    with watch(net, opt) as run:
        x, y = blobs(10)
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        node = weakref.ref(loss.grad_fn)
        opt.step()
        del loss
        assert node() is None
    assert run.pending.batches == [] and run.pending.predictions == [] and run.listener.inputs is None


def test_a_run_that_is_dropped_is_freed():
    net, opt, loop = small_training()
    with watch(net, opt) as run:
        loop(5)
    gone = weakref.ref(run)
    del run
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("wrong", ["abc"])
def test_classes_are_names(wrong):
    with pytest.raises(TypeError, match="classes must be a list of names"):
        watch(small_net(), classes=wrong)


def test_a_soak_keeps_its_memory_and_its_peak():
    net = nn.Linear(4, 3)
    opt = optim.SGD(net.parameters(), lr=1e-4)
    x, y = blobs(8)
    loud, wrong = x * 1000, (y + 1) % 3

    def loop(first, last):
        for i in range(first, last):
            loss = F.cross_entropy(net(loud), wrong) if i == PEAK else F.cross_entropy(net(x), y)
            loss.backward()
            opt.step()
            if i == PEAK:
                run.peak = loss.item()

    def held():
        run.refresh()
        gc.collect()
        return np.array([(memory_of(CPU) or [0])[0], sys.getallocatedblocks()])

    PEAK, STEPS = 12_345, 20_000
    with watch(net, opt, snapshot_every=0) as run:  # snapshots have their own bytes
        loop(1, 6000)
        before = held()
        loop(6000, STEPS + 1)
        grown, more = held() - before
    # 15,000 steps: not one small object in five is left behind, nor 600 bytes a step
    assert more < 3000 and grown < 8 * 2**20, (more, grown)
    curve = run.state()["loss"]["curve"]
    assert run.says == [] and run.step == STEPS and curve["width"] == 16
    assert curve["high"][0, PEAK // 16] == np.float32(run.peak) == np.nanmax(curve["high"]) > 50
    assert run.metrics.loss.count.sum() == STEPS and len(pack("watch", run.record().wire())) < 160_000


def test_it_imports_nothing_heavy():
    code = (
        "import sys, vistorch.debug.watch as w; w.watch(); "
        "bad = {'pandas', 'matplotlib', 'tqdm', 'torch', 'IPython', 'cupy'} & set(sys.modules); "
        "sys.exit(str(bad) if bad else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
