"""An input that is no sequence is refused by every recurrent function, with PyTorch's kind of exception."""

import pytest
import torch

import vistorch


def end(lib, name, gates, shape, batch_first):
    state = lib.zeros(1, 2, 4)
    params = [lib.ones(gates * 4, 3), lib.ones(gates * 4, 4)]
    hx = (state, state) if name == "lstm" else state
    with pytest.raises((RuntimeError, IndexError)) as caught:
        getattr(lib, name)(lib.ones(shape), hx, params, False, 1, 0.0, False, False, batch_first)
    return caught.value


@pytest.mark.parametrize(("name", "gates"), [("lstm", 4), ("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)])
@pytest.mark.parametrize("batch_first", [False, True])
def test_an_input_without_dimensions_is_refused(name, gates, batch_first):
    mine = end(vistorch, name, gates, (), batch_first)
    assert "tuple index" not in str(mine)
    if not batch_first:
        assert type(mine) is type(end(torch, name, gates, (), False))


@pytest.mark.parametrize(("name", "gates"), [("lstm", 4), ("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)])
def test_a_row_is_no_sequence(name, gates):
    mine = end(vistorch, name, gates, (3,), False)
    assert "tuple index" not in str(mine) and "imension" in str(mine)
