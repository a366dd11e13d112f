"""MaxViT: convolutions, attention in windows and attention over a grid, in turn.

Invariant: names, shapes, order and beginnings of the parameters are torchvision's.
"""

from __future__ import annotations

import functools
import math
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ... import Tensor, empty, nn
from ..ops.misc import Conv2dNormActivation, SqueezeExcitation
from ..ops.stochastic_depth import StochasticDepth
from .blocks import pairwise_index
from .registry import fix, named

__all__ = ["MaxVit", "maxvit_t"]

Layer = Callable[..., nn.Module]


def _halved(size: tuple[int, int]) -> tuple[int, int]:
    """What a filter of 3 by 3 with stride 2 makes of a size."""
    return (size[0] - 1) // 2 + 1, (size[1] - 1) // 2 + 1


class MBConv(nn.Module):
    """Widen, convolve each channel for itself, weigh the channels, narrow; with a way around.

    Args:
        in_channels: what comes in.
        out_channels: what goes out.
        expansion_ratio: how many times as wide as the result it is inside.
        squeeze_ratio: how many of the result's channels are between the two layers that weigh.
        stride: 1 or 2.
        activation_layer: makes the activation.
        norm_layer: takes the channels.
        p_stochastic_dropout: how likely it is left out.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        expansion_ratio: float,
        squeeze_ratio: float,
        stride: int,
        activation_layer: Layer,
        norm_layer: Layer,
        p_stochastic_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.proj: nn.Module = nn.Identity()
        if stride != 1 or in_channels != out_channels:
            fit = nn.Conv2d(in_channels, out_channels, kernel_size=1, stride=1, bias=True)
            pool = [nn.AvgPool2d(kernel_size=3, stride=stride, padding=1)] if stride == 2 else []
            self.proj = nn.Sequential(*pool, fit)
        wide, narrow = int(out_channels * expansion_ratio), int(out_channels * squeeze_ratio)
        p = p_stochastic_dropout
        self.stochastic_depth = StochasticDepth(p, mode="row") if p else nn.Identity()
        unit = functools.partial(
            Conv2dNormActivation, activation_layer=activation_layer, norm_layer=norm_layer, inplace=None
        )
        self.layers = nn.Sequential(
            OrderedDict(
                pre_norm=norm_layer(in_channels),
                conv_a=unit(in_channels, wide, kernel_size=1, stride=1, padding=0),
                conv_b=unit(wide, wide, kernel_size=3, stride=stride, padding=1, groups=wide),
                squeeze_excitation=SqueezeExcitation(wide, narrow, activation=nn.SiLU),
                conv_c=nn.Conv2d(wide, out_channels, kernel_size=1, bias=True),
            )
        )

    def forward(self, x: Tensor) -> Any:
        """Both ways together.

        Args:
            x: (N, in_channels, height, width).
        """
        around = self.proj(x)
        return around + self.stochastic_depth(self.layers(x))


class RelativePositionalMultiHeadAttention(nn.Module):
    """Attention within groups of positions, with something learned for each way from one to another.

    Args:
        feat_dim: of a position.
        head_dim: of a head.
        max_seq_len: how many positions a group has.
    """

    relative_position_index: Tensor

    def __init__(self, feat_dim: int, head_dim: int, max_seq_len: int) -> None:
        super().__init__()
        if feat_dim % head_dim != 0:
            raise ValueError(f"feat_dim: {feat_dim} must be divisible by head_dim: {head_dim}")
        self.n_heads = feat_dim // head_dim
        self.head_dim = head_dim
        self.size = math.isqrt(max_seq_len)
        self.max_seq_len = max_seq_len
        self.to_qkv = nn.Linear(feat_dim, feat_dim * 3)
        self.scale_factor = feat_dim**-0.5
        self.merge = nn.Linear(feat_dim, feat_dim)
        self.relative_position_bias_table = nn.Parameter(empty((2 * self.size - 1) ** 2, self.n_heads))
        self.register_buffer("relative_position_index", pairwise_index(self.size, self.size))
        nn.init.trunc_normal_(self.relative_position_bias_table, std=0.02)

    def get_relative_positional_bias(self) -> Tensor:
        """What is added to the attention."""
        rows = self.relative_position_bias_table[self.relative_position_index.view(-1)]
        return rows.view(self.max_seq_len, self.max_seq_len, -1).permute(2, 0, 1).contiguous().unsqueeze(0)

    def forward(self, x: Tensor) -> Any:
        """The positions, each with what it has seen in its group.

        Args:
            x: (N, groups, positions, feat_dim).
        """
        q, k, v = (
            part.unflatten(-1, (self.n_heads, self.head_dim)).transpose(2, 3)
            for part in self.to_qkv(x).chunk(3, dim=-1)
        )
        attention = q @ (k * self.scale_factor).transpose(-2, -1) + self.get_relative_positional_bias()
        return self.merge((attention.softmax(-1) @ v).transpose(2, 3).flatten(3))


class SwapAxes(nn.Module):
    """`swapaxes` as a module.

    Args:
        a: one dim.
        b: another.
    """

    def __init__(self, a: int, b: int) -> None:
        super().__init__()
        self.a = a
        self.b = b

    def forward(self, x: Tensor) -> Tensor:
        """A view with the two dims in each other's place.

        Args:
            x: any tensor that has them.
        """
        return x.swapaxes(self.a, self.b)


class WindowPartition(nn.Module):
    """Cut pictures into windows."""

    def forward(self, x: Tensor, p: int) -> Tensor:
        """The windows, (N, windows, positions, C).

        Args:
            x: (N, C, height, width).
            p: height and width of a window.
        """
        n, channels, height, width = x.shape
        x = x.reshape(n, channels, height // p, p, width // p, p).permute(0, 2, 4, 3, 5, 1)
        return x.reshape(n, -1, p * p, channels)


class WindowDepartition(nn.Module):
    """Put windows together again."""

    def forward(self, x: Tensor, p: int, h_partitions: int, w_partitions: int) -> Tensor:
        """The pictures, (N, C, height, width).

        Args:
            x: (N, windows, positions, C).
            p: height and width of a window.
            h_partitions: how many windows one above the other.
            w_partitions: how many side by side.
        """
        n, _, _, channels = x.shape
        x = x.reshape(n, h_partitions, w_partitions, p, p, channels).permute(0, 5, 1, 3, 2, 4)
        return x.reshape(n, channels, h_partitions * p, w_partitions * p)


class PartitionAttentionLayer(nn.Module):
    """Attention and two layers over parts of a picture: over windows, or over a grid that spans it.

    Args:
        in_channels: what comes in.
        head_dim: of a head.
        partition_size: of a window, or of the grid.
        partition_type: "window" or "grid".
        grid_size: height and width of the picture.
        mlp_ratio: how much the two layers widen.
        activation_layer: makes the activation.
        norm_layer: takes the channels.
        attention_dropout: how much is dropped after the attention.
        mlp_dropout: how much is dropped after the two layers.
        p_stochastic_dropout: how likely each of the two is left out.
    """

    def __init__(
        self,
        in_channels: int,
        head_dim: int,
        partition_size: int,
        partition_type: str,
        grid_size: tuple[int, int],
        mlp_ratio: int,
        activation_layer: Layer,
        norm_layer: Layer,
        attention_dropout: float,
        mlp_dropout: float,
        p_stochastic_dropout: float,
    ) -> None:
        super().__init__()
        self.n_heads = in_channels // head_dim
        self.head_dim = head_dim
        self.n_partitions = grid_size[0] // partition_size
        self.partition_type = partition_type
        self.grid_size = grid_size
        if partition_type not in ("grid", "window"):
            raise ValueError("partition_type must be either 'grid' or 'window'")
        over_grid = partition_type == "grid"
        self.p, self.g = partition_size, self.n_partitions
        if over_grid:
            self.p, self.g = self.g, self.p
        self.partition_op = WindowPartition()
        self.departition_op = WindowDepartition()
        self.partition_swap = SwapAxes(-2, -3) if over_grid else nn.Identity()
        self.departition_swap = SwapAxes(-2, -3) if over_grid else nn.Identity()
        self.attn_layer = nn.Sequential(
            norm_layer(in_channels),
            RelativePositionalMultiHeadAttention(in_channels, head_dim, partition_size**2),
            nn.Dropout(attention_dropout),
        )
        self.mlp_layer = nn.Sequential(
            nn.LayerNorm(in_channels),
            nn.Linear(in_channels, in_channels * mlp_ratio),
            activation_layer(),
            nn.Linear(in_channels * mlp_ratio, in_channels),
            nn.Dropout(mlp_dropout),
        )
        self.stochastic_dropout = StochasticDepth(p_stochastic_dropout, mode="row")

    def forward(self, x: Tensor) -> Any:
        """The picture and what attention and the two layers add to it.

        Args:
            x: (N, in_channels, height, width).
        """
        height, width = self.grid_size
        if height % self.p or width % self.p:
            raise AssertionError(
                f"Grid size must be divisible by partition size. Got grid size of {self.grid_size} and partition size "
                f"of {self.p}"
            )
        x = self.partition_swap(self.partition_op(x, self.p))
        x = x + self.stochastic_dropout(self.attn_layer(x))
        x = x + self.stochastic_dropout(self.mlp_layer(x))
        return self.departition_op(self.departition_swap(x), self.p, height // self.p, width // self.p)


class MaxVitLayer(nn.Module):
    """Convolutions, attention in windows, attention over a grid.

    Args:
        in_channels: what comes in.
        out_channels: what goes out.
        squeeze_ratio: how many channels are between the two layers that weigh them.
        expansion_ratio: how many times as wide as the result the convolutions are inside.
        stride: of the convolutions.
        norm_layer: takes the channels; of the convolutions.
        activation_layer: makes the activation.
        head_dim: of a head.
        mlp_ratio: how much the two layers after an attention widen.
        mlp_dropout: how much is dropped after them.
        attention_dropout: how much is dropped after an attention.
        p_stochastic_dropout: how likely each part is left out.
        partition_size: of a window and of the grid.
        grid_size: height and width of the picture.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        squeeze_ratio: float,
        expansion_ratio: float,
        stride: int,
        norm_layer: Layer,
        activation_layer: Layer,
        head_dim: int,
        mlp_ratio: int,
        mlp_dropout: float,
        attention_dropout: float,
        p_stochastic_dropout: float,
        partition_size: int,
        grid_size: tuple[int, int],
    ) -> None:
        super().__init__()

        def attention(kind: str) -> PartitionAttentionLayer:
            return PartitionAttentionLayer(
                out_channels,
                head_dim,
                partition_size,
                kind,
                grid_size,
                mlp_ratio,
                activation_layer,
                nn.LayerNorm,
                attention_dropout,
                mlp_dropout,
                p_stochastic_dropout,
            )

        self.layers = nn.Sequential(
            OrderedDict(
                MBconv=MBConv(
                    in_channels,
                    out_channels,
                    expansion_ratio,
                    squeeze_ratio,
                    stride,
                    activation_layer,
                    norm_layer,
                    p_stochastic_dropout,
                ),
                window_attention=attention("window"),
                grid_attention=attention("grid"),
            )
        )

    def forward(self, x: Tensor) -> Any:
        """All three, one after the other.

        Args:
            x: (N, in_channels, height, width).
        """
        return self.layers(x)


