"""Random tensors, in-place writers and generators against torch, number by number."""

import copy
import pickle
import re

import numpy as np
import pytest

import vistorch
from tests.engine.both import check, lines, plain, torch
from tests.reference import CPU_BUILD, NO_ACCELERATOR

RANDOM = lines("""
torch.rand(-1)
torch.randn(-1)
torch.randint(3,(-1,))
torch.randperm(-1)
grown(3).uniform_().grad_fn.name()
grown(3).normal_().grad_fn.name()
grown(3).bernoulli_().grad_fn.name()
grown(3).bernoulli_(torch.tensor(.5)).grad_fn.name()
grown(3).exponential_().grad_fn.name()
grown(3).log_normal_().grad_fn.name()
grown(3).cauchy_().grad_fn.name()
grown(3).geometric_(.5).grad_fn.name()
grown(3).random_().grad_fn.name()
grown(3).random_(5).grad_fn.name()
grown(3).random_(1,5).grad_fn.name()
grown(3).fill_(2).grad_fn.name()
grown(3).fill_(torch.tensor(2.)).grad_fn.name()
grown(3).zero_().grad_fn.name()
torch.multinomial(grown(3), 2).grad_fn
torch.rand_like(grown(3)).grad_fn
torch.fill(grown(3), 2.).grad_fn.name()
torch.fill(grown(3), torch.tensor(1.)).grad_fn.name()
torch.ones(1).expand(3).zero_()
torch.ones(1).expand(3).fill_(1)
torch.ones(1).expand(3).uniform_()
torch.ones(1).expand(3).normal_()
torch.ones(1).expand(3).bernoulli_()
torch.ones(2,dtype=torch.int8).fill_(300)
torch.ones(2).fill_(torch.tensor([1.]))
torch.ones(2).fill_('a')
torch.ones(2).fill_(1j)
torch.ones(2,dtype=torch.int32).fill_(1.5)
torch.ones(2,dtype=torch.int32).fill_(torch.tensor(1.5))
torch.ones(2,dtype=torch.int32).uniform_()
torch.ones(2,dtype=torch.int32).normal_()
torch.ones(2,dtype=torch.int32).exponential_()
torch.ones(2,dtype=torch.int32).cauchy_()
torch.ones(2,dtype=torch.int32).log_normal_()
torch.ones(2,dtype=torch.bool).random_()
torch.ones(2,dtype=torch.complex64).random_()
torch.ones(2,dtype=torch.complex64).bernoulli_()
torch.ones(2).uniform_(2,1)
torch.ones(2).normal_(0,-1)
torch.ones(2).bernoulli_(2)
torch.ones(2).bernoulli_(torch.tensor([.5,.2,.3]))
torch.ones(2).bernoulli_(torch.tensor([2]))
torch.ones(2).bernoulli_(torch.tensor([2.,.5]))
torch.ones(2).random_(5,2)
torch.ones(2).random_(0)
torch.ones(2).geometric_(0)
torch.ones(2).geometric_()
torch.ones(2).exponential_(-1)
torch.ones(2).uniform_(generator=3)
torch.ones(2).uniform_('a')
torch.ones(2).uniform_(**{'from':1,'to':2}).shape
torch.ones(2).uniform_(a=1)
torch.ones(2).random_(**{'from':1,'to':2})
torch.ones(2).random_(to=2).shape
torch.ones(2).normal_(mean=1,std=0)
torch.rand(2, generator=g)
torch.rand(2, dtype=torch.int32)
torch.randn(2, dtype=torch.int32)
torch.rand(2, dtype=torch.complex64).shape
torch.rand_like(torch.ones(2), generator=g).shape
torch.rand_like(torch.ones(2,dtype=torch.int32))
torch.rand_like(3)
torch.randn_like(torch.ones(2), dtype=torch.float64).dtype
torch.randint(5,(2,)).dtype
torch.randint(1,5,(2,)).dtype
torch.randint(5,2)
torch.randint(5)
torch.randint(5.5,(2,))
torch.randint(5,1,(2,))
torch.randint(0,(2,))
torch.randint(0,300,(2,),dtype=torch.uint8)
torch.randint(5,(2,),dtype=torch.float32).dtype
torch.randint(5,(2,),dtype=torch.bool)
torch.randint(high=5,size=(2,)).shape
torch.randint(low=1,high=5,size=(2,)).shape
torch.randint(low=1,size=(2,),high=5,generator=g).shape
torch.randint(5,size=(2,)).shape
torch.randint(torch.tensor(5),(2,)).shape
torch.randint(5,(2,),out=torch.empty(2,dtype=torch.int64)).shape
torch.randint_like(torch.ones(2),5).dtype
torch.randint_like(torch.ones(2),1,5).dtype
torch.randint_like(torch.ones(2),high=5).dtype
torch.randint_like(torch.ones(2),low=1,high=5).dtype
torch.randint_like(torch.ones(2))
torch.randint_like(torch.ones(2),5,1)
torch.randperm(4).dtype
torch.randperm(4,dtype=torch.float32).dtype
torch.randperm(300,dtype=torch.uint8)
torch.randperm(3.5)
torch.randperm(4,generator=g).shape
torch.randperm(4,out=torch.empty(0)).dtype
torch.randperm(4,out=torch.empty(0,dtype=torch.int64)).dtype
torch.normal(0.,1.,(2,)).shape
torch.normal(0,1,(2,)).shape
torch.normal(0.,1.,size=(2,)).shape
torch.normal(mean=0.,std=1.,size=(2,)).shape
torch.normal(0.,1.)
torch.normal(0.,torch.ones(2)).shape
torch.normal(torch.zeros(2)).shape
torch.normal(torch.zeros(2),2).shape
torch.normal(torch.zeros(2),torch.ones(3))
torch.normal(torch.zeros(2),torch.ones(3,1)).shape
torch.normal(torch.zeros(2),-1)
torch.normal(0.,-1.,(2,))
torch.normal(torch.zeros(2),torch.tensor([1.,-1]))
torch.normal(torch.zeros(2,dtype=torch.int32),1.)
torch.normal(torch.zeros(2,dtype=torch.float64),torch.ones(2)).dtype
torch.normal(torch.zeros(2),torch.ones(2,dtype=torch.float64)).dtype
torch.normal(0.,torch.ones(2,dtype=torch.complex64))
torch.normal(torch.zeros(2,dtype=torch.complex64),1.).dtype
torch.normal(0.,1.,(2,),dtype=torch.int32)
torch.normal(0.,1.,(2,),dtype=torch.float64).dtype
torch.normal('a',1.,(2,))
torch.bernoulli(torch.tensor([.5,.5])).shape
torch.bernoulli(torch.tensor([.5,2]))
torch.bernoulli(torch.tensor([1,0]))
torch.bernoulli(torch.tensor([True]))
torch.bernoulli(torch.ones(2,dtype=torch.int32),.5).dtype
torch.bernoulli(3)
torch.ones(2).bernoulli().shape
torch.ones(2).bernoulli(.4).shape
torch.multinomial(torch.ones(3),2).dtype
torch.multinomial(torch.ones(3),4)
torch.multinomial(torch.ones(3),4,True).shape
torch.multinomial(torch.ones(3),4,replacement=True,generator=g).shape
torch.multinomial(torch.ones(3,dtype=torch.int32),2)
torch.multinomial(torch.ones(3),2.5)
torch.multinomial(3,2)
torch.ones(3).multinomial(2).shape
torch.multinomial(torch.ones(0),2)
torch.multinomial(torch.zeros(3),2)
torch.poisson(torch.ones(2)).dtype
torch.poisson(torch.ones(2,dtype=torch.int32))
torch.poisson(torch.tensor([-1.]))
torch.poisson(3)
torch.ones(2).poisson()
""")
GENERATORS = lines("""
type(torch.Generator())
torch.Generator()
torch.Generator('cpu').device
torch.Generator('foo')
torch.Generator().manual_seed('a')
torch.Generator().manual_seed(1.5)
torch.manual_seed('a')
torch.manual_seed(1.5)
torch.manual_seed(2**65)
torch.get_rng_state().shape
torch.set_rng_state(3)
torch.set_rng_state(torch.zeros(3))
torch.set_rng_state(torch.zeros(3,dtype=torch.uint8))
torch.Generator().get_state().dtype
torch.Generator().set_state(3)
torch.Generator().set_state(torch.ones(3))
torch.Generator().graphsafe_get_state()
torch.random.fork_rng(devices=[3])
""")


