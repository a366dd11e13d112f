"""Recurrent networks as functions: layers above one another, in one direction or two.

`params` holds per layer and direction w_ih, w_hh and, with biases, b_ih, b_hh, then w_hr for a projected LSTM. Like
PyTorch's, each function has two forms: (input, hx, params, has_biases, num_layers, dropout, train, bidirectional,
batch_first), and (data, batch_sizes, hx, params, ..., bidirectional) for packed sequences.

Invariant: which form it is, is decided by the arguments alone, before anything is computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...base import dtypes, errors
from ...base.casting import casting
from ...core.registry import FUNCTIONS, public
from ...core.tensor import Tensor
from ..shape.join import cat, stack
from .elman import relu_layer, tanh_layer
from .gru import layer as gru_layer
from .lstm import layer as lstm_layer
from .sequence import no_bias, swapped

COMMON = ("params", "has_biases", "num_layers", "dropout", "train", "bidirectional")
DENSE = ("input", "hx", *COMMON, "batch_first")
PACKED = ("data", "batch_sizes", "hx", *COMMON)


def _arguments(name: str, args: tuple, named: dict, pair: bool) -> dict:
    """The arguments by name; those of a packed call have `batch_sizes`."""
    packed = (
        "batch_sizes" in named
        or "data" in named
        or (len(args) > 2 and isinstance(args[1], Tensor) and (pair or isinstance(args[2], Tensor)))
    )
    names = PACKED if packed else DENSE
    given = {**dict(zip(names, args, strict=False)), **named}
    if len(args) > len(names) or len(given) != len(args) + len(named) or set(given) != set(names):
        raise _combination(name, args, named)
    states = given["hx"] if pair else (given["hx"],)
    for group in (states, given["params"]):
        if not isinstance(group, (tuple, list)) or not all(isinstance(t, Tensor) for t in group):
            raise _combination(name, args, named)
    numbers = given["num_layers"], given["dropout"]
    flags = [given[k] for k in ("has_biases", "train", "bidirectional", names[-1])]
    if (
        not isinstance(given[names[0]], Tensor)
        or (packed and not isinstance(given["batch_sizes"], Tensor))
        or type(numbers[0]) is not int
        or type(numbers[1]) not in (int, float)
        or any(type(flag) is not bool for flag in flags)
    ):
        raise _combination(name, args, named)
    given["hx"] = tuple(states)
    return given


def _combination(name: str, args: tuple, named: dict) -> TypeError:
    kinds = [errors.type_name(a) for a in args] + [f"{k}={errors.type_name(v)}" for k, v in named.items()]
    forms = "\n".join(f" * ({', '.join(names)})" for names in (PACKED, DENSE))
    return TypeError(
        f"{name}() received an invalid combination of arguments - got ({', '.join(kinds)}), but expected one "
        f"of:\n{forms}\n"
    )


def _too_flat(dims: int, pair: bool) -> Exception:
    """The error for an input with no dimension for sequences, of PyTorch's type and, where they help, in its words."""
    if pair:
        return IndexError(
            "Dimension out of range (expected to be in range of [-1, 0], but got 1)"
            if dims
            else "Dimension specified as 0 but tensor has no dimensions"
        )
    return RuntimeError(
        f"the input of a recurrent network has 3 dimensions (steps, batch, features), and this one has {dims}"
    )


def _sizes(batch_sizes: Tensor) -> tuple:
    """The number of sequences at each step of a packed input."""
    if batch_sizes.dtype is not dtypes.int64:
        raise RuntimeError(
            f"expected scalar type Long but found {dtypes.of(batch_sizes._data.dtype).scalar_name}"
        )
    return tuple(batch_sizes.reshape(-1).tolist())


def _check_sizes(sizes: tuple, rows: int, batch: int) -> None:
    """Refuse sizes that are not those of a packed sequence."""
    start = 0
    for n in sizes:
        if n < 0 or start + n > rows:
            raise RuntimeError(f"start ({start}) + length ({n}) exceeds dimension size ({rows}).")
        start += n
    if start != rows or max(sizes, default=0) > batch or list(sizes) != sorted(sizes, reverse=True):
        raise RuntimeError(
            f"batch_sizes {list(sizes)} are not those of a packed sequence of {rows} rows and a batch of {batch}"
        )


def _grouped(params: Any, has_biases: bool, projected: bool) -> list[tuple]:
    """The parameters of each layer and direction, biases in place."""
    size = (4 if has_biases else 2) + projected
    if len(params) % size:
        raise RuntimeError("got an incorrect number of RNN parameters")
    groups = [tuple(params[at : at + size]) for at in range(0, len(params), size)]
    if has_biases:
        return groups
    made = []
    for w_ih, w_hh, *rest in groups:
        zero = no_bias(w_ih)
        made.append((w_ih, w_hh, zero, zero, *rest))
    return made


