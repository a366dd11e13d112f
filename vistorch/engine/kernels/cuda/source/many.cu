// One launch over many arrays of one type. `table` has a row for each: its address, its size. A block takes a piece:
// `pieces` has the number of an array and the first element, and a piece is at most `chunk` long.

#define PIECE                                                                              \
  const i64* own = table + 2 * pieces[2 * (i64)blockIdx.x];                                \
  const i64 first = pieces[2 * (i64)blockIdx.x + 1];                                       \
  const i64 last = first + chunk < own[1] ? first + chunk : own[1];                        \
  T* p = (T*)own[0];

// Every element multiplied by one number on the device; `found` becomes 1 where one was not finite before.
extern "C" __global__ void unscale(
    const i64* table, const i64* pieces, i64 chunk, const float* factor, float* found) {
  PIECE
  const A by = A(*factor);
  bool bad = false;
  for (i64 i = first + threadIdx.x; i < last; i += blockDim.x) {
    const A v = WIDE(p[i]);
    bad = bad || !(v - v == A(0));
    p[i] = NARROW(v * by);
  }
  if (bad) *found = 1.0f;
}

extern "C" __global__ void multiply(const i64* table, const i64* pieces, i64 chunk, const T* factor) {
  PIECE
  const A by = WIDE(*factor);
  for (i64 i = first + threadIdx.x; i < last; i += blockDim.x) p[i] = NARROW(WIDE(p[i]) * by);
}

// The sum of squares of each piece.
extern "C" __global__ void squares(const i64* table, const i64* pieces, i64 chunk, A* sums) {
  __shared__ A shared[32];
  PIECE
  A s = A(0);
  for (i64 i = first + threadIdx.x; i < last; i += blockDim.x) {
    const A v = WIDE(p[i]);
    s += v * v;
  }
  s = block_sum(s, shared);
  if (threadIdx.x == 0) sums[blockIdx.x] = s;
}
