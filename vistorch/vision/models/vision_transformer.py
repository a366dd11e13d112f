"""Vision Transformers, five sizes.

Invariant: names, shapes, order and beginnings of the parameters are torchvision's.
"""

from __future__ import annotations

import functools
import math
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

from ... import Tensor, cat, empty, nn, zeros
from ..ops.misc import MLP, Conv2dNormActivation
from .registry import fix, named

__all__ = ["VisionTransformer", "vit_b_16", "vit_b_32", "vit_h_14", "vit_l_16", "vit_l_32"]

Norm = Callable[..., nn.Module]
NORM: Norm = functools.partial(nn.LayerNorm, eps=1e-6)


class ConvStemConfig(NamedTuple):
    """One convolution of a stem that stands in the place of patches."""

    out_channels: int
    kernel_size: int
    stride: int
    norm_layer: Norm = nn.BatchNorm2d
    activation_layer: Norm = nn.ReLU


class MLPBlock(MLP):
    """The two layers of each position.

    Args:
        in_dim: what comes in and goes out.
        mlp_dim: between them.
        dropout: how much is dropped after each.
    """

    _version = 2  # the first called the layers linear_1 and linear_2

    def __init__(self, in_dim: int, mlp_dim: int, dropout: float) -> None:
        super().__init__(in_dim, [mlp_dim, in_dim], activation_layer=nn.GELU, inplace=None, dropout=dropout)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.normal_(module.bias, std=1e-6)

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], *rest: Any
    ) -> None:
        if (local_metadata.get("version") or 1) < 2:
            for old, new in (("linear_1", "0"), ("linear_2", "3")):
                for kind in ("weight", "bias"):
                    if f"{prefix}{old}.{kind}" in state_dict:
                        state_dict[f"{prefix}{new}.{kind}"] = state_dict.pop(f"{prefix}{old}.{kind}")
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


def _check_sequence(input: Tensor) -> None:
    if input.dim() != 3:
        raise AssertionError(f"Expected (batch_size, seq_length, hidden_dim) got {input.shape}")


