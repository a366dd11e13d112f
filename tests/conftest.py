"""What holds for every test: where hardware is needed, and that CI never skips in silence.

Invariant: with CI=true, a skip whose reason begins with none of `ALLOWED_SKIPS` ends the run non-zero.
"""

import importlib.util
import os
import signal
from functools import cache

import hypothesis
import pytest

ALLOWED_SKIPS = ("needs a GPU:", "needs several GPUs:", "needs oneDNN:")

# A deadline measures the machine, not the code.
hypothesis.settings.register_profile("vistorch", deadline=None, print_blob=True)
hypothesis.settings.load_profile("vistorch")


@cache
def cuda_devices():
    """Count the real CUDA devices; return the count and why it is not larger."""
    if importlib.util.find_spec("cupy") is None:
        return 0, "cupy is not installed"
    import cupy

    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return 0, str(error)
    return count, f"{count} here"


@cache
def missing_for_mpi():
    """Name what an MPI test lacks here, or return an empty string."""
    return "mpi4py is not installed" if importlib.util.find_spec("mpi4py") is None else ""


def pytest_runtest_setup(item):
    """Skip a test marked for hardware that is not here, with the reason CI allows."""
    if item.get_closest_marker("gpu") and cuda_devices()[0] < 1:
        pytest.skip(f"needs a GPU: {cuda_devices()[1]}")
    if item.get_closest_marker("multi_gpu") and cuda_devices()[0] < 2:
        pytest.skip(f"needs several GPUs: {cuda_devices()[1]}")
    if item.get_closest_marker("mpi") and missing_for_mpi():
        pytest.skip(f"needs MPI: {missing_for_mpi()}")


class SkipRule:
    """Collect the skips nobody allowed, and fail the session for them."""

    def __init__(self):
        self.found = []

    def note(self, report):
        """Remember a skipped report; an expected failure is reported as skipped too, and is not one."""
        if report.skipped and not hasattr(report, "wasxfail"):
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            reason = reason.removeprefix("Skipped: ")
            if not reason.startswith(ALLOWED_SKIPS):
                self.found.append((report.nodeid, reason))

    pytest_runtest_logreport = note
    pytest_collectreport = note

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session):
        """Turn a green session red; a red one keeps its own status."""
        if self.found and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        """Say which skips they were, above the closing line."""
        if self.found:
            terminalreporter.section("unexpected skips", red=True, bold=True)
            for nodeid, reason in self.found:
                terminalreporter.line(f"{nodeid}: {reason}")
            terminalreporter.line(
                f"{len(self.found)} unexpected skip(s): with CI=true a skip must begin with one of "
                + ", ".join(repr(prefix) for prefix in ALLOWED_SKIPS)
            )


def pytest_configure(config):
    """Install the rule on skips in CI, once (the workers of xdist report to who started them); heed interrupts."""
    # A shell that runs the tests in the background has interrupts ignored, by all that they start as well.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if os.environ.get("CI") == "true" and not hasattr(config, "workerinput"):
        config.pluginmanager.register(SkipRule(), "vistorch-skip-rule")
