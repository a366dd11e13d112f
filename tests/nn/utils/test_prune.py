"""Pruning: masks, values, gradients, names and sentences as torch's."""

import importlib
import pickle

import pytest

import vistorch
from tests.story import story


def tools(L):
    return importlib.import_module(f"{L.__name__}.nn.utils.prune")


def net_of(L):
    return L.nn.Sequential(L.nn.Conv2d(2, 4, 3), L.nn.Flatten(), L.nn.Linear(16, 5))


METHODS = {
    "identity": lambda P, m, name: P.identity(m, name),
    "random": lambda P, m, name: P.random_unstructured(m, name, amount=0.4),
    "random count": lambda P, m, name: P.random_unstructured(m, name, amount=3),
    "l1": lambda P, m, name: P.l1_unstructured(m, name, amount=0.3),
    "l1 count": lambda P, m, name: P.l1_unstructured(m, name, 2),
    "l1 of nothing": lambda P, m, name: P.l1_unstructured(m, name, 0),
    "random slices": lambda P, m, name: P.random_structured(m, name, amount=2, dim=0),
    "random slices of dim 1": lambda P, m, name: P.random_structured(m, name, amount=0.5, dim=1),
    "l2 slices": lambda P, m, name: P.ln_structured(m, name, amount=0.5, n=2, dim=0),
    "l1 slices": lambda P, m, name: P.ln_structured(m, name, amount=1, n=1, dim=-1),
    "greatest slices": lambda P, m, name: P.ln_structured(m, name, amount=1, n=float("inf"), dim=1),
    "least slices": lambda P, m, name: P.ln_structured(m, name, amount=1, n=-float("inf"), dim=1),
    "no slices": lambda P, m, name: P.ln_structured(m, name, amount=0, n=2, dim=1),
}


def state(report, module, hooked=True):
    report(list(module.state_dict()), module.state_dict(), [n for n, _ in module.named_parameters()])
    report(module.weight, type(module.weight), [type(h) for h in module._forward_pre_hooks.values()])


@pytest.mark.parametrize("method", METHODS)
@story
def test_each_method(L, report, method):
    P, net = tools(L), net_of(L)
    x = L.linspace(-1, 1, 32).view(1, 2, 4, 4)
    for module in (net[0], net[2]):
        report(METHODS[method](P, module, "weight") is module)
        state(report, module)
    net(x).sum().backward()
    report([p.grad for p in net.parameters()], P.is_pruned(net), P.is_pruned(net[1]))
    with L.no_grad():
        net[0].weight_orig.add_(1)
    report(net(x), net[0].weight)
    report(
        P.remove(net[0], "weight") is net[0], list(net[0].state_dict()), net[0].weight, type(net[0].weight)
    )
    report(net(x), P.is_pruned(net), P.is_pruned(net[0]))


@pytest.mark.parametrize("first", METHODS)
@pytest.mark.parametrize("second", ["l1", "random count", "l2 slices", "random slices of dim 1", "identity"])
@story
def test_one_after_the_other(L, report, first, second):
    P, module = tools(L), net_of(L)[0]
    METHODS[first](P, module, "weight")
    METHODS[second](P, module, "weight")
    METHODS["l1"](P, module, "weight")
    state(report, module)
    (hook,) = module._forward_pre_hooks.values()
    report(len(hook), [type(m) for m in hook], type(hook[0]), hook._tensor_name)
    P.l1_unstructured(module, "bias", amount=1)
    report(module.bias, len(module._forward_pre_hooks))
    P.remove(module, "weight")
    report(module.weight, list(module.state_dict()))


@story
def test_the_whole_network(L, report):
    P, net = tools(L), net_of(L)
    pairs = [(net[0], "weight"), (net[2], "weight"), (net[2], "bias")]
    P.global_unstructured(pairs, pruning_method=P.L1Unstructured, amount=0.2)
    report(net.state_dict())
    P.global_unstructured(pairs, pruning_method=P.RandomUnstructured, amount=7)
    report(net.state_dict())
    scores = {(net[2], "bias"): L.arange(5.0) / 10}
    P.global_unstructured(
        iter(pairs), P.L1Unstructured, importance_scores=scores, amount=9
    ) if L is vistorch else (
        P.global_unstructured(pairs, P.L1Unstructured, importance_scores=scores, amount=9)
    )
    report(net.state_dict())
    for wrong in (
        lambda: P.global_unstructured(3, P.L1Unstructured, amount=1),
        lambda: P.global_unstructured(pairs, P.L1Unstructured, importance_scores=3, amount=1),
        lambda: P.global_unstructured(pairs, P.LnStructured, amount=1, n=2),
        lambda: P.global_unstructured(pairs, P.L1Unstructured, amount=1000),
    ):
        report.raises(wrong)


