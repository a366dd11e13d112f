"""Spectral normalisation in its old form: a hook divides the weight by its largest singular value.

The two singular vectors are kept as buffers and come a little closer with each `forward` in training.

Invariant: the state dict says which version of the buffers it has; one without `weight_v` gets it on loading.
"""

from __future__ import annotations

from typing import Any

from ...engine.base.modes import no_grad
from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from ..functional import normalize
from ..modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..parameter import Parameter, is_lazy

__all__ = [
    "SpectralNorm",
    "SpectralNormLoadStateDictPreHook",
    "SpectralNormStateDictHook",
    "remove_spectral_norm",
    "spectral_norm",
]

dot, mv = FUNCTIONS["dot"], FUNCTIONS["mv"]


def default_dim(module: Any) -> int:
    """Where the outputs of a layer are: the first dim of its weight, or the second of a transposed convolution."""
    return int(isinstance(module, ConvTranspose1d | ConvTranspose2d | ConvTranspose3d))


class SpectralNorm:
    """The hook that computes one weight.

    Args:
        name: the name of the weight.
        n_power_iterations: how many steps of the power method a call in training makes.
        dim: the dim of the outputs.
        eps: the least that a norm counts as.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.utils.spectral_norm import SpectralNorm
        >>> layer = vistorch.nn.Linear(2, 2, bias=False)
        >>> layer.weight.data = vistorch.tensor([[4.0, 0.0], [0.0, 2.0]])
        >>> hook = SpectralNorm.apply(layer, "weight", n_power_iterations=50, dim=0, eps=1e-12)
        >>> hook.compute_weight(layer, do_power_iteration=True).detach()
        tensor([[1.0000, 0.0000],
                [0.0000, 0.5000]])
        >>> hook.reshape_weight_to_matrix(vistorch.ones(8, 3, 5, 5)).shape  # as of a convolution
        vistorch.Size([8, 75])
        >>> hook.remove(layer)
        >>> list(layer.state_dict())
        ['weight']
    """

    _version: int = 1

    def __init__(
        self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name, self.dim = name, dim
        self.n_power_iterations, self.eps = n_power_iterations, eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """The weight as a matrix with a row for each output.

        Args:
            weight: of any shape.
        """
        return weight.movedim(self.dim, 0).reshape(weight.shape[self.dim], -1)

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Tensor:
        """The weight of a module.

        Args:
            module: the module that has the parameter and the two buffers.
            do_power_iteration: whether the buffers come closer to the singular vectors first.
        """
        weight, u, v = (getattr(module, self.name + part) for part in ("_orig", "_u", "_v"))
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v = normalize(mv(matrix.t(), u), dim=0, eps=self.eps, out=v)
                    u = normalize(mv(matrix, v), dim=0, eps=self.eps, out=u)
                u, v = (
                    u.clone(),
                    v.clone(),
                )  # the next call writes the buffers, which a graph would have saved
        return weight / dot(u, mv(matrix, v))

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again.

        Args:
            module: the hooked module.
        """
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for part in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + part)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        """Compute the weight before `forward`."""
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    def _solve_v_and_rescale(self, matrix: Tensor, u: Tensor, sigma: Any) -> Tensor:
        """The `v` that makes `u.T @ matrix @ v` the given number."""
        found = mv(matrix.pinverse(), u)
        return found.mul_(sigma / dot(u, mv(matrix, found)))

    @staticmethod
    def apply(module: Any, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        """Hook a module.

        Args:
            module: the module.
            name: the name of its weight.
            n_power_iterations: how many steps of the power method a call in training makes.
            dim: the dim of the outputs.
            eps: the least that a norm counts as.
        """
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to run the dummy "
                "forward before applying spectral normalization"
            )
        with no_grad():
            rows, columns = hook.reshape_weight_to_matrix(weight).shape
            u, v = (normalize(weight.new_empty(n).normal_(0, 1), dim=0, eps=eps) for n in (rows, columns))
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.data)  # a plain tensor until the first call computes it
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(hook)
        module._register_state_dict_hook(SpectralNormStateDictHook(hook))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(hook))
        return hook


class SpectralNormLoadStateDictPreHook:
    """Gives a state dict of an older version the vector that it lacks.

    Args:
        fn: the hook of the weight.

    Example:
        >>> import vistorch
        >>> layer = vistorch.nn.utils.spectral_norm(vistorch.nn.Linear(2, 2, bias=False))
        >>> state = layer.state_dict()  # made into one of the time before `weight_v`
        >>> v, state["weight"] = state.pop("weight_v"), layer(vistorch.eye(2)).detach().T
        >>> state._metadata[""].pop("spectral_norm")
        {'weight.version': 1}
        >>> layer.load_state_dict(state)
        <All keys matched successfully>
    """

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(
        self,
        state_dict: Any,
        prefix: str,
        about: dict,
        strict: bool,
        missing: list,
        unexpected: Any,
        errors: Any,
    ) -> None:
        """Look at the state dict before it is loaded."""
        fn = self.fn
        version = about.get("spectral_norm", {}).get(fn.name + ".version")
        if version is not None and version >= 1:
            return
        key = prefix + fn.name
        whole = all(key + part in state_dict for part in ("_orig", "_u", "_v"))
        if version is None and whole and key not in state_dict:
            return  # new enough, but saved without its metadata
        lacking = [key + part for part in ("_orig", "", "_u") if key + part not in state_dict]
        if lacking:
            missing.extend(lacking if strict else ())
            return
        with no_grad():
            original, weight = state_dict[key + "_orig"], state_dict.pop(key)
            sigma = (original / weight).mean()
            matrix = fn.reshape_weight_to_matrix(original)
            state_dict[key + "_v"] = fn._solve_v_and_rescale(matrix, state_dict[key + "_u"], sigma)


class SpectralNormStateDictHook:
    """Writes the version of the buffers into the metadata of a state dict.

    Args:
        fn: the hook of the weight.

    Example:
        >>> import vistorch
        >>> layer = vistorch.nn.utils.spectral_norm(vistorch.nn.Linear(2, 2))
        >>> layer.state_dict()._metadata[""]["spectral_norm"]
        {'weight.version': 1}
    """

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(self, module: Any, state_dict: Any, prefix: str, about: dict) -> None:
        """Complete the metadata."""
        versions = about.setdefault("spectral_norm", {})
        key = self.fn.name + ".version"
        if key in versions:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        versions[key] = self.fn._version


def spectral_norm(
    module: Any,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Any:
    """Keep the largest singular value of a weight at one; `parametrizations.spectral_norm` is the newer form.

    Args:
        module: the module; it is changed and returned.
        name: the name of its weight.
        n_power_iterations: how many steps of the power method a call in training makes.
        eps: the least that a norm counts as.
        dim: the dim of the outputs; 0, and 1 for transposed convolutions, if None.

    Example:
        >>> import vistorch
        >>> layer = vistorch.nn.utils.spectral_norm(vistorch.nn.Linear(2, 3))
        >>> list(layer.state_dict())
        ['bias', 'weight_orig', 'weight_u', 'weight_v']
    """
    SpectralNorm.apply(module, name, n_power_iterations, default_dim(module) if dim is None else dim, eps)
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Make the weight an ordinary parameter again.

    Args:
        module: the module; it is changed and returned.
        name: the name of its weight.

    Example:
        >>> import vistorch
        >>> layer = vistorch.nn.utils.spectral_norm(vistorch.nn.Linear(2, 3))
        >>> sorted(vistorch.nn.utils.remove_spectral_norm(layer).state_dict())
        ['bias', 'weight']
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            break
    else:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    for hooks, kind in (
        (module._state_dict_hooks, SpectralNormStateDictHook),
        (module._load_state_dict_pre_hooks, SpectralNormLoadStateDictPreHook),
    ):
        for key, hook in list(hooks.items()):
            hook = getattr(hook, "hook", hook)  # those that load stand behind what binds them to the module
            if isinstance(hook, kind) and hook.fn.name == name:
                del hooks[key]
    return module
