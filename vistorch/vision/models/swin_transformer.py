"""Swin Transformers of both generations, three sizes each.

Invariant: names, shapes, order and beginnings of the parameters are torchvision's.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from ... import Tensor, arange, cat, log, nn, ones, zeros
from ..ops.misc import MLP, Permute
from ..ops.stochastic_depth import StochasticDepth
from .blocks import pairwise_index
from .registry import named

__all__ = [
    "SwinTransformer",
    "swin_b",
    "swin_s",
    "swin_t",
    "swin_v2_b",
    "swin_v2_s",
    "swin_v2_t",
]

Norm = Callable[..., nn.Module]
F = nn.functional


class PatchMerging(nn.Module):
    """Four neighbours become one position, twice as wide; normalized before that.

    Args:
        dim: of a position.
        norm_layer: takes the channels.
    """

    first = True  # whether the normalization comes before the layer

    def __init__(self, dim: int, norm_layer: Norm = nn.LayerNorm) -> None:
        super().__init__()
        self.dim = dim
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = norm_layer(4 * dim if self.first else 2 * dim)

    def forward(self, x: Tensor) -> Any:
        """A quarter of the positions.

        Args:
            x: (..., height, width, dim).
        """
        height, width, _ = x.shape[-3:]
        x = F.pad(x, (0, 0, 0, width % 2, 0, height % 2))
        corners = [x[..., i::2, j::2, :] for j in (0, 1) for i in (0, 1)]
        x = cat(corners, -1)
        return self.reduction(self.norm(x)) if self.first else self.norm(self.reduction(x))


class PatchMergingV2(PatchMerging):
    """Four neighbours become one position, twice as wide; normalized after that.

    Args:
        dim: of a position.
        norm_layer: takes the channels.
    """

    first = False


def _to_windows(x: Tensor, window: list[int]) -> Tensor:
    """(N, height, width, C) as (windows, positions, C)."""
    n, height, width, channels = x.shape
    h, w = window
    x = x.view(n, height // h, h, width // w, w, channels).permute(0, 1, 3, 2, 4, 5)
    return x.reshape(-1, h * w, channels)


def _from_windows(x: Tensor, window: list[int], n: int, height: int, width: int) -> Tensor:
    """(windows, positions, C) as (N, height, width, C)."""
    h, w = window
    x = x.view(n, height // h, width // w, h, w, -1).permute(0, 1, 3, 2, 4, 5)
    return x.reshape(n, height, width, -1)


def _between_regions(like: Tensor, height: int, width: int, window: list[int], shift: list[int]) -> Tensor:
    """What is added to attention in each window: -100 between positions that a shift has brought together."""
    region = like.new_zeros((1, height, width, 1))
    edges = [[slice(0, -w), slice(-w, -s), slice(-s, None)] for w, s in zip(window, shift, strict=True)]
    for k, (rows, columns) in enumerate((rows, columns) for rows in edges[0] for columns in edges[1]):
        region[:, rows, columns] = k
    region = _to_windows(region, window).squeeze(-1)
    apart = region.unsqueeze(1) != region.unsqueeze(2)
    return like.new_zeros(apart.shape).masked_fill(apart, -100.0)


def shifted_window_attention(
    input: Tensor,
    qkv_weight: Tensor,
    proj_weight: Tensor,
    relative_position_bias: Tensor,
    window_size: list[int],
    num_heads: int,
    shift_size: list[int],
    attention_dropout: float = 0.0,
    dropout: float = 0.0,
    qkv_bias: Tensor | None = None,
    proj_bias: Tensor | None = None,
    logit_scale: Tensor | None = None,
    training: bool = True,
) -> Tensor:
    """Attention within windows, which may be shifted over the edges.

    Args:
        input: (N, height, width, C).
        qkv_weight: of queries, keys and values, (3 C, C).
        proj_weight: of the layer after the attention, (C, C).
        relative_position_bias: added to the attention, (1, heads, positions, positions).
        window_size: height and width of a window.
        num_heads: of the attention.
        shift_size: how far the windows are shifted.
        attention_dropout: how much attention is dropped.
        dropout: how much is dropped at the end.
        qkv_bias: of queries, keys and values; that of the keys counts as zero where there is a `logit_scale`.
        proj_bias: of the layer after the attention.
        logit_scale: the logarithm of what cosines are multiplied by; products in place of cosines if None.
        training: whether anything is dropped.
    """
    n, height, width, channels = input.shape
    h, w = window_size
    x = F.pad(input, (0, 0, 0, -width % w, 0, -height % h))
    _, tall, wide, _ = x.shape
    # A window that sees everything need not move.
    shift = [
        0 if size >= side else s for size, side, s in zip(window_size, (tall, wide), shift_size, strict=True)
    ]
    moved = sum(shift) > 0
    if moved:
        x = x.roll((-shift[0], -shift[1]), (1, 2))
    x = _to_windows(x, window_size)
    windows, positions, _ = x.shape
    if logit_scale is not None and qkv_bias is not None:
        third = qkv_bias.numel() // 3
        kept = ones(3 * third, dtype=qkv_bias.dtype, device=qkv_bias.device)
        kept[third : 2 * third] = 0
        qkv_bias = qkv_bias * kept
    qkv = F.linear(x, qkv_weight, qkv_bias).reshape(windows, positions, 3, num_heads, channels // num_heads)
    q, k, v = qkv.permute(2, 0, 3, 1, 4)
    if logit_scale is None:
        attention = (q * (channels // num_heads) ** -0.5) @ k.transpose(-2, -1)
    else:
        attention = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)
        attention = attention * logit_scale.clamp(max=math.log(100.0)).exp()
    attention = attention + relative_position_bias
    if moved:
        apart = _between_regions(x, tall, wide, window_size, shift)[None, :, None]
        attention = attention.view(n, windows // n, num_heads, positions, positions) + apart
        attention = attention.view(windows, num_heads, positions, positions)
    attention = F.dropout(F.softmax(attention, dim=-1), p=attention_dropout, training=training)
    x = (attention @ v).transpose(1, 2).reshape(windows, positions, channels)
    x = F.dropout(F.linear(x, proj_weight, proj_bias), p=dropout, training=training)
    x = _from_windows(x, window_size, n, tall, wide)
    if moved:
        x = x.roll((shift[0], shift[1]), (1, 2))
    return x[:, :height, :width, :].contiguous()


class ShiftedWindowAttention(nn.Module):
    """`shifted_window_attention` with its parameters.

    Args:
        dim: of a position.
        window_size: height and width of a window.
        shift_size: how far the windows are shifted.
        num_heads: of the attention.
        qkv_bias: whether queries, keys and values have one.
        proj_bias: whether the layer after the attention has one.
        attention_dropout: how much attention is dropped.
        dropout: how much is dropped at the end.
    """

    relative_position_index: Tensor

    def __init__(
        self,
        dim: int,
        window_size: list[int],
        shift_size: list[int],
        num_heads: int,
        qkv_bias: bool = True,
        proj_bias: bool = True,
        attention_dropout: float = 0.0,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if len(window_size) != 2 or len(shift_size) != 2:
            raise ValueError("window_size and shift_size must be of length 2")
        self.window_size = window_size
        self.shift_size = shift_size
        self.num_heads = num_heads
        self.attention_dropout = attention_dropout
        self.dropout = dropout
        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.proj = nn.Linear(dim, dim, bias=proj_bias)
        self.define_relative_position_bias_table()
        self.define_relative_position_index()

    def define_relative_position_bias_table(self) -> None:
        """Make what is learned for each way from one position to another."""
        h, w = self.window_size
        self.relative_position_bias_table = nn.Parameter(zeros((2 * h - 1) * (2 * w - 1), self.num_heads))
        nn.init.trunc_normal_(self.relative_position_bias_table, std=0.02)

    def define_relative_position_index(self) -> None:
        """Number the way from each position of a window to each other."""
        self.register_buffer("relative_position_index", pairwise_index(*self.window_size).flatten())

    def _spread(self, table: Tensor) -> Tensor:
        """The rows of a table, one for each pair of positions, (1, heads, positions, positions)."""
        positions = self.window_size[0] * self.window_size[1]
        rows = table[self.relative_position_index].view(positions, positions, -1)
        return rows.permute(2, 0, 1).contiguous().unsqueeze(0)

    def get_relative_position_bias(self) -> Tensor:
        """What is added to the attention."""
        return self._spread(self.relative_position_bias_table)

    def forward(self, x: Tensor) -> Tensor:
        """The positions, each with what it has seen in its window.

        Args:
            x: (N, height, width, dim).
        """
        return shifted_window_attention(
            x,
            self.qkv.weight,
            self.proj.weight,
            self.get_relative_position_bias(),
            self.window_size,
            self.num_heads,
            self.shift_size,
            self.attention_dropout,
            self.dropout,
            self.qkv.bias,
            self.proj.bias,
            getattr(self, "logit_scale", None),
            self.training,
        )


class ShiftedWindowAttentionV2(ShiftedWindowAttention):
    """Attention by cosines; what is added for a way is computed by a small network from how far it goes.

    Args:
        dim: of a position.
        window_size: height and width of a window.
        shift_size: how far the windows are shifted.
        num_heads: of the attention.
        qkv_bias: whether queries, keys and values have one.
        proj_bias: whether the layer after the attention has one.
        attention_dropout: how much attention is dropped.
        dropout: how much is dropped at the end.
    """

    relative_coords_table: Tensor

    def __init__(
        self,
        dim: int,
        window_size: list[int],
        shift_size: list[int],
        num_heads: int,
        qkv_bias: bool = True,
        proj_bias: bool = True,
        attention_dropout: float = 0.0,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(
            dim, window_size, shift_size, num_heads, qkv_bias, proj_bias, attention_dropout, dropout
        )
        self.logit_scale = nn.Parameter(log(10 * ones((num_heads, 1, 1))))
        self.cpb_mlp = nn.Sequential(
            nn.Linear(2, 512, bias=True), nn.ReLU(inplace=True), nn.Linear(512, num_heads, bias=False)
        )
        if self.qkv.bias is not None:
            self.qkv.bias.data[dim : 2 * dim] = 0

    def define_relative_position_bias_table(self) -> None:
        """Note how far each way goes, in a logarithmic measure."""
        h, w = self.window_size
        down, right = (arange(-(n - 1), n).float() / (n - 1) for n in (h, w))
        ways = zeros(1, 2 * h - 1, 2 * w - 1, 2)
        ways[..., 0], ways[..., 1] = down[:, None], right
        ways *= 8
        self.register_buffer("relative_coords_table", ways.sign() * (ways.abs() + 1.0).log2() / 3.0)

    def get_relative_position_bias(self) -> Tensor:
        """What is added to the attention."""
        table = self.cpb_mlp(self.relative_coords_table).view(-1, self.num_heads)
        return 16 * self._spread(table).sigmoid()


class SwinTransformerBlock(nn.Module):
    """Attention in windows and two layers, each with a normalization before it and a way around.

    Args:
        dim: of a position.
        num_heads: of the attention.
        window_size: height and width of a window.
        shift_size: how far the windows are shifted.
        mlp_ratio: how much the two layers widen.
        dropout: how much is dropped.
        attention_dropout: how much attention is dropped.
        stochastic_depth_prob: how likely each of the two is left out.
        norm_layer: takes the channels.
        attn_layer: makes the attention.
    """

    def __init__(
        self,
        dim: int,
        num_heads: int,
        window_size: list[int],
        shift_size: list[int],
        mlp_ratio: float = 4.0,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        stochastic_depth_prob: float = 0.0,
        norm_layer: Norm = nn.LayerNorm,
        attn_layer: Norm = ShiftedWindowAttention,
    ) -> None:
        super().__init__()
        self.norm1 = norm_layer(dim)
        self.attn = attn_layer(
            dim, window_size, shift_size, num_heads, attention_dropout=attention_dropout, dropout=dropout
        )
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")
        self.norm2 = norm_layer(dim)
        self.mlp = MLP(
            dim, [int(dim * mlp_ratio), dim], activation_layer=nn.GELU, inplace=None, dropout=dropout
        )
        for module in self.mlp.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.normal_(module.bias, std=1e-6)

    def forward(self, x: Tensor) -> Any:
        """The input and what attention and the two layers add to it.

        Args:
            x: (N, height, width, dim).
        """
        x = x + self.stochastic_depth(self.attn(self.norm1(x)))
        return x + self.stochastic_depth(self.mlp(self.norm2(x)))


class SwinTransformerBlockV2(SwinTransformerBlock):
    """Attention in windows and two layers, each with a normalization after it and a way around.

    Args:
        dim: of a position.
        num_heads: of the attention.
        window_size: height and width of a window.
        shift_size: how far the windows are shifted.
        mlp_ratio: how much the two layers widen.
        dropout: how much is dropped.
        attention_dropout: how much attention is dropped.
        stochastic_depth_prob: how likely each of the two is left out.
        norm_layer: takes the channels.
        attn_layer: makes the attention.
    """

    def __init__(
        self,
        dim: int,
        num_heads: int,
        window_size: list[int],
        shift_size: list[int],
        mlp_ratio: float = 4.0,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        stochastic_depth_prob: float = 0.0,
        norm_layer: Norm = nn.LayerNorm,
        attn_layer: Norm = ShiftedWindowAttentionV2,
    ) -> None:
        super().__init__(
            dim,
            num_heads,
            window_size,
            shift_size,
            mlp_ratio,
            dropout,
            attention_dropout,
            stochastic_depth_prob,
            norm_layer,
            attn_layer,
        )

    def forward(self, x: Tensor) -> Any:
        """The input and what attention and the two layers add to it.

        Args:
            x: (N, height, width, dim).
        """
        x = x + self.stochastic_depth(self.norm1(self.attn(x)))
        return x + self.stochastic_depth(self.norm2(self.mlp(x)))


class SwinTransformer(nn.Module):
    """Rows of attention in windows, of which every second one is shifted; between two rows neighbours are merged.

    Args:
        patch_size: height and width of the patches that pictures are cut into.
        embed_dim: of a position in the first row; doubled from row to row.
        depths: how many blocks each row has.
        num_heads: of the attention in each row.
        window_size: height and width of a window.
        mlp_ratio: how much the two layers of a block widen.
        dropout: how much is dropped.
        attention_dropout: how much attention is dropped.
        stochastic_depth_prob: how likely the last block is left out; the first never is.
        num_classes: how many scores come out.
        norm_layer: takes the channels.
        block: makes a block.
        downsample_layer: merges neighbours.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import models
        >>> net = models.SwinTransformer([4, 4], 8, [1, 1], [1, 2], [4, 4], num_classes=10)
        >>> net(vistorch.zeros(2, 3, 32, 32)).shape
        vistorch.Size([2, 10])
    """

    def __init__(
        self,
        patch_size: list[int],
        embed_dim: int,
        depths: list[int],
        num_heads: list[int],
        window_size: list[int],
        mlp_ratio: float = 4.0,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        stochastic_depth_prob: float = 0.1,
        num_classes: int = 1000,
        norm_layer: Norm | None = None,
        block: Norm | None = None,
        downsample_layer: Norm = PatchMerging,
    ) -> None:
        super().__init__()
        self.num_classes = num_classes
        block = block or SwinTransformerBlock
        norm_layer = norm_layer or functools.partial(nn.LayerNorm, eps=1e-5)
        size = (patch_size[0], patch_size[1])
        layers: list[nn.Module] = [
            nn.Sequential(
                nn.Conv2d(3, embed_dim, kernel_size=size, stride=size),
                Permute([0, 2, 3, 1]),
                norm_layer(embed_dim),
            )
        ]
        count, done, dim = sum(depths), 0, embed_dim
        for row, (depth, heads) in enumerate(zip(depths, num_heads, strict=False)):
            if row:
                layers.append(downsample_layer(dim, norm_layer))
                dim *= 2
            blocks = []
            for k in range(depth):
                blocks.append(
                    block(
                        dim,
                        heads,
                        window_size=window_size,
                        shift_size=[w // 2 if k % 2 else 0 for w in window_size],
                        mlp_ratio=mlp_ratio,
                        dropout=dropout,
                        attention_dropout=attention_dropout,
                        stochastic_depth_prob=stochastic_depth_prob * float(done) / (count - 1),
                        norm_layer=norm_layer,
                    )
                )
                done += 1
            layers.append(nn.Sequential(*blocks))
        self.features = nn.Sequential(*layers)
        self.norm = norm_layer(dim)
        self.permute = Permute([0, 3, 1, 2])
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten(1)
        self.head = nn.Linear(dim, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.trunc_normal_(module.weight, std=0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, x: Tensor) -> Any:
        """Scores of the classes.

        Args:
            x: pictures, (N, 3, height, width).
        """
        x = self.permute(self.norm(self.features(x)))
        return self.head(self.flatten(self.avgpool(x)))


# How wide a position is in the first row, blocks of the third row, heads in the first row; how likely the last block is
# left out.
SIZES = {"t": (96, 6, 3, 0.2), "s": (96, 18, 3, 0.3), "b": (128, 18, 4, 0.5)}


def _add(size: str, second: bool) -> Any:
    """A builder under its name."""
    width, third, heads, left_out = SIZES[size]

    def make(**kwargs: Any) -> SwinTransformer:
        own: dict[str, Any] = {"stochastic_depth_prob": left_out}
        if second:
            own.update(block=SwinTransformerBlockV2, downsample_layer=PatchMergingV2)
        window = 8 if second else 7
        return SwinTransformer(
            [4, 4],
            width,
            [2, 2, third, 2],
            [heads * 2**k for k in range(4)],
            [window, window],
            **own,
            **kwargs,
        )

    title = "Swin Transformer V2: Scaling Up Capacity and Resolution" if second else "Swin Transformer"
    name = f"swin_v2_{size}" if second else f"swin_{size}"
    return named(name, f'{name.replace("_", " ").title()} of "{title}".', make)


swin_t, swin_s, swin_b = _add("t", False), _add("s", False), _add("b", False)
swin_v2_t, swin_v2_s, swin_v2_b = _add("t", True), _add("s", True), _add("b", True)
