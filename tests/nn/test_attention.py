"""What records of attention cannot say: chance, warnings, the choice of a kernel, padding left out."""

import warnings

import numpy as np
import pytest

from tests.ops.library import L, numpy_of, renamed, torch

LIBS = (L, torch)


def both(action):
    """The action's result in both libraries, with what it warned of."""
    found = []
    for lib in LIBS:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            result = action(lib)
        found.append((result, [str(w.message) for w in said]))
    return found


def values(lib, *shape, seed=0):
    """A tensor that wants a gradient."""
    array = np.random.default_rng(seed).standard_normal(shape).astype("f4")
    return lib.tensor(array, requires_grad=True)


@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (3, 4, 5)])
def test_dropout_draws_as_torch_does(shape):
    """The same weights are dropped from the same seed, and gradients flow through the others."""

    def run(lib):
        q, k, v = (values(lib, *shape, seed=i) for i in range(3))
        lib.manual_seed(7)
        out = lib.nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=0.4)
        out.sum().backward()
        return [out, q.grad, k.grad, v.grad, lib.rand(2)]

    (ours, _), (theirs, _) = both(run)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(numpy_of(a), numpy_of(b), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shape", [(3, 5, 150, 8), (1, 2, 700, 4), (40, 3, 30, 4)])
@pytest.mark.parametrize("causal", [False, True])
def test_sizes_that_are_computed_in_pieces(shape, causal):
    """Several pieces of heads, and of rows."""

    def run(lib):
        q, k, v = (values(lib, *shape, seed=i) for i in range(3))
        out = lib.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        (out * values(lib, *shape, seed=9)).sum().backward()
        return [out, q.grad, k.grad, v.grad]

    (ours, _), (theirs, _) = both(run)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(numpy_of(a), numpy_of(b), rtol=1e-3, atol=2e-5)


def test_memory_order_of_the_result():
    """Heads that are views of (batch, length, heads, size) give such a result, so that it can be viewed back."""

    def run(lib):
        x = values(lib, 2, 6, 3, 4).transpose(1, 2)
        out = lib.nn.functional.scaled_dot_product_attention(x, x, x)
        return out.stride(), out.transpose(1, 2).view(2, 6, 12).shape

    (ours, _), (theirs, _) = both(run)
    assert ours[0] == theirs[0] and tuple(ours[1]) == tuple(theirs[1])


def test_no_weights_are_kept_without_a_graph():
    """Without gradients the row's second output, the weights, has no element."""
    from vistorch.engine.ops.attention import rows

    x = L.ones(1, 2, 3, 4)
    assert rows.plain(x, x, x, False, 1.0, False)[1].numel() == 0
    assert rows.plain(x, x, x, False, 1.0, True)[1].shape == (1, 2, 3, 3)


def test_second_derivatives():
    """Torch's fused kernel has none; its composition does."""
    grads = []
    for lib in LIBS:
        q, k, v = (values(lib, 1, 2, 3, 4, seed=i) for i in range(3))
        with lib.nn.attention.sdpa_kernel(
            lib.nn.attention.SDPBackend.MATH if lib is torch else lib.nn.attention.SDPBackend.FLASH_ATTENTION
        ):
            out = lib.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        first = lib.autograd.grad((out**2).sum(), (q, k, v), create_graph=True)
        grads.append(lib.autograd.grad(sum((g**2).sum() for g in first), (q, k, v)))
    for a, b in zip(*grads, strict=True):
        np.testing.assert_allclose(numpy_of(a), numpy_of(b), rtol=1e-4, atol=1e-5)


def test_choice_of_a_kernel():
    """`sdpa_kernel` as a block and as a decorator, its refusals, and that it ends with the block."""

    def run(lib):
        names = lib.nn.attention.SDPBackend
        use = lib.nn.attention.sdpa_kernel
        x = values(lib, 1, 2, 3, 4)

        def attend(x=x):
            try:
                return lib.nn.functional.scaled_dot_product_attention(x, x, x).grad_fn.name()
            except RuntimeError as error:
                return str(error)

        seen = [attend()]
        for chosen in (names.MATH, [names.FLASH_ATTENTION], [names.EFFICIENT_ATTENTION], []):
            with use(chosen):
                seen.append(attend())
        with use(names.FLASH_ATTENTION):
            seen.append(attend(x[0]))
        seen += [use(names.MATH)(attend)(), attend(), repr(names.MATH), int(names.OVERRIDEABLE)]
        with pytest.raises(AssertionError) as refused:
            use(3).__enter__()
        return [*seen, str(refused.value)]

    (ours, _), (theirs, _) = both(run)
    assert ours == theirs


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"batch_first": True},
        {"batch_first": True, "norm_first": True},
        {"batch_first": True, "bias": False},
        {"batch_first": True, "activation": "tanh"},
        {"batch_first": True, "nhead": 1},
    ],
)
def test_warning_of_the_encoder(options):
    """Why nested tensors are not used, in torch's words."""

    def run(lib):
        given = dict(options)
        if given.get("activation"):
            given["activation"] = lib.tanh
        layer = lib.nn.TransformerEncoderLayer(8, given.pop("nhead", 2), 4, **given)
        stack = lib.nn.TransformerEncoder(layer, 1)
        return stack.use_nested_tensor, stack.enable_nested_tensor

    (ours, said), (theirs, received) = both(run)
    assert ours == theirs
    assert said == received