class MaxVitBlock(nn.Module):
    """Layers of which the first halves the size.

    Args:
        in_channels: what comes in.
        out_channels: what goes out.
        squeeze_ratio: how many channels are between the two layers that weigh them.
        expansion_ratio: how many times as wide as the result the convolutions are inside.
        norm_layer: takes the channels; of the convolutions.
        activation_layer: makes the activation.
        head_dim: of a head.
        mlp_ratio: how much the two layers after an attention widen.
        mlp_dropout: how much is dropped after them.
        attention_dropout: how much is dropped after an attention.
        partition_size: of a window and of the grid.
        input_grid_size: height and width of what comes in.
        n_layers: how many layers.
        p_stochastic: how likely each part of each layer is left out.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        squeeze_ratio: float,
        expansion_ratio: float,
        norm_layer: Layer,
        activation_layer: Layer,
        head_dim: int,
        mlp_ratio: int,
        mlp_dropout: float,
        attention_dropout: float,
        partition_size: int,
        input_grid_size: tuple[int, int],
        n_layers: int,
        p_stochastic: list[float],
    ) -> None:
        super().__init__()
        if len(p_stochastic) != n_layers:
            raise ValueError(
                f"p_stochastic must have length n_layers={n_layers}, got p_stochastic={p_stochastic}."
            )
        self.layers = nn.ModuleList()
        self.grid_size = _halved(input_grid_size)
        for k, p in enumerate(p_stochastic):
            layer = MaxVitLayer(
                out_channels if k else in_channels,
                out_channels,
                squeeze_ratio,
                expansion_ratio,
                1 if k else 2,
                norm_layer,
                activation_layer,
                head_dim,
                mlp_ratio,
                mlp_dropout,
                attention_dropout,
                p,
                partition_size,
                self.grid_size,
            )
            self.layers.append(layer)

    def forward(self, x: Tensor) -> Any:
        """Half the size.

        Args:
            x: (N, in_channels, height, width).
        """
        for layer in self.layers:
            x = layer(x)
        return x


class MaxVit(nn.Module):
    """Blocks of convolutions and two kinds of attention.

    Args:
        input_size: height and width of the pictures.
        stem_channels: what goes out of the first convolutions.
        partition_size: of a window and of the grid.
        block_channels: what goes out of each block.
        block_layers: how many layers each block has.
        head_dim: of a head.
        stochastic_depth_prob: how likely the last layer's parts are left out; the first's never are.
        norm_layer: takes the channels; of the convolutions.
        activation_layer: makes the activation.
        squeeze_ratio: how many channels are between the two layers that weigh them.
        expansion_ratio: how many times as wide as the result the convolutions are inside.
        mlp_ratio: how much the two layers after an attention widen.
        mlp_dropout: how much is dropped after them.
        attention_dropout: how much is dropped after an attention.
        num_classes: how many scores come out.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import models
        >>> net = models.MaxVit((16, 16), 8, 2, [8, 16], [1, 1], 4, 0.2, num_classes=10)
        >>> net(vistorch.zeros(2, 3, 16, 16)).shape
        vistorch.Size([2, 10])
    """

    def __init__(
        self,
        input_size: tuple[int, int],
        stem_channels: int,
        partition_size: int,
        block_channels: list[int],
        block_layers: list[int],
        head_dim: int,
        stochastic_depth_prob: float,
        norm_layer: Layer | None = None,
        activation_layer: Layer = nn.GELU,
        squeeze_ratio: float = 0.25,
        expansion_ratio: float = 4,
        mlp_ratio: int = 4,
        mlp_dropout: float = 0.0,
        attention_dropout: float = 0.0,
        num_classes: int = 1000,
    ) -> None:
        super().__init__()
        norm_layer = norm_layer or functools.partial(nn.BatchNorm2d, eps=1e-3, momentum=0.01)
        sizes = [_halved(input_size)]
        for _ in block_channels:
            sizes.append(_halved(sizes[-1]))
        for k, size in enumerate(sizes[1:]):
            if size[0] % partition_size or size[1] % partition_size:
                raise ValueError(
                    f"Input size {size} of block {k} is not divisible by partition size {partition_size}. "
                    "Consider changing the partition size or the input size.\n"
                    f"Current configuration yields the following block input sizes: {sizes[1:]}."
                )
        first = Conv2dNormActivation(
            3,
            stem_channels,
            3,
            stride=2,
            norm_layer=norm_layer,
            activation_layer=activation_layer,
            bias=False,
            inplace=None,
        )
        second = Conv2dNormActivation(
            stem_channels, stem_channels, 3, stride=1, norm_layer=None, activation_layer=None, bias=True
        )
        self.stem = nn.Sequential(first, second)
        self.partition_size = partition_size
        self.blocks = nn.ModuleList()
        layers, done, channels = sum(block_layers), 0, stem_channels
        for out, count, size in zip(block_channels, block_layers, sizes, strict=False):
            left_out = [stochastic_depth_prob * k / max(1, layers - 1) for k in range(done, done + count)]
            block = MaxVitBlock(
                channels,
                out,
                squeeze_ratio,
                expansion_ratio,
                norm_layer,
                activation_layer,
                head_dim,
                mlp_ratio,
                mlp_dropout,
                attention_dropout,
                partition_size,
                size,
                count,
                left_out,
            )
            self.blocks.append(block)
            channels, done = out, done + count
        self.classifier = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.LayerNorm(channels),
            nn.Linear(channels, channels),
            nn.Tanh(),
            nn.Linear(channels, num_classes, bias=False),
        )
        for module in self.modules():
            if isinstance(module, (nn.Conv2d, nn.Linear)):
                nn.init.normal_(module.weight, std=0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, x: Tensor) -> Any:
        """Scores of the classes.

        Args:
            x: pictures, (N, 3, *input_size).
        """
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.classifier(x)


def _ready(arguments: dict[str, Any], weights: Any) -> None:
    """Pictures are as large as those of the file."""
    side = weights.transforms.keywords["crop_size"]
    fix(arguments, "input_size", (side, side))


def _make(**kwargs: Any) -> MaxVit:
    size = kwargs.pop("input_size", (224, 224))
    return MaxVit(size, 64, 7, [64, 128, 256, 512], [2, 2, 5, 2], 32, 0.2, **kwargs)


maxvit_t = named("maxvit_t", 'MaxViT T of "MaxViT: Multi-Axis Vision Transformer".', _make, prepare=_ready)
