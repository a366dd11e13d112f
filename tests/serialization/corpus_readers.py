"""How the files of the corpus are read, each kind by its loader, and what is looked at while and after."""

import copy
import faulthandler
import gzip
import io
import os
import pickle
import random
import resource
import sys
import tarfile
import tempfile
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np

import vistorch
from tests.debug.watch.test_form import use
from tests.debug.watch.test_record import trained
from vistorch.debug import Record, Recording
from vistorch.debug.watch import load as load_watch
from vistorch.serialization import safetensors
from vistorch.serialization.budget import allowed
from vistorch.vision import io as pictures
from vistorch.vision.datasets.idx import read_idx
from vistorch.vision.datasets.pickles import load_pickle
from vistorch.vision.datasets.unpacking import Refused, unpack

from .corpus import HANG, SECONDS, made

RUNS = (
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.spawn",
    "os.fork",
    "socket.connect",
    "pty.spawn",
)
ONE = {
    "pt": (RuntimeError, pickle.UnpicklingError),
    "legacy": (RuntimeError, pickle.UnpicklingError),
    "safetensors": safetensors.SafetensorError,
    "recording": ValueError,
    "watch": ValueError,
    "unpack": Refused,
    "idx": RuntimeError,
    "picture": RuntimeError,
    "batch": pickle.UnpicklingError,
    "state": ValueError,
}
BEYOND = {
    "picture": 600 << 20
}  # Pillow's most pixels; of the others the budget is said in `serialization.budget`


def good_files():
    """A few files of each kind that are as they should be."""
    rng = np.random.default_rng(0)
    x = vistorch.from_numpy(rng.random((40, 30), np.float32))
    net = vistorch.nn.Sequential(vistorch.nn.Linear(4, 5), vistorch.nn.BatchNorm1d(5))
    values = {
        "x": x,
        "part": x[3:],
        "n": [1, b"x", 2.5, None],
        "net": net.state_dict(),
        "p": vistorch.nn.Parameter(x),
    }

    def written(save, *args, **options):
        file = io.BytesIO()
        save(*args, file, **options)
        return file.getvalue()

    y = vistorch.ones(3, requires_grad=True)
    with Record("run") as record:
        (y.exp() * 3 + y[1]).clamp(min=0.5).sum().backward()
    packed, tarred, zipped = io.BytesIO(), io.BytesIO(), io.BytesIO()
    with gzip.open(packed, "wb") as file:
        file.write(b"content" * 50)
    for mode in ("w", "w:gz", "w:xz"):
        with tarfile.open(fileobj=tarred, mode=mode) as tar:
            for name in ("a", "b/c", "b/d"):
                info = tarfile.TarInfo(name)
                info.size = 700
                tar.addfile(info, io.BytesIO(bytes(700)))
        if mode == "w":
            tars = [tarred.getvalue()]
        else:
            tars.append(tarred.getvalue())
        tarred = io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as z:
        for name in ("a", "b/c"):
            z.writestr(name, b"content" * 60)
    shades = vistorch.from_numpy(rng.integers(0, 256, (3, 20, 30), np.uint8))
    batch = {b"data": rng.integers(0, 256, (4, 30), np.uint8), b"labels": [1, 2, 3, 4]}
    return {
        "pt": [written(vistorch.save, values), written(vistorch.save, values, pickle_protocol=4)],
        "legacy": [written(vistorch.save, values, _use_new_zipfile_serialization=False)],
        "safetensors": [
            safetensors.save({"a": x, "b": x[0].clone().to(vistorch.bfloat16), "c": x > 0.5}, {"k": "v"})
        ],
        "recording": [written(record.recording().save)],
        "watch": [written(trained(title="x").save)],
        "unpack": [packed.getvalue(), zipped.getvalue(), *tars],
        "idx": [b"\0\0\x08\3" + b"\0\0\0\4" * 3 + bytes(64), b"\0\0\x0d\1" + b"\0\0\0\5" + bytes(20)],
        "picture": [
            bytes(pictures.encode_png(shades).tolist()),
            bytes(pictures.encode_jpeg(shades).tolist()),
            *_others(shades),
        ],
        "batch": [pickle.dumps(batch, 2), pickle.dumps(batch, 4)],
    }


def _others(shades):
    from PIL import Image

    for kind in ("GIF", "BMP", "TIFF", "WEBP", "PPM", "ICO", "TGA"):
        file = io.BytesIO()
        Image.fromarray(shades.permute(1, 2, 0).numpy().copy()).save(file, kind)
        yield file.getvalue()


def _ending(data):
    """What an archive's name should end in."""
    for magic, ending in ((b"PK", ".zip"), (b"\x1f\x8b", ".tar.gz"), (b"\xfd7z", ".tar.xz")):
        if data.startswith(magic):
            return ending
    return ".tar"


