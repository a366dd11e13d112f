"""The random state and the samplers against PyTorch's CPU generator, number by number."""

import copy
import math
import pickle
import threading
import warnings

import ml_dtypes
import numpy as np
import pytest

from vistorch.engine.kernels import sampling, sampling_normal
from vistorch.engine.random import mersenne_twister as state
from vistorch.engine.random.mersenne_twister import Generator

torch = pytest.importorskip("torch", reason="torch is the reference")

BF16 = np.dtype(ml_dtypes.bfloat16)
KINDS = {
    "bool": (torch.bool, np.dtype(bool)),
    "uint8": (torch.uint8, np.dtype(np.uint8)),
    "int8": (torch.int8, np.dtype(np.int8)),
    "int16": (torch.int16, np.dtype(np.int16)),
    "int32": (torch.int32, np.dtype(np.int32)),
    "int64": (torch.int64, np.dtype(np.int64)),
    "uint16": (torch.uint16, np.dtype(np.uint16)),
    "uint32": (torch.uint32, np.dtype(np.uint32)),
    "uint64": (torch.uint64, np.dtype(np.uint64)),
    "float16": (torch.float16, np.dtype(np.float16)),
    "bfloat16": (torch.bfloat16, BF16),
    "float32": (torch.float32, np.dtype(np.float32)),
    "float64": (torch.float64, np.dtype(np.float64)),
    "complex64": (torch.complex64, np.dtype(np.complex64)),
    "complex128": (torch.complex128, np.dtype(np.complex128)),
}
FLOATING = ["float16", "bfloat16", "float32", "float64"]
WHOLE = ["bool", "uint8", "int8", "int16", "int32", "int64"]
SEEDS = [0, 5, 2**40 + 7, -3]
# PyTorch's AVX code and its plain code round floats differently; we follow the AVX one.
AVX = torch.backends.cpu.get_cpu_capability() in ("AVX2", "AVX512")


def needs_avx(test):
    """Leave a test out where this PyTorch does not run its AVX kernels: there is nothing to compare with."""
    return test if AVX else None


def pair(seed=5):
    """Our generator and torch's, on the same seed."""
    return Generator().manual_seed(seed), torch.Generator().manual_seed(int(seed))


def as_numpy(tensor):
    """A torch tensor as numpy, bfloat16 included."""
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.uint16).numpy().view(BF16)
    return tensor.numpy()


def assert_same(ours, theirs):
    """Equal dtype, shape and bits."""
    theirs = as_numpy(theirs)
    assert ours.dtype == theirs.dtype
    assert ours.shape == theirs.shape
    assert ours.tobytes() == np.ascontiguousarray(theirs).tobytes()


def assert_same_state(g, t):
    """Equal states, to the byte."""
    assert g.get_state().tobytes() == t.get_state().numpy().tobytes()


def refused(call):
    """The type and the sentence of the error a call raises, with our name read as torch's."""
    with pytest.raises(Exception) as caught:
        call()
    return caught.type, str(caught.value).replace("vistorch.", "torch.")


# ---- the generator


@pytest.mark.parametrize("seed", [*SEEDS, 2**64 - 1, -(2**63), np.int64(7)])
def test_words_and_state_through_blocks(seed):
    g, t = pair(seed)
    assert g.initial_seed() == t.initial_seed()
    assert_same_state(g, t)
    for count in [1, 3, 620, 624, 623, 1, 0, 1248, 5000, 7]:
        ours = (g.words(count) & np.uint32(0xFFFFFF)) * 2.0**-24
        assert_same(ours.astype(np.float32), torch.rand(count, generator=t))
        assert_same_state(g, t)


def test_fresh_generator_is_torchs():
    assert_same_state(Generator(), torch.Generator())


@pytest.mark.parametrize("used", [0, 1, 623, 624, 625, 1248])
@pytest.mark.parametrize("spare", [False, True])
def test_states_travel_both_ways(used, spare):
    g, t = pair(9)
    g.words(used)
    torch.rand(used, generator=t)
    if spare:
        sampling.normal(g, (1,), np.float32)
        torch.randn(1, generator=t)
    ours, theirs = Generator().set_state(t.get_state().numpy()), torch.Generator()
    theirs.set_state(torch.from_numpy(g.get_state()))
    assert_same_state(ours, theirs)
    for other in (ours, pickle.loads(pickle.dumps(g)), copy.deepcopy(g), g.clone_state()):
        expected = torch.Generator().set_state(theirs.get_state())
        assert_same(
            sampling.normal(other, (3,), np.float64), torch.randn(3, generator=expected, dtype=torch.float64)
        )
        assert_same(sampling.uniform(other, (700,), np.float32), torch.rand(700, generator=expected))
    assert_same_state(g, theirs)


