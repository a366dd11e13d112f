"""Which misread samples are kept."""

import numpy as np

import vistorch
from vistorch.debug.watch import watch


def run_of(batches):
    """A run that was told of batches of (label, read), and refreshed after each."""
    with watch(vistorch.nn.Linear(2, 3), share=1.0) as run:
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
    cells = run_of([batch]).book.mistakes.cells
    assert {cell: len(kept) for cell, kept in cells.items()} == {
        (2, 0, "training"): 1,
        (1, 2, "training"): 1,
        (0, 1, "training"): 2,
    }


def test_cells_that_hold_as_much_take_turns():
    cells = run_of([[(0, 1)] * 20, [(0, 1)] * 20 + [(1, 0)] * 2 + [(0, 1)] * 20]).book.mistakes.cells
    assert len(cells[1, 0, "training"]) == 2
    assert len(cells[0, 1, "training"]) == 6


def test_the_newest_of_a_cell_are_taken():
    found = run_of([[(0, 1)] * 10, [(0, 1)] * 10, [(0, 1)] * 10]).book.mistakes.cells[0, 1, "training"]
    assert len(found) == 8
    assert [m.number for m in found] == list(range(5, 13))