@pytest.mark.parametrize("source", [*RANDOM, *GENERATORS, *(["torch.Generator(3)"] if CPU_BUILD else [])])
def test_same_as_torch(source):
    check(source)


def test_a_generator_has_no_number_without_an_accelerator():
    with pytest.raises(RuntimeError, match=f"^{re.escape(NO_ACCELERATOR)}$"):
        vistorch.Generator(3)


# ---- numbers, bit by bit -------------------------------------------------------------------------------------
FLOATS = ("float16", "bfloat16", "float32", "float64")
CALLS = lines("""
L.rand(SHAPE, dtype=T)
L.randn(SHAPE, dtype=T)
L.normal(1.5, 2.0, SHAPE, dtype=T)
L.rand_like(L.empty(SHAPE, dtype=T))
L.randn_like(L.empty(SHAPE, dtype=T))
L.randint(3, 17, SHAPE, dtype=T)
L.randint_like(L.empty(SHAPE, dtype=T), 9)
L.empty(SHAPE, dtype=T).uniform_(-1, 2)
L.empty(SHAPE, dtype=T).normal_(1, 0.5)
L.empty(SHAPE, dtype=T).bernoulli_(0.3)
L.empty(SHAPE, dtype=T).random_(3, 90)
L.empty(SHAPE, dtype=T).random_(90)
L.bernoulli(L.full(SHAPE, 0.3, dtype=T))
L.poisson(L.full(SHAPE, 2.5, dtype=T))
L.multinomial(L.ones(20, dtype=T), 7, True)
""")


