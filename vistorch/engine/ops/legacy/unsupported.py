"""What a tensor can be in PyTorch and is not here: sparse, quantized, on other machines, in other types.

Questions are answered as PyTorch answers them for a dense tensor. Invariant: what is not built says so in one sentence,
when it is called.
"""

from __future__ import annotations

from typing import Any

from ...base import dtypes, errors
from ...core.registry import METHODS, public
from ...core.tensor import Tensor, become
from ...library_name import named
from ...methods.metadata import needs_tensor

_DENSE = "vistorch's tensors are dense."
_PLAIN = "vistorch has no quantized tensors; train and run in float32, float16 or bfloat16."
_EXPECTS = {
    "ccol_indices": "sparse column compressed",
    "row_indices": "sparse column compressed",
    "col_indices": "sparse row compressed",
    "crow_indices": "sparse row compressed",
    "coalesce": "sparse coordinate",
    "is_coalesced": "sparse coordinate",
    "indices": "sparse coordinate",
    "values": "sparse",
}
_UNBUILT = {
    "to_sparse to_sparse_coo to_sparse_csr to_sparse_csc to_sparse_bsr to_sparse_bsc sparse_mask sparse_resize_ "
    "sparse_resize_and_clear_ resize_as_sparse_ smm sspaddmm to_mkldnn to_padded_tensor": _DENSE,
    "int_repr q_scale q_zero_point q_per_channel_axis q_per_channel_scales q_per_channel_zero_points qscheme": _PLAIN,
    "chalf": "it has no complex halves; use complex64.",
    "index": "dims have no names here; write `x[...]`.",
    "slice_inverse": "write into a copy: `copy = base.clone(); copy[start:end] = part`.",
}


_DOC = """{meaning}

Example:
    >>> import vistorch
    >>> vistorch.ones(2).{name}()
    Traceback (most recent call last):
        ...
    {error}
"""


def _named(call: Any, name: str, meaning: str, error: str) -> None:
    call.__name__ = call.__qualname__ = name
    call.__doc__ = _DOC.format(meaning=meaning, name=name, error=error)
    METHODS[name] = call


def _expecting(name: str, kind: str) -> None:
    sentence = f"{name} expected {kind} tensor layout but got Strided"

    def call(self):
        raise RuntimeError(sentence)

    _named(call, name, f"Of {kind} tensors; one that is dense has none.", f"RuntimeError: {sentence}")


def _unbuilt(name: str, why: str) -> None:
    sentence = f"vistorch.Tensor.{name} is not built: {why}"

    def call(self, *args, **kwargs):
        raise NotImplementedError(named(sentence))

    call.unbuilt = True  # type: ignore[attr-defined]
    _named(call, name, f"Not built: {why}", f"NotImplementedError: {sentence}")


for _name, _kind in _EXPECTS.items():
    _expecting(_name, _kind)
for _names, _why in _UNBUILT.items():
    for _name in _names.split():
        _unbuilt(_name, _why)


_REINFORCE = """
reinforce() was removed.
Use vistorch.distributions instead.
See https://pytorch.org/docs/main/distributions.html

Instead of:

probs = policy_network(state)
action = probs.multinomial()
next_state, reward = env.step(action)
action.reinforce(reward)
action.backward()

Use:

probs = policy_network(state)
# NOTE: categorical is equivalent to what used to be called multinomial
m = vistorch.distributions.Categorical(probs)
action = m.sample()
next_state, reward = env.step(action)
loss = -m.log_prob(action) * reward
loss.backward()
"""


@public(function=False)
def reinforce(input, reward):
    """Refused, as PyTorch does: `distributions` and their `log_prob` took its place.

    Args:
        input: a tensor.
        reward: what an action was worth.

    Example:
        >>> import vistorch
        >>> try:
        ...     vistorch.ones(1).reinforce(1.0)
        ... except RuntimeError as error:
        ...     print(str(error).splitlines()[1])
        reinforce() was removed.
    """
    raise RuntimeError(named(_REINFORCE))


def _there(kind: str) -> None:
    def call(self, device=None, non_blocking=False, **options):
        return METHODS["to"](self, kind)

    sentence = f"vistorch has cpu, cuda and meta devices; device type {kind!r} has no kernels here"
    _named(call, kind, "Refused: there are CPU and CUDA tensors.", f"NotImplementedError: {sentence}")


