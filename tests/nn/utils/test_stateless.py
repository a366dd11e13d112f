"""Modules called with other parameters, and models stacked."""

from tests.story import story


def net_of(L):
    class Net(L.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = L.nn.Linear(2, 2)
            self.b = L.nn.Linear(2, 2)
            self.b.weight = self.a.weight
            self.register_buffer("seen", L.zeros(()))
            self.scale = 2

        def forward(self, x, times=1):
            self.seen = self.seen + 1
            return (
                self.b(self.a(x)) * times * self.scale + self.extra
                if hasattr(self, "extra")
                else self.b(self.a(x))
            )

    return Net()


@story
def test_calls(L, report):
    net = net_of(L)
    call = L.func.functional_call
    x = L.ones(1, 2)
    held = dict(net.named_parameters(remove_duplicate=False))
    w = L.eye(2) * 3
    w.requires_grad_()
    report(call(net, {"a.weight": w}, x), call(net, {"a.weight": w}, (x,), {"times": 2}))
    report(call(net, {"a.weight": w}, x, tie_weights=False))
    call(net, {"b.weight": w, "a.bias": L.zeros(2)}, x).sum().backward()
    report(w.grad, net.a.weight.grad, net.b.bias.grad)
    report(all(dict(net.named_parameters(remove_duplicate=False))[k] is v for k, v in held.items()))
    given = {"seen": L.tensor(5.0)}
    call(net, given, x)
    report(given, net.seen)
    report(call(net, [{"a.bias": L.zeros(2)}, {"b.bias": L.ones(2)}], x))
    report(call(net, {"extra": L.ones(2)}, x), hasattr(net, "extra"), call(net, {}, x))


@story
def test_what_does_not_fit(L, report):
    net, x = net_of(L), L.ones(1, 2)
    call = L.func.functional_call
    one, two = L.ones(2, 2), L.zeros(2, 2)
    state = {k: v.clone() for k, v in net.state_dict().items()}
    for wrong in (
        lambda: call(net, {"a.weight": one, "b.weight": two}, x),
        lambda: call(net, {"a.weight": one}, x, strict=True),
        lambda: call(net, {"a.weight": one, "c.no": two}, x, strict=True),
        lambda: call(net, {"no.weight": one}, x),
        lambda: call(net, {"scale": one}, x),
        lambda: call(net, {"a.weight": 3}, x),
        lambda: call(net, [{"a.weight": one}, {"a.weight": one}], x),
        lambda: call(net, [{"a.weight": one}, 3], x),
        lambda: call(net, 3, x),
        lambda: call(net, {"a.weight": one}, L.ones(1, 7)),
    ):
        report.raises(wrong)
    report(
        net.a.weight is net.b.weight,
        all(bool((net.state_dict()[k] == v).all()) for k, v in state.items() if k != "seen"),
    )
    same = call(net, {"a.weight": one, "b.weight": one}, x)
    report(same.requires_grad)


@story
def test_the_old_place_warns(L, report):
    layer = L.nn.Linear(1, 1)
    old = L.nn.utils.stateless.functional_call
    report(report.warns(lambda: old(layer, {"weight": L.ones(1, 1), "bias": L.ones(1)}, L.ones(1))))


@story
def test_stacked(L, report):
    models = [L.nn.Sequential(L.nn.Linear(2, 3), L.nn.BatchNorm1d(3)) for _ in range(3)]
    params, buffers = L.func.stack_module_state(models)
    report(params, buffers, [p.is_leaf for p in params.values()])
    params, buffers = L.func.stack_module_state(L.nn.ModuleList(m.requires_grad_(False) for m in models))
    report(params["0.weight"].requires_grad)
    models[0][0].weight.requires_grad_()
    for wrong in (
        lambda: L.func.stack_module_state([]),
        lambda: L.func.stack_module_state([models[0].train(), models[1].eval()]),
        lambda: L.func.stack_module_state([L.nn.ReLU(), L.nn.Tanh()]),
        lambda: L.func.stack_module_state([m.train() for m in models]),
    ):
        report.raises(wrong)
