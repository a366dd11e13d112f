"""What may be wrong between a notebook and vistorch, as a record: each line says ok, what is wrong, what to type.

It asks only what can be asked without changing anything: versions, modules that are loaded, devices, files.
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

from .._version import __version__

OK, WRONG, KNOW = "ok", "wrong", "note"
MARKS = {OK: "ok  ", WRONG: "!!  ", KNOW: "--  "}
STATIC = Path(__file__).parents[1] / "widgets" / "static"
PAGES = ("array", "vars")


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
        _cuda,
        _simulated,
        _trust,
        _alias,
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


def _versions(shell: Any) -> list[Finding]:
    import numpy

    python = f"Python {platform.python_version()} on {platform.system()}"
    said = f"vistorch {__version__}, numpy {numpy.__version__}, {python}"
    return [Finding("versions", OK, said)]


def _kernel(shell: Any) -> list[Finding]:
    if shell is None:
        return [Finding("kernel", KNOW, "plain Python: displays are text; functions of vistorch.vt work")]
    release = version("ipython")
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return [Finding("kernel", KNOW, f"IPython {release} in a terminal: displays are text", "jupyter lab")]
    own = version("ipykernel")
    where = f"IPython {release}, {type(kernel).__module__.partition('.')[0]} {own}".rstrip()
    if own and numbers(own) == (7, 0):
        said = f"{where}: 7.0 raises LookupError when a trait is set from a thread, so live views break"
        return [Finding("kernel", WRONG, said, '%pip install "ipykernel>=7.1", then restart the kernel')]
    if own and numbers(own) < (6, 29):
        return [Finding("kernel", WRONG, f"{where}: older than 6.29", '%pip install "ipykernel>=7.1"')]
    return [Finding("kernel", OK, where)]


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
                Finding(name, WRONG, "not installed: live views cannot be shown", f"%pip install {name}")
            )
        elif numbers(release) < least:
            wanted = ".".join(map(str, least))
            findings.append(Finding(name, WRONG, f"{release} is too old", f'%pip install "{name}>={wanted}"'))
        else:
            findings.append(Finding(name, OK, release))
    return findings


def _pages(shell: Any) -> list[Finding]:
    sizes = {page: STATIC / f"{page}.js" for page in PAGES}
    missing = [page for page, path in sizes.items() if not path.is_file()]
    if missing:
        said = f"not built: {', '.join(missing)}; pictures show, but do not zoom"
        mend = "make js" if (STATIC.parents[2] / "js").is_dir() else "%pip install --force-reinstall vistorch"
        return [Finding("pages", WRONG, said, mend)]
    return [
        Finding(
            "pages",
            OK,
            ", ".join(f"{page} {path.stat().st_size / 1e3:.0f} kB" for page, path in sizes.items()),
        )
    ]


def _front(shell: Any) -> list[Finding]:
    if getattr(shell, "kernel", None) is None:
        return []
    there = [f"{name} {version(name)}" for name in ("jupyterlab", "notebook") if version(name)]
    if not there:
        return [
            Finding(
                "front end", KNOW, "none in this environment: it runs from another one, or is not Jupyter"
            )
        ]
    if not version("jupyterlab_widgets"):
        said = f"{', '.join(there)}, without jupyterlab_widgets: live views stay empty"
        return [Finding("front end", WRONG, said, "%pip install jupyterlab_widgets, then restart the server")]
    return [Finding("front end", OK, ", ".join(there))]


def _cuda(shell: Any) -> list[Finding]:
    from ..cuda import devices
    from ..engine.kernels import simulated

    if simulated.count():
        return []
    found = devices.diagnose()
    if found.ok:
        names = ", ".join(devices.get_device_name(index) for index in range(found.count))
        return [
            Finding("CUDA", OK, f"{names} through cupy {getattr(sys.modules.get('cupy'), '__version__', '')}")
        ]
    if util.find_spec("cupy") is None and not os.path.exists("/dev/nvidia0"):
        return [Finding("CUDA", KNOW, "no cupy, no NVIDIA device: the CPU is used", "%vt device simulate 4")]
    return [Finding("CUDA", WRONG, found.reason, "%vt device simulate 4, to go on without a GPU")]


def _simulated(shell: Any) -> list[Finding]:
    from ..engine.kernels import simulated

    if complaint := simulated.complaint():
        return [Finding("simulated", WRONG, complaint, "%vt device simulate 4")]
    number = simulated.count()
    if not number:
        return []
    said = f"{number} CUDA device{'s' * (number > 1)}: numpy on the CPU, no speed claimed"
    return [Finding("simulated", KNOW, said, "%vt device simulate 0, to end it")]


def _trust(shell: Any) -> list[Finding]:
    if getattr(shell, "kernel", None) is None:
        return []
    path = os.environ.get("JPY_SESSION_NAME", "")
    name = Path(path).name if path.endswith(".ipynb") else "NAME.ipynb"
    said = "a notebook that somebody else ran shows text and pictures until it is trusted; your own is"
    return [Finding("trust", KNOW, said, f'!jupyter trust "{name}"')]


def _alias(shell: Any) -> list[Finding]:
    from ..compat import is_aliased

    own = sys.modules.get("torch")
    real = own is not None and getattr(own, "__name__", "") == "torch"
    if is_aliased():
        return [Finding("import torch", OK, "gives vistorch", "%vt torch off, to end it")]
    if real:
        return [
            Finding("import torch", OK, f"gives PyTorch {getattr(own, '__version__', '')}, already imported")
        ]
    there = "gives PyTorch" if util.find_spec("torch") is not None else "fails: PyTorch is not installed"
    return [Finding("import torch", OK, there, "%vt torch on, to let it give vistorch")]


def _memory(shell: Any) -> list[Finding]:
    from ..engine.kernels import simulated

    free, total = simulated.host_memory()
    own = resident()
    parts = [f"{own / 2**30:.1f} GiB in this process"] if own else []
    if total:
        parts.append(f"{free / 2**30:.1f} of {total / 2**30:.1f} GiB free")
    if not parts:
        return [Finding("memory", KNOW, "the system does not say")]
    if total and free < total // 20:
        said = f"{', '.join(parts)}: little is left"
        return [Finding("memory", WRONG, said, "%vt vars --sort bytes, and `del` what is large")]
    return [Finding("memory", OK, ", ".join(parts))]


def resident() -> int:
    """Return the bytes of memory this process holds; 0 where the system does not say."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0
