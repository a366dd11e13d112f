"""What one test may leave to the next: nothing. Modes of both libraries, pretended devices, listeners.

A leftover is reported where it was left, and put right, so that the tests after it say only what is theirs.
"""

import contextlib
import dataclasses
import os
import sys

import vistorch
from vistorch.distributions import kl
from vistorch.engine.base import events
from vistorch.engine.base.device import default
from vistorch.engine.kernels import simulated
from vistorch.torch_api import hub

with contextlib.suppress(ImportError):  # there is none on Windows
    import resource


def limit(_):
    """How many addresses this process may use, where that can be asked."""
    return resource.getrlimit(resource.RLIMIT_AS) if "resource" in globals() else None


def default_device(torch):
    """What `torch.set_default_device` was given."""
    return getattr(getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None), "device", None)


# (what it is called, how it is read, how it is put right), of the library given
MODES = (
    ("default dtype", lambda L: L.get_default_dtype(), lambda L, was: L.set_default_dtype(was)),
    ("grad mode", lambda L: L.is_grad_enabled(), lambda L, was: L.set_grad_enabled(was)),
    ("inference mode", lambda L: L.is_inference_mode_enabled(), None),
    (
        "anomaly mode",
        lambda L: (L.is_anomaly_enabled(), L.is_anomaly_check_nan_enabled()),
        lambda L, was: L.autograd.set_detect_anomaly(*was),
    ),
    (
        "deterministic mode",
        lambda L: L.get_deterministic_debug_mode(),
        lambda L, was: L.set_deterministic_debug_mode(was),
    ),
    ("warn always", lambda L: L.is_warn_always_enabled(), lambda L, was: L.set_warn_always(was)),
    ("number of threads", lambda L: L.get_num_threads(), lambda L, was: L.set_num_threads(was)),
    ("autocast", lambda L: L.is_autocast_enabled("cpu"), lambda L, was: L.set_autocast_enabled("cpu", was)),
    (
        "autocast dtype",
        lambda L: L.get_autocast_dtype("cpu"),
        lambda L, was: L.set_autocast_dtype("cpu", was),
    ),
)
# Those that only vistorch has, or whose state PyTorch keeps elsewhere.
OURS = (
    ("simulated devices", lambda L: simulated.count(), lambda L, was: L.cuda.simulate(was)),
    ("default device", lambda L: (default.base, *default.stack), lambda L, was: L.set_default_device(was[0])),
    ("print options", lambda L: L.get_printoptions(), lambda L, was: L.set_printoptions(**was)),
    ("limit of memory", limit, None),
)
THEIRS = (
    (
        "print options",
        lambda L: dataclasses.asdict(L._tensor_str.PRINT_OPTS),
        lambda L, was: L.set_printoptions(**was),
    ),
    # None is not the CPU there: any default device is a mode, under which some functions do something else.
    ("default device", default_device, lambda L, was: L.set_default_device(was)),
    ("function modes", lambda L: L._C._len_torch_function_stack(), None),
)


def working_folder():
    """Where the process is, where that still exists."""
    with contextlib.suppress(FileNotFoundError):
        return os.getcwd()


class Before:
    """How everything stands now: each row, the library, the value it reads there; who listens; the process."""

    def __init__(self):
        self.hub = hub._home
        self.divergences = dict(kl._KL_REGISTRY)
        self.folder, self.environment = working_folder(), os.environ.copy()
        self.modes = [(row, L, row[1](L)) for L, rows in libraries() for row in rows]
        self.listeners = list(events._listeners)

    def _put_back(self):
        """Put right in silence what no example could: the interfaces have no way back."""
        # `get_dir` says a folder where none had been chosen.
        hub._home = self.hub
        if kl._KL_REGISTRY != self.divergences:
            kl._KL_REGISTRY.clear()
            kl._KL_REGISTRY.update(self.divergences)
            kl._KL_MEMOIZE.clear()
        # The first program that PyTorch compiles ends the checks of its distributions, for good.
        if (torch := sys.modules.get("torch")) is not None:
            torch.distributions.Distribution._validate_args = __debug__

    def left(self):
        """Put right what is no longer as it was; return a sentence of each."""
        seen = []
        for (name, read, mend), L, was in self.modes:
            if (now := read(L)) != was:
                seen.append(f"{L.__name__}'s {name}: {now}, where it was {was}")
                if mend is not None:
                    mend(L, was)
        self._put_back()
        if (now := working_folder()) != self.folder:
            seen.append(f"the working folder: {now}, where it was {self.folder}")
            os.chdir(self.folder)
        for name in sorted({*self.environment, *os.environ}):
            # pytest says there what runs; PyTorch's compiler says there where its files are.
            if name.startswith(("PYTEST_", "TORCHINDUCTOR_")):
                continue
            if (now := os.environ.get(name)) != (was := self.environment.get(name)):
                seen.append(f"the variable {name}: {now!r}, where it was {was!r}")
                if was is None:
                    del os.environ[name]
                else:
                    os.environ[name] = was
        # One that has stopped was another test's, of the same file.
        new = [one for one in events._listeners if not any(one is known for known in self.listeners)]
        for one in new:
            seen.append(f"a listener: {one!r}")
            one.__exit__(None, None, None)
        return seen


def libraries():
    """Give vistorch, and torch where a test has imported it, each with its rows."""
    yield vistorch, MODES + OURS
    if (torch := sys.modules.get("torch")) is not None:
        yield torch, MODES + THEIRS
