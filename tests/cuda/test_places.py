"""Places: one for each device, refused in PyTorch's words; moving copies and keeps the layout."""

import copy
import pickle
import threading

import numpy as np
import pytest

from vistorch import cuda
from vistorch.engine.base import cuda_probe
from vistorch.engine.base.device import device, set_default_device
from vistorch.engine.memory import placement
from vistorch.engine.memory.placement import CPU, CUPY, NUMPY, array_place, move, place_of

LAYOUTS = {
    "c": np.arange(24.0).reshape(2, 3, 4),
    "f": np.asfortranarray(np.arange(24.0).reshape(2, 3, 4)),
    "permuted": np.arange(24.0).reshape(2, 3, 4).transpose(1, 2, 0),
    "swapped": np.arange(24.0).reshape(2, 3, 4).transpose(1, 0, 2),
    "strided": np.arange(48.0).reshape(4, 3, 4)[::2, :, ::-1],
    "expanded": np.broadcast_to(np.arange(4.0), (2, 3, 4)),
    "0-d": np.array(3.0),
    "empty": np.zeros((0, 3)),
    "int": np.arange(3),
}


def test_the_cpu():
    assert (
        place_of()
        is place_of("cpu")
        is place_of("cpu:0")
        is place_of(device("cpu:3"))
        is place_of(b"cpu")
        is CPU
    )
    assert (CPU.kind, CPU.index, CPU.xp, CPU.simulated, CPU.name) == (NUMPY, -1, np, False, "cpu")
    assert repr(CPU.device) == "device(type='cpu')"
    assert repr(CPU) == "Place(cpu)"


def test_simulated_places():
    cuda.simulate(2)
    one = place_of("cuda:1")
    assert one is place_of(device("cuda", 1)) is place_of(1) is place_of(np.int64(1))
    assert one is not place_of("cuda:0")
    assert (one.kind, one.index, one.xp, one.simulated, one.name) == (NUMPY, 1, np, True, "cuda:1")
    assert repr(one) == "Place(cuda:1, simulated)"
    assert one.device is device("cuda:1")


def test_real_places(two_gpus):
    one = place_of("cuda:1")
    assert one is place_of(1) is not place_of("cuda:0")
    assert (one.kind, one.index, one.xp._cupy, one.simulated) == (CUPY, 1, two_gpus, False)
    assert repr(one) == "Place(cuda:1)"


@pytest.mark.parametrize("pretended", [True, False])
def test_cuda_without_an_index_is_the_current_device(two_gpus, pretended):
    if pretended:
        cuda.simulate(2)
    assert place_of("cuda") is place_of("cuda:0")
    with cuda.device(1):
        assert place_of("cuda") is place_of(device("cuda")) is place_of("cuda:1")
    assert place_of("cuda") is place_of("cuda:0")


def test_the_default_device_decides():
    cuda.simulate(3)
    with device("cuda:2"):
        assert place_of() is place_of("cuda:2")
        assert place_of("cpu") is CPU
    set_default_device("cuda")
    assert place_of() is place_of("cuda:0")
    cuda.set_device(1)
    assert place_of() is place_of("cuda:1")
    set_default_device(None)
    assert place_of() is CPU


def test_an_index_that_is_not_there():
    cuda.simulate(1)
    with pytest.raises(
        RuntimeError, match=r"^CUDA error: invalid device ordinal \(cuda:1 .* only cuda:0 is there\)$"
    ):
        place_of("cuda:1")
    cuda.simulate(4)
    with pytest.raises(RuntimeError, match=r"\(cuda:7 was asked for, cuda:0 to cuda:3 are there\)"):
        place_of(7)


@pytest.mark.parametrize("bad", [1.5, [1], True, {}, (1,), np.zeros(1)])
def test_what_is_no_device(bad):
    cuda.simulate(2)
    place_of(1), place_of("cuda:1")
    name = type(bad).__name__
    with pytest.raises(
        TypeError, match=rf"^zeros\(\): argument 'device' must be vistorch.device, not {name}$"
    ):
        place_of(bad, "zeros")
    with pytest.raises(TypeError, match=f"^argument 'device' must be vistorch.device, not {name}$"):
        place_of(bad)


def test_devices_we_do_not_have():
    with pytest.raises(
        NotImplementedError, match="vistorch has cpu, cuda and meta devices; device type 'xpu'"
    ):
        place_of("xpu")
    with pytest.raises(RuntimeError, match=r"Expected one of cpu, cuda, .* at start of device string: gpu"):
        place_of("gpu")


def test_places_survive_copies():
    cuda.simulate(2)
    for place in (CPU, place_of("cuda:1")):
        assert copy.copy(place) is copy.deepcopy(place) is pickle.loads(pickle.dumps(place)) is place


