"""vistorch.autograd.graph: edges, walking, hooks on several tensors, hooks on what is saved."""

from tests.autograd.programs import Programs, leaf

programs = Programs()
good, bad = programs.good, programs.bad


@good
def edges(lib):
    x = leaf(lib, 2.0, 3.0)
    y = x * x
    z = y.exp()
    at = lib.autograd.graph.get_gradient_edge
    from_edge = lib.autograd.grad(z.sum(), [at(y), at(x)], retain_graph=True)
    by_hand = lib.autograd.grad(z.sum(), lib.autograd.graph.GradientEdge(y.grad_fn, 0), retain_graph=True)
    as_output = lib.autograd.grad(at(y), x, lib.ones(2), retain_graph=True)
    lib.autograd.backward(at(y), lib.ones(2))
    return from_edge, by_hand, as_output, x.grad, at(x).node.name(), at(y).output_nr, at(x)[1:]


@good
def edges_of_several_outputs(lib):
    x = leaf(lib, 2.0, 3.0)
    a, b = x.unbind()
    edge = lib.autograd.graph.get_gradient_edge(b)
    by_hand = lib.autograd.graph.GradientEdge(b.grad_fn, 1)
    out = (a * 2 * b).sum()
    return (
        edge.output_nr,
        lib.autograd.grad(out, [edge, by_hand, b], retain_graph=True),
        lib.autograd.grad(edge, x, lib.tensor(5.0)),
    )


@good
def edge_of_an_output_nobody_holds(lib):
    x = leaf(lib, 2.0, 3.0)
    a, b = x.unbind()
    node, out = b.grad_fn, (a * b) * b
    del a, b
    return lib.autograd.grad(out, lib.autograd.graph.GradientEdge(node, 1))


@good
def walking(lib):
    x = leaf(lib, 2.0)
    y = (x * 2).exp() * x
    names, todo = [], [y.grad_fn]
    while todo:
        n = todo.pop()
        if n is not None:
            names.append(n.name())
            todo += [m for m, _ in n.next_functions]
    return names, y.grad_fn.next_functions[1][0].variable is x, isinstance(y.grad_fn, lib.autograd.graph.Node)


@good
def multi_grad_hook(lib):
    a, b, c = leaf(lib, 2.0), leaf(lib, 3.0), leaf(lib, 4.0)
    log, first = [], []
    h = lib.autograd.graph.register_multi_grad_hook((a, b, c), lambda gs: log.append(list(gs)))
    k = lib.autograd.graph.register_multi_grad_hook((a, b), lambda g: first.append(g), mode="any")
    (a * b).backward()
    (a * b * c).backward()
    h.remove()
    k.remove()
    (a * b * c).backward()
    return log, len(first)


@good
def version_counted(lib):
    x = lib.ones(2)
    lib.autograd.graph.increment_version(x)
    lib.autograd.graph.increment_version([x, x])
    return x._version


@good
def packing(lib):
    log = []

    def pack(t):
        log.append(("pack", t.detach().clone()))
        return t.tolist()

    def unpack(v):
        log.append(("unpack", lib.is_grad_enabled()))
        return lib.tensor(v)

    x = leaf(lib, 1.0, 2.0)
    with lib.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = (x * x).exp()
    (g,) = lib.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = lib.autograd.grad(g.sum(), x)
    return g, h, log


@good
def packing_nested(lib):
    log = []

    def pair(name):
        return lambda t: (log.append(name), t)[1], lambda t: t

    x = leaf(lib, 1.0)
    with lib.autograd.graph.saved_tensors_hooks(*pair("outer")):
        x.exp()
        with lib.autograd.graph.saved_tensors_hooks(*pair("inner")):
            x.exp()
        x.exp()
    x.exp()
    return log


@good
def kept_on_cpu(lib):
    x = leaf(lib, 1.0, 2.0)
    with lib.autograd.graph.save_on_cpu():
        y = x.exp() * x
    y.sum().backward()
    return x.grad


@good
def packing_ends_after_an_error(lib):
    x, log = leaf(lib, 1.0), []
    try:
        with lib.autograd.graph.saved_tensors_hooks(log.append, log.append):
            raise ValueError
    except ValueError:
        x.exp().backward()
    return log, x.grad


@bad("RuntimeError")
def packing_refused(lib):
    with lib.autograd.graph.disable_saved_tensors_hooks("not here"):
        with lib.autograd.graph.saved_tensors_hooks(abs, abs):
            pass


@bad("RuntimeError")
def packing_refused_inside(lib):
    with lib.autograd.graph.saved_tensors_hooks(abs, abs):
        with lib.autograd.graph.disable_saved_tensors_hooks("not here"):
            pass


@bad("RuntimeError")
def pack_writes(lib):
    with lib.autograd.graph.saved_tensors_hooks(lambda t: t.add_(1), lambda t: t):
        (leaf(lib, 1.0) * 2).exp()


@bad("RuntimeError")
def a_saved_result_after_backward(lib):
    y = leaf(lib, 1.0, 2.0).exp()
    y.sum().backward()
    return y.grad_fn._saved_result


@bad("AttributeError")
def a_saved_value_that_the_freed_node_never_had(lib):
    y = leaf(lib, 1.0, 2.0).exp()
    y.sum().backward()
    return y.grad_fn._saved_nothing


@bad("TypeError")
def unpack_gives_a_number(lib):
    with lib.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: 3):
        y = leaf(lib, 1.0).exp()
    y.backward()


@bad("RuntimeError")
def edge_without_grad(lib):
    lib.autograd.graph.get_gradient_edge(lib.ones(1))


@bad("RuntimeError")
def materialize_an_edge(lib):
    x, w = leaf(lib, 1.0), leaf(lib, 2.0)
    lib.autograd.grad(x * 2, lib.autograd.graph.get_gradient_edge(w), materialize_grads=True)


@bad("ValueError")
def multi_grad_hook_of_no_kind(lib):
    lib.autograd.graph.register_multi_grad_hook((leaf(lib, 1.0),), print, mode="some")


@bad("AssertionError")
def multi_grad_hook_without_grad(lib):
    lib.autograd.graph.register_multi_grad_hook((lib.ones(1),), print)


test_same = programs.test()