@story
def test_own_methods_and_masks(L, report):
    P = tools(L)

    class EveryOther(P.BasePruningMethod):
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, t, default_mask):
            mask = default_mask.clone()
            mask.view(-1)[::2] = 0
            return mask

    layer = L.nn.Linear(4, 3)
    EveryOther.apply(layer, "weight")
    report(layer.weight_mask, layer.weight)
    EveryOther.apply(layer, "weight")
    report(layer.weight_mask)
    report(P.custom_from_mask(layer, "bias", mask=L.tensor([0, 1, 0])).bias, layer.bias_mask)
    report(P.custom_from_mask(layer, "weight", L.eye(3, 4)).weight_mask)
    report(P.L1Unstructured(amount=2).prune(L.tensor([3.0, -1.0, 2.0, 0.5])))
    report(
        P.L1Unstructured(amount=1).prune(
            L.ones(3), default_mask=L.tensor([1.0, 0, 1]), importance_scores=L.arange(3.0)
        )
    )
    scored = L.nn.Linear(2, 2)
    P.l1_unstructured(scored, "weight", 1, importance_scores=L.tensor([[3.0, 1.0], [2.0, 4.0]]))
    P.ln_structured(scored, "weight", 1, 2, 0, importance_scores=L.tensor([[3.0, 1.0], [2.0, 4.0]]))
    report(scored.weight_mask)
    strange = type("Strange", (EveryOther,), {"PRUNING_TYPE": "strange"})
    slices = type("Slices", (EveryOther,), {"PRUNING_TYPE": "structured"})
    for wrong in (
        lambda: strange.apply(layer, "weight"),
        lambda: slices.apply(layer, "weight"),
        lambda: P.BasePruningMethod(),
        lambda: P.PruningContainer(P.Identity(), 3),
    ):
        report.raises(wrong)


@story
def test_what_does_not_fit(L, report):
    P = tools(L)
    layer = L.nn.Linear(4, 3)
    for wrong in (
        lambda: P.l1_unstructured(layer, "weight", amount="a"),
        lambda: P.l1_unstructured(layer, "weight", amount=-1),
        lambda: P.l1_unstructured(layer, "weight", amount=1.5),
        lambda: P.l1_unstructured(layer, "weight", amount=-0.5),
        lambda: P.l1_unstructured(layer, "weight", amount=13),
        lambda: P.random_unstructured(layer, "weight", amount=13),
        lambda: P.random_structured(layer, "bias", amount=1, dim=0),
        lambda: P.ln_structured(layer, "weight", amount=1, n=2, dim=2),
        lambda: P.ln_structured(layer, "weight", amount=5, n=2, dim=1),
        lambda: P.l1_unstructured(layer, "no", amount=1),
        lambda: P.l1_unstructured(layer, "weight", 1, importance_scores=L.ones(2)),
        lambda: P.L1Unstructured(1).prune(L.ones(3), importance_scores=L.ones(2)),
        lambda: P.custom_from_mask(layer, "weight", L.ones(2)),
        lambda: P.remove(layer, "weight"),
    ):
        report.raises(wrong)
        report(list(layer.state_dict()), layer.weight, type(layer.weight), len(layer._forward_pre_hooks))
    container = P.PruningContainer()
    container._tensor_name = "weight"
    other = P.Identity()
    other._tensor_name = "bias"
    report.raises(lambda: container.add_pruning_method(3))
    report.raises(lambda: container.add_pruning_method(other))


def test_pruned_modules_can_be_pickled():
    P = tools(vistorch)
    layer = P.l1_unstructured(vistorch.nn.Linear(3, 2), "weight", 2)
    with vistorch.no_grad():
        layer(vistorch.ones(1, 3))
    again = pickle.loads(pickle.dumps(layer))
    assert vistorch.equal(again(vistorch.ones(1, 3)), layer(vistorch.ones(1, 3)))
    assert P.is_pruned(again)
    assert type(next(iter(again._forward_pre_hooks.values()))).__module__ == "vistorch.nn.utils.prune"


@story
def test_pruned_networks_learn(L, report):
    """What is pruned stays at zero while the rest is trained."""
    P, net = tools(L), net_of(L)
    for module in (net[0], net[2]):
        P.l1_unstructured(module, "weight", amount=0.5)
    opt = L.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    x = L.linspace(-1, 1, 64).view(2, 2, 4, 4)
    for _ in range(4):
        opt.zero_grad()
        (net(x) ** 2).mean().backward()
        opt.step()
    net(x)
    report(net[0].weight, net[2].weight, int((net[2].weight == 0).sum()))
