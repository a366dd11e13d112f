// Attention without the matrix of scores: tiles of keys pass by the queries, and a running maximum keeps the sums
// right. Backwards the scores are computed anew from the logarithm of each row's sum.
//
// Shapes: query (heads, rows, depth), key (heads, columns, depth), value (heads, columns, width), all contiguous.
// A warp owns one row at a time; in a tile of 32 a lane owns one partner. Depth and width are at most 32 * PARTS.
// mask is added to the scores, at strides that are 0 where it broadcasts; it may be missing.
// Dropout: a weight stays if a word of Philox says so, number `column` of the stream `head * rows + row`; so each kernel
// draws the same mask anew. Seed and offset lie at `held`, to which `offset` is added, or are given. `stays` 1: none.

#define TILE 32
#define PARTS 8

__device__ __forceinline__ A score_of(
    const A* mine, const A* theirs, i64 depth, A scale, const T* mask, i64 row, i64 column, i64 mask_row,
    i64 mask_column, bool seen) {
  if (!seen) return -INF;
  A s = A(0);
#pragma unroll 4
  for (i64 d = 0; d < depth; d++) s += mine[d] * theirs[d];
  s *= scale;
  if (mask) s += WIDE(mask[row * mask_row + column * mask_column]);
  return s;
}

// Rows `from` to `from + TILE` of a matrix into shared memory, a column of padding beside them.
__device__ __forceinline__ void fetch(A* shared, const T* from, i64 first, i64 rows, i64 depth) {
  for (i64 i = threadIdx.x; i < TILE * depth; i += blockDim.x) {
    const i64 r = i / depth, d = i % depth;
    shared[r * (depth + 1) + d] = first + r < rows ? WIDE(from[(first + r) * depth + d]) : A(0);
  }
}

#define DROPOUT const i64* held, i64 seed, i64 offset, double stays
#define SEED const i64 seed_ = held ? held[0] : seed, first_ = ((held ? held[1] : 0) + offset) / 4

// What dropout multiplies a weight by: 0, or what makes up for the others.
__device__ __forceinline__ A noise_of(i64 seed, i64 first, i64 line, i64 column, double stays) {
  if (stays == 1) return A(1);
  const Words r = philox(seed, first + column / 4, line);
  return unit(0.0f, r, (int)(column % 4)) < (float)stays ? A(1 / stays) : A(0);
}

extern "C" __global__ void noise(T* y, i64 lines, i64 columns, DROPOUT) {
  SEED;
  EACH(at, lines * columns) y[at] = NARROW(noise_of(seed_, first_, at / columns, at % columns, stays));
}

__device__ __forceinline__ const T* mask_at(const T* mask, i64 head, i64 inner, i64 outer_stride, i64 inner_stride) {
  return mask ? mask + head / inner * outer_stride + head % inner * inner_stride : mask;
}