def test_warning_of_the_whole_and_of_masks_that_do_not_match():
    """The Transformer warns for its encoder; masks of two kinds are deprecated."""

    def run(lib):
        lib.manual_seed(1)
        model = lib.nn.Transformer(8, 2, 1, 1, 4, dropout=0.0)
        x, y = values(lib, 3, 2, 8), values(lib, 4, 2, 8, seed=1)
        mask = model.generate_square_subsequent_mask(3)
        hidden = lib.zeros(2, 3, dtype=lib.bool)
        return model(x, y, src_mask=mask, src_key_padding_mask=hidden)

    (ours, said), (theirs, received) = both(run)
    np.testing.assert_allclose(numpy_of(ours), numpy_of(theirs), rtol=1e-4, atol=1e-5)
    assert said == received and len(said) >= 2


@pytest.mark.parametrize("rows", [[[0, 0, 1], [0, 0, 0]], [[0, 1, 0], [0, 0, 0]], [[0, 1, 1], [0, 0, 1]]])
def test_padding_is_left_out_without_gradients(rows):
    """Evaluation under no_grad: padded positions are 0 at the end of a sequence, and computed in the midst of one."""

    def run(lib):
        lib.manual_seed(2)
        stack = lib.nn.TransformerEncoder(lib.nn.TransformerEncoderLayer(8, 2, 4, batch_first=True), 2).eval()
        x = values(lib, 2, 3, 8)
        mask = lib.tensor(rows, dtype=lib.bool)
        with lib.no_grad():
            quick = stack(x, src_key_padding_mask=mask)
        return [quick, stack(x, src_key_padding_mask=mask)]

    (ours, _), (theirs, _) = both(run)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(numpy_of(a), numpy_of(b), rtol=1e-4, atol=1e-5)


def test_causal_mask():
    """Its values, type, and text."""
    (ours, _), (theirs, _) = both(lambda lib: lib.nn.Transformer.generate_square_subsequent_mask(3))
    assert repr(ours) == renamed(repr(theirs))
    assert L.nn.Transformer.generate_square_subsequent_mask(2, dtype=L.float64).dtype is L.float64


def test_merged_masks():
    """`MultiheadAttention.merge_masks` gives torch's masks and kinds."""

    def run(lib):
        m = lib.nn.MultiheadAttention(8, 2)
        x, mask = values(lib, 2, 3, 8), values(lib, 3, 3, seed=1)
        padding = values(lib, 2, 3, seed=2)
        found = [
            m.merge_masks(*pair, x) for pair in ((None, None), (None, padding), (mask, None), (mask, padding))
        ]
        return [None if t is None else numpy_of(t) for t, _ in found], [kind for _, kind in found]

    (ours, _), (theirs, _) = both(run)
    assert ours[1] == theirs[1]
    for a, b in zip(ours[0], theirs[0], strict=True):
        assert (a is None and b is None) or np.array_equal(a, b)