def _stacked(layer: Callable, x: Tensor, given: dict, groups: list, sizes: Any) -> tuple:
    """All layers; returns (output, *last states), each state stacked over layers and directions."""
    num_layers, two = given["num_layers"], given["bidirectional"]
    directions = 2 if two else 1
    hx = given["hx"]
    wanted = num_layers * directions
    if two and (len(groups) % 2 or hx[0].shape[0] % 2):
        raise RuntimeError("Odd number of params or hiddens given to a bidirectional RNN")
    if num_layers < 1 or hx[0].shape[0] != wanted:
        raise RuntimeError("Expected more hidden states in stacked_rnn")
    if len(groups) != wanted:
        raise RuntimeError("Expected more weights in stacked_rnn")
    dropout = given["dropout"] if given["train"] else 0
    last: list[list] = [[] for _ in hx]
    for at in range(num_layers):
        outs = []
        for direction in range(directions):
            k = at * directions + direction
            out, *states = layer(x, tuple([h[k] for h in hx]), groups[k], sizes, direction == 1)
            outs.append(out)
            for kept, state in zip(last, states, strict=True):
                kept.append(state)
        x = cat(outs, outs[0].dim() - 1) if two else outs[0]
        if dropout and at < num_layers - 1:
            x = FUNCTIONS["dropout"](x, dropout, True)
    return (x, *[stack(states) for states in last])


def _run(name: str, layer: Callable, args: tuple, named: dict, pair: bool = False) -> tuple:
    """One call of a network in either form."""
    given = _arguments(name, args, named, pair)
    hx = given["hx"]
    if pair and len(hx) != 2:
        raise RuntimeError(f"{name} expects two hidden states")
    projected = pair and hx[0].dim() > 0 and hx[0].shape[-1] != hx[1].shape[-1]
    groups = _grouped(given["params"], given["has_biases"], projected)
    if "data" in given:
        x, sizes = given["data"], _sizes(given["batch_sizes"])
        _check_sizes(sizes, x.shape[0], hx[0].shape[1])
        return _stacked(layer, x, given, groups, sizes)
    x = given["input"]
    if x.dim() < 2:
        raise _too_flat(x.dim(), pair)
    if given["batch_first"]:
        x = x.transpose(0, 1)
    if not x.shape[0]:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    out, *states = _stacked(layer, x, given, groups, None)
    if given["batch_first"]:
        out = out.transpose(0, 1) if pair else swapped(out)
    return (out, *states)


@public(method=False)
def lstm(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor, Tensor]:
    """A long short-term memory network: (output, last h, last c).

    Args:
        *args: (input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first), or
            (data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional) for packed
            sequences; hx is the pair of first states, each (num_layers * directions, batch, features).
        **kwargs: the same, named.

    Example:
        >>> import vistorch
        >>> x, h = vistorch.ones(3, 1, 2), vistorch.zeros(1, 1, 1)
        >>> params = [vistorch.ones(4, 2), vistorch.ones(4, 1)]
        >>> out, hn, cn = vistorch.lstm(x, (h, h), params, False, 1, 0.0, False, False, False)
        >>> out.flatten()
        tensor([0.6083, 0.8726, 0.9353])
    """
    if casting.on and (recast := casting.ask(lstm, locals())):
        return recast[0]
    return _run("lstm", lstm_layer, args, kwargs, True)


@public(method=False)
def gru(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """A network of gated recurrent units: (output, last h).

    Args:
        *args: as for `lstm`; hx is one tensor.
        **kwargs: the same, named.

    Example:
        >>> import vistorch
        >>> x, h = vistorch.ones(3, 1, 2), vistorch.zeros(1, 1, 1)
        >>> params = [vistorch.ones(3, 2), vistorch.ones(3, 1)]
        >>> out, hn = vistorch.gru(x, h, params, False, 1, 0.0, False, False, False)
        >>> hn
        tensor([[[0.2832]]])
    """
    if casting.on and (recast := casting.ask(gru, locals())):
        return recast[0]
    return _run("gru", gru_layer, args, kwargs)


@public(method=False)
def rnn_tanh(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """A plain recurrent network with tanh: (output, last h).

    Args:
        *args: as for `lstm`; hx is one tensor.
        **kwargs: the same, named.

    Example:
        >>> import vistorch
        >>> x, h = vistorch.ones(3, 1, 2), vistorch.zeros(1, 1, 1)
        >>> params = [vistorch.ones(1, 2), -vistorch.ones(1, 1)]
        >>> out, hn = vistorch.rnn_tanh(x, h, params, False, 1, 0.0, False, False, False)
        >>> out.flatten()
        tensor([0.9640, 0.7763, 0.8407])
    """
    if casting.on and (recast := casting.ask(rnn_tanh, locals())):
        return recast[0]
    return _run("rnn_tanh", tanh_layer, args, kwargs)


@public(method=False)
def rnn_relu(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """A plain recurrent network with relu: (output, last h).

    Args:
        *args: as for `lstm`; hx is one tensor.
        **kwargs: the same, named.

    Example:
        >>> import vistorch
        >>> x, h = vistorch.ones(3, 1, 2), vistorch.zeros(1, 1, 1)
        >>> params = [vistorch.ones(1, 2), -vistorch.ones(1, 1)]
        >>> out, hn = vistorch.rnn_relu(x, h, params, False, 1, 0.0, False, False, False)
        >>> out.flatten()
        tensor([2., 0., 2.])
    """
    if casting.on and (recast := casting.ask(rnn_relu, locals())):
        return recast[0]
    return _run("rnn_relu", relu_layer, args, kwargs)
