"""Each name that torch promises nothing about: what we rely on, in the version that is installed.

A new version of torch in which one of these fails is not in the list of `real.py` until it is mended.
"""

import ast
import re
from pathlib import Path

import pytest
import torch
from torch import nn

import vistorch.torch_source
from vistorch.torch_source import private

ROOM = Path(vistorch.torch_source.__file__).parent


def leaf(*shape):
    return torch.randn(*shape, requires_grad=True)


OWN = re.compile(r"^_[a-z]\w*$")


def private_names(tree):
    """Attributes with one `_` before them that are no object's own, and modules of torch that are looked up by name."""
    defined = {n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and OWN.match(node.attr):
            base = node.value.id if isinstance(node.value, ast.Name) else ""
            if base not in ("self", "cls", "_state", "sys") and node.attr not in defined:
                yield node.attr, ast.unparse(node)
        if (
            isinstance(node, ast.Call)
            and getattr(node.func, "id", "") in ("getattr", "hasattr")
            and len(node.args) > 1
        ):
            name = node.args[1]
            if isinstance(name, ast.Constant) and OWN.match(str(name.value)):
                yield name.value, ast.unparse(node)
        text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        if re.fullmatch(r"torch(\.\w+)+", text):
            yield text, text


def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def test_no_other_file_of_the_package_touches_a_private_name_of_torch():
    for path in ROOM.glob("*.py"):
        if path.name != "private.py":
            assert not list(private_names(parsed(path))), path.name


def test_no_file_elsewhere_touches_a_name_that_only_torch_has():
    """What is private in torch stands in `private.py`: nothing else above the engine has its names."""
    names = {name for name, _ in private_names(parsed(ROOM / "private.py"))}
    assert {"_base", "_version", "_sequence_nr", "_input_metadata"} <= names
    package = ROOM.parent
    for folder in ("debug", "widgets", "vt"):
        for path in (package / folder).rglob("*.py"):
            tree = parsed(path)
            kept = {
                n.attr
                for n in ast.walk(tree)
                if isinstance(n, ast.Attribute) and getattr(n.value, "id", "") == "self"
            }
            found = [text for name, text in private_names(tree) if name in names - kept - OURS_TOO]
            assert not found, (path.relative_to(package), found)


OURS_TOO = {
    "_backward_hooks",
    "_parameters",
    "_version",
}  # names that vistorch's own tensors and modules have


@pytest.mark.filterwarnings("ignore")  # of torch's own, as its compiler is imported
def test_what_is_a_view_has_a_base():
    x = torch.ones(4)
    assert private.base_of(x) is None and private.base_of(x[1:]) is x
    assert private.is_compiled_module(torch.compile(nn.ReLU())) and not private.is_compiled_module(nn.ReLU())


def test_scaling_is_reported_until_it_is_ended():
    seen = []
    end = private.on_scaling(lambda loss, out: seen.append((loss, out)))
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0)
    loss = torch.ones((), requires_grad=True)
    assert scaler.scale(loss) is seen[0][1] and seen[0][0] is loss
    end()
    assert scaler.scale(loss) == 2 and len(seen) == 1


def test_nodes_are_numbered_as_they_are_made():
    before = private.next_sequence()
    x = leaf(2)
    y = x * 2
    z = y.exp()
    assert private.sequence(y.grad_fn) == before and private.sequence(z.grad_fn) == before + 1
    assert private.next_sequence() == before + 2
    assert private.sequence(y.grad_fn.next_functions[0][0]) >= private.FIRST_SEQUENCE_OF_LEAVES


def test_a_node_says_what_its_forward_gave():
    node = leaf(2, 3).double().max(1)[0].grad_fn
    shapes = [(shape, dtype) for shape, dtype, _ in private.outputs(node)]
    assert shapes[0] == ((2,), torch.float64)


def test_what_a_node_keeps_has_names_and_values():
    x = leaf(2)
    node = (x * x).grad_fn
    assert private.saved_names(node) == ["other", "self"]
    assert torch.equal(private.saved(node, "self"), x) and not private.packed(node, "self")
    with torch.autograd.graph.saved_tensors_hooks(lambda t: 7, lambda n: pytest.fail("unpacked")):
        hidden = x.exp().grad_fn
    assert private.packed(hidden, "result")


