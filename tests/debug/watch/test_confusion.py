import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vistorch.debug.watch.confusion import MOST, ClassCounts, Window, confusion_of

pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(-1, 4)), max_size=80)


@given(pairs)
def test_counts_are_numpys_definitions(samples):
    labels, read = np.array(samples, np.int64).reshape(-1, 2).T
    tally = ClassCounts(5)
    half = len(labels) // 2
    tally.add(labels[:half], read[:half])
    tally.add(labels[half:], read[half:])
    for c in range(5):
        assert tally.seen[c] == np.sum(labels == c)
        assert tally.right[c] == np.sum((labels == c) & (read == c))
        for d in range(5):
            assert tally.confusion[c, d] == np.sum((labels == c) & (read == d))
    assert tally.samples == len(labels)
    assert tally.accuracy == (np.mean(labels == read) if len(labels) else None)


@given(pairs)
def test_a_matrix_travels_as_its_cells(samples):
    labels, read = np.array(samples, np.int64).reshape(-1, 2).T
    tally = ClassCounts(5)
    tally.add(labels, read)
    sent = tally.wire()
    full = np.zeros((5, 5))
    full[tuple(sent["pairs"].T)] = sent["counts"]
    assert (full == tally.confusion).all() and (sent["counts"] > 0).all()


def test_the_window_holds_the_newest():
    window = Window(4)
    window.add(1, np.array([0, 0, 1]), np.array([0, 1, 1]))
    window.add(2, np.array([1, 2]), np.array([2, 2]))
    assert window.rows.tolist() == [[1, 0, 1], [1, 1, 1], [2, 1, 2], [2, 2, 2]]
    assert (
        window.tally(3).confusion == confusion_of(np.array([0, 1, 1, 2]), np.array([1, 1, 2, 2]), 3)
    ).all()
    window.forget_after(1)
    assert window.rows.tolist() == [[1, 0, 1], [1, 1, 1]]
    window.add(9, np.arange(10), np.arange(10))
    assert window.rows[:, 1].tolist() == [6, 7, 8, 9]


def test_many_classes_have_no_matrix():
    tally = ClassCounts(MOST + 1)
    tally.add(np.array([MOST, 3]), np.array([MOST, 4]))
    assert tally.confusion is None and tally.accuracy == 0.5 and "pairs" not in tally.wire()
