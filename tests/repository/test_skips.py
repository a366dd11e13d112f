"""With CI=true an unexpected skip fails the run; an expected one, or a run by hand, does not."""

from pathlib import Path

import pytest

from tests.ui.browsers import NONE_FOUND

CONFTEST = Path(__file__).parents[1] / "conftest.py"


@pytest.fixture
def run(pytester, monkeypatch):
    """Run a test file under the real conftest, in a process of its own."""

    def run(source, *args, ci="true"):
        monkeypatch.setenv("CI", ci)
        # The inner run shares the hardware rules, so it must not see a device this machine happens to have.
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
        pytester.makeini("[pytest]\nmarkers =\n    gpu: g\n    multi_gpu: m\n    mpi: m\n")
        pytester.makeconftest(CONFTEST.read_text(encoding="utf-8"))
        pytester.makepyfile(source)
        return pytester.runpytest_subprocess(
            "-p", "no:nbval", *args
        )  # its imports take two seconds each time

    return run


SKIPPED = """
    import pytest

    def test_skipped():
        pytest.skip({reason!r})

    def test_passed():
        pass
"""


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "xdist"])
def test_unexpected_skip_fails_in_ci(run, workers):
    result = run(SKIPPED.format(reason="not today"), *workers)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*::test_skipped: not today", "1 unexpected skip(s): *'needs a GPU:'*"])
    assert "1 passed, 1 skipped" in result.outlines[-1]


def test_a_missing_browser_fails_in_ci(run):
    result = run(SKIPPED.format(reason=NONE_FOUND))
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_unexpected_skip_passes_by_hand(run):
    result = run(SKIPPED.format(reason="not today"), ci="")
    assert result.ret == pytest.ExitCode.OK
    assert "unexpected skip" not in result.stdout.str()


@pytest.mark.parametrize(
    "reason", ["needs a GPU: none", "needs several GPUs: 1 here", "needs oneDNN: no wheel"]
)
def test_expected_skip_passes_in_ci(run, reason):
    result = run(SKIPPED.format(reason=reason))
    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=1, skipped=1)


def test_prefix_must_begin_the_reason(run):
    assert run(SKIPPED.format(reason="perhaps needs a GPU: none")).ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "xdist"])
def test_skipped_module_fails_in_ci(run, workers):
    result = run("import pytest\npytest.importorskip('a_module_nobody_has')", *workers)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*a_module_nobody_has*", "1 unexpected skip(s): *"])


def test_skip_mark_fails_in_ci(run):
    source = "import pytest\n@pytest.mark.skip(reason='later')\ndef test_later(): pass"
    assert run(source).ret == pytest.ExitCode.TESTS_FAILED


def test_expected_failure_is_no_skip(run):
    result = run("import pytest\n@pytest.mark.xfail\ndef test_known(): raise ValueError")
    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(xfailed=1)


def test_failure_keeps_its_status(run):
    result = run(SKIPPED.format(reason="not today") + "\n    def test_failed():\n        assert False\n")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=1, skipped=1, failed=1)


def test_hardware_marks_skip_with_an_allowed_reason(run):
    source = """
        import pytest

        @pytest.mark.gpu
        def test_one(): raise RuntimeError

        @pytest.mark.multi_gpu
        def test_two(): raise RuntimeError
    """
    result = run(source, "-rs")
    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines(["*needs a GPU: *", "*needs several GPUs: *"])
