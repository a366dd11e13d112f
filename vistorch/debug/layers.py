"""What a layer is called: its name as a person writes it, its class, and its size.

Graphs, steps, comparisons, traces and memory all use these functions, so a layer has one name everywhere. Invariant:
nothing of a module runs: only what stands in its `__dict__` is read, and only numbers and tuples of numbers of that.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

LISTS = frozenset(("Sequential", "ModuleList"))
ARROW = "→"


def is_module(value: Any) -> bool:
    """Whether a value is a module: by its class alone, nothing is asked of a stranger's attributes.

    Args:
        value: anything.

    Example:
        >>> from vistorch import nn
        >>> from vistorch.debug.layers import is_module
        >>> is_module(nn.ReLU()), is_module(nn.ReLU), is_module(3)
        (True, False, False)
    """
    kind = type(value)  # `_call_impl` is PyTorch's name of what a call runs, which programs rely on
    return not isinstance(value, type) and hasattr(kind, "named_modules") and hasattr(kind, "_call_impl")


def is_optimizer(value: Any) -> bool:
    """Whether a value is an optimizer: by its class alone, as there are things that have any attribute.

    Args:
        value: anything.

    Example:
        >>> from unittest.mock import MagicMock
        >>> from vistorch import nn, optim
        >>> from vistorch.debug.layers import is_optimizer
        >>> is_optimizer(optim.SGD(nn.Linear(1, 1).parameters())), is_optimizer(MagicMock())
        (True, False)
    """
    kind = type(value)
    return not isinstance(value, type) and hasattr(kind, "add_param_group") and hasattr(kind, "zero_grad")


def spoken(path: str, root: Any = None, name: str = "") -> str:
    """A path of `named_modules` as an expression: "head.5" is `head[5]`.

    Args:
        path: the path; "" is the root itself.
        root: the module that the path starts at; without it, numbers are taken for indices.
        name: what the root is called; it is written where the path begins with an index.

    Example:
        >>> from vistorch import nn
        >>> from vistorch.debug.layers import spoken
        >>> spoken("layers.0.attn.2"), spoken("5"), spoken("5", name="net")
        ('layers[0].attn[2]', '[5]', 'net[5]')
        >>> net = nn.ModuleDict({"0": nn.ModuleList([nn.Tanh()])})
        >>> spoken("0.0", net, "net")
        "net['0'][0]"
    """
    out, at = "", root
    for part in path.split(".") if path else ():
        kinds = () if at is None else [c.__name__ for c in type(at).__mro__]
        if "ModuleDict" in kinds:
            out += f"[{part!r}]"
        elif part.isdigit() and (at is None or not LISTS.isdisjoint(kinds)):
            out += f"[{part}]"
        else:
            out += f".{part}" if out else part
        at = (vars(at).get("_modules") or {}).get(part) if at is not None else None
    return name + out if out.startswith("[") or not out else out


def below(full: str, above: str) -> str:
    """A name below the layer around it: "head[5]" in "head" stays, as an index alone names nothing.

    Args:
        full: the whole name.
        above: that of the layer around it.

    Example:
        >>> from vistorch.debug.layers import below
        >>> below("block2.conv", "block2"), below("net.head[5]", "net.head"), below("head", "")
        ('conv', 'head[5]', 'head')
    """
    rest = full[len(above) :] if above and full.startswith(above) else full
    if rest.startswith("["):
        return above.rpartition(".")[2] + rest
    return rest[1:] if rest.startswith(".") else full


def size_of(module: Any) -> str:
    """The size of a layer in a few signs, "" where it has none.

    Args:
        module: any module.

    Example:
        >>> from vistorch import nn
        >>> from vistorch.debug.layers import size_of
        >>> size_of(nn.Linear(84, 10)), size_of(nn.Conv2d(6, 16, 5)), size_of(nn.MaxPool2d(2)), size_of(nn.ReLU())
        ('84 → 10', '6 → 16, 5×5', '2', '')
    """
    known = getattr(module, "__dict__", {})

    def text(key: str) -> str:
        return _text(known.get(key))

    kernel = text("kernel_size")
    for come, go in (("in_features", "out_features"), ("in_channels", "out_channels"), PAIRS[0], PAIRS[1]):
        if text(come) not in ("", "0") and text(go):
            return f"{text(come)} {ARROW} {text(go)}" + (f", {kernel}" if kernel else "")
    if text("in1_features") and text("in2_features") and text("out_features"):
        return f"{text('in1_features')}, {text('in2_features')} {ARROW} {text('out_features')}"
    if text("embed_dim") and text("num_heads"):
        return f"{text('embed_dim')}, {text('num_heads')} heads"
    if text("num_groups") and text("num_channels"):
        return f"{text('num_channels')} in {text('num_groups')} groups"
    if kernel:
        return kernel
    if text("output_size"):
        return f"{ARROW} {text('output_size')}"
    if type(module).__name__.endswith("Dropout") or "Dropout" in type(module).__name__:
        return f"p={known['p']:g}" if isinstance(known.get("p"), (int, float)) else ""
    found = text("num_features") or text("normalized_shape")
    return "" if found == "0" else found


PAIRS = (("num_embeddings", "embedding_dim"), ("input_size", "hidden_size"))


def _text(value: Any) -> str:
    """A number, or numbers with signs between; "" for anything else."""
    if type(value) is int:
        return str(value)
    if isinstance(value, (tuple, list)) and 0 < len(value) < 8 and all(type(v) is int for v in value):
        return "×".join(map(str, value))
    return ""


def about(module: Any) -> str:
    """Class and size of a layer in one line.

    Args:
        module: any module.

    Example:
        >>> from vistorch import nn
        >>> from vistorch.debug.layers import about
        >>> about(nn.Linear(84, 10)), about(nn.ReLU())
        ('Linear 84 → 10', 'ReLU')
    """
    return _joined((type(module).__name__, size_of(module)))


def layer(name: str, kind: str = "", size: str = "") -> str:
    """Name, class and size in one line, what is not known left out.

    Args:
        name: the spoken name.
        kind: the class.
        size: as `size_of` gives it.

    Example:
        >>> from vistorch.debug.layers import layer
        >>> layer("head[5]", "Linear", "84 → 10")
        'head[5] Linear 84 → 10'
    """
    return _joined((name, "" if kind == name else kind, size))


def _joined(parts: Iterable[str]) -> str:
    return " ".join([part for part in parts if part])
