"""Everything here that writes a file: how, and how what it wrote is read. A program too, which writes until it dies.

`python -m tests.serialization.writers FOLDER [LIMIT]` writes each file anew, again and again; with LIMIT, once, where
no file may grow beyond so many bytes, and prints what each writer raised.
"""

import re
import sys
from pathlib import Path

import numpy as np

import vistorch
from vistorch.debug.compare.recording import Op, Recording
from vistorch.debug.watch import load as load_watch
from vistorch.debug.watch import watch
from vistorch.serialization import safetensors
from vistorch.tutorials import copies
from vistorch.vision import io
from vistorch.vision.utils import save_image
from vistorch.widgets._frame.user_error import Refusal

SIZE = 300_000
noise = np.random.default_rng(0).random(SIZE, np.float32)
tensor = vistorch.from_numpy(noise)
picture = vistorch.from_numpy((noise[:270_000] * 255).astype(np.uint8).reshape(3, 300, 300))


def _recording(path):
    Recording("a", [Op("exp", "", "", [noise], [("array", noise)])]).save(path)


def _watch(path):
    record = watch(title="first").record()
    curve, row = record.state["loss"]["curve"], noise[None]
    curve.update(low=row, high=row, mean=row, bad=np.zeros(row.shape, np.uint8))
    record.save(path)


def _export(path):
    from vistorch.vt.commands import export as keep

    keep._write(Path(path), b"<svg>" + noise.tobytes() + b"</svg>")


def _html(path):
    content = Path(path).read_bytes()
    assert content[:5] == b"<svg>" and content[-6:] == b"</svg>", len(content)


def _events(folder):
    record = watch(title="first").record()
    curve = record.state["loss"]["curve"]
    for name in ("mean", "low", "high"):
        curve[name] = noise[None, :20_000]
    curve["bad"], curve["from"] = np.zeros((1, 20_000), np.uint8), 0
    record.to_tensorboard(folder)


def _read_events(folder):
    for path in Path(folder).iterdir():
        data, at = path.read_bytes(), 0
        while at < len(data):
            at += 16 + int.from_bytes(data[at : at + 8], "little")
        assert at == len(data) > 500_000


WRITERS = {
    "a.pt": (lambda path: vistorch.save(tensor, path), vistorch.load),
    "old.pt": (
        lambda path: vistorch.save(tensor, path, _use_new_zipfile_serialization=False),
        vistorch.load,
    ),
    "a.safetensors": (lambda path: safetensors.save_file({"a": tensor}, path), safetensors.load_file),
    "a.vtr": (_recording, Recording.load),
    "a.vtw": (_watch, load_watch),
    "a.png": (lambda path: io.write_png(picture, path), io.read_image),
    "grid.png": (lambda path: save_image(picture / 255, path), io.read_image),
    "a.bytes": (lambda path: io.write_file(path, picture.flatten()), lambda path: _sized(path, 270_000)),
    "a.svg": (_export, _html),
    "a.ipynb": (lambda path: copies._write(Path(path), noise.tobytes()), lambda path: _sized(path, 4 * SIZE)),
    "events": (_events, _read_events),
}


def _sized(path, size):
    assert Path(path).stat().st_size == size


def check(folder):
    """Every file that has a name is whole, also in the moment before it is renamed; the names of the files."""
    found = set()
    for path in Path(folder).iterdir():
        name = re.sub(r"^\.(.*)\.[0-9a-f]{12}\.tmp$", r"\1", path.name)
        WRITERS[name][1](str(path))
        found.add(name)
    return found


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    if len(sys.argv) > 2:
        import resource
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
        for name, (write, _) in WRITERS.items():
            try:
                write(str(folder / name))
                print(name, "wrote")
            except (OSError, Refusal) as error:
                print(name, str(error).partition("[Errno ")[2].partition("]")[0])
        sys.exit()
    for times in range(1_000_000):
        for name, (write, _) in WRITERS.items():
            if name != "events" or times < 3:
                write(str(folder / name))
        print(times, flush=True)
