"""`%vt doctor`: what may be wrong between a notebook and vistorch; each line says ok, what is wrong, what to type.

It asks only what can be asked without changing anything: versions, modules that are loaded, devices, files. What it
says to type is typed where it was asked: a magic in a notebook, a command of the system in a terminal.
Invariant: nothing here raises, and IPython is looked at only where a shell was handed in.
"""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path
from typing import Any, ClassVar

from ..._version import __version__
from ...engine import browser
from ...widgets import kinds
from ...widgets._frame.bundles import STATIC
from ...widgets._frame.command import Command
from ...widgets._frame.shell import shell_of_user

OK, WRONG, KNOW = "ok", "wrong", "note"
GOOD_KERNEL = "ipykernel>=7.1"
SEVEN = "7.0 raises LookupError when a trait is set from a thread, so live views break"
_WAITING = "; where other programs keep the cores busy, OMP_WAIT_POLICY=passive is faster"
_WHEEL = platform.system() == "Linux" and platform.machine() == "x86_64"
MARKS = {OK: "ok  ", WRONG: "!!  ", KNOW: "--  "}


@dataclass(frozen=True)
class Finding:
    """One line: what was looked at, how it is, what is there or wrong, and what to type about it."""

    about: str
    state: str
    says: str
    type_this: str = ""


@dataclass(frozen=True)
class Doctor:
    """All findings, in the order in which they matter."""

    kind: ClassVar[str] = "doctor"
    findings: tuple[Finding, ...]

    @property
    def wrong(self) -> tuple[Finding, ...]:
        """What is wrong."""
        return tuple(finding for finding in self.findings if finding.state == WRONG)

    def text(self) -> str:
        """A line for each finding, and what to type under the ones that have it."""
        wide = max(len(finding.about) for finding in self.findings)
        lines = []
        for finding in self.findings:
            lines.append(f"{MARKS[finding.state]}{finding.about:<{wide}}  {finding.says}")
            if finding.type_this:
                lines.append(f"{' ' * (wide + 6)}type: {finding.type_this}")
        number = len(self.wrong)
        lines.append(
            "all is well" if not number else f"{number} thing{'s' * (number > 1)} to mend, marked !!"
        )
        return "\n".join(lines)

    def wire(self) -> dict[str, Any]:
        """The state, as it travels."""
        return {"findings": [vars(finding) for finding in self.findings]}

    def __repr__(self) -> str:
        return self.text()


def examine(shell: Any = None) -> Doctor:
    """Look at everything.

    Args:
        shell: the IPython shell; None outside of one.
    """
    looks = (
        _versions,
        _kernel,
        _clicks,
        _widgets,
        _pages,
        _front,
        _tutorials,
        _cpu,
        _fast,
        _cuda,
        _simulated,
        _trust,
        _alias,
        _sources,
        _memory,
    )
    findings = []
    for look in looks:
        try:
            findings += look(shell)
        except Exception as error:  # a doctor that falls ill helps nobody
            said = f"could not look: {type(error).__name__}: {' '.join(str(error).split())}"
            findings.append(Finding(look.__name__.strip("_"), KNOW, said))
    return Doctor(tuple(findings))


