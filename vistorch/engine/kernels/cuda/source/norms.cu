// Normalisation: of rows (layer, RMS and group) and of channels (batch), with the gradients.
//
// A row is `n` neighbouring elements; the weight of its element i is number (row % groups) * members + i / inner.
// That is layer and RMS norm with one group of n members and inner 1, and group norm with its own numbers.
// Statistics are of type A. A mean is taken off before squares are added up, so large means cost no digits.

extern "C" __global__ void normalise_rows(
    const T* x, const T* weight, const T* bias, T* out, A* mean, A* inverse, i64 rows, i64 n, i64 groups,
    i64 members, i64 inner, double eps, i64 centred) {
  __shared__ A shared[32];
  for (i64 row = blockIdx.x; row < rows; row += gridDim.x) {
    const T* in = x + row * n;
    A m = A(0), square = A(0);
    if (centred) {
      for (i64 i = threadIdx.x; i < n; i += blockDim.x) m += WIDE(in[i]);
      m = block_sum(m, shared) / A(n);
    }
    for (i64 i = threadIdx.x; i < n; i += blockDim.x) {
      const A d = WIDE(in[i]) - m;
      square += d * d;
    }
    const A r = A(1) / sqrt(block_sum(square, shared) / A(n) + A(eps));
    const i64 first = row % groups * members;
    for (i64 i = threadIdx.x; i < n; i += blockDim.x) {
      const i64 c = first + i / inner;
      A v = (WIDE(in[i]) - m) * r;
      if (weight) v *= WIDE(weight[c]);
      if (bias) v += WIDE(bias[c]);
      out[row * n + i] = NARROW(v);
    }
    if (threadIdx.x == 0) {
      if (mean) mean[row] = m;
      inverse[row] = r;
    }
  }
}

extern "C" __global__ void rows_gradient(
    const T* g, const T* x, const T* weight, const A* mean, const A* inverse, T* out, i64 rows, i64 n,
    i64 groups, i64 members, i64 inner, i64 centred) {
  __shared__ A shared[32];
  for (i64 row = blockIdx.x; row < rows; row += gridDim.x) {
    const i64 start = row * n, first = row % groups * members;
    const A m = centred ? mean[row] : A(0), r = inverse[row];
    A total = A(0), along = A(0);
    for (i64 i = threadIdx.x; i < n; i += blockDim.x) {
      A v = WIDE(g[start + i]);
      if (weight) v *= WIDE(weight[first + i / inner]);
      total += v;
      along += v * (WIDE(x[start + i]) - m) * r;
    }
    along = block_sum(along, shared) / A(n);
    total = centred ? block_sum(total, shared) / A(n) : A(0);
    for (i64 i = threadIdx.x; i < n; i += blockDim.x) {
      A v = WIDE(g[start + i]);
      if (weight) v *= WIDE(weight[first + i / inner]);
      out[start + i] = NARROW(r * (v - total - (WIDE(x[start + i]) - m) * r * along));
    }
  }
}

// Sums over the rows of g and of g * h, h the normalised x: `parts` strips of rows, one sum of each to a column.
extern "C" __global__ void column_sums(
    const T* g, const T* x, const A* mean, const A* inverse, A* along, A* total, i64 rows, i64 n, i64 parts,
    i64 centred) {
  const i64 strip = (rows + parts - 1) / parts;
  EACH(at, parts * n) {
    const i64 part = at / n, c = at % n;
    const i64 last = (part + 1) * strip < rows ? (part + 1) * strip : rows;
    A a = A(0), t = A(0);
    for (i64 row = part * strip; row < last; row++) {
      const A v = WIDE(g[row * n + c]);
      t += v;
      a += v * (WIDE(x[row * n + c]) - (centred ? mean[row] : A(0))) * inverse[row];
    }
    along[at] = a;
    total[at] = t;
  }
}

