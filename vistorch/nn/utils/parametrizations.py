"""Parametrizations that come with the library: orthogonal matrices, lengths apart from directions, spectral norm one.

Invariant: each function changes the module that it is given and returns it.
"""

from __future__ import annotations

from typing import Any

from ...engine.base.modes import no_grad
from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from ..functional import normalize
from ..modules.module import Module
from . import parametrize
from .orthogonal import MAPS, _Orthogonal
from .spectral_norm import default_dim
from .weight_norm import norm_except_dim, normalized

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

mv, vdot = FUNCTIONS["mv"], FUNCTIONS["vdot"]


def _tensor_of(module: Any, name: str) -> Tensor:
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return weight


def orthogonal(
    module: Any, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Any:
    """Keep a matrix, or a batch of them, orthogonal (or unitary) while it is learned.

    Args:
        module: the module; it is changed and returned.
        name: the name of the matrix.
        orthogonal_map: "matrix_exp", "cayley" or "householder": how any matrix becomes an orthogonal one. If None,
            "matrix_exp" for square or complex matrices and "householder" for others.
        use_trivialization: learn relative to a base, which an assignment sets.

    Example:
        >>> import vistorch
        >>> layer = vistorch.nn.utils.parametrizations.orthogonal(vistorch.nn.Linear(3, 3))
        >>> Q = layer.weight
        >>> vistorch.allclose(Q.T @ Q, vistorch.eye(3), atol=1e-5)
        True
    """
    weight = _tensor_of(module, name)
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    if orthogonal_map not in MAPS:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    made = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    return parametrize.register_parametrization(module, name, made, unsafe=True)


class _WeightNorm(Module):
    """A weight out of its lengths and its directions."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        """The weight."""
        return normalized(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Its lengths, and itself."""
        return norm_except_dim(weight, self.dim), weight


class _OldNames:
    """Reads a state dict with the names that the old form of `weight_norm` writes."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, state_dict: Any, prefix: str, *others: Any) -> None:
        old = [f"{prefix}{self.name}_g", f"{prefix}{self.name}_v"]
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{self.name}.original{i}"] = state_dict.pop(key)


def weight_norm(module: Any, name: str = "weight", dim: int = 0) -> Any:
    """Learn the length and the direction of a weight apart (Salimans and Kingma, 2016).

    The lengths are `parametrizations.weight.original0`, the directions `original1`.

    Args:
        module: the module; it is changed and returned.
        name: the name of its weight.
        dim: the dim along which lengths are kept apart; None for one length.

    Example:
        >>> import vistorch
        >>> layer = vistorch.nn.utils.parametrizations.weight_norm(vistorch.nn.Linear(2, 3))
        >>> list(layer.state_dict())
        ['bias', 'parametrizations.weight.original0', 'parametrizations.weight.original1']
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    module._register_load_state_dict_pre_hook(_OldNames(name))
    return module


class _SpectralNorm(Module):
    """A weight divided by its largest singular value, whose two vectors are buffers."""

    _u: Any
    _v: Any

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        n = weight.ndim
        if not -n <= dim < n:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{n}, {n - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim, self.eps = dim % n, eps
        if n > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._reshape_weight_to_matrix(weight)
            u, v = (matrix.new_empty(size).normal_(0, 1) for size in matrix.shape)
            self.register_buffer("_u", normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", normalize(v, dim=0, eps=eps))
            self._power_method(matrix, 15)

    def _reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).flatten(1)

    @no_grad()
    def _power_method(self, matrix: Tensor, n_power_iterations: int) -> None:
        """Bring the buffers closer to the singular vectors, in their own memory."""
        for _ in range(n_power_iterations):
            self._u = normalize(mv(matrix, self._v), dim=0, eps=self.eps, out=self._u)
            self._v = normalize(mv(matrix.H, self._u), dim=0, eps=self.eps, out=self._v)

    def forward(self, weight: Tensor) -> Tensor:
        """The weight, divided."""
        if weight.ndim == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = self._reshape_weight_to_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()  # the next call writes the buffers
        return weight / vdot(u, mv(matrix, v))

    def right_inverse(self, value: Tensor) -> Tensor:
        """An assigned weight is taken as it is."""
        return value


def spectral_norm(
    module: Any,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Any:
    """Keep the largest singular value of a weight at one (Miyato et al., 2018).

    Args:
        module: the module; it is changed and returned.
        name: the name of its weight.
        n_power_iterations: how many steps of the power method each use in training makes.
        eps: the least that a norm counts as.
        dim: the dim of the outputs; 0, and 1 for transposed convolutions, if None.

    Example:
        >>> import vistorch
        >>> layer = vistorch.nn.utils.parametrizations.spectral_norm(vistorch.nn.Linear(20, 40))
        >>> bool((vistorch.linalg.matrix_norm(layer.weight, 2) - 1).abs() < 0.2)
        True
    """
    weight = _tensor_of(module, name)
    made = _SpectralNorm(weight, n_power_iterations, default_dim(module) if dim is None else dim, eps)
    return parametrize.register_parametrization(module, name, made)