def version(distribution: str) -> str:
    """Return an installed distribution's version, or nothing."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def numbers(release: str) -> tuple[int, ...]:
    """Return the first numbers of a version: (7, 0) for "7.0.1"."""
    found = []
    for part in release.split(".")[:2]:
        digits = "".join(char for char in part if char.isdigit())
        found.append(int(digits or 0))
    return tuple(found)


def pip(what: str, shell: Any) -> str:
    """Return what installs something where it was asked: in a cell, or in a terminal for this interpreter."""
    wanted = f'"{what}"' if any(char in what for char in "<>[") else what
    if shell is not None:
        return f"%pip install {wanted}"
    python = f'"{sys.executable}"' if " " in sys.executable else sys.executable
    return f"{python} -m pip install {wanted}"


def _versions(shell: Any) -> list[Finding]:
    import numpy

    python = f"Python {platform.python_version()} on {platform.system()}"
    said = f"vistorch {__version__}, numpy {numpy.__version__}, {python}"
    return [Finding("versions", OK, said), Finding("python", OK, sys.executable)]


def _kernel(shell: Any) -> list[Finding]:
    if shell is None:
        return _kernel_of_the_environment()
    release = version("ipython")
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return [Finding("kernel", KNOW, f"IPython {release} in a terminal: displays are text", "jupyter lab")]
    if browser.HERE:
        said = f"IPython {release} in a browser: no threads, no processes; clicks wait for the end of a cell"
        return [Finding("kernel", OK, said)]
    own = version("ipykernel")
    where = f"IPython {release}, {type(kernel).__module__.partition('.')[0]} {own}".rstrip()
    if own and numbers(own) == (7, 0):
        said = f"{where}: {SEVEN}"
        return [Finding("kernel", WRONG, said, f"{pip(GOOD_KERNEL, shell)}, then restart the kernel")]
    if own and numbers(own) < (6, 29):
        return [Finding("kernel", WRONG, f"{where}: older than 6.29", pip(GOOD_KERNEL, shell))]
    return [Finding("kernel", OK, where)]


def _kernel_of_the_environment() -> list[Finding]:
    """Look, outside of IPython, at the kernel that a notebook of this environment would get."""
    if browser.HERE:
        return [Finding("kernel", KNOW, "Python in a browser, outside of a notebook: displays are text")]
    said, own = (
        "plain Python here: displays are text, and the functions of vistorch.vt work",
        version("ipykernel"),
    )
    here = Finding("kernel", KNOW, said)
    if not own:
        return [
            here,
            Finding("ipykernel", WRONG, "not installed: no notebook runs here", pip("ipykernel", None)),
        ]
    if numbers(own) == (7, 0) or numbers(own) < (6, 29):
        why = SEVEN if numbers(own) == (7, 0) else "older than 6.29"
        return [here, Finding("ipykernel", WRONG, f"{own}: {why}", pip(GOOD_KERNEL, None))]
    return [here, Finding("ipykernel", OK, f"{own}, with IPython {version('ipython') or 'missing'}")]


def _clicks(shell: Any) -> list[Finding]:
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return []
    if getattr(kernel, "_supports_kernel_subshells", False):
        return [Finding("while a cell runs", OK, "the kernel has subshells")]
    return [Finding("while a cell runs", OK, "no subshells: clicks are handled when the loop looks for them")]


def _widgets(shell: Any) -> list[Finding]:
    findings = []
    for name, least in (("anywidget", (0, 9)), ("ipywidgets", (8, 1))):
        release = version(name)
        if not release:
            findings.append(
                Finding(name, WRONG, "not installed: live views cannot be shown", pip(name, shell))
            )
        elif numbers(release) < least:
            wanted = ".".join(map(str, least))
            findings.append(Finding(name, WRONG, f"{release} is too old", pip(f"{name}>={wanted}", shell)))
        else:
            findings.append(Finding(name, OK, release))
    return findings


def _pages(shell: Any) -> list[Finding]:
    sizes = {page: STATIC / f"{page}.js" for page in kinds()}
    missing = [page for page, path in sizes.items() if not path.is_file()]
    if missing:
        said = f"not built: {', '.join(missing)}; pictures show, but do not zoom"
        again = pip("--force-reinstall vistorch", shell)
        mend = "make bundles" if (STATIC.parents[2] / "js").is_dir() else again
        return [Finding("pages", WRONG, said, mend)]
    return [
        Finding(
            "pages",
            OK,
            ", ".join(f"{page} {path.stat().st_size / 1e3:.0f} kB" for page, path in sizes.items()),
        )
    ]


def _front(shell: Any) -> list[Finding]:
    there = [f"{name} {version(name)}" for name in ("jupyterlab", "notebook") if version(name)]
    if getattr(shell, "kernel", None) is None and not version("jupyterlab"):
        said = f"{there[0]}, no JupyterLab" if there else "no JupyterLab and no Notebook in this environment"
        return [Finding("front end", KNOW, f"{said}: `vistorch lab` needs it", pip("jupyterlab", shell))]
    if not there:
        return [
            Finding(
                "front end", KNOW, "none in this environment: it runs from another one, or is not Jupyter"
            )
        ]
    if not version("jupyterlab_widgets"):
        said = f"{', '.join(there)}, without jupyterlab_widgets: live views stay empty"
        mend = f"{pip('jupyterlab_widgets', shell)}, then restart the server"
        return [Finding("front end", WRONG, said, mend)]
    return [Finding("front end", OK, ", ".join(there))]


def _tutorials(shell: Any) -> list[Finding]:
    from vistorch.tutorials import copies  # pyright: ignore[reportMissingImports]  (vt/cli/tutorials/)

    try:
        number = len(copies.originals())
    except copies.Refusal as refusal:
        return [Finding("tutorials", KNOW, str(refusal).rstrip("."))]
    said = f"{number} notebook{'s' * (number > 1)}"
    typed = (
        "!vistorch lab" if shell is not None and getattr(shell, "kernel", None) is None else "vistorch lab"
    )
    return [Finding("tutorials", OK, said, "" if getattr(shell, "kernel", None) else typed)]


def _cpu(shell: Any) -> list[Finding]:
    from ...engine.base.device import get_default_device

    able = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    processors = f"cpu with {able} processor{'s' * (able > 1)}"
    return [Finding("devices", OK, f"{processors}; new tensors go to {get_default_device()}")]


def _fast(shell: Any) -> list[Finding]:
    from ...engine.kernels import threads
    from ...engine.kernels.fast.switch import onednn

    number = threads.count()
    there, said = onednn.available(), onednn.describe()
    plural = f"{number} thread{'s' * (number > 1)}"
    if there and onednn.wanted:
        busy = "" if number == 1 or "OMP_WAIT_POLICY" in os.environ else _WAITING
        return [Finding("kernels", OK, f"{said}, {plural}{busy}")]
    mend = "vistorch.backends.mkldnn.enabled = True" if there else pip("vistorch[fast]", shell)
    if not there and not _WHEEL:
        mend = "export VISTORCH_ONEDNN=/path/to/libdnnl"
    return [Finding("kernels", KNOW, f"numpy's, {plural}; faster ones are not in use: {said}", mend)]


def _cuda(shell: Any) -> list[Finding]:
    from ...cuda import devices
    from ...engine.kernels import simulated

    if simulated.count():
        return []
    found = devices.diagnose()
    if found.ok:
        names = ", ".join(devices.get_device_name(index) for index in range(found.count))
        return [
            Finding("CUDA", OK, f"{names} through cupy {getattr(sys.modules.get('cupy'), '__version__', '')}")
        ]
    pretend = "%vt device simulate 4" if shell is not None else "export VISTORCH_SIMULATED_CUDA=4"
    if util.find_spec("cupy") is None and not os.path.exists("/dev/nvidia0"):
        said = "not available: no cupy and no NVIDIA device; the CPU is used, or simulated devices"
        return [Finding("CUDA", KNOW, said, pretend)]
    return [Finding("CUDA", WRONG, f"not available: {found.reason}", f"{pretend}, to go on without a GPU")]


def _simulated(shell: Any) -> list[Finding]:
    from ...engine.kernels import simulated

    plain = shell is None
    if complaint := simulated.complaint():
        mend = "export VISTORCH_SIMULATED_CUDA=4" if plain else "%vt device simulate 4"
        return [Finding("simulated", WRONG, complaint, mend)]
    number = simulated.count()
    if not number:
        return []
    said = f"{number} CUDA device{'s' * (number > 1)}: numpy on the CPU, no speed claimed"
    end = "unset VISTORCH_SIMULATED_CUDA" if plain else "%vt device simulate 0"
    return [Finding("simulated", KNOW, said, f"{end}, to end it")]


def _trust(shell: Any) -> list[Finding]:
    if getattr(shell, "kernel", None) is None:
        return []
    path = os.environ.get("JPY_SESSION_NAME", "")
    name = Path(path).name if path.endswith(".ipynb") else "NAME.ipynb"
    said = "a notebook that someone else ran shows text and pictures until it is trusted; your own is"
    return [Finding("trust", KNOW, said, f'!jupyter trust "{name}"')]


def _alias(shell: Any) -> list[Finding]:
    from ...debug.source import real_torch
    from ...torch_api.compat import is_aliased

    real = real_torch()
    plain = shell is None
    if is_aliased():
        return [Finding("import torch", OK, "gives vistorch", "" if plain else "%vt torch off, to end it")]
    if real is not None:
        return [Finding("import torch", OK, f"gives PyTorch {real.__version__}, already imported")]
    there = (
        "gives PyTorch"
        if util.find_spec("torch") is not None
        else "finds no PyTorch, which vistorch does not need"
    )
    turn = "vistorch run script.py" if plain else "%vt torch on"
    return [Finding("import torch", OK, there, f"{turn}, to let it give vistorch")]


def _sources(shell: Any) -> list[Finding]:
    """Whose graphs can be seen here: vistorch's always, PyTorch's where a program has imported it."""
    from ...debug.source import Unsupported, named, real_torch

    if real_torch() is None:
        return []
    try:
        source: Any = named("torch")
        source.ready()
    except Unsupported as why:
        return [Finding("sources", WRONG, str(why))]
    return [
        Finding(
            "sources",
            OK,
            f"graphs and passes of vistorch and of {source.chip} are shown, stepped and checked",
        )
    ]


def _memory(shell: Any) -> list[Finding]:
    from ...engine.kernels import simulated

    free, total = simulated.host_memory()
    own = resident()
    parts = [f"{own / 2**30:.1f} GiB in this process"] if own else []
    if total:
        parts.append(f"{free / 2**30:.1f} of {total / 2**30:.1f} GiB free")
    if not parts:
        return [Finding("memory", KNOW, "the system does not say")]
    if total and free < total // 20:
        said = f"{', '.join(parts)}: little is left"
        mend = "%vt vars --sort bytes, and `del` what is large" if shell else "end what you do not need"
        return [Finding("memory", WRONG, said, mend)]
    return [Finding("memory", OK, ", ".join(parts))]


def resident() -> int:
    """Return the bytes of memory this process holds; 0 where the system does not say."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0


def doctor() -> Doctor:
    """Look at versions, kernel, widgets, pages, CUDA, trust and memory.

    Returns:
        A record with a line for each: ok, or what is wrong and what to type.

    Example:
        >>> from vistorch import vt
        >>> print(vt.doctor().findings[0].about)
        versions
    """
    return examine(shell_of_user())


COMMANDS = (
    Command(
        name="doctor",
        summary="Check kernel, widgets, CUDA and memory",
        function=doctor,
        examples=(("doctor", "look at everything"),),
        about="what is wrong between this notebook and vistorch",
        rank=230,
    ),
)