// The same sums of each plane of `inner` neighbours; plane p takes the statistics of row p / members % rows.
extern "C" __global__ void plane_sums(
    const T* g, const T* x, const A* mean, const A* inverse, A* along, A* total, i64 planes, i64 inner,
    i64 members, i64 rows) {
  __shared__ A shared[32];
  for (i64 plane = blockIdx.x; plane < planes; plane += gridDim.x) {
    const i64 row = plane / members % rows;
    const A m = mean[row], r = inverse[row];
    A a = A(0), t = A(0);
    for (i64 i = threadIdx.x; i < inner; i += blockDim.x) {
      const A v = WIDE(g[plane * inner + i]);
      t += v;
      a += v * (WIDE(x[plane * inner + i]) - m) * r;
    }
    a = block_sum(a, shared);
    t = block_sum(t, shared);
    if (threadIdx.x == 0) {
      along[plane] = a;
      total[plane] = t;
    }
  }
}

// ---- channels of (batch, channels, inner) --------------------------------------------------------------------------
// The mean and the sum of squares around it of one part of a channel; a part is every `parts`-th sample.
extern "C" __global__ void channel_moments(
    const T* x, A* mean, A* square, i64 batch, i64 channels, i64 inner, i64 parts) {
  __shared__ A shared[32];
  const i64 c = blockIdx.x / parts, part = blockIdx.x % parts;
  const i64 samples = (batch - part + parts - 1) / parts, n = samples * inner;
  A m = A(0), s = A(0);
  for (i64 i = threadIdx.x; i < n; i += blockDim.x)
    m += WIDE(x[((part + i / inner * parts) * channels + c) * inner + i % inner]);
  m = block_sum(m, shared) / A(n > 0 ? n : 1);
  for (i64 i = threadIdx.x; i < n; i += blockDim.x) {
    const A d = WIDE(x[((part + i / inner * parts) * channels + c) * inner + i % inner]) - m;
    s += d * d;
  }
  s = block_sum(s, shared);
  if (threadIdx.x == 0) {
    mean[blockIdx.x] = m;
    square[blockIdx.x] = s;
  }
}

// The parts of each channel put together, two at a time, in double: mean, variance and inverse deviation.
extern "C" __global__ void channel_join(
    const A* mean, const A* square, A* of, A* inverse, double* variance, i64 batch, i64 channels, i64 inner,
    i64 parts, double eps) {
  EACH(c, channels) {
    double m = 0, s = 0, n = 0;
    for (i64 part = 0; part < parts; part++) {
      const double k = (double)((batch - part + parts - 1) / parts * inner);
      if (k == 0) continue;
      const double away = (double)mean[c * parts + part] - m;
      s += (double)square[c * parts + part] + away * away * n * k / (n + k);
      m += away * k / (n + k);
      n += k;
    }
    const double v = s / (n > 0 ? n : 1);
    of[c] = A(m);
    variance[c] = v;
    inverse[c] = A(1 / sqrt(v + eps));
  }
}

extern "C" __global__ void channel_apply(
    const T* x, const T* weight, const T* bias, const A* mean, const A* inverse, T* out, i64 size, i64 channels,
    i64 inner) {
  EACH(i, size) {
    const i64 c = i / inner % channels;
    A v = (WIDE(x[i]) - mean[c]) * inverse[c];
    if (weight) v *= WIDE(weight[c]);
    if (bias) v += WIDE(bias[c]);
    out[i] = NARROW(v);
  }
}

// With `n` 0 the statistics were given, and no gradient goes through them.
extern "C" __global__ void channel_gradient(
    const T* g, const T* x, const T* weight, const A* mean, const A* inverse, const A* along, const A* total,
    T* out, i64 size, i64 channels, i64 inner, i64 n) {
  EACH(i, size) {
    const i64 c = i / inner % channels;
    const A r = inverse[c];
    A v = WIDE(g[i]);
    if (n) v -= total[c] / A(n) + (WIDE(x[i]) - mean[c]) * r * along[c] / A(n);
    v *= r;
    if (weight) v *= WIDE(weight[c]);
    out[i] = NARROW(v);
  }
}