def values(t):
    return t.float().tolist() if "bfloat16" in str(t.dtype) else t.tolist()


@pytest.mark.parametrize("shape", [(5,), (4, 7), (0, 3), (3, 300)], ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("call", CALLS)
def test_the_numbers_are_torchs(call, dtype, shape):
    found = []
    for library in (vistorch, torch):
        library.manual_seed(7)
        names = {"L": library, "SHAPE": shape, "T": getattr(library, dtype)}
        found.append(
            (values(eval(call, names)), library.rand(1).item())
        )  # and the streams stand at the same place
    assert found[0] == found[1]


LAYOUTS = lines("""
t.t()
t[:, 1:5]
t[::2]
t.t()[1:3]
t.view(2, 3, 6).permute(1, 2, 0)
""")
WRITERS = lines("""
uniform_(0, 1)
normal_(0, 1)
bernoulli_(0.5)
random_(0, 100)
exponential_(1.5)
log_normal_(0.0, 0.25)
cauchy_(0, 1)
geometric_(0.25)
""")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("writer", WRITERS)
def test_memory_is_filled_in_its_own_order(writer, layout):
    found = []
    for library in (vistorch, torch):
        library.manual_seed(3)
        base = library.zeros(6, 6, dtype=library.float64)
        part = eval(layout, {"t": base})
        eval(f"part.{writer}", {"part": part})
        found.append(base.tolist())
    assert np.allclose(found[0], found[1], rtol=1e-12, atol=0)


def test_probabilities_of_a_strided_write():
    found = []
    for library in (vistorch, torch):
        library.manual_seed(3)
        p = library.linspace(0, 1, 12).view(3, 4)
        found.append(library.zeros(4, 3).t().bernoulli_(p).tolist())
    assert found[0] == found[1]


@pytest.mark.parametrize("writer", [*WRITERS, "fill_(2.0)", "zero_()", "bernoulli_(L.full((3,), 0.5))"])
def test_what_is_overwritten_gets_no_gradient(writer):
    for library in (vistorch, torch):
        x = library.ones(3, requires_grad=True)
        y = x * 2
        z = eval(f"y.{writer}", {"y": y, "L": library})
        assert z is y and y._version == 1
        (y * x).sum().backward()
        assert x.grad.tolist() == y.tolist()


def test_a_view_of_a_graph_is_filled():
    found = []
    for library in (vistorch, torch):
        x = library.ones(2, 3, requires_grad=True)
        y = x * 3
        y[:, 1].fill_(5)
        y[0].zero_()
        found.append(plain(y))
        (y * y).sum().backward()
        found.append(x.grad.tolist())
    assert found[:2] == found[2:]


def test_the_filling_tensor_gets_the_sum():
    for library in (vistorch, torch):
        v = library.tensor(2.0, requires_grad=True)
        library.zeros(2, 3).fill_(v).sum().backward()
        assert v.grad.item() == 6


@pytest.mark.parametrize("writer", [*WRITERS, "fill_(2.0)", "zero_()"])
def test_a_refused_write_draws_nothing_and_changes_nothing(writer):
    x = vistorch.ones(3, requires_grad=True)
    before = vistorch.get_rng_state()
    with pytest.raises(
        RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"
    ):
        eval(f"x.{writer}", {"x": x})
    assert x.tolist() == [1, 1, 1] and x._version == 0
    assert vistorch.get_rng_state().tolist() == before.tolist()
    with vistorch.no_grad():
        eval(f"x.{writer}", {"x": x})
    assert x._version == 1 and x.is_leaf


# ---- generators ------------------------------------------------------------------------------------------------
def test_states_travel_between_the_libraries():
    theirs = torch.Generator().manual_seed(5)
    torch.rand(7, generator=theirs)
    ours = vistorch.Generator().set_state(vistorch.from_numpy(theirs.get_state().numpy()))
    assert vistorch.rand(9, generator=ours).tolist() == torch.rand(9, generator=theirs).tolist()
    assert ours.get_state().tolist() == theirs.get_state().tolist()


def test_a_generator_is_copied_with_its_state():
    g = vistorch.Generator().manual_seed(11)
    vistorch.randn(3, generator=g)
    copies = [copy.deepcopy(g), pickle.loads(pickle.dumps(g)), g.clone_state()]
    expected = vistorch.randn(5, generator=g).tolist()
    for copied in copies:
        assert type(copied) is vistorch.Generator
        assert vistorch.randn(5, generator=copied).tolist() == expected


def test_fork_rng_gives_the_states_back():
    vistorch.cuda.simulate(2)
    try:
        vistorch.manual_seed(1)
        first = vistorch.rand(2).tolist(), vistorch.rand(2, device="cuda:1").tolist()
        vistorch.manual_seed(1)
        with vistorch.random.fork_rng():
            vistorch.rand(5)
            vistorch.rand(5, device="cuda:1")
        assert (vistorch.rand(2).tolist(), vistorch.rand(2, device="cuda:1").tolist()) == first
        with vistorch.random.fork_rng(enabled=False):
            vistorch.manual_seed(2)
        assert vistorch.initial_seed() == 2
    finally:
        vistorch.cuda.simulate(None)


def test_a_device_has_its_own_stream():
    vistorch.cuda.simulate(2)
    try:
        vistorch.manual_seed(4)
        here, there = vistorch.rand(3), vistorch.rand(3, device="cuda:0")
        assert here.tolist() != there.tolist()  # a CUDA device has a stream of another kind, as in PyTorch
        assert there.tolist() == vistorch.rand(3, device="cuda:1").tolist()
        vistorch.cuda.manual_seed(9)
        assert (
            vistorch.rand(3, device="cuda").tolist()
            == vistorch.rand(3, device="cuda", generator=vistorch.Generator("cuda").manual_seed(9)).tolist()
        )
        g = vistorch.Generator(device="cuda").manual_seed(2)
        assert (
            str(g.device) == "cuda:0" and str(vistorch.rand(1, device="cuda", generator=g).device) == "cuda:0"
        )
        with pytest.raises(RuntimeError, match="Expected a 'cpu' device type for generator but found 'cuda'"):
            vistorch.rand(1, generator=g)
        with pytest.raises(RuntimeError, match="Expected a 'cuda' device type for generator but found 'cpu'"):
            vistorch.zeros(1, device="cuda").uniform_(generator=vistorch.Generator())
    finally:
        vistorch.cuda.simulate(None)
