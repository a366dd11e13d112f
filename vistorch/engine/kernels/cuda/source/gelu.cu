// The gradients of gelu: the area under the normal density left of x, or its form with tanh.

#define HALF_ROOT (A(0.70710678118654752440))    // of one half
#define DENSITY (A(0.39894228040143267794))      // of the normal law at 0
#define BETA (A(0.79788456080286535588))         // twice that
#define CUBIC (A(0.044715))

extern "C" __global__ void gelu_gradient(const T* g, const T* x, T* out, i64 size) {
  EACH(i, size) {
    const A v = WIDE(x[i]);
    const A area = A(0.5) * erfc(-v * HALF_ROOT);
    out[i] = NARROW(WIDE(g[i]) * (area + v * exp(A(-0.5) * v * v) * DENSITY));
  }
}

extern "C" __global__ void gelu_tanh_gradient(const T* g, const T* x, T* out, i64 size) {
  EACH(i, size) {
    const A v = WIDE(x[i]), square = v * v;
    const A t = tanh(BETA * (v + CUBIC * v * square));
    const A rise = BETA * (A(1) + A(3) * CUBIC * square);
    out[i] = NARROW(WIDE(g[i]) * A(0.5) * (A(1) + t + v * (A(1) - t * t) * rise));
  }
}
