"""A network up to some of its layers: what segmentation and detection build on."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from ... import nn


class IntermediateLayerGetter(nn.ModuleDict):
    """The children of a network in their order, up to the last that is asked for; gives the results of those.

    Args:
        model: the network: its children run one after the other.
        return_layers: the name of a child -> the name of its result.

    Example:
        >>> import vistorch
        >>> from vistorch import nn
        >>> net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 4))
        >>> getter = IntermediateLayerGetter(net, {"0": "first", "1": "second"})
        >>> {name: tuple(out.shape) for name, out in getter(vistorch.ones(1, 2)).items()}
        {'first': (1, 3), 'second': (1, 3)}
    """

    _version = 2
    return_layers: dict[str, str]

    def __init__(self, model: nn.Module, return_layers: dict[str, str]) -> None:
        children = dict(model.named_children())
        if not set(return_layers) <= set(children):
            raise ValueError("return_layers are not present in model")
        last = max(
            (at for at, name in enumerate(children) if name in return_layers), default=len(children) - 1
        )
        super().__init__(OrderedDict(list(children.items())[: last + 1]))
        self.return_layers = return_layers

    def forward(self, x: Any) -> Any:
        """Run the children; give what was asked for, by name."""
        out = OrderedDict()
        for name, module in self.items():
            x = module(x)
            if name in self.return_layers:
                out[self.return_layers[name]] = x
        return out
