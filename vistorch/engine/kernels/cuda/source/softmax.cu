// softmax and log_softmax with their gradients, over (outer, n, inner).
//
// `rows`: inner is 1, a block to a row. `columns`: inner is more, a thread to a column, neighbours side by side.

// A running maximum and the sum of exponentials under it, in one pass.
__device__ __forceinline__ void meet(A& top, A& sum, A v) {
  if (v > top) {
    sum = (top == -INF ? sum : sum * exp(top - v)) + A(1);
    top = v;
  } else if (!(v == -INF)) {
    sum += exp(v - top);
  }
}

__device__ __forceinline__ A shifted(A v, A top, A sum, A lsum, bool log_) {
  return log_ ? v - top - lsum : exp(v - top) / sum;
}

extern "C" __global__ void softmax_rows(const T* x, T* y, i64 rows, i64 n, i64 log_) {
  __shared__ A shared[32];
  for (i64 row = blockIdx.x; row < rows; row += gridDim.x) {
    const T* in = x + row * n;
    T* out = y + row * n;
    A top = -INF, sum = A(0);
    for (i64 i = threadIdx.x; i < n; i += blockDim.x) meet(top, sum, WIDE(in[i]));
    const A most = block_max(top, shared);
    sum *= top == most ? A(1) : exp(top - most);
    sum = block_sum(sum, shared);
    if (most == INF) sum = INF - INF;  // as the difference of infinities says
    const A lsum = log_ ? log(sum) : A(0);
    for (i64 i = threadIdx.x; i < n; i += blockDim.x)
      out[i] = NARROW(shifted(WIDE(in[i]), most, sum, lsum, log_));
  }
}

extern "C" __global__ void softmax_columns(const T* x, T* y, i64 outer, i64 n, i64 inner, i64 log_) {
  EACH(at, outer * inner) {
    const i64 start = at / inner * n * inner + at % inner;
    A top = -INF, sum = A(0);
    for (i64 i = 0; i < n; i++) meet(top, sum, WIDE(x[start + i * inner]));
    if (top == INF) sum = INF - INF;
    const A lsum = log_ ? log(sum) : A(0);
    for (i64 i = 0; i < n; i++)
      y[start + i * inner] = NARROW(shifted(WIDE(x[start + i * inner]), top, sum, lsum, log_));
  }
}

__device__ __forceinline__ A slope(A g, A y, A sum, bool log_) {
  return log_ ? g - exp(y) * sum : y * (g - sum);
}

extern "C" __global__ void slope_rows(const T* g, const T* y, T* out, i64 rows, i64 n, i64 log_) {
  __shared__ A shared[32];
  for (i64 row = blockIdx.x; row < rows; row += gridDim.x) {
    const i64 start = row * n;
    A sum = A(0);
    for (i64 i = threadIdx.x; i < n; i += blockDim.x)
      sum += log_ ? WIDE(g[start + i]) : WIDE(g[start + i]) * WIDE(y[start + i]);
    sum = block_sum(sum, shared);
    for (i64 i = threadIdx.x; i < n; i += blockDim.x)
      out[start + i] = NARROW(slope(WIDE(g[start + i]), WIDE(y[start + i]), sum, log_));
  }
}

extern "C" __global__ void slope_columns(
    const T* g, const T* y, T* out, i64 outer, i64 n, i64 inner, i64 log_) {
  EACH(at, outer * inner) {
    const i64 start = at / inner * n * inner + at % inner;
    A sum = A(0);
    for (i64 i = 0; i < n; i++) {
      const i64 k = start + i * inner;
      sum += log_ ? WIDE(g[k]) : WIDE(g[k]) * WIDE(y[k]);
    }
    for (i64 i = 0; i < n; i++) {
      const i64 k = start + i * inner;
      out[k] = NARROW(slope(WIDE(g[k]), WIDE(y[k]), sum, log_));
    }
  }
}
