"""Every public module of PyTorch is imported, and what is not built in it says so at the call."""

import importlib
import warnings

import numpy as np
import pytest

import vistorch
from tests.compat import public_modules
from tests.compat.run import python
from tests.ops.library import L, torch
from vistorch.torch_api import rare_modules, unbuilt


def test_every_public_module_is_imported():
    wrong = []
    for name in public_modules.modules():
        try:
            importlib.import_module(f"vistorch.{name}")
        except ImportError as error:
            wrong.append((name, str(error)))
    assert not wrong and len(public_modules.modules()) > 800


@pytest.mark.parametrize("share", range(4))
def test_the_table_is_that_of_pytorch(share):
    """A sixth of the modules, from several places; `python -m tests.compat.public_modules` writes them all."""
    assert set(public_modules.lacking()) == set(rare_modules.rows())
    for name in public_modules.lacking()[share * 6 :: 24]:
        written = [name, *rare_modules.rows()[name]]
        assert "\n".join(written) == public_modules.row(name)


@pytest.mark.parametrize("name", sorted(rare_modules.rows())[::7])
def test_a_module_of_the_table_has_its_names(name):
    module = importlib.import_module(f"vistorch.{name}")
    inner = rare_modules.contents(name)
    assert len(module.__doc__.split()) > 3 and module.__doc__.endswith(".")
    for one in inner.functions + inner.classes:
        if one in rare_modules.NO:
            assert getattr(module, one)() is False
            continue
        with pytest.raises(NotImplementedError) as caught:
            getattr(module, one)(1, x=2)
        assert str(caught.value) == f"vistorch.{name}.{one} is not built: {rare_modules.why(name)}"
    for one in inner.classes:
        assert not isinstance(vistorch.ones(1), getattr(module, one)) and type(
            one, (getattr(module, one),), {}
        )
    for one, value in inner.values.items():
        assert getattr(module, one) == value
    for one in inner.same:
        assert getattr(module, one) is unbuilt.names(name)[one]
    assert not hasattr(module, "wobble")


def test_every_sentence_of_the_table_is_of_a_module_and_one_sentence():
    for start, sentence in rare_modules.WHY.items():
        assert any(f"{name}.".startswith(f"{start}.") for name in rare_modules.rows()), start
        assert sentence.endswith(".") and sentence == sentence.strip(), start


def test_things_are_the_same_by_each_of_their_names():
    found = importlib.import_module
    assert found("vistorch.fx.graph_module").GraphModule is vistorch.fx.GraphModule
    assert found("vistorch.profiler.profiler").profile is vistorch.profiler.profile
    assert found("vistorch.signal.windows.windows").hann is vistorch.signal.windows.hann
    assert found("vistorch.nn.modules.utils")._pair(3) == (3, 3)
    assert found("vistorch.nn.intrinsic").LinearReLU is found("vistorch.ao.nn.intrinsic").LinearReLU


def test_they_are_found_by_torchs_names():
    program = """
from vistorch.compat import alias_torch
alias_torch()
import torch
import torch.ao.quantization.observer, torch.distributed.elastic.rendezvous, torch.quasirandom
from torch.fx.graph_module import GraphModule
from torch.nn.modules.utils import _pair, _ntuple
from torch.accelerator.memory import memory_allocated
from torch.package import PackageImporter
assert torch.nn.qat.Linear is not torch.nn.Linear and not isinstance(torch.nn.Linear(1, 1), GraphModule)
assert torch.cuda.tunable.is_enabled() is False and torch.profiler.itt.is_available() is False
for call in (torch.quasirandom.SobolEngine, PackageImporter, torch.nn.quantized.Linear):
    try:
        call(2)
    except NotImplementedError as error:
        print(error)
"""
    done = python("-c", program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" is not built: ") == 3 and "vistorch." not in done.stdout


# ---- the real ones ---------------------------------------------------------------------------------------------------
PATTERNS = [
    ("b h w c -> h (b w) c", {}),
    ("b (h1 h) (w1 w) c -> (b h1 w1) h w c", {"h1": 3, "w1": 2}),
    ("b ... c -> b c (...)", {}),
    ("... c -> c ...", {}),
    ("... -> (...)", {}),
    ("a b c d -> a 1 b c d", {}),
    ("a b (c d e) f -> a", {}),
    ("a b c d -> a b c", {}),
    ("a a c d -> a c d", {}),
    ("a b c d -> d c b a", {"z": 2}),
    ("(a b c d -> a b c d", {}),
    ("a b c d", {}),
]


@pytest.mark.parametrize("pattern, lengths", PATTERNS)
def test_dims_are_rearranged_as_pytorch_does(pattern, lengths):
    def run(lib):
        try:
            x = lib.arange(2 * 3 * 4 * 5).view(2, 3, 4, 5)
            return np.asarray(lib.func.rearrange(x, pattern, **lengths))
        except ValueError:
            return "ValueError"

    assert np.array_equal(run(L), run(torch))


