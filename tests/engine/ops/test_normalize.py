"""Normalisation: running statistics, accuracy far from zero, and what the records cannot say."""

import numpy as np
import pytest

import vistorch

torch = pytest.importorskip("torch", reason="torch is the reference")
SHAPES = ((6, 3), (4, 3, 5), (2, 3, 50), (2, 3, 4, 3), (2, 3, 2, 2, 3), (1, 3))


def numbers(shape, seed=0, offset=0.0):
    return np.random.default_rng(seed).standard_normal(shape) * 2 + offset


def of(lib, array, dtype="float64"):
    return lib.tensor(np.asarray(array, dtype=np.float64)).to(getattr(lib, dtype))


def stats(lib, dtype="float64"):
    return of(lib, [0.5, -1.0, 2.0], dtype), of(lib, [0.5, 1.0, 2.0], dtype)


def equal(ours, theirs, rtol=1e-12):
    assert str(ours.dtype).replace("vistorch", "torch") == str(theirs.dtype)
    a, b = ours.detach().double().numpy(), theirs.detach().double().numpy()
    np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("momentum", [0.1, 0.0, 1.0])
def test_running_statistics_of_a_batch(shape, momentum):
    kept = []
    for lib in (vistorch, torch):
        mean, var = stats(lib)
        out = lib.batch_norm(of(lib, numbers(shape)), None, None, mean, var, True, momentum, 1e-5, False)
        kept.append((out, mean, var))
        assert mean._version == var._version == 0
    for ours, theirs in zip(*kept, strict=True):
        equal(ours, theirs)


@pytest.mark.parametrize("shape", SHAPES[1:-1])
def test_running_statistics_of_instances(shape):
    kept = []
    for lib in (vistorch, torch):
        mean, var = stats(lib)
        out = lib.nn.functional.instance_norm(of(lib, numbers(shape)), mean, var, momentum=0.3)
        kept.append((out, mean, var))
    for ours, theirs in zip(*kept, strict=True):
        equal(ours, theirs)


@pytest.mark.parametrize("kind", ["float32", "float16"])
def test_half_inputs_keep_statistics_in_the_type_of_the_parameters(kind):
    kept = []
    for lib in (vistorch, torch):
        mean, var = stats(lib, kind)
        weight, bias = of(lib, [1, 2, 3], kind), of(lib, [0, 1, 0], kind)
        out = lib.native_batch_norm(
            of(lib, numbers((4, 3, 5)), "float16"), weight, bias, mean, var, True, 0.1, 1e-5
        )
        kept.append((*out, mean, var))
    for ours, theirs in zip(*kept, strict=True):
        equal(ours, theirs, 2e-3)


def test_a_graph_of_evaluation_does_not_see_later_statistics():
    mean, var = stats(vistorch)
    x = of(vistorch, numbers((4, 3))).requires_grad_()
    out = vistorch.batch_norm(x, None, None, mean, var, False, 0.1, 0.0, False)
    before = 1 / np.sqrt(var.numpy().copy())
    vistorch.batch_norm(x.detach(), None, None, mean, var, True, 0.9, 0.0, False)
    out.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.broadcast_to(before, (4, 3)), rtol=1e-12)


def test_refused_calls_leave_the_statistics_alone():
    mean, var = stats(vistorch)
    for bad in (numbers((4, 2)), numbers((3,)), np.ones((4, 3), dtype=np.int64)):
        with pytest.raises((RuntimeError, IndexError, NotImplementedError)):
            x = vistorch.tensor(bad)
            vistorch.batch_norm(x, None, None, mean, var, True, 0.1, 1e-5, False)
    assert mean.tolist() == [0.5, -1.0, 2.0]
    assert var.tolist() == [0.5, 1.0, 2.0]


def test_an_empty_batch_leaves_the_statistics_alone():
    mean, var = stats(vistorch)
    x = vistorch.zeros(0, 3, dtype=vistorch.float64)
    assert vistorch.batch_norm(x, None, None, mean, var, True, 0.1, 1e-5, False).shape == (0, 3)
    assert mean.tolist() == [0.5, -1.0, 2.0]


CASES = {
    "layer": ((48, 96), lambda L, x, w, b: L.layer_norm(x, (96,), w, b), 96),
    "short layer": ((64, 3), lambda L, x, w, b: L.layer_norm(x, (3,), w, b), 3),
    "batch": ((16, 8, 100), lambda L, x, w, b: L.batch_norm(x, w, b, None, None, True, 0.1, 1e-5, False), 8),
    "flat batch": ((64, 8), lambda L, x, w, b: L.batch_norm(x, w, b, None, None, True, 0.1, 1e-5, False), 8),
    "group": ((16, 8, 50), lambda L, x, w, b: L.group_norm(x, 2, w, b), 8),
    "rms": ((48, 96), lambda L, x, w, b: L.rms_norm(x, (96,), w) + b, 96),
}


def results(lib, case, dtype, offset):
    shape, fn, width = CASES[case]
    arrays = [numbers(shape, 1, offset), numbers(width, 2), numbers(width, 3), numbers(shape, 4)]
    x, w, b, g = [of(lib, a.astype(np.float32), dtype) for a in arrays]
    for t in (x, w, b):
        t.requires_grad_()
    out = fn(lib, x, w, b)
    grads = lib.autograd.grad(out, (x, w, b), g)
    return [t.detach().double().numpy() for t in (out, *grads)]