class Readers:
    """Reads files by number and says what happened."""

    def __init__(self):
        warnings.simplefilter("ignore")
        self.folder = tempfile.TemporaryDirectory()
        self.canary = Path(self.folder.name) / "made by a file"
        self.good = good_files()
        self.ran = []
        self.reading = False
        sys.addaudithook(self._audit)
        vistorch.load(io.BytesIO(self.good["pt"][0]))

    def _audit(self, event, args):
        if self.reading and event in RUNS:
            self.ran.append(event)

    def read(self, number):
        """What became of a file."""
        kind, data = made(number, self.good, self.canary)
        result = {"kind": kind}
        before = _settle()
        self.reading, self.ran = True, []
        faulthandler.dump_traceback_later(HANG, exit=True)
        began = time.process_time()
        try:
            getattr(self, f"_{kind}")(data)
            result["how"] = "read"
        except ONE[kind] as error:
            result["how"] = "refused"
            if not str(error).strip() or len(str(error)) > 5000:
                result |= {"fault": "raw exception", "why": f"a sentence of {len(str(error))} letters"}
        except AssertionError as error:
            result |= {"fault": "half loaded", "why": str(error)[:200]}
        except BaseException as error:
            result |= {"fault": "raw exception", "why": f"{type(error).__name__}: {error}"[:300]}
        finally:
            self.reading = False
            faulthandler.cancel_dump_traceback_later()
        took, most = time.process_time() - began, _peak() - before
        if self.ran or self.canary.exists():
            result |= {"fault": "executed", "why": str(self.ran)}
        elif took > SECONDS + (len(data) >> 20):
            result |= {"fault": "over time", "why": f"{took:.1f} s for {len(data)} bytes"}
        elif most > 1.5 * (len(data) + allowed(len(data))) + (32 << 20) + BEYOND.get(kind, 0):
            result |= {"fault": "over memory", "why": f"{most >> 20} MB for {len(data)} bytes"}
        return result

    def _file(self, data, name):
        path = Path(self.folder.name) / name
        path.write_bytes(data)
        return path

    def _pt(self, data):
        vistorch.load(io.BytesIO(data) if len(data) % 2 else self._file(data, "x.pt"))

    _legacy = _pt

    def _safetensors(self, data):
        safetensors.load_file(self._file(data, "x.safetensors"))

    def _recording(self, data):
        found = Recording.load(io.BytesIO(data))
        try:
            assert repr(found) and found.nbytes >= 0
            found.save(io.BytesIO())
        except Exception as error:
            raise AssertionError(f"a recording that does not work: {error!r}") from error

    def _watch(self, data):
        found = load_watch(io.BytesIO(data))
        try:
            use(found.state)
            found.save(io.BytesIO())
        except Exception as error:
            raise AssertionError(f"a record that does not work: {error!r}") from error

    def _unpack(self, data):
        path = self._file(data, f"x{_ending(data)}")
        with tempfile.TemporaryDirectory() as folder:
            beside = {*os.listdir(self.folder.name)}
            try:
                unpack(path, Path(folder) / "in")
            except Refused:
                assert not os.listdir(Path(folder) / "in"), "something was unpacked"
                raise
            finally:
                assert os.listdir(folder) == ["in"] and {*os.listdir(self.folder.name)} == beside, (
                    "something is elsewhere"
                )

    def _idx(self, data):
        read_idx(self._file(data, "x.idx"))

    def _picture(self, data):
        pictures.read_image(self._file(data, "x.png"))

    def _batch(self, data):
        load_pickle(self._file(data, "x.pkl"))

    def _state(self, data):
        """Not a file: the saved state of an optimizer, with wrong things in it."""
        from tests.optim.test_half_loaded import OPTIMIZERS, WRONG, seen, trained

        r = random.Random(data)
        name = r.choice([name for name in OPTIMIZERS if name != "LBFGS"])
        _, optimizer = trained(name)
        before = seen(optimizer.state_dict())
        state = copy.deepcopy(optimizer.state_dict())
        for _ in range(r.choice((1, 1, 2))):
            at, parent, key = state, None, None
            while isinstance(at, (dict, list)) and at and (parent is None or r.random() < 0.9):
                parent, key = at, r.choice(list(at) if isinstance(at, dict) else range(len(at)))
                at = at[key]
            parent[key] = r.choice(WRONG)
        try:
            optimizer.load_state_dict(state)
        except TypeError as error:
            raise ValueError(str(error)) from None
        except ValueError:
            assert seen(optimizer.state_dict()) == before, "an optimizer has changed that has refused"
            raise


def _settle():
    """Forget the highest memory so far, where the system can; the memory now."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return _peak()
    return _status("VmRSS")


def _status(name):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) << 10
    return 0


def _peak():
    try:
        return _status("VmHWM")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