def test_manual_seed_forgets_the_spare_normal():
    g, t = pair(1)
    sampling.normal(g, (1,), np.float32)
    g.manual_seed(1)
    assert_same_state(g, t)


@pytest.mark.parametrize("seed", ["a", 1.5, None, True, 2**64, -(2**63) - 1])
def test_wrong_seeds(seed):
    g, t = pair()
    assert refused(lambda: g.manual_seed(seed)) == refused(lambda: t.manual_seed(seed))
    assert_same_state(g, t)


@pytest.mark.parametrize(
    "bad", [np.zeros(3, np.uint8), np.zeros(5056, np.int32), np.zeros(5056, np.uint8), None]
)
def test_wrong_states(bad):
    g, t = pair()
    theirs = torch.from_numpy(bad) if isinstance(bad, np.ndarray) else bad
    assert refused(lambda: g.set_state(bad)) == refused(lambda: t.set_state(theirs))
    assert_same_state(g, t)


def test_seed_is_unpredictable_and_remembered():
    g = Generator()
    first, second = g.seed(), g.seed()
    assert first != second
    assert g.initial_seed() == second
    assert_same_state(g, torch.Generator().manual_seed(second))


def test_module_functions_use_the_default_generator():
    kept = state.get_rng_state()
    try:
        assert state.manual_seed(3.7) is state.default_generator
        assert state.initial_seed() == 3
        before = state.get_rng_state()
        other = Generator()
        with state.fork_rng([other]):
            first = sampling.uniform(state.default_generator, (4,), np.float32)
            other.words(5)
        assert (state.get_rng_state() == before).all()
        assert_same_state(other, torch.Generator())
        assert (sampling.uniform(state.default_generator, (4,), np.float32) == first).all()
        with pytest.raises(KeyError), state.fork_rng():
            state.manual_seed(4)
            raise KeyError
        assert state.initial_seed() == 3
        with state.fork_rng(enabled=False):
            state.manual_seed(4)
        assert state.initial_seed() == 4
        state.set_rng_state(before)
        assert state.initial_seed() == 3
        assert state.seed() == state.initial_seed()
    finally:
        state.set_rng_state(kept)


def test_threads_share_the_stream_without_loss():
    g, t = pair()
    drawn = []

    def work():
        for _ in range(200):
            drawn.append(sampling.uniform(g, (100,), np.float32))

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    expected = torch.rand(80_000, generator=t).numpy()
    assert (np.sort(np.concatenate(drawn)) == np.sort(expected)).all()
    assert_same_state(g, t)


# ---- the samplers, number by number


def run(ours, theirs, seed=5, before=0):
    """Compare one draw, and then the states."""
    g, t = pair(seed)
    g.words(before)
    torch.rand(before, generator=t)
    assert_same(ours(g), theirs(t))
    assert_same_state(g, t)