class Keeps(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


def test_a_custom_function_says_what_it_keeps_and_what_it_is():
    x = leaf(2)
    kept = Keeps.apply(x)
    node = kept.grad_fn
    assert len(private.raw_saved_of_function(node)) == 1
    assert torch.equal(private.saved_of_function(node)[0], x)
    assert private.function_of(node) is Keeps and private.needs_input_grad(node) == (True,)
    assert private.fills_in_zeros(node) and not private.fills_in_zeros((x * 2).grad_fn)
    assert private.raw_saved_of_function((x * 2).grad_fn) == ()


def test_one_node_runs_and_nothing_else():
    x = leaf(3)
    y = x.exp()
    loss = (y * 2).sum()
    sent, came = private.run_node(y.grad_fn, [torch.ones(3)])
    assert torch.equal(sent[0], y) and torch.equal(came[0], torch.ones(3)) and x.grad is None
    accumulate = y.grad_fn.next_functions[0][0]
    sent, came = private.run_node(accumulate, [torch.ones(3)], leaf=True)
    assert sent == () and torch.equal(x.grad, torch.ones(3))
    loss.backward()


def test_an_error_of_a_node_comes_through_and_leaves_no_hook():
    x = leaf(3)
    y = x.exp()
    with torch.no_grad():
        y.add_(1)
    node = y.grad_fn
    with pytest.raises(RuntimeError, match="inplace operation"):
        private.run_node(node, [torch.ones(3)])
    seen = []
    handle = node.register_hook(lambda *g: seen.append(1))
    assert len(handle.hooks_dict_ref()) == 1


def test_a_node_is_called_without_its_hooks():
    x = leaf(3)
    y = x * torch.ones(2, 3)
    y.register_hook(lambda g: pytest.fail("a hook ran"))
    (sent, _) = private.call_node(y.grad_fn, [torch.ones(2, 3)])
    assert torch.equal(sent, torch.full((3,), 2.0))
    assert private.call_node(Keeps.apply(x).grad_fn, [torch.ones(3)]) is None


def test_what_is_freed_is_known_and_refuses_in_torchs_words():
    x = leaf(3)
    a, b = x.exp(), x.exp()
    assert not private.is_freed(a.grad_fn)
    a.sum().backward()
    private.free(b.grad_fn)
    for y in (a, b):
        assert private.is_freed(y.grad_fn)
        with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
            y.sum().backward()
    function = Keeps.apply(x)
    private.free(function.grad_fn)
    assert private.is_freed(function.grad_fn)
    assert not private.is_freed(x.sum().grad_fn)
    with pytest.raises(RuntimeError) as theirs:
        a.sum().backward()
    assert str(theirs.value) == private.FREED_TWICE


def test_modes_and_transforms_are_known():
    x = torch.ones(2)
    assert private.top_mode() is None and not private.in_backward() and private.current_node() is None
    seen = []
    torch.vmap(lambda t: (seen.append(private.is_wrapped(t)), t)[1])(x)
    assert seen == [True] and not private.is_wrapped(x)
    y = leaf(2).exp()
    y.register_hook(lambda g: seen.append(private.in_backward()))
    y.sum().backward()
    assert seen[-1] is True


def test_memory_has_an_address_and_a_size():
    x = torch.ones(4)
    assert private.memory_of(x) == private.memory_of(x[1:]) and private.bytes_of(x[1:]) == 16
    assert private.memory_of(torch.ones(2, device="meta")) == 0
    assert private.stored(torch.eye(3).to_sparse()) == 3 and private.stored(x) is None


def test_modules_tell_of_their_calls_also_after_an_exception():
    seen = []
    handles = private.on_module_call(
        lambda module, args: seen.append("begin"), lambda module, args, out: seen.append("end")
    )
    try:
        nn.ReLU()(torch.ones(2))
        with pytest.raises(RuntimeError):
            nn.Linear(3, 2)(torch.ones(2))
    finally:
        for handle in handles:
            handle.remove()
    assert seen == ["begin", "end"] * 2


def test_gradients_that_a_pass_starts_with():
    assert torch.equal(private.make_gradients((None,), (leaf(2).sum(),))[0], torch.ones(()))
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        private.make_gradients((None,), (leaf(2),))
    assert not private.has_hooks(leaf(2))


def test_an_iterator_of_a_loader_says_which_indices_it_draws():
    """What `debug.watch.loaders` reads of the iterators of both libraries, which PyTorch promises nothing about."""
    from vistorch.debug.watch.loaders import Iteration

    data = torch.utils.data.TensorDataset(torch.arange(6.0))
    loader = torch.utils.data.DataLoader(data, batch_size=2)
    iterator = iter(loader)
    seen = Iteration(loader, iterator)
    next(iterator)
    assert seen.length == 3 and seen.batch(2) == [0, 1]
    ahead = iter(torch.utils.data.DataLoader(data, batch_size=2, num_workers=1))
    assert {"_sampler_iter", "_num_yielded", "_in_order"} <= set(vars(ahead))


def test_a_loader_that_streams_is_not_asked_for_its_length():
    from vistorch.debug.watch.loaders import Iteration

    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter(torch.arange(4.0))

        def __len__(self):
            raise AssertionError("asked for its length")

    loader = torch.utils.data.DataLoader(Stream(), batch_size=2)
    assert Iteration(loader, iter(loader)).length is None


def test_where_clipping_and_initialisation_stand():
    for place in private.places_of_clipping():
        assert callable(place.clip_grad_norm_) and callable(place.clip_grad_value_)
    assert private.is_of_init(torch.nn.init.xavier_uniform_) and not private.is_of_init(torch.relu)
    x = torch.ones(2)
    x.add_(1)
    assert private.version_of(x) == 1
