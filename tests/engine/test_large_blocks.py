"""Large arrays are given memory that was used before, not fresh pages, from the first one on."""

import subprocess
import sys

import pytest

PROGRAM = """
import resource
import vistorch as torch
x = torch.ones(1 << 18)
def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        sums = [x + 1 for _ in range(10)]
        del sums
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
faults()
print(faults())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's habit")
def test_a_loop_of_large_tensors_has_no_page_faults():
    """Ten times ten sums of 1 MiB, 256 pages each where every result is fresh memory of the system's."""
    out = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert int(out.stdout) < 2560
