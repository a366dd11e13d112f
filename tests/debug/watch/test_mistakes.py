"""Which misread samples are kept."""

import numpy as np

import vistorch
from tests.debug.watch.loops import F, conv_net, pictures
from vistorch import optim
from vistorch.debug.watch import watch
from vistorch.debug.watch.mistakes import Batches


def run_of(batches):
    """A run that was given batches of (label, read), and refreshed after each."""
    with watch(vistorch.nn.Linear(2, 3), share=1.0) as run:
        run.reader.fill = lambda *_: None  # what the loop takes as it goes on
        for batch in batches:
            labels, read = np.array(batch).T
            run.observe(np.eye(3, dtype=np.float32)[read], labels)
            run.refresh()
            run.budget.jobs["mistakes"].until = run.budget.jobs["mistakes"].spent = (
                0.0  # as if it had cost nothing
            )
    return run


def test_rare_cells_come_before_those_that_have_samples():
    batch = [(2, 0)] + [(1, 2)] * 2 + [(0, 1)] * 40  # the rare ones are the oldest of their batch
    cells = run_of([batch]).metrics.mistakes.cells
    assert {cell: len(kept) for cell, kept in cells.items()} == {
        (2, 0, "training"): 1,
        (1, 2, "training"): 1,
        (0, 1, "training"): 2,
    }


def test_cells_that_hold_as_much_take_turns():
    cells = run_of([[(0, 1)] * 20, [(0, 1)] * 20 + [(1, 0)] * 2 + [(0, 1)] * 20]).metrics.mistakes.cells
    assert len(cells[1, 0, "training"]) == 2
    assert len(cells[0, 1, "training"]) == 6


def test_the_newest_of_a_cell_are_taken():
    found = run_of([[(0, 1)] * 10, [(0, 1)] * 10, [(0, 1)] * 10]).metrics.mistakes.cells[0, 1, "training"]
    assert len(found) == 8
    assert [m.number for m in found] == list(range(5, 13))


# ---- filled while nobody waits -------------------------------------------------------------------------------------
def misread(net, x, y):
    """How often each cell is misread."""
    read = net(x).argmax(1).numpy()
    found = {}
    for label, said in zip(y.numpy(), read, strict=True):
        if label != said:
            found[int(label), int(said)] = found.get((int(label), int(said)), 0) + 1
    return found


def kept(run, where):
    return {key[:2]: len(cell) for key, cell in run.metrics.mistakes.cells.items() if key[2] == where}


def training(run, net, opt, x, y, steps=6, at=lambda i: None):
    for i in range(steps):
        opt.zero_grad()
        F.cross_entropy(net(x), y).backward()
        opt.step()
        at(i)


def test_a_pause_fills_every_cell_with_its_newest_eight():
    net, (x, y) = conv_net(), pictures(90)
    opt = optim.SGD(net.parameters(), lr=0.0)
    want = {cell: min(8, 6 * n) for cell, n in misread(net, x, y).items()}
    seen = []
    with watch(net, opt, share=1e-9) as run:

        def poll():
            if run.status == "paused" and not run.commands.waiting:
                seen.append(kept(run, "training"))
                assert all(m.image is not None for cell in run.metrics.mistakes.cells.values() for m in cell)
                run.resume()

        run.poll = poll
        training(run, net, opt, x, y, at=lambda i: run.pause() if i == 4 else None)
    assert seen == [want] and want and kept(run, "training") == want
    assert {m.step for cell in run.metrics.mistakes.cells.values() for m in cell} <= {5, 6}
    assert not run.reader.newest.reads  # nothing is held when it is over


def test_a_validation_fills_its_cells():
    net, (x, y) = conv_net(), pictures(90)
    opt = optim.SGD(net.parameters(), lr=0.0)
    with watch(net, opt, share=1e-9) as run:
        training(run, net, opt, x, y, 1)
        net.eval()
        with vistorch.no_grad():
            for i in range(0, 90, 15):
                F.cross_entropy(net(x[i : i + 15]), y[i : i + 15])
        net.train()
        run.listener.check.began -= 1e3  # as if it had taken long: then there is time for all
        training(run, net, opt, x, y, 1)
        found = kept(run, "validation")
    assert found == {cell: min(8, n) for cell, n in misread(net, x, y).items()}


def test_what_is_held_is_bounded():
    class LossInputs:
        kind, nbytes = "classes", 3 << 20

        def __init__(self, rows):
            self.scores, self.step, self.target = np.zeros((rows, 2)), 1, np.zeros(rows)

    from vistorch.debug.watch.predictions import Read

    def read(batches, rows):
        n = batches * rows
        return Read(
            [LossInputs(rows) for _ in range(batches)], [rows] * batches, np.zeros(n), np.zeros(n), None, None
        )

    held = Batches()
    for _ in range(50):
        held.add([read(1, 100)])
        assert held.bytes <= 16 << 20 and sum(len(r.sights) for r in held.reads) == held.bytes // (3 << 20)
    held.clear()
    LossInputs.nbytes = 1
    for _ in range(9):
        held.add([read(400, 10)])  # a refresh of many small batches
        assert 1024 <= held.samples < 1034


def test_a_rewind_keeps_the_batches_before_it():
    net, (x, y) = conv_net(), pictures(30)
    opt = optim.SGD(net.parameters(), lr=0.0)
    said = []
    with watch(net, opt, share=1e-9, snapshot_every=4) as run:

        def poll():
            if run.status == "paused" and not run.commands.waiting:
                said.append((run.say, {m.step for cell in run.metrics.mistakes.cells.values() for m in cell}))
                run.rewind(5) if len(said) == 1 else run.resume()

        run.poll = poll
        training(run, net, opt, x, y, 9, at=lambda i: run.pause() if i == 7 else None)
    assert said[1][0].startswith("Paused at step 5, where the rewind went.")
    assert max(said[1][1]) == 5 and len(said[1][1]) >= 1