for _name in ("ipu", "mtia", "xpu"):
    _there(_name)


@public(function=False)
def dense_dim(input):
    """The number of dims, all of them dense.

    Args:
        input: a tensor.

    Example:
        >>> import vistorch
        >>> vistorch.ones(2, 3).dense_dim()
        2
    """
    return input._data.ndim


@public(function=False)
def sparse_dim(input):
    """0: the tensor is dense.

    Args:
        input: a tensor.

    Example:
        >>> import vistorch
        >>> vistorch.ones(2, 3).sparse_dim()
        0
    """
    return 0


@public(function=False)
def to_dense(input, dtype=None, *, masked_grad=None):
    """The tensor itself: it is dense.

    Args:
        input: a tensor.
        dtype: convert to this type.
        masked_grad: changes nothing.

    Example:
        >>> import vistorch
        >>> vistorch.ones(2).to_dense()
        tensor([1., 1.])
    """
    return input if dtype is None else METHODS["to"](input, dtype)


@public()
def dequantize(input):
    """The tensor in float32: it is not quantized.

    Args:
        input: a tensor.

    Example:
        >>> import vistorch
        >>> vistorch.arange(2).dequantize()
        tensor([0., 1.])
    """
    return METHODS["to"](needs_tensor(input, "dequantize"), dtypes.float32)


@public(function=False)
def const_data_ptr(input):
    """The address of the first element.

    Args:
        input: a tensor.

    Example:
        >>> import vistorch
        >>> x = vistorch.ones(2)
        >>> x.const_data_ptr() == x.data_ptr()
        True
    """
    return METHODS["data_ptr"](input)


@public(function=False)
def as_subclass(input, cls):
    """The tensor's memory and history as an instance of a subclass of Tensor.

    Args:
        input: a tensor.
        cls: the class.

    Example:
        >>> import vistorch
        >>> class Mine(vistorch.Tensor): pass
        >>> type(vistorch.ones(2).as_subclass(Mine)).__name__
        'Mine'
    """
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError(
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure your "
            "class inherits from Tensor."
        )
    return become(METHODS["__getitem__"](input, ...), cls)


def _make_subclass(cls, data, require_grad=False):
    """The memory of a tensor as a leaf of a subclass, as constructors of subclasses ask for it."""
    if not isinstance(data, Tensor):
        raise errors.must_be_tensor("_make_subclass", "data", 2, data)
    made = METHODS["as_subclass"](METHODS["detach"](data), cls)
    made.requires_grad = require_grad
    return made


Tensor._make_subclass = staticmethod(_make_subclass)  # type: ignore[attr-defined]


@public(function=False)
def module_load(input, other, assign=False):
    """What a module's `load_state_dict` puts into a parameter: a place for classes to say otherwise.

    Args:
        input: the parameter.
        other: what was saved.
        assign: take the saved tensor itself, in place of its values.

    Example:
        >>> import vistorch
        >>> vistorch.zeros(2).module_load(vistorch.ones(2))
        tensor([1., 1.])
    """
    return other.detach() if assign else input.copy_(other).detach()


@public(method=False)
def get_device(input):
    """The index of a tensor's device; -1 for the CPU.

    Args:
        input: a tensor.

    Example:
        >>> import vistorch
        >>> vistorch.get_device(vistorch.ones(2))
        -1
    """
    return needs_tensor(input, "get_device").get_device()


@public(method=False)
def is_inference(input):
    """Whether a tensor was made in inference mode.

    Args:
        input: a tensor.

    Example:
        >>> import vistorch
        >>> vistorch.is_inference(vistorch.ones(2))
        False
    """
    return needs_tensor(input, "is_inference").is_inference()


@public(function=False)
def storage_type(input):
    """The class of the tensor's storage.

    Args:
        input: a tensor.

    Example:
        >>> import vistorch
        >>> vistorch.ones(2).storage_type().__name__
        'FloatStorage'
    """
    from ...methods.typed_storage import STORAGE_CLASSES

    return STORAGE_CLASSES[f"{input.dtype.scalar_name}Storage"]