def test_another_number_of_devices_keeps_the_places():
    cuda.simulate(2)
    first, second = place_of("cuda:0"), place_of("cuda:1")
    cuda.simulate(1)
    assert place_of("cuda:0") is first
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        place_of("cuda:1")
    cuda.simulate(3)
    assert place_of("cuda:1") is second


@pytest.mark.parametrize("pretended", [True, False])
def test_with_a_place_makes_its_device_current(two_gpus, pretended):
    if pretended:
        cuda.simulate(2)
    place = place_of("cuda:1")
    with place as entered:
        assert entered is place
        with place_of("cuda:0"), CPU:
            assert cuda.current_device() == 0
            with place:
                assert cuda.current_device() == 1
        assert cuda.current_device() == 1
    assert cuda.current_device() == 0
    with pytest.raises(ZeroDivisionError), place:
        raise ZeroDivisionError
    assert cuda.current_device() == 0


def test_the_current_device_belongs_to_its_thread():
    cuda.simulate(2)
    cuda.set_device(1)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(cuda.current_device()))
    thread.start()
    thread.join()
    assert seen == [0]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("way", [("cpu", "cuda:0"), ("cuda:0", "cpu"), ("cuda:0", "cuda:1")])
def test_simulated_devices_share_no_memory(layout, way):
    cuda.simulate(2)
    array = LAYOUTS[layout]
    moved = move(array, *map(place_of, way))
    assert type(moved) is np.ndarray
    assert moved.dtype == array.dtype
    assert not np.shares_memory(moved, array)
    assert np.array_equal(moved, array)
    if layout not in ("strided", "expanded"):
        assert moved.strides == array.strides


def test_nothing_is_copied_where_nothing_moves():
    cuda.simulate(1)
    array = LAYOUTS["permuted"]
    for name in ("cpu", "cuda:0"):
        place = place_of(name)
        assert move(array, place, place) is array
        made = move(array, place, place, copy=True)
        assert not np.shares_memory(made, array)
        assert made.strides == array.strides


@pytest.mark.parametrize("layout", LAYOUTS)
def test_round_trip_through_real_places(two_gpus, layout):
    first, second = place_of("cuda:0"), place_of("cuda:1")
    array = LAYOUTS[layout]
    there = move(array, CPU, first)
    assert array_place(there) is first
    over = move(there, first, second)
    assert array_place(over) is second
    assert not np.shares_memory(over, there)
    again = move(over, second, second, copy=True)
    assert array_place(again) is second
    assert not np.shares_memory(again, over)
    back = move(again, second, CPU)
    assert array_place(back) is CPU
    assert type(back) is np.ndarray
    assert np.array_equal(back, array)
    assert cuda_probe.current_index() == 0
    if layout in ("c", "f", "permuted", "swapped"):
        assert there.strides == over.strides == again.strides == back.strides == array.strides


def test_a_copy_between_gpus_waits_for_both_streams(two_gpus):
    first, second = place_of("cuda:0"), place_of("cuda:1")
    array = move(np.ones(3), CPU, first)
    with cuda.stream(cuda.Stream(0)), cuda.stream(cuda.Stream(1)):
        source, target = cuda.current_stream(0), cuda.current_stream(1)
        two_gpus.log.clear()
        move(array, first, second)
    assert two_gpus.log == [
        ("record", 0, source.cuda_stream),
        ("wait", 1, source.cuda_stream),
        ("array", 1, False),
        ("record", 1, target.cuda_stream),
        ("wait", 0, target.cuda_stream),
    ]


def test_non_blocking_reaches_cupy(two_gpus):
    first = place_of("cuda:0")
    move(np.ones(3), CPU, first)
    move(np.ones(3), CPU, first, non_blocking=True)
    assert two_gpus.log == [("array", 0, True), ("array", 0, False)]


def test_array_place():
    assert array_place(np.ones(3)) is array_place(np.float32(1)) is CPU
    with pytest.raises(TypeError, match="expected a numpy or cupy array, got list"):
        array_place([1.0])


def test_simulating_is_refused_while_real_devices_are_in_use(two_gpus):
    assert cuda.is_available()
    cuda.simulate(3)  # nothing real is used yet
    assert cuda.device_count() == 3
    cuda.simulate(0)
    place_of("cuda:1")
    with pytest.raises(
        RuntimeError, match=r"simulate\(4\): real CUDA devices are in use in this process \(cuda:1\)"
    ):
        cuda.simulate(4)
    assert cuda.device_count() == 2
    assert not place_of("cuda:0").simulated
    cuda.simulate(0)
    cuda.simulate(None)
    assert placement.real_in_use()
