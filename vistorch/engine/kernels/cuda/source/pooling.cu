// Pooling over up to three dims, one thread to an output (or, backwards, to an input): nothing is added atomically.
//
// A dim of `n` elements has `outputs` windows. Regular ones: size, stride, padding and dilation; adaptive ones have
// size 0, and window o goes from o * n / outputs to the first whole number not below (o + 1) * n / outputs.

struct Window { i64 n, outputs, size, stride, padding, dilation; };
struct Span { i64 first, last, step; };  // first, first + step, ... below last

// The three windows travel as plain numbers: a launch copies nothing to the device.
#define DIM(d) i64 d##_n, i64 d##_outputs, i64 d##_size, i64 d##_stride, i64 d##_padding, i64 d##_dilation
#define DIMS DIM(a), DIM(b), DIM(c)
#define TAKE(d) const Window d = Window{d##_n, d##_outputs, d##_size, d##_stride, d##_padding, d##_dilation}

__device__ __forceinline__ Span span_of(const Window& w, i64 o) {
  if (!w.size) return Span{o * w.n / w.outputs, ((o + 1) * w.n + w.outputs - 1) / w.outputs, 1};
  const i64 start = o * w.stride - w.padding;
  i64 first = start;
  if (first < 0) first += (-start + w.dilation - 1) / w.dilation * w.dilation;
  const i64 end = start + (w.size - 1) * w.dilation + 1;
  return Span{first, end < w.n ? end : w.n, w.dilation};
}

// The windows that may contain element i; `inside` says whether one does.
__device__ __forceinline__ Span windows_at(const Window& w, i64 i) {
  if (!w.size) return Span{i * w.outputs / w.n, ((i + 1) * w.outputs + w.n - 1) / w.n, 1};
  const i64 reach = i + w.padding - (w.size - 1) * w.dilation;
  const i64 first = reach <= 0 ? 0 : (reach + w.stride - 1) / w.stride;
  const i64 end = (i + w.padding) / w.stride + 1;
  return Span{first, end < w.outputs ? end : w.outputs, 1};
}

__device__ __forceinline__ bool inside(const Window& w, i64 o, i64 i) {
  if (!w.size) return true;
  return (i - (o * w.stride - w.padding)) % w.dilation == 0;
}

// How many elements a window counts along one dim, padding included or not.
__device__ __forceinline__ i64 length_of(const Window& w, i64 o, bool include) {
  if (!w.size) { const Span s = span_of(w, o); return s.last - s.first; }
  i64 start = o * w.stride - w.padding, end = start + w.size;
  if (end > w.n + w.padding) end = w.n + w.padding;
  if (!include) {
    if (start < 0) start = 0;
    if (end > w.n) end = w.n;
  }
  return end - start > 1 ? end - start : 1;
}

__device__ __forceinline__ A divisor(const Window& a, const Window& b, const Window& c, i64 o, i64 p, i64 q,
                                     bool include, i64 override_) {
  if (override_) return A(override_);
  return A(length_of(a, o, include)) * A(length_of(b, p, include)) * A(length_of(c, q, include));
}

// The first of equal maxima, of several nans the last. `y` or `index` may be missing.
extern "C" __global__ void max_pool(const T* x, T* y, i64* index, i64 size, DIMS) {
  TAKE(a);
  TAKE(b);
  TAKE(c);
  EACH(at, size) {
    const i64 q = at % c.outputs, p = at / c.outputs % b.outputs, o = at / (c.outputs * b.outputs) % a.outputs;
    const i64 plane = at / (a.outputs * b.outputs * c.outputs) * (a.n * b.n * c.n);
    const Span s = span_of(a, o), t = span_of(b, p), u = span_of(c, q);
    A best = -INF;
    i64 where = 0;
    bool found = false;
    for (i64 i = s.first; i < s.last; i += s.step)
      for (i64 j = t.first; j < t.last; j += t.step)
        for (i64 k = u.first; k < u.last; k += u.step) {
          const i64 here = (i * b.n + j) * c.n + k;
          const A v = WIDE(x[plane + here]);
          if (v > best || v != v || !found) {
            best = v;
            where = here;
            found = true;
          }
        }
    if (y) y[at] = NARROW(best);
    if (index) index[at] = where;
  }
}

extern "C" __global__ void max_pool_gradient(
    const T* g, const i64* index, T* out, i64 size, DIMS) {
  TAKE(a);
  TAKE(b);
  TAKE(c);
  EACH(at, size) {
    const i64 k = at % c.n, j = at / c.n % b.n, i = at / (c.n * b.n) % a.n;
    const i64 plane = at / (a.n * b.n * c.n), here = (i * b.n + j) * c.n + k;
    const Span s = windows_at(a, i), t = windows_at(b, j), u = windows_at(c, k);
    A sum = A(0);
    for (i64 o = s.first; o < s.last; o++)
      for (i64 p = t.first; p < t.last; p++)
        for (i64 q = u.first; q < u.last; q++) {
          const i64 w = ((plane * a.outputs + o) * b.outputs + p) * c.outputs + q;
          if (index[w] == here) sum += WIDE(g[w]);
        }
    out[at] = NARROW(sum);
  }
}

// The elements that the windows picked, of another tensor of the input's shape.
extern "C" __global__ void picked(const T* x, const i64* index, T* y, i64 size, i64 outputs, i64 plane) {
  EACH(at, size) y[at] = x[at / outputs * plane + index[at]];
}

extern "C" __global__ void avg_pool(
    const T* x, T* y, i64 size, i64 include, i64 override_, DIMS) {
  TAKE(a);
  TAKE(b);
  TAKE(c);
  EACH(at, size) {
    const i64 q = at % c.outputs, p = at / c.outputs % b.outputs, o = at / (c.outputs * b.outputs) % a.outputs;
    const i64 plane = at / (a.outputs * b.outputs * c.outputs) * (a.n * b.n * c.n);
    const Span s = span_of(a, o), t = span_of(b, p), u = span_of(c, q);
    A sum = A(0);
    for (i64 i = s.first; i < s.last; i += s.step)
      for (i64 j = t.first; j < t.last; j += t.step)
        for (i64 k = u.first; k < u.last; k += u.step) sum += WIDE(x[plane + (i * b.n + j) * c.n + k]);
    y[at] = NARROW(sum / divisor(a, b, c, o, p, q, include, override_));
  }
}

extern "C" __global__ void avg_pool_gradient(
    const T* g, T* out, i64 size, i64 include, i64 override_, DIMS) {
  TAKE(a);
  TAKE(b);
  TAKE(c);
  EACH(at, size) {
    const i64 k = at % c.n, j = at / c.n % b.n, i = at / (c.n * b.n) % a.n;
    const i64 plane = at / (a.n * b.n * c.n);
    const Span s = windows_at(a, i), t = windows_at(b, j), u = windows_at(c, k);
    A sum = A(0);
    for (i64 o = s.first; o < s.last; o++)
      for (i64 p = t.first; p < t.last; p++)
        for (i64 q = u.first; q < u.last; q++)
          if (inside(a, o, i) && inside(b, p, j) && inside(c, q, k))
            sum += WIDE(g[((plane * a.outputs + o) * b.outputs + p) * c.outputs + q]) /
                   divisor(a, b, c, o, p, q, include, override_);
    out[at] = NARROW(sum);
  }
}
