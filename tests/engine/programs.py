"""What programs of views ask of a library: values, names, sentences; the same words for both libraries.

Invariant: nothing but public names is used.
"""

import re


def values(tensor):
    """The elements as nested lists; None for no tensor."""
    return None if tensor is None else tensor.detach().tolist()


def node(tensor):
    """The name of the node that made a tensor."""
    return None if tensor.grad_fn is None else type(tensor.grad_fn).__name__


def sentence(action):
    """The type and the words of the exception an action raises, in torch's spelling."""
    try:
        action()
    except Exception as raised:
        return type(raised).__name__, re.sub(r"\bvistorch\b", "torch", str(raised)).split("\n")[0]
    return None


def leaf(L, *shape):
    """A leaf of consecutive numbers that wants a gradient."""
    count = 1
    for n in shape:
        count *= n
    return (
        L.tensor([float(i + 1) for i in range(count)], dtype=L.float64)
        .reshape(shape)
        .detach()
        .requires_grad_()
    )


def weighted(L, y):
    """Run backward from a scalar that depends on each element of `y` differently."""
    weights = L.tensor([0.5 + 0.25 * i for i in range(y.numel())], dtype=L.float64).reshape(y.shape)
    (y * weights).backward(L.ones(y.shape, dtype=L.float64))