extern "C" __global__ void attend(
    const T* query, const T* key, const T* value, const T* mask, T* out, A* lse, i64 heads, i64 rows,
    i64 columns, i64 depth, i64 width, double scale, i64 causal, i64 inner, i64 mask_batch, i64 mask_head,
    i64 mask_row, i64 mask_column, DROPOUT) {
  SEED;
  DYNAMIC_SHARED(A, shared);
  const u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  A* keys = shared;
  A* values = keys + TILE * (depth + 1);
  A* mine = values + TILE * (width + 1) + warp * depth;
  const i64 strips = (rows + warps - 1) / warps;
  for (i64 item = blockIdx.x; item < heads * strips; item += gridDim.x) {
    const i64 head = item / strips, row = item % strips * warps + warp;
    const T* m = mask_at(mask, head, inner, mask_batch, mask_head);
    const bool real = row < rows;
    __syncwarp();
    for (i64 d = lane; d < depth; d += 32) mine[d] = real ? WIDE(query[(head * rows + row) * depth + d]) : A(0);
    A top = -INF, sum = A(0), sums[PARTS];
    for (int p = 0; p < PARTS; p++) sums[p] = A(0);
    const i64 ahead = (item % strips + 1) * warps;
    const i64 last = causal && ahead < columns ? ahead : columns;
    for (i64 first = 0; first < last; first += TILE) {
      __syncthreads();
      fetch(keys, key + head * columns * depth, first, columns, depth);
      fetch(values, value + head * columns * width, first, columns, width);
      __syncthreads();
      const i64 column = first + lane;
      const bool seen = real && column < columns && (!causal || column <= row);
      const A s = score_of(mine, keys + lane * (depth + 1), depth, A(scale), m, row, column, mask_row,
                           mask_column, seen);
      const A most = warp_max(s), next = most > top ? most : top;
      // a row that has seen nothing yet keeps its zeros; nan, which no maximum shows, goes through
      const A base = next == -INF ? A(0) : next;
      const A old = top == -INF ? A(0) : exp(top - base), p = s == -INF ? A(0) : exp(s - base);
      sum = sum * old + warp_sum(p);
      const A kept = p == A(0) ? p : p * noise_of(seed_, first_, head * rows + row, column, stays);
      for (int part = 0; part < PARTS && part * 32 < width; part++) {
        const i64 d = part * 32 + lane;
        A v = sums[part] * old;
#pragma unroll 4
        for (int j = 0; j < TILE; j++) {
          const A weight = __shfl_sync(EVERY_LANE, kept, j);
          if (d < width && weight != A(0)) v += weight * values[j * (width + 1) + d];
        }
        sums[part] = v;
      }
      top = next;
    }
    if (real) {
      for (int part = 0; part < PARTS && part * 32 < width; part++) {
        const i64 d = part * 32 + lane;
        if (d < width) out[(head * rows + row) * width + d] = NARROW(sum == A(0) ? A(0) : sums[part] / sum);
      }
      if (lane == 0) lse[head * rows + row] = sum == A(0) ? -INF : (top == -INF ? A(0) : top) + log(sum);
    }
  }
}

__device__ __forceinline__ A weight_of(A s, A lse) { return s == -INF ? A(0) : exp(s - lse); }

// The gradient of the queries, and of each row <g, out>, which the other kernel reads.
extern "C" __global__ void attend_rows(
    const T* g, const T* query, const T* key, const T* value, const T* mask, const T* out, const A* lse,
    A* slope, T* of_query, i64 heads, i64 rows, i64 columns, i64 depth, i64 width, double scale, i64 causal,
    i64 inner, i64 mask_batch, i64 mask_head, i64 mask_row, i64 mask_column, DROPOUT) {
  SEED;
  DYNAMIC_SHARED(A, shared);
  const u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  A* keys = shared;
  A* values = keys + TILE * (depth + 1);
  A* mine = values + TILE * (width + 1) + warp * (depth + width);
  A* given = mine + depth;
  const i64 strips = (rows + warps - 1) / warps;
  for (i64 item = blockIdx.x; item < heads * strips; item += gridDim.x) {
    const i64 head = item / strips, row = item % strips * warps + warp, at = head * rows + row;
    const T* m = mask_at(mask, head, inner, mask_batch, mask_head);
    const bool real = row < rows;
    A mean = A(0);
    __syncwarp();
    for (i64 d = lane; d < depth; d += 32) mine[d] = real ? WIDE(query[at * depth + d]) : A(0);
    for (i64 d = lane; d < width; d += 32) {
      given[d] = real ? WIDE(g[at * width + d]) : A(0);
      if (real) mean += given[d] * WIDE(out[at * width + d]);
    }
    mean = warp_sum(mean);
    const A total = real ? lse[at] : A(0);
    if (real && lane == 0) slope[at] = mean;
    A sums[PARTS];
    for (int p = 0; p < PARTS; p++) sums[p] = A(0);
    const i64 ahead = (item % strips + 1) * warps;
    const i64 last = causal && ahead < columns ? ahead : columns;
    for (i64 first = 0; first < last; first += TILE) {
      __syncthreads();
      fetch(keys, key + head * columns * depth, first, columns, depth);
      fetch(values, value + head * columns * width, first, columns, width);
      __syncthreads();
      const i64 column = first + lane;
      const bool seen = real && column < columns && (!causal || column <= row);
      const A p = weight_of(score_of(mine, keys + lane * (depth + 1), depth, A(scale), m, row, column,
                                     mask_row, mask_column, seen), total);
      A dot = A(0);
#pragma unroll 4
      for (i64 d = 0; d < width; d++) dot += given[d] * values[lane * (width + 1) + d];
      const A ds = p == A(0) ? A(0) : p * (dot * noise_of(seed_, first_, at, column, stays) - mean) * A(scale);
      for (int part = 0; part < PARTS && part * 32 < depth; part++) {
        const i64 d = part * 32 + lane;
#pragma unroll 4
        for (int j = 0; j < TILE; j++) {
          const A w = __shfl_sync(EVERY_LANE, ds, j);
          if (d < depth && w != A(0)) sums[part] += w * keys[j * (depth + 1) + d];
        }
      }
    }
    if (real)
      for (int part = 0; part < PARTS && part * 32 < depth; part++) {
        const i64 d = part * 32 + lane;
        if (d < depth) of_query[at * depth + d] = NARROW(sums[part]);
      }
  }
}