@pytest.mark.parametrize("kind", [*FLOATING, "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(), (0,), (7,), (30, 1000)])
@pytest.mark.parametrize("bounds", [(0, 1), (-0.37, 1.91), (2.0, 2.5), (-3, -1), (1, 1)])
@needs_avx
def test_uniform(kind, shape, bounds):
    t_kind, kind = KINDS[kind]
    for before in (0, 1):
        run(
            lambda g: sampling.uniform(g, shape, kind, *bounds),
            lambda t: torch.empty(shape, dtype=t_kind).uniform_(*bounds, generator=t),
            before=before,
        )


@pytest.mark.parametrize("kind", [*FLOATING, "complex64", "complex128"])
@pytest.mark.parametrize("size", [0, 1, 2, 15, 16, 17, 31, 33, 500])
@pytest.mark.parametrize("parameters", [(0.0, 1.0), (0.3, 1.7), (-2.0, 0.0)])
@needs_avx
def test_normal(kind, size, parameters):
    t_kind, kind = KINDS[kind]
    for seed in SEEDS:
        run(
            lambda g: sampling.normal(g, (size,), kind, *parameters),
            lambda t: torch.empty(size, dtype=t_kind).normal_(*parameters, generator=t),
            seed=seed,
        )


@needs_avx
@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("size", [16384, 16385, 50_001, sampling_normal.EXACT_UP_TO])
def test_long_normal_draws(kind, size):
    t_kind, kind = KINDS[kind]
    run(lambda g: sampling.normal(g, (size,), kind), lambda t: torch.randn(size, generator=t, dtype=t_kind))


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_very_long_normal_draws_are_close(kind):
    t_kind, kind = KINDS[kind]
    size = sampling_normal.EXACT_UP_TO + 40_009
    g, t = pair()
    ours = sampling.normal(g, (size,), kind, 0.5, 2.0)
    theirs = torch.empty(size, dtype=t_kind).normal_(0.5, 2.0, generator=t).numpy()
    assert np.abs(ours - theirs).max() < (1e-5 if kind == np.float32 else 1e-14)
    assert_same_state(g, t)


def test_spare_normal_is_shared_by_draws():
    g, t = pair()
    for size in (1, 2, 5, 1, 16, 3):
        assert_same(
            sampling.normal(g, (size,), np.float64), torch.randn(size, generator=t, dtype=torch.float64)
        )
        assert_same_state(g, t)


@pytest.mark.parametrize("size", [15, 16, 101])
def test_serial_normal_is_that_of_strided_tensors(size):
    run(
        lambda g: sampling.normal(g, (size,), np.float32, 1.0, 3.0, serial=True),
        lambda t: torch.zeros(size, 2)[:, 0].normal_(1.0, 3.0, generator=t),
    )


@pytest.mark.parametrize("size", [sampling_normal.LIBM_UP_TO, sampling_normal.LIBM_UP_TO + 1, 20_001])
def test_long_serial_normal(size):
    run(
        lambda g: sampling.normal(g, (size,), np.float32, serial=True),
        lambda t: torch.zeros(size, 2)[:, 0].normal_(generator=t),
    )


def test_uniform_over_nearly_all_doubles():
    g, t = pair()
    ours = sampling.uniform(g, (100,), np.float64, -8e307, 8e307)
    theirs = torch.empty(100, dtype=torch.float64).uniform_(-8e307, 8e307, generator=t).numpy()
    np.testing.assert_allclose(ours, theirs, rtol=1e-15, atol=1e292)
    assert_same_state(g, t)


def fits(kind, low, last):
    """Whether a dtype holds all integers from one to another."""
    d = KINDS[kind][1]
    if d.kind not in "iub":
        return True
    lowest, highest = (0, 1) if d.kind == "b" else (np.iinfo(d).min, np.iinfo(d).max)
    return lowest <= low and last <= highest


BOUNDS = [(0, 1), (0, 2), (0, 10), (-5, 5), (100, 127), (-100, 2000), (0, 30_000)]
HOLDING = [
    (kind, bounds)
    for kind in [*WHOLE, *FLOATING, "uint16", "uint32", "uint64"]
    for bounds in BOUNDS
    if fits(kind, bounds[0], bounds[1] - 1)
]


@pytest.mark.parametrize(("kind", "bounds"), HOLDING)
def test_randint(kind, bounds):
    t_kind, kind = KINDS[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        run(
            lambda g: sampling.randint(g, (3, 300), *bounds, kind),
            lambda t: torch.randint(*bounds, (3, 300), generator=t, dtype=t_kind),
        )


@pytest.mark.parametrize("kind", ["int32", "int64", "float32", "float64", "bfloat16", "uint64"])
@pytest.mark.parametrize(
    "high", [2**25, 2**28 - 1, 2**28, 2**28 + 1, 2**31, 2**32, 2**40 + 3, 2**62, 2**63 - 1]
)
@pytest.mark.parametrize("low", [0, 7, -(2**26) - 1, -(2**63)])
def test_wide_randint(kind, low, high):
    t_kind, kind = KINDS[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            torch.randint(low, high, (1,), dtype=t_kind)
        except RuntimeError:
            g, t = pair()
            ours = refused(lambda: sampling.randint(g, (1,), low, high, kind))
            assert ours == refused(lambda: torch.randint(low, high, (1,), dtype=t_kind, generator=t))
            return
        run(
            lambda g: sampling.randint(g, (300,), low, high, kind),
            lambda t: torch.randint(low, high, (300,), generator=t, dtype=t_kind),
        )


@pytest.mark.parametrize(
    ("kind", "low"),
    [(kind, low) for kind in [*WHOLE, *FLOATING] for low in (0, 1, 100, -50) if fits(kind, low, low)],
)
def test_randint_without_an_upper_bound(kind, low):
    t_kind, kind = KINDS[kind]
    run(
        lambda g: sampling.randint(g, (300,), low, None, kind),
        lambda t: torch.empty(300, dtype=t_kind).random_(low, None, generator=t),
    )


@pytest.mark.parametrize("kind", ["int64", "float32", "float64"])
def test_all_64_bits(kind):
    t_kind, kind = KINDS[kind]
    run(
        lambda g: sampling.randint(g, (300,), -(2**63), None, kind),
        lambda t: torch.empty(300, dtype=t_kind).random_(-(2**63), None, generator=t),
    )


@pytest.mark.parametrize("kind", [*WHOLE, *FLOATING])
def test_random_full(kind):
    t_kind, kind = KINDS[kind]
    run(
        lambda g: sampling.random_full(g, (2, 500), kind),
        lambda t: torch.empty(2, 500, dtype=t_kind).random_(generator=t),
    )


def test_a_bound_the_dtype_cannot_count_to_warns():
    g, t = pair()
    with pytest.warns(UserWarning) as ours:
        sampling.randint(g, (3,), 0, 5000, np.float16)
    with pytest.warns(UserWarning) as theirs:
        torch.randint(0, 5000, (3,), dtype=torch.float16, generator=t)
    assert str(theirs[0].message).startswith(str(ours[0].message))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10, 128, 129, 300, 5000, 70_001])
def test_permutation(n):
    run(lambda g: sampling.permutation(g, n), lambda t: torch.randperm(n, generator=t))


@pytest.mark.parametrize("kind", ["uint8", "int8", "int16", "int32", *FLOATING])
def test_permutation_dtypes(kind):
    t_kind, kind = KINDS[kind]
    run(
        lambda g: sampling.permutation(g, 100, kind), lambda t: torch.randperm(100, generator=t, dtype=t_kind)
    )


@pytest.mark.parametrize("kind", [*WHOLE, *FLOATING])
@pytest.mark.parametrize("p", [0, 0.3, 1])
@pytest.mark.parametrize("size", [30, 3000, 20_000])
def test_bernoulli_with_one_probability(kind, p, size):
    t_kind, kind = KINDS[kind]
    run(
        lambda g: sampling.bernoulli(g, p, (size,), kind),
        lambda t: torch.empty(size, dtype=t_kind).bernoulli_(p, generator=t),
    )


@pytest.mark.parametrize("kind", ["bool", "int64", "float32", "bfloat16"])
@pytest.mark.parametrize("p_kind", FLOATING)
def test_bernoulli_with_many_probabilities(kind, p_kind):
    (t_kind, kind), (tp_kind, _) = KINDS[kind], KINDS[p_kind]
    p = torch.rand(5, 1, generator=torch.Generator().manual_seed(1)).to(tp_kind)
    run(
        lambda g: sampling.bernoulli(g, as_numpy(p), (5, 300), kind),
        lambda t: torch.empty(5, 300, dtype=t_kind).bernoulli_(p, generator=t),
    )


CONTINUOUS = {
    "exponential": (1.7,),
    "cauchy": (0.3, 2.0),
    "log_normal": (0.3, 0.5),
    "geometric": (0.03,),
}


SHORT = [  # long draws of doubles are compared below
    (kind, size)
    for kind in FLOATING
    for size in (0, 3, 300, 3001)
    if kind != "float64" or size <= sampling_normal.LIBM_UP_TO
]


@pytest.mark.parametrize(("kind", "size"), SHORT)
@pytest.mark.parametrize("name", CONTINUOUS)
def test_transformed_uniform(name, kind, size):
    t_kind, kind = KINDS[kind]
    run(
        lambda g: getattr(sampling, name)(g, (size,), kind, *CONTINUOUS[name]),
        lambda t: getattr(torch.empty(size, dtype=t_kind), name + "_")(*CONTINUOUS[name], generator=t),
    )


@pytest.mark.parametrize("name", CONTINUOUS)
def test_long_draws_of_doubles_differ_in_last_bits_only(name):
    g, t = pair()
    ours = getattr(sampling, name)(g, (50_000,), np.float64, *CONTINUOUS[name])
    theirs = getattr(torch.empty(50_000, dtype=torch.float64), name + "_")(
        *CONTINUOUS[name], generator=t
    ).numpy()
    np.testing.assert_allclose(ours, theirs, rtol=2e-15, atol=1e-15)
    assert_same_state(g, t)


@pytest.mark.parametrize("kind", ["uint8", "int8", "int16", "int32", "int64"])
def test_whole_geometric_wraps(kind):
    t_kind, kind = KINDS[kind]
    run(
        lambda g: sampling.geometric(g, (500,), kind, 0.001),
        lambda t: torch.empty(500, dtype=t_kind).geometric_(0.001, generator=t),
    )


def test_infinite_rate():
    run(
        lambda g: sampling.exponential(g, (5,), np.float32, math.inf),
        lambda t: torch.empty(5).exponential_(math.inf, generator=t),
    )


@pytest.mark.parametrize("kind", FLOATING)
@pytest.mark.parametrize("rate", [0.0, 0.2, 4.0, 9.99, 10.0, 37.5, 1e4, 1e10, math.inf])
def test_poisson_of_one_rate(rate, kind):
    t_kind, kind = KINDS[kind]
    rates = torch.full((40, 10), rate).to(t_kind)
    run(lambda g: sampling.poisson(g, as_numpy(rates)), lambda t: torch.poisson(rates, generator=t))


def test_poisson_of_many_rates():
    rates = torch.rand(3000, generator=torch.Generator().manual_seed(1)) * 25
    rates[::7] = 0
    for seed in SEEDS:
        run(
            lambda g: sampling.poisson(g, rates.numpy()),
            lambda t: torch.poisson(rates, generator=t),
            seed=seed,
        )


DRAWS = [  # without replacement: no more than there are categories, and no ties, whose order PyTorch leaves open
    (kind, samples, replacement)
    for kind in FLOATING
    for samples in (1, 2, 9, 40)
    for replacement in (False, True)
    if replacement or samples <= (2 if kind in ("float16", "bfloat16") else 9)
]


@pytest.mark.parametrize(("kind", "samples", "replacement"), DRAWS)
@pytest.mark.parametrize("rows", [(), (1,), (6,), (0,)])
def test_multinomial(kind, rows, samples, replacement):
    t_kind, _ = KINDS[kind]
    weights = torch.rand((*rows, 12), generator=torch.Generator().manual_seed(2)).to(t_kind) + 0.1
    if replacement:
        weights[..., 3] = 0
    for seed in SEEDS:
        run(
            lambda g: sampling.multinomial(g, as_numpy(weights), samples, replacement),
            lambda t: torch.multinomial(weights, samples, replacement, generator=t),
            seed=seed,
        )


# ---- wrong arguments

NAN = math.nan
WRONG = {
    "uniform": [(1, 0), (0, 1e39), (-3e38, 3e38), (NAN, 1), (0, NAN), (0, math.inf), (-6e4, 6e4), (0, 1e5)],
    "normal": [(0, -1), (0, NAN), (0, -0.25)],
    "log_normal": [(0, 0), (0, -1.5), (0, NAN)],
    "exponential": [(0,), (-1,), (NAN,)],
    "cauchy": [(0, 0), (0, -1), (0, NAN)],
    "geometric": [(0,), (1,), (1.5,), (NAN,)],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name, arguments", [(n, a) for n, rows in WRONG.items() for a in rows])
def test_wrong_parameters_and_dtypes(name, arguments, kind):
    t_kind, kind = KINDS[kind]
    right = {
        "uniform": (),
        "normal": (),
        "log_normal": (),
        "exponential": (),
        "cauchy": (),
        "geometric": (0.5,),
    }[name]
    for row in (arguments, right):
        g, t = pair()
        try:
            getattr(torch.zeros(3, dtype=t_kind), name + "_")(*row, generator=t)
        except (RuntimeError, NotImplementedError):
            t.manual_seed(5)
            assert refused(lambda row=row, g=g: getattr(sampling, name)(g, (3,), kind, *row)) == refused(
                lambda row=row, t=t: getattr(torch.zeros(3, dtype=t_kind), name + "_")(*row, generator=t)
            )
        else:
            assert getattr(sampling, name)(g, (3,), kind, *row).dtype == kind
        assert_same_state(g, t)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "bounds", [(3, 3), (5, 3), (0, 300), (-1, 3), (-200, 3), (0, 4), (0, 2**40), (0, 70_000)]
)
def test_wrong_integer_bounds(kind, bounds):
    t_kind, kind = KINDS[kind]
    g, t = pair()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            torch.randint(*bounds, (3,), dtype=t_kind, generator=t)
        except (RuntimeError, NotImplementedError):
            ours = refused(lambda: sampling.randint(g, (3,), *bounds, kind))
            assert ours == refused(lambda: torch.randint(*bounds, (3,), dtype=t_kind, generator=t))
        else:
            sampling.randint(g, (3,), *bounds, kind)
        assert_same_state(g, t)


@pytest.mark.parametrize(
    "kind, low", [("int16", 70_000), ("float32", 2**24 + 1), ("float32", 2**26), ("uint8", -(2**63))]
)
def test_wrong_lower_bound(kind, low):
    t_kind, kind = KINDS[kind]
    g, _ = pair()
    assert refused(lambda: sampling.randint(g, (3,), low, None, kind)) == refused(
        lambda: torch.empty(3, dtype=t_kind).random_(low, None)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_random_full_and_bernoulli_dtypes(kind):
    t_kind, kind = KINDS[kind]
    pairs = [
        (lambda g: sampling.random_full(g, (3,), kind), lambda t: t.random_()),
        (lambda g: sampling.bernoulli(g, 0.5, (3,), kind), lambda t: t.bernoulli_(0.5)),
        (
            lambda g: sampling.bernoulli(g, np.full(3, 0.5), (3,), kind),
            lambda t: t.bernoulli_(torch.full((3,), 0.5)),
        ),
    ]
    for ours, theirs in pairs:
        try:
            theirs(torch.zeros(3, dtype=t_kind))
        except (RuntimeError, NotImplementedError):
            assert refused(lambda ours=ours: ours(Generator())) == refused(
                lambda theirs=theirs: theirs(torch.zeros(3, dtype=t_kind))
            )
        else:
            assert ours(Generator()).dtype == kind


@pytest.mark.parametrize("p", [1.5, -0.5, NAN])
def test_wrong_probabilities(p):
    g, t = pair()
    assert refused(lambda: sampling.bernoulli(g, p, (3,), np.float32)) == refused(
        lambda: torch.zeros(3).bernoulli_(p)
    )
    row = np.array([0.5, p], np.float32)
    assert refused(lambda: sampling.bernoulli(g, row, (2,), np.float32)) == refused(
        lambda: torch.bernoulli(torch.from_numpy(row))
    )
    whole = np.array([1, 0])
    assert refused(lambda: sampling.bernoulli(g, whole, (2,), np.float32)) == refused(
        lambda: torch.zeros(2).bernoulli_(torch.from_numpy(whole))
    )
    assert_same_state(g, t)


@pytest.mark.parametrize(
    "n, kind",
    [
        (-1, "int64"),
        (300, "uint8"),
        (129, "int8"),
        (32_769, "int16"),
        (3000, "float16"),
        (2**24 + 2, "float32"),
        (3, "bool"),
        (2, "complex64"),
        (2, "uint16"),
    ],
)
def test_wrong_permutations(n, kind):
    t_kind, kind = KINDS[kind]
    g, t = pair()
    assert refused(lambda: sampling.permutation(g, n, kind)) == refused(
        lambda: torch.randperm(n, dtype=t_kind)
    )
    assert_same_state(g, t)


@pytest.mark.parametrize("rates", [[-1.0], [NAN], [2]])
def test_wrong_rates(rates):
    rates = np.array(rates)
    assert refused(lambda: sampling.poisson(Generator(), rates)) == refused(
        lambda: torch.poisson(torch.from_numpy(rates))
    )


@pytest.mark.parametrize(
    "weights", [[1.0, 1, 1], [0.0, 0], [1.0, -1], [1, NAN], [1, math.inf], 1.0, [[[1.0, 1]]], [1, 1]]
)
@pytest.mark.parametrize("samples", [0, -1, 1, 2, 4])
@pytest.mark.parametrize("replacement", [False, True])
def test_wrong_weights(weights, samples, replacement):
    weights = np.array(weights)
    ours = lambda: sampling.multinomial(Generator(), weights, samples, replacement)  # noqa: E731
    theirs = lambda: torch.multinomial(torch.from_numpy(weights), samples, replacement)  # noqa: E731
    try:
        theirs()
    except RuntimeError:
        assert refused(ours) == refused(theirs)
    else:
        assert ours().shape == (samples,)


@pytest.mark.parametrize("shape", [(0,), (2, 0)])
def test_no_weights(shape):
    weights = np.ones(shape, np.float32)
    assert refused(lambda: sampling.multinomial(Generator(), weights, 1, True)) == refused(
        lambda: torch.multinomial(torch.from_numpy(weights), 1, True)
    )
