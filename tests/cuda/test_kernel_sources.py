"""Every CUDA source of the project compiles for every generation of GPU that is promised, without a GPU."""

import pytest

from vistorch.engine.kernels.cuda import launch
from vistorch.engine.kernels.cuda_source import ELEMENTWISE, PREAMBLE

ARCHITECTURES = ["sm_75", "sm_80", "sm_90", "sm_100"]

# As cupy's half types: made of a float implicitly, of a double explicitly, turned into a float by itself.
HALF = """
class half_like {
  unsigned short bits;
public:
  __device__ half_like() {}
  __device__ half_like(float v) : bits((unsigned short)v) {}
  explicit __device__ half_like(double v) : bits((unsigned short)v) {}
  __device__ operator float() const { return (float)bits; }
};
"""


def source_of(row, kind):
    """The row as a kernel of its own, in the way cupy builds one around it."""
    scalars = "".join(f", double {name}" for name in row.scalars)
    return (
        f"{HALF}{PREAMBLE}typedef {kind} T;\n"
        f'extern "C" __global__ void kernel(const T* xs, T* ys{scalars}, unsigned n) {{\n'
        "  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {\n"
        f"    const T& x = xs[i]; T& y = ys[i];\n    {row.body}\n  }}\n}}\n"
    )


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_compiles(name, architecture, compiler):
    for kind in ("float", "double", "half_like"):
        assert compiler.compile(source_of(ELEMENTWISE[name], kind), architecture) > 0


FILES = sorted(path.stem for path in launch.SOURCE.glob("*.cu"))
# Every architecture once, and every type once: what differs between two types does not differ by architecture too.
MODULES = [("float32", architecture) for architecture in ARCHITECTURES]
MODULES += [(dtype, ARCHITECTURES[0]) for dtype in launch.TYPES if dtype != "float32"]


@pytest.mark.parametrize("dtype, architecture", MODULES)
@pytest.mark.parametrize("file", FILES)
def test_modules_compile(file, dtype, architecture, compiler):
    assert compiler.compile(launch.text(file, dtype), architecture) > 0


def test_the_compiler_reports_a_mistake(compiler):
    broken = ELEMENTWISE["silu"]._replace(operation="r = v / nothing;")
    with pytest.raises(ValueError, match='identifier "nothing" is undefined'):
        compiler.compile(source_of(broken, "float"), "sm_80")


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_floats_are_not_computed_in_double(name):
    """A bare 0.5 in the text would be a double and would slow a float kernel down 32 times."""
    text = ELEMENTWISE[name].operation
    for start in (i for i, sign in enumerate(text) if sign == "."):
        before = text[:start].rstrip("0123456789")
        assert before.endswith("A("), f"{text[: start + 4]} is not wrapped in A(...)"