def test_causal_masks_of_two_corners():
    def run(lib):
        bias = importlib.import_module(f"{lib.__name__}.nn.attention.bias")
        lib.manual_seed(0)
        q, k = lib.randn(1, 2, 3, 4, requires_grad=True), lib.randn(1, 2, 5, 4)
        seen = []
        for make in (bias.causal_upper_left, bias.causal_lower_right):
            mask = make(3, 5)
            out = lib.nn.functional.scaled_dot_product_attention(q, k, k, mask)
            (grad,) = lib.autograd.grad(out.square().sum(), q)
            seen += [
                out.detach().numpy(),
                grad.numpy(),
                repr(mask),
                int(mask.variant),
                isinstance(mask, lib.Tensor),
            ]
            with pytest.raises(AssertionError) as error:
                make(3)
            seen.append(str(error.value))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            bias.causal_lower_right(5, 3)
        return [*seen, [str(one.message) for one in caught]]

    for ours, theirs in zip(run(L), run(torch), strict=True):
        if isinstance(ours, np.ndarray):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
        else:
            assert ours == theirs


def test_tensors_are_keys_by_identity():
    def run(lib):
        weak = importlib.import_module(f"{lib.__name__}.utils.weak")
        x, y = lib.ones(2), lib.ones(2)
        found = weak.WeakTensorKeyDictionary({x: 1})
        found[y] = 2
        copy = found.copy()
        seen = [len(found), found[x], found.get(lib.ones(2)), x in found, "x" in found, copy == found]
        seen += [sorted(found.values()), found.setdefault(x, 7), len(found | {x: 5}), (found | {x: 5})[x]]
        ref = weak.TensorWeakRef(y)
        del y
        seen += [len(found), ref() is None, len(copy), found.pop(x), len(found), list(copy.values())]
        z, more = lib.ones(1), weak.WeakIdKeyDictionary()
        with pytest.raises(KeyError):
            more[z]
        with pytest.raises(AssertionError):
            weak.TensorWeakRef(3)
        return seen

    assert run(L) == run(torch)


def test_batch_norms_without_running_statistics():
    def run(lib):
        lib.manual_seed(0)
        net = lib.nn.Sequential(
            lib.nn.Linear(2, 3), lib.nn.BatchNorm1d(3), lib.nn.Sequential(lib.nn.BatchNorm1d(3))
        )
        assert lib.func.replace_all_batch_norm_modules_(net) is net
        return [net(lib.ones(4, 2).cumsum(0)).detach().numpy().round(4).tolist(), sorted(net.state_dict())]

    assert run(L) == run(torch)


def test_what_a_tensor_says_of_its_gradients_type():
    def run(lib):
        x = lib.ones(2, requires_grad=True)
        seen = [str(x.grad_dtype).rpartition(".")[2], str(lib.ones(2).grad_dtype).rpartition(".")[2]]
        x.grad_dtype = lib.float32
        for wrong in (lambda: (x * 2).grad_dtype, lambda: setattr(x * 2, "grad_dtype", lib.float32)):
            with pytest.raises(RuntimeError) as error:
                wrong()
            seen.append(str(error.value))
        with pytest.raises(RuntimeError) as error:
            x.reinforce(1)
        return [*seen, str(error.value).replace("vistorch", "torch").split()]

    ours, theirs = run(L), run(torch)
    assert ours == theirs
    with pytest.raises(NotImplementedError, match="has the type of its tensor"):
        L.ones(2).grad_dtype = L.float64


def test_selective_checkpoints_give_the_same_gradients():
    import functools

    def run(lib):
        checkpoint = lib.utils.checkpoint
        lib.manual_seed(0)
        x = lib.randn(3, 3, requires_grad=True)
        keep = [lib.ops.aten.mm.default]

        def policy(ctx, op, *args, **kwargs):
            return (
                checkpoint.CheckpointPolicy.MUST_SAVE
                if op in keep
                else checkpoint.CheckpointPolicy.PREFER_RECOMPUTE
            )

        seen = []
        for given in (policy, keep):
            context = functools.partial(checkpoint.create_selective_checkpoint_contexts, given)
            out = checkpoint.checkpoint(lambda x: (x @ x).sin(), x, use_reentrant=False, context_fn=context)
            seen.append(lib.autograd.grad(out.sum(), x)[0].numpy())
        for wrong in ([lib.ops.aten.mm], ["mm"], 3):
            with pytest.raises((ValueError, TypeError)) as error:
                checkpoint.create_selective_checkpoint_contexts(wrong)
            seen.append(type(error.value).__name__)
        return seen

    for ours, theirs in zip(run(L), run(torch), strict=True):
        if isinstance(ours, str):
            assert ours == theirs
        else:
            np.testing.assert_allclose(ours, theirs, rtol=1e-5)