class EncoderBlock(nn.Module):
    """Attention and two layers, each with a normalization before it and a way around.

    Args:
        num_heads: of the attention.
        hidden_dim: of each position.
        mlp_dim: between the two layers.
        dropout: how much is dropped.
        attention_dropout: how much attention is dropped.
        norm_layer: takes hidden_dim.
    """

    def __init__(
        self,
        num_heads: int,
        hidden_dim: int,
        mlp_dim: int,
        dropout: float,
        attention_dropout: float,
        norm_layer: Norm = NORM,
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.ln_1 = norm_layer(hidden_dim)
        self.self_attention = nn.MultiheadAttention(
            hidden_dim, num_heads, dropout=attention_dropout, batch_first=True
        )
        self.dropout = nn.Dropout(dropout)
        self.ln_2 = norm_layer(hidden_dim)
        self.mlp = MLPBlock(hidden_dim, mlp_dim, dropout)

    def forward(self, input: Tensor) -> Any:
        """The input and what attention and the two layers add to it.

        Args:
            input: (N, positions, hidden_dim).
        """
        _check_sequence(input)
        x = self.ln_1(input)
        x = self.dropout(self.self_attention(x, x, x, need_weights=False)[0]) + input
        return x + self.mlp(self.ln_2(x))


class Encoder(nn.Module):
    """Blocks over positions that know where they are.

    Args:
        seq_length: how many positions.
        num_layers: how many blocks.
        num_heads: of the attention.
        hidden_dim: of each position.
        mlp_dim: between the two layers.
        dropout: how much is dropped.
        attention_dropout: how much attention is dropped.
        norm_layer: takes hidden_dim.
    """

    def __init__(
        self,
        seq_length: int,
        num_layers: int,
        num_heads: int,
        hidden_dim: int,
        mlp_dim: int,
        dropout: float,
        attention_dropout: float,
        norm_layer: Norm = NORM,
    ) -> None:
        super().__init__()
        self.pos_embedding = nn.Parameter(empty(1, seq_length, hidden_dim).normal_(std=0.02))
        self.dropout = nn.Dropout(dropout)
        layers: OrderedDict[str, nn.Module] = OrderedDict()
        for k in range(num_layers):
            layers[f"encoder_layer_{k}"] = EncoderBlock(
                num_heads, hidden_dim, mlp_dim, dropout, attention_dropout, norm_layer
            )
        self.layers = nn.Sequential(layers)
        self.ln = norm_layer(hidden_dim)

    def forward(self, input: Tensor) -> Any:
        """The positions, each with what it has seen of the others.

        Args:
            input: (N, positions, hidden_dim).
        """
        _check_sequence(input)
        return self.ln(self.layers(self.dropout(input + self.pos_embedding)))


class VisionTransformer(nn.Module):
    """A transformer over the patches of a picture; a token before them gathers what the scores are made of.

    Args:
        image_size: height and width of the pictures.
        patch_size: of the squares that they are cut into.
        num_layers: how many blocks.
        num_heads: of the attention.
        hidden_dim: of each position.
        mlp_dim: between the two layers of a block.
        dropout: how much is dropped.
        attention_dropout: how much attention is dropped.
        num_classes: how many scores come out.
        representation_size: of a hidden layer before the scores; None for no such layer.
        norm_layer: takes hidden_dim.
        conv_stem_configs: convolutions in the place of patches.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import models
        >>> net = models.VisionTransformer(16, 8, 1, 2, 8, 16, num_classes=10)
        >>> net(vistorch.zeros(2, 3, 16, 16)).shape
        vistorch.Size([2, 10])
    """

    def __init__(
        self,
        image_size: int,
        patch_size: int,
        num_layers: int,
        num_heads: int,
        hidden_dim: int,
        mlp_dim: int,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        num_classes: int = 1000,
        representation_size: int | None = None,
        norm_layer: Norm = NORM,
        conv_stem_configs: list[ConvStemConfig] | None = None,
    ) -> None:
        super().__init__()
        if image_size % patch_size:
            raise AssertionError("Input shape indivisible by patch size!")
        self.image_size = image_size
        self.patch_size = patch_size
        self.hidden_dim = hidden_dim
        self.mlp_dim = mlp_dim
        self.attention_dropout = attention_dropout
        self.dropout = dropout
        self.num_classes = num_classes
        self.representation_size = representation_size
        self.norm_layer = norm_layer
        if conv_stem_configs is None:
            self.conv_proj: Any = nn.Conv2d(3, hidden_dim, kernel_size=patch_size, stride=patch_size)
        else:
            self.conv_proj = _stem(conv_stem_configs, hidden_dim)
        self.class_token = nn.Parameter(zeros(1, 1, hidden_dim))
        self.seq_length = (image_size // patch_size) ** 2 + 1
        self.encoder = Encoder(
            self.seq_length,
            num_layers,
            num_heads,
            hidden_dim,
            mlp_dim,
            dropout,
            attention_dropout,
            norm_layer,
        )
        heads: OrderedDict[str, nn.Module] = OrderedDict()
        if representation_size is None:
            heads["head"] = nn.Linear(hidden_dim, num_classes)
        else:
            heads["pre_logits"] = nn.Linear(hidden_dim, representation_size)
            heads["act"] = nn.Tanh()
            heads["head"] = nn.Linear(representation_size, num_classes)
        self.heads: Any = nn.Sequential(heads)
        self._begin()

    def _begin(self) -> None:
        """The first values of what is not in a block."""
        stem = self.conv_proj
        if isinstance(stem, nn.Conv2d):
            fan = stem.in_channels * stem.kernel_size[0] * stem.kernel_size[1]
            nn.init.trunc_normal_(stem.weight, std=math.sqrt(1 / fan))
            nn.init.zeros_(stem.bias)  # type: ignore[arg-type]
        else:
            nn.init.normal_(stem.conv_last.weight, mean=0.0, std=math.sqrt(2.0 / stem.conv_last.out_channels))
            nn.init.zeros_(stem.conv_last.bias)
        if self.representation_size is not None:
            hidden = self.heads.pre_logits
            nn.init.trunc_normal_(hidden.weight, std=math.sqrt(1 / hidden.in_features))
            nn.init.zeros_(hidden.bias)
        nn.init.zeros_(self.heads.head.weight)
        nn.init.zeros_(self.heads.head.bias)

    def _process_input(self, x: Tensor) -> Tensor:
        """The patches, (N, patches, hidden_dim)."""
        for side, size in (("height", x.shape[2]), ("width", x.shape[3])):
            if size != self.image_size:
                raise AssertionError(f"Wrong image {side}! Expected {self.image_size} but got {size}!")
        patches = (self.image_size // self.patch_size) ** 2
        return self.conv_proj(x).reshape(x.shape[0], self.hidden_dim, patches).permute(0, 2, 1)

    def forward(self, x: Tensor) -> Any:
        """Scores of the classes.

        Args:
            x: pictures, (N, 3, image_size, image_size).
        """
        x = self._process_input(x)
        x = self.encoder(cat([self.class_token.expand(x.shape[0], -1, -1), x], 1))
        return self.heads(x[:, 0])


def _stem(configs: list[ConvStemConfig], hidden_dim: int) -> nn.Sequential:
    """Convolutions in the place of patches."""
    stem = nn.Sequential()
    channels = 3
    for k, config in enumerate(configs):
        unit = Conv2dNormActivation(
            channels,
            config.out_channels,
            kernel_size=config.kernel_size,
            stride=config.stride,
            norm_layer=config.norm_layer,
            activation_layer=config.activation_layer,
        )
        stem.add_module(f"conv_bn_relu_{k}", unit)
        channels = config.out_channels
    stem.add_module("conv_last", nn.Conv2d(channels, hidden_dim, kernel_size=1))
    return stem


def interpolate_embeddings(
    image_size: int,
    patch_size: int,
    model_state: dict[str, Any],
    interpolation_mode: str = "bicubic",
    reset_heads: bool = False,
) -> dict[str, Any]:
    """The values of a network for pictures of another size: where its positions are is interpolated.

    Args:
        image_size: of the new network.
        patch_size: of the new network.
        model_state: the state_dict of the old one; its positions are replaced.
        interpolation_mode: as in `interpolate`.
        reset_heads: leave out the last layers, if the size changes.

    Example:
        >>> from vistorch.vision import models
        >>> from vistorch.vision.models.vision_transformer import interpolate_embeddings
        >>> small = models.VisionTransformer(16, 8, 1, 2, 8, 16)
        >>> interpolate_embeddings(32, 8, small.state_dict())["encoder.pos_embedding"].shape
        vistorch.Size([1, 17, 8])
    """
    positions = model_state["encoder.pos_embedding"]
    n, length, hidden_dim = positions.shape
    if n != 1:
        raise ValueError(f"Unexpected position embedding shape: {positions.shape}")
    side = image_size // patch_size
    if length == side**2 + 1:
        return model_state
    old = math.isqrt(length - 1)
    if old**2 != length - 1:
        raise ValueError(
            "seq_length is not a perfect square! Instead got seq_length_1d * seq_length_1d = "
            f"{old * old} and seq_length = {length - 1}"
        )
    grid = positions[:, 1:].permute(0, 2, 1).reshape(1, hidden_dim, old, old)
    grid = nn.functional.interpolate(grid, size=side, mode=interpolation_mode, align_corners=True)
    grid = grid.reshape(1, hidden_dim, side**2).permute(0, 2, 1)
    model_state["encoder.pos_embedding"] = cat([positions[:, :1], grid], 1)
    if reset_heads:
        return OrderedDict((key, value) for key, value in model_state.items() if not key.startswith("heads"))
    return model_state


def _ready(arguments: dict[str, Any], weights: Any) -> None:
    """Pictures are as large as those of the file."""
    fix(arguments, "image_size", weights.transforms.keywords["crop_size"])


def _add(size: str, patch_size: int, shape: tuple[int, int, int, int]) -> Any:
    """A builder under its name."""
    layers, heads, width, hidden = shape

    def make(**kwargs: Any) -> VisionTransformer:
        return VisionTransformer(
            kwargs.pop("image_size", 224), patch_size, layers, heads, width, hidden, **kwargs
        )

    summary = (
        f'ViT {size.upper()} of "An Image Is Worth 16x16 Words", patches of {patch_size} by {patch_size}.'
    )
    return named(f"vit_{size}_{patch_size}", summary, make, prepare=_ready)


# How many blocks, heads, how wide a position is and the hidden layer of a block.
BASE, LARGE, HUGE = (12, 12, 768, 3072), (24, 16, 1024, 4096), (32, 16, 1280, 5120)
vit_b_16, vit_b_32 = _add("b", 16, BASE), _add("b", 32, BASE)
vit_l_16, vit_l_32 = _add("l", 16, LARGE), _add("l", 32, LARGE)
vit_h_14 = _add("h", 14, HUGE)