@pytest.mark.parametrize("offset", [0.0, 3.0, 100.0, 3000.0])
@pytest.mark.parametrize("case", CASES)
def test_float32_is_as_exact_as_the_input_allows(case, offset):
    """The rounding of an input of mean m and deviation s is worth eps * m / s of what is normalised."""
    exact = results(torch, case, "float64", offset)
    close = results(vistorch, case, "float32", offset)
    worth = np.finfo("f4").eps * (4 + (0 if case == "rms" else 2 * offset))
    for a, b in zip(close, exact, strict=True):
        assert np.abs(a - b).max() <= 8 * worth * max(np.abs(b).max(), 1)


@pytest.mark.parametrize("case", CASES)
def test_only_what_is_wanted_is_computed_and_it_is_the_same(case):
    shape, fn, width = CASES[case]
    arrays = [numbers(shape, 1, 1.0), numbers(width, 2), numbers(width, 3)]
    every = [of(vistorch, a).requires_grad_() for a in arrays]
    g = of(vistorch, numbers(shape, 4))
    whole = vistorch.autograd.grad(fn(vistorch, *every), every, g)
    for i in range(3):
        some = [of(vistorch, a) for a in arrays]
        some[i].requires_grad_()
        (alone,) = vistorch.autograd.grad(fn(vistorch, *some), some[i : i + 1], g)
        equal(alone, torch.tensor(whole[i].numpy()))


def test_blocks_join_without_a_seam(monkeypatch):
    """The same numbers whatever the size of a block."""
    from vistorch.engine.ops.norm import passes

    def all_of_it():
        return [a for case in CASES for a in results(vistorch, case, "float64", 2.0)]

    one = all_of_it()
    monkeypatch.setattr(passes, "_BYTES", 1 << 11)
    for a, b in zip(all_of_it(), one, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)


def test_anomaly_mode_and_hooks_see_every_gradient():
    x, w, b = (vistorch.tensor(numbers(s)).requires_grad_() for s in ((4, 3), 3, 3))
    out = vistorch.batch_norm(x, w, b, None, None, True, 0.1, 1e-5, False)
    seen = []
    out.grad_fn.register_hook(lambda grads, outs: seen.append(len([g for g in grads if g is not None])))
    with pytest.warns(UserWarning, match="Anomaly Detection"), vistorch.autograd.detect_anomaly():
        out.sum().backward()
    assert seen == [3]


def test_a_batchnorm_loads_states_that_count_no_batches():
    module = vistorch.nn.BatchNorm1d(2)
    state = module.state_dict()
    del state["num_batches_tracked"]
    state._metadata[""]["version"] = 1
    module.num_batches_tracked.add_(5)
    module.load_state_dict(state)
    assert module.num_batches_tracked.item() == 5
    state = vistorch.nn.BatchNorm1d(2).state_dict()
    del state["num_batches_tracked"]
    with pytest.raises(RuntimeError, match="Missing key"):
        module.load_state_dict(state)


def test_an_instancenorm_says_why_it_refuses_old_states():
    sentences = []
    for lib in (vistorch, torch):
        module = lib.nn.InstanceNorm1d(2)
        state = {"running_mean": lib.zeros(2), "running_var": lib.ones(2)}
        with pytest.raises(RuntimeError) as refused:
            module.load_state_dict(state)
        sentences.append(str(refused.value).replace("vistorch", "torch"))
    assert sentences[0] == sentences[1]


def test_an_instancenorm_warns_of_a_size_it_does_not_use():
    said = []
    for lib in (vistorch, torch):
        with pytest.warns(UserWarning) as caught:
            lib.nn.InstanceNorm1d(4)(lib.ones(2, 3, 5))
        said.append(str(caught[0].message))
    assert said[0] == said[1]


def test_conversion_to_synchronised_norms_keeps_parameters_and_statistics():
    net = vistorch.nn.Sequential(
        vistorch.nn.Linear(2, 3), vistorch.nn.Sequential(vistorch.nn.BatchNorm1d(3, bias=False))
    )
    net.eval()
    before = dict(net.named_parameters()), dict(net.named_buffers())
    made = vistorch.nn.SyncBatchNorm.convert_sync_batchnorm(net)
    assert type(made[1][0]) is vistorch.nn.SyncBatchNorm
    assert not made[1][0].training
    for kept, now in zip(before, (made.named_parameters(), made.named_buffers()), strict=True):
        assert {k: id(v) for k, v in kept.items()} == {k: id(v) for k, v in now}


def test_a_lazy_norm_without_parameters_waits_for_its_statistics_alone():
    module = vistorch.nn.LazyBatchNorm1d(affine=False).double()
    assert type(module.running_mean).__name__ == "UninitializedBuffer"
    assert module.running_mean.dtype is vistorch.float64
    module(vistorch.ones(2, 3, dtype=vistorch.float64))
    assert type(module) is vistorch.nn.BatchNorm1d
    assert module.running_mean.shape == (3,)
    assert module.weight is None


def test_a_lazy_norm_takes_its_size_from_a_state():
    full = vistorch.nn.BatchNorm1d(3)
    full(vistorch.randn(4, 3))
    lazy = vistorch.nn.LazyBatchNorm1d()
    lazy.load_state_dict(full.state_dict())
    assert lazy.running_mean.tolist() == full.running_mean.tolist()
    x = vistorch.randn(5, 3)
    assert vistorch.equal(lazy.eval()(x), full.eval()(x))
