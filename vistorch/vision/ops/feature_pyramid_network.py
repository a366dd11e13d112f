"""Features of several sizes, each with what the smaller ones know.

Invariant: names of children and their order are torchvision's, so that its files fit.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ... import Tensor, nn
from ...nn import functional as F
from .misc import Conv2dNormActivation


class ExtraFPNBlock(nn.Module):
    """What comes after the pyramid: takes the results, the inputs and their names, gives results and names."""

    def forward(
        self, results: list[Tensor], x: list[Tensor], names: list[str]
    ) -> tuple[list[Tensor], list[str]]:
        """More results, with their names.

        Args:
            results: of the pyramid, from the largest on.
            x: its inputs.
            names: of both.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a forward of its own")


class FeaturePyramidNetwork(nn.Module):
    """Add to features of each size those of the next smaller one.

    Args:
        in_channels_list: channels of each input, from the largest picture on.
        out_channels: of each output.
        extra_blocks: an `ExtraFPNBlock`, or None.
        norm_layer: takes the channels; no normalization if None.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.ops import FeaturePyramidNetwork
        >>> net = FeaturePyramidNetwork([4, 8], 2)
        >>> out = net({"large": vistorch.ones(1, 4, 8, 8), "small": vistorch.ones(1, 8, 4, 4)})
        >>> {name: tuple(t.shape) for name, t in out.items()}
        {'large': (1, 2, 8, 8), 'small': (1, 2, 4, 4)}
    """

    _version = 2

    def __init__(
        self,
        in_channels_list: list[int],
        out_channels: int,
        extra_blocks: ExtraFPNBlock | None = None,
        norm_layer: Callable[..., nn.Module] | None = None,
    ) -> None:
        super().__init__()
        self.inner_blocks = nn.ModuleList()
        self.layer_blocks = nn.ModuleList()
        plain = {"norm_layer": norm_layer, "activation_layer": None}
        for in_channels in in_channels_list:
            if in_channels == 0:
                raise ValueError("in_channels=0 is currently not supported")
            self.inner_blocks.append(Conv2dNormActivation(in_channels, out_channels, 1, padding=0, **plain))
            self.layer_blocks.append(Conv2dNormActivation(out_channels, out_channels, 3, **plain))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_uniform_(module.weight, a=1)
                if module.bias is not None:
                    nn.init.constant_(module.bias, 0)
        if extra_blocks is not None and not isinstance(extra_blocks, ExtraFPNBlock):
            raise TypeError(f"extra_blocks should be of type ExtraFPNBlock not {type(extra_blocks)}")
        self.extra_blocks = extra_blocks

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], *rest: Any
    ) -> None:
        if (local_metadata.get("version") or 1) < 2:  # the convolutions were not in rows yet
            for i in range(len(self.inner_blocks)):
                for key in (f"{prefix}{b}_blocks.{i}" for b in ("inner", "layer")):
                    for kind in ("weight", "bias"):
                        if f"{key}.{kind}" in state_dict:
                            state_dict[f"{key}.0.{kind}"] = state_dict.pop(f"{key}.{kind}")
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def forward(self, x: dict[str, Tensor]) -> dict[str, Tensor]:
        """The features with what the smaller ones know, by the same names.

        Args:
            x: features by name, from the largest picture on.
        """
        names, inputs = list(x.keys()), list(x.values())
        last: Any = self.inner_blocks[-1](inputs[-1])
        results: list[Tensor] = [self.layer_blocks[-1](last)]
        for i in range(len(inputs) - 2, -1, -1):
            side: Any = self.inner_blocks[i](inputs[i])
            last = side + F.interpolate(last, size=side.shape[-2:], mode="nearest")
            results.insert(0, self.layer_blocks[i](last))
        if self.extra_blocks is not None:
            results, names = self.extra_blocks(results, inputs, names)
        return OrderedDict(zip(names, results, strict=False))


class LastLevelMaxPool(ExtraFPNBlock):
    """One smaller result: every second pixel of the smallest."""

    def forward(
        self, results: list[Tensor], x: list[Tensor], names: list[str]
    ) -> tuple[list[Tensor], list[str]]:
        """The results, and one named `pool`.

        Args:
            results: of the pyramid, from the largest on.
            x: its inputs.
            names: of both.
        """
        names.append("pool")
        results.append(F.max_pool2d(results[-1], kernel_size=1, stride=2, padding=0))
        return results, names


class LastLevelP6P7(ExtraFPNBlock):
    """Two smaller results, by convolutions.

    Args:
        in_channels: of the smallest picture.
        out_channels: of the results.
    """

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.p6 = nn.Conv2d(in_channels, out_channels, 3, 2, 1)
        self.p7 = nn.Conv2d(out_channels, out_channels, 3, 2, 1)
        for module in (self.p6, self.p7):
            nn.init.kaiming_uniform_(module.weight, a=1)
            nn.init.constant_(module.bias, 0)
        self.use_P5 = in_channels == out_channels

    def forward(
        self, results: list[Tensor], x: list[Tensor], names: list[str]
    ) -> tuple[list[Tensor], list[str]]:
        """The results, and two named `p6` and `p7`.

        Args:
            results: of the pyramid, from the largest on.
            x: its inputs.
            names: of both.
        """
        p6 = self.p6(results[-1] if self.use_P5 else x[-1])
        results.extend([p6, self.p7(F.relu(p6))])
        names.extend(["p6", "p7"])
        return results, names
