// Additions at places that may come twice, the check of indices, and the picking of class indices by losses.
//
// I is the type of an index, int or long long. A place outside is reported and left alone.

// `sums` is of type A: narrow types are added up in float and rounded once, by the caller.
extern "C" __global__ void add_rows(
    A* sums, const i64* index, const T* values, i64 count, i64 width, i64 rows, i64 padding, i64* flag, i64 op) {
  EACH(at, count * width) {
    i64 row = index[at / width];
    if (row < -rows || row >= rows) {
      report(flag, op, row, rows);
      continue;
    }
    if (row < 0) row += rows;
    if (row != padding) atomicAdd(&sums[row * width + at % width], WIDE(values[at]));
  }
}

extern "C" __global__ void check_index(const i64* index, i64 count, i64 low, i64 size, i64* flag, i64 op) {
  EACH(at, count) {
    const i64 v = index[at];
    if (v < low || v >= size) report(flag, op, v, size);
  }
}

extern "C" __global__ void check_index_int(const int* index, i64 count, i64 low, i64 size, i64* flag, i64 op) {
  EACH(at, count) {
    const i64 v = index[at];
    if (v < low || v >= size) report(flag, op, v, size);
  }
}

// ---- the negative log likelihood of (rows, classes, inner) ---------------------------------------------------------
// What each place adds to the loss and to what the mean is divided by.
extern "C" __global__ void nll_pick(
    const T* x, const i64* target, const T* weight, A* each, A* share, i64 count, i64 classes, i64 inner,
    i64 ignore, i64* flag, i64 op) {
  EACH(at, count) {
    const i64 t = target[at];
    A value = A(0), w = A(0);
    if (t != ignore) {
      if (t < 0 || t >= classes) {
        report(flag, op, t, classes);
      } else {
        w = weight ? WIDE(weight[t]) : A(1);
        value = -WIDE(x[(at / inner * classes + t) * inner + at % inner]) * w;
      }
    }
    each[at] = value;
    share[at] = w;
  }
}

// The gradient, written whole: `g` holds one number, or with `own` one to each place; `total` may be missing.
extern "C" __global__ void nll_gradient(
    const T* g, const i64* target, const T* weight, const A* total, T* out, i64 size, i64 classes, i64 inner,
    i64 ignore, i64 own) {
  EACH(at, size) {
    const i64 c = at / inner % classes, place = at / (classes * inner) * inner + at % inner;
    const i64 t = target[place];
    A v = A(0);
    if (t == c && t != ignore) {
      v = -WIDE(g[own ? place : 0]);
      if (total) v /= *total;
      if (weight) v *= WIDE(weight[c]);
    }
    out[at] = NARROW(v);
  }
}
