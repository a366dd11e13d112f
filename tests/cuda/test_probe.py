"""Each cause of "no CUDA" has its own sentence, and asking never raises."""

import importlib.util
import os
import sys
import warnings

import pytest

from vistorch import cuda
from vistorch.engine.base import cuda_probe
from vistorch.engine.kernels import simulated
from vistorch.engine.memory import placement


def without_cupy(monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *a: None if name == "cupy" else found(name, *a)
    )


def refused(kind, words):
    """Check that a diagnosis says these words and that every way in raises them."""
    ok, _, reason = cuda.diagnose()
    assert not ok
    assert words in reason
    assert cuda.is_available() is False
    assert cuda.device_count() == 0
    assert cuda.is_initialized() is False
    for use in (cuda.init, cuda.current_device, cuda.synchronize, cuda.get_device_name, cuda.Stream):
        with pytest.raises(kind) as caught:
            use()
        assert type(caught.value) is kind
        assert str(caught.value).startswith("CUDA is not available: ")
        assert words in str(caught.value)
        assert "vistorch.cuda.simulate(4)" in str(caught.value)
        assert "VISTORCH_SIMULATED_CUDA=4" in str(caught.value)
    for name in ("cuda", "cuda:0"):
        with pytest.raises(kind, match="CUDA is not available"):
            placement.place_of(name)
    return reason


@pytest.mark.parametrize("value", ["", "-1", " "])
def test_hidden(monkeypatch, two_gpus, value):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", value)
    refused(RuntimeError, f"hidden by CUDA_VISIBLE_DEVICES={value!r}")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    assert cuda.is_available()


def test_not_installed(monkeypatch):
    without_cupy(monkeypatch)
    reason = refused(AssertionError, "cupy is not installed")
    assert 'pip install "vistorch[cuda13]"' in reason


def test_import_fails_with_the_first_error_of_the_chain(monkeypatch, tmp_path):
    package = tmp_path / "cupy"
    package.mkdir()
    (package / "__init__.py").write_text(
        "import warnings\n"
        "warnings.warn('two versions of cupy')\n"
        "try:\n"
        "    raise OSError('libcudart.so.13: cannot open shared object file')\n"
        "except OSError as error:\n"
        "    raise ImportError('=====\\nFailed to import CuPy.\\n=====') from error\n"
    )
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reason = refused(
            AssertionError, "cupy import failed: OSError: libcudart.so.13: cannot open shared object"
        )
    assert "=====" not in reason


def test_cupy_is_too_old(install):
    install().__version__ = "13.6.0"
    refused(AssertionError, "cupy 13.6.0 is too old: 14 is the first that knows bfloat16")


def test_no_driver(install):
    install(driver=0)
    refused(RuntimeError, "Found no NVIDIA driver on your system")


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (100, "it sees no CUDA device"),
        (35, "the NVIDIA driver is older than cupy's CUDA"),
        (803, "different versions; restart the machine"),
        (804, "compatibility package does not support this GPU"),
        (46, "busy or unavailable"),
        (3, "could not be initialised"),
        (999, "refused to count its devices"),
        (0, "counting failed"),
    ],
)
def test_counting_fails(install, status, words):
    install(driver=12040, status=status, words="cudaErrorSomething: the driver's words\nmore")
    reason = refused(RuntimeError, words)
    assert "the driver speaks CUDA 12.4" in reason
    assert reason.endswith("cudaErrorSomething: the driver's words)")


def test_no_device(install):
    install(count=0)
    refused(RuntimeError, "it sees no CUDA device")


@pytest.mark.parametrize(("module", "name"), [("nvrtc", "NVRTC"), ("cublas", "cuBLAS")])
def test_a_library_is_missing(monkeypatch, two_gpus, module, name):
    monkeypatch.setitem(sys.modules, f"cupy_backends.cuda.libs.{module}", None)
    reason = refused(RuntimeError, f"2 CUDA devices found, but {name}, which ")
    assert 'pip install "vistorch[cuda13]"' in reason
    assert cuda.diagnose().count == 2


def test_a_probe_that_breaks_is_an_answer(monkeypatch, two_gpus):
    def broken():
        raise ZeroDivisionError("nobody thought of this")

    two_gpus.cuda.runtime.driverGetVersion = broken
    refused(RuntimeError, "looking for CUDA failed: ZeroDivisionError: nobody thought of this")


def test_two_devices(two_gpus):
    assert cuda.diagnose() == (True, 2, "2 CUDA devices through cupy")
    assert cuda.is_available() is True
    assert cuda.device_count() == 2
    assert cuda.is_initialized() is False
    cuda.init()
    assert cuda.is_initialized() is True


def test_one_device(install):
    install(1)
    assert cuda.diagnose().reason == "1 CUDA device through cupy"


def test_success_is_kept_and_failure_is_asked_again_by_diagnose(install):
    cupy = install(driver=0)
    assert not cuda.is_available()
    cupy.cuda.runtime.driver = 13000  # the driver was installed meanwhile
    assert not cuda.is_available()
    assert cuda.diagnose().ok
    cupy.cuda.runtime.driverGetVersion = None
    assert cuda.is_available()
    assert cuda.diagnose().ok


def test_a_child_of_a_process_that_used_cuda(monkeypatch, two_gpus):
    cuda_probe._after_fork()
    assert cuda.is_available()  # the parent had not asked the driver
    cuda_probe._after_fork()
    refused(RuntimeError, "Cannot re-initialize CUDA in forked subprocess")
    cuda.simulate(2)
    assert cuda.is_available()  # numpy works in a child


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_fork_informs_the_child(two_gpus):
    assert cuda.is_available()
    child = os.fork()
    if child == 0:
        os._exit(0 if not cuda.is_available() and "forked" in cuda.diagnose().reason else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert cuda.is_available()


def test_bad_number_in_the_environment(monkeypatch):
    without_cupy(monkeypatch)
    monkeypatch.setenv(simulated.VARIABLE, "four")
    refused(
        AssertionError,
        "VISTORCH_SIMULATED_CUDA='four' was ignored: it must be a number of devices from 0 to 64",
    )
