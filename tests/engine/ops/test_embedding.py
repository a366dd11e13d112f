"""Tables read by index: the sums behind their gradients, renormalisation, bags by frequency."""

import numpy as np
import pytest

import vistorch
from vistorch.engine.kernels import row_sums

torch = pytest.importorskip("torch", reason="torch is the reference")


def added(places, values, rows):
    out = np.zeros((rows, values.shape[1]))
    np.add.at(out, places, values)
    return out


@pytest.mark.parametrize("seed", range(60))
def test_row_sums_of_all_kinds_of_places(seed):
    rng = np.random.default_rng(seed)
    rows, count, width = int(rng.integers(1, 200)), int(rng.integers(0, 900)), int(rng.integers(1, 9))
    kind = seed % 4
    if kind == 0:
        places = rng.integers(0, rows, count)
    elif kind == 1:
        places = np.minimum(rng.zipf(1.3, count) - 1, rows - 1)
    elif kind == 2:
        places = np.full(count, rows - 1)
    else:
        places = rng.permutation(rows)[:count]
    values = rng.standard_normal((len(places), width))
    expected = added(places, values, rows)
    np.testing.assert_allclose(row_sums.added_rows(places, values, rows), expected, atol=1e-11)
    order = rng.permutation(len(places))
    again = row_sums.added_rows(places, values[np.argsort(order)], rows, order)
    np.testing.assert_allclose(again, expected, atol=1e-11)


def test_row_sums_do_not_lose_digits_in_long_chains():
    places, values = np.zeros(200_000, dtype=np.int64), np.full((200_000, 2), 0.1, np.float32)
    for rows in (1, 100):
        found = row_sums.added_rows(places, values, rows)[0]
        np.testing.assert_allclose(found, 200_000 * np.float64(np.float32(0.1)), rtol=2e-6)


def test_renormalising_counts_as_a_write():
    table = vistorch.tensor([[3.0, 4.0], [0.3, 0.4]])
    read = table.detach()
    result = vistorch.embedding_renorm_(table, vistorch.tensor([0, 0, 1]), 1.0, 2.0)
    assert result is table
    assert read._version == 1
    np.testing.assert_allclose(table.numpy(), [[0.6, 0.8], [0.3, 0.4]], rtol=1e-6)


def test_renormalising_refuses_a_leaf_and_changes_nothing():
    table = vistorch.tensor([[3.0, 4.0]], requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        vistorch.embedding_renorm_(table, vistorch.tensor([0]), 1.0, 2.0)
    assert table.tolist() == [[3.0, 4.0]]


def test_a_layer_with_a_largest_norm_shrinks_its_own_table():
    layer = vistorch.nn.Embedding.from_pretrained(
        vistorch.tensor([[3.0, 4.0], [30.0, 40.0]]), freeze=False, max_norm=1.0
    )
    layer(vistorch.tensor([1])).sum().backward()
    np.testing.assert_allclose(layer.weight.detach().numpy(), [[3, 4], [0.6, 0.8]], rtol=1e-6)
    np.testing.assert_allclose(layer.weight.grad.numpy(), [[0, 0], [1, 1]])


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_bags_by_frequency_divide_by_their_own_count(mode):
    """In torch a row that is named once is divided by the count of a row before it."""
    table = vistorch.zeros(5, 1, requires_grad=True)
    ids = vistorch.tensor([[1, 2, 1], [0, 3, 1]])
    out = vistorch.nn.functional.embedding_bag(ids, table, mode=mode, scale_grad_by_freq=True)
    out.sum().backward()
    share = 1 if mode == "sum" else 1 / 3
    np.testing.assert_allclose(table.grad.flatten().numpy(), np.array([1, 1, 1, 1, 0]) * share, rtol=1e-6)


def test_an_empty_bag_of_maxima_sends_no_gradient():
    table = vistorch.tensor([[1.0], [5.0]], requires_grad=True)
    out = vistorch.nn.functional.embedding_bag(
        vistorch.tensor([1]), table, vistorch.tensor([0, 1, 1]), mode="max"
    )
    out.sum().backward()
    assert out.flatten().tolist() == [5.0, 0.0, 0.0]
    assert table.grad.flatten().tolist() == [0.0, 1.0]


@pytest.mark.parametrize("swap", [False, True])
def test_the_older_order_of_arguments_is_reported(swap):
    table, ids = vistorch.ones(3, 2), vistorch.tensor([[0, 1]])
    if not swap:
        assert vistorch.nn.functional.embedding_bag(ids, table).tolist() == [[1.0, 1.0]]
        return
    with pytest.warns(UserWarning, match="Argument order of nn.functional.embedding_bag was changed"):
        assert vistorch.nn.functional.embedding_bag(table, ids).tolist() == [[1.0, 1.0]]
