"""The event file, read by the definitions of its frames and fields, and by TensorBoard's own reader where it is."""

import struct
from pathlib import Path

import numpy as np
import pytest

from tests.debug.watch.test_record import trained
from vistorch.debug.watch import load, watch
from vistorch.debug.watch.tensorboard import event, framed


def crc32c(data):
    """Bit by bit, as a division of polynomials."""
    rest = 0xFFFFFFFF
    for byte in data:
        for bit in range(8):
            top = (rest ^ (byte >> bit)) & 1
            rest = (rest >> 1) ^ (0x82F63B78 if top else 0)
    return rest ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return (((crc >> 15) | (crc << 17) & 0xFFFFFFFF) + 0xA282EAD8) % 2**32


def frames(data):
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        assert struct.unpack_from("<I", data, at + 8) == (masked(data[at : at + 8]),)
        content = data[at + 12 : at + 12 + length]
        assert struct.unpack_from("<I", data, at + 12 + length) == (masked(content),)
        yield content
        at += length + 16
    assert at == len(data)


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """{number: value} of a message, each field once."""
    out, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        elif kind == 5:
            value, at = struct.unpack_from("<f", data, at)[0], at + 4
        else:
            length, at = varint(data, at)
            value, at = data[at : at + length], at + length
        assert kind in (0, 1, 2, 5) and key >> 3 not in out
        out[key >> 3] = value
    return out


def read(path):
    first, *events = [fields(content) for content in frames(Path(path).read_bytes())]
    assert first[3] == b"brain.Event:2"
    found = {}
    for e in events:
        value = fields(fields(e[5])[1])
        found.setdefault(value[1].decode(), []).append((e[2], value[2]))
        assert first[1] <= e[1]
    return found


def test_what_is_written_is_what_the_record_holds(tmp_path):
    run = trained()
    found = read(run.to_tensorboard(tmp_path / "run"))
    state = run.state()
    losses = state["loss"]["curve"]["mean"][0, 1:]
    assert found["loss/training"] == [(i + 1, float(x)) for i, x in enumerate(losses)]
    assert found["learning rate"] == [(i, float(np.float32(0.05))) for i in range(1, 10)]
    assert found["loss/validation"] == [(c["step"], pytest.approx(c["loss"])) for c in state["validation"]]
    assert [s for s, _ in found["accuracy/validation"]] == [3, 6, 9]
    for i, name in enumerate(["left", "right", "none"]):
        own = [(e["step"], e["right"][i] / e["seen"][i]) for e in state["accuracy"]["epochs"]]
        assert found[f"accuracy of a class/{name}"] == [(s, pytest.approx(a)) for s, a in own]
    norms = found["gradient norm/0.weight"]
    assert norms[-1] == (9, pytest.approx(float(state["flow"]["now"][0]), rel=1e-6))
    assert "loss/least" not in found


def test_a_record_that_was_read_gives_the_same(tmp_path):
    run = trained()
    run.save(tmp_path / "a")
    again = load(tmp_path / "a")
    assert read(again.to_tensorboard(tmp_path / "b")) == read(run.to_tensorboard(tmp_path / "b"))
    assert len(list((tmp_path / "b").iterdir())) == 2  # neither is written over


def test_an_empty_run_is_a_file_without_values(tmp_path):
    assert read(watch().to_tensorboard(tmp_path)) == {}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300, -0.0, 3.25])
def test_numbers_of_all_kinds_and_long_tags(value):
    (content,) = frames(framed(event(1.5, 2**40, "ü" * 200, value)))
    e = fields(content)
    v = fields(fields(e[5])[1])
    with np.errstate(over="ignore"):
        expected = np.float32(value)
    assert (e[1], e[2], v[1].decode()) == (1.5, 2**40, "ü" * 200)
    assert struct.pack("<f", v[2]) == expected.tobytes() or (np.isnan(expected) and np.isnan(v[2]))