// The gradients of keys and values: a warp owns a key, and tiles of queries pass by.
extern "C" __global__ void attend_columns(
    const T* g, const T* query, const T* key, const T* value, const T* mask, const A* lse, const A* slope,
    T* of_key, T* of_value, i64 heads, i64 rows, i64 columns, i64 depth, i64 width, double scale, i64 causal,
    i64 inner, i64 mask_batch, i64 mask_head, i64 mask_row, i64 mask_column, DROPOUT) {
  SEED;
  DYNAMIC_SHARED(A, shared);
  const u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  A* queries = shared;
  A* given = queries + TILE * (depth + 1);
  A* mine = given + TILE * (width + 1) + warp * (depth + width);
  A* worth = mine + depth;
  const i64 strips = (columns + warps - 1) / warps;
  for (i64 item = blockIdx.x; item < heads * strips; item += gridDim.x) {
    const i64 head = item / strips, column = item % strips * warps + warp, at = head * columns + column;
    const T* m = mask_at(mask, head, inner, mask_batch, mask_head);
    const bool real = column < columns;
    __syncwarp();
    for (i64 d = lane; d < depth; d += 32) mine[d] = real ? WIDE(key[at * depth + d]) : A(0);
    for (i64 d = lane; d < width; d += 32) worth[d] = real ? WIDE(value[at * width + d]) : A(0);
    A of_k[PARTS], of_v[PARTS];
    for (int p = 0; p < PARTS; p++) of_k[p] = of_v[p] = A(0);
    const i64 begin = causal ? item % strips * warps / TILE * TILE : 0;
    for (i64 first = begin; first < rows; first += TILE) {
      __syncthreads();
      fetch(queries, query + head * rows * depth, first, rows, depth);
      fetch(given, g + head * rows * width, first, rows, width);
      __syncthreads();
      const i64 row = first + lane;
      const bool seen = real && row < rows && (!causal || column <= row);
      const A total = row < rows ? lse[head * rows + row] : A(0);
      const A mean = row < rows ? slope[head * rows + row] : A(0);
      const A p = weight_of(score_of(mine, queries + lane * (depth + 1), depth, A(scale), m, row, column,
                                     mask_row, mask_column, seen), total);
      A dot = A(0);
#pragma unroll 4
      for (i64 d = 0; d < width; d++) dot += given[lane * (width + 1) + d] * worth[d];
      const A n = p == A(0) ? A(0) : noise_of(seed_, first_, head * rows + row, column, stays);
      const A kept = p * n, ds = p == A(0) ? A(0) : p * (dot * n - mean) * A(scale);
      for (int part = 0; part < PARTS; part++) {
        const i64 d = part * 32 + lane;
        if (part * 32 >= depth && part * 32 >= width) break;
#pragma unroll 4
        for (int j = 0; j < TILE; j++) {
          const A w = __shfl_sync(EVERY_LANE, ds, j), v = __shfl_sync(EVERY_LANE, kept, j);
          if (d < depth && w != A(0)) of_k[part] += w * queries[j * (depth + 1) + d];
          if (d < width && v != A(0)) of_v[part] += v * given[j * (width + 1) + d];
        }
      }
    }
    if (real)
      for (int part = 0; part < PARTS; part++) {
        const i64 d = part * 32 + lane;
        if (d < depth) of_key[at * depth + d] = NARROW(of_k[part]);
        if (d < width) of_value[at * width + d] = NARROW(of_v[part]);
      }
  }
}
