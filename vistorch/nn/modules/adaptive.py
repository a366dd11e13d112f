"""A softmax over many classes in clusters: the frequent ones at once, the rare ones through narrow layers.

Invariant: a class's log-probability is that of its cluster plus that of the class within it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ...engine.core.tensor import Tensor
from .. import functional as F
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """The log-probabilities of targets among many classes, sorted by how frequent they are, and their loss.

    Args:
        in_features: size of each input.
        n_classes: how many classes there are.
        cutoffs: where the clusters begin, in increasing order.
        div_value: how much narrower each cluster's layer is than the one before.
        head_bias: whether the layer of the first cluster adds a learned number.
        device: where the parameters are.
        dtype: their type.

    Shape:
        input (N, in_features) or (in_features); target and output (N) or ().

    Example:
        >>> import vistorch
        >>> layer = vistorch.nn.AdaptiveLogSoftmaxWithLoss(4, 10, cutoffs=[3])
        >>> layer(vistorch.zeros(2, 4), vistorch.tensor([0, 2])).loss
        tensor(1.3863, grad_fn=<MeanBackward0>)
        >>> vistorch.nn.init.zeros_(layer.head.weight).shape  # three frequent classes and the cluster of the others
        vistorch.Size([4, 4])
        >>> layer.log_prob(vistorch.zeros(1, 4)).exp()
        tensor([[0.2500, 0.2500, 0.2500, 0.0357, 0.0357, 0.0357, 0.0357, 0.0357, 0.0357,
                 0.0357]], grad_fn=<ExpBackward0>)
        >>> layer.predict(vistorch.zeros(1, 4))
        tensor([0])
        >>> layer.reset_parameters()
        >>> layer.head.weight.count_nonzero()
        tensor(16)
    """

    in_features: int
    n_classes: int
    cutoffs: list[int]
    div_value: float
    head_bias: bool
    head: Linear
    tail: ModuleList

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device=None,
        dtype=None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (
            cutoffs != sorted(cutoffs)
            or cutoffs[0] <= 0
            or cutoffs[-1] > n_classes - 1
            or len(set(cutoffs)) != len(cutoffs)
            or any(int(c) != c for c in cutoffs)
        ):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                "value is between 1 and n_classes-1"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, device=device, dtype=dtype)
        self.tail = ModuleList()
        for i, (start, stop) in enumerate(pairwise(self.cutoffs)):
            narrow = int(in_features // div_value ** (i + 1))
            self.tail.append(
                Sequential(
                    Linear(in_features, narrow, bias=False, device=device, dtype=dtype),
                    Linear(narrow, stop - start, bias=False, device=device, dtype=dtype),
                )
            )

    def reset_parameters(self) -> None:
        """Begin anew."""
        self.head.reset_parameters()
        for projection in self.tail:
            for layer in projection.children():
                layer.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        """The log-probability of each target, and the loss."""
        dims = target_.dim()
        if dims > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if dims and input_.size(0) != target_.size(0):
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if input_.dim() != dims + 1:
            raise RuntimeError(
                f"{dims}D target tensor expects {dims + 1}D input tensors, but found inputs with size {input_.size()}"
            )
        input = input_ if dims else input_.unsqueeze(0)
        target = target_ if dims else target_.unsqueeze(0)
        output, of_head = self._in_clusters(input, target)
        log_p = F.log_softmax(self.head(input), dim=1)
        output = output + log_p.gather(1, of_head.unsqueeze(1)).squeeze()
        loss = (-output).mean()
        return _ASMoutput(output if dims else output.squeeze(0), loss)

    def _in_clusters(self, input: Tensor, target: Any) -> tuple[Tensor, Tensor]:
        """Each target's log-probability within its cluster, and the column of the head that stands for it."""
        rows = target.size(0)
        output, of_head = input.new_zeros(rows), target.new_empty(rows)
        used = 0
        for i, (low, high) in enumerate(pairwise([0, *self.cutoffs])):
            inside = (target >= low) & (target < high)
            at = inside.nonzero().squeeze()
            if at.numel() == 0:
                continue
            if i == 0:
                of_head.index_copy_(0, at, target[inside])
            else:
                local = F.log_softmax(self.tail[i - 1](input.index_select(0, at)), dim=1)
                picked = local.gather(1, (target[inside] - low).unsqueeze(1))
                output.index_copy_(0, at, picked.squeeze(1))
                of_head.index_fill_(0, at, self.shortlist_size + i - 1)
            used += at.numel()
        if used != rows:
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. "
            )
        return output, of_head

    def _get_full_log_prob(self, input: Tensor, head_output: Tensor) -> Tensor:
        """The log-probabilities of all classes, given what the head said."""
        out = input.new_empty((head_output.size(0), self.n_classes))
        log_p = F.log_softmax(head_output, dim=1)
        out[:, : self.shortlist_size] = log_p[:, : self.shortlist_size]
        for i, (start, stop) in enumerate(pairwise(self.cutoffs)):
            local = F.log_softmax(self.tail[i](input), dim=1)
            out[:, start:stop] = local + log_p[:, self.shortlist_size + i].unsqueeze(1)
        return out

    def log_prob(self, input: Tensor) -> Tensor:
        """The log-probabilities of all classes, (N, n_classes).

        Args:
            input: a batch of inputs.
        """
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """The likeliest class of each input, without computing clusters that cannot win.

        Args:
            input: a batch of inputs.
        """
        head_output = self.head(input)
        output = head_output.argmax(dim=1)
        rare = output >= self.shortlist_size
        if not rare.any():
            return output
        if rare.all():
            return self._get_full_log_prob(input, head_output).argmax(dim=1)
        output[rare] = self._get_full_log_prob(input[rare], head_output[rare]).argmax(dim=1)
        return output
