// Random numbers from a counter: Philox4x32-10 of a seed, a stream's number and a place in the stream.
//
// A draw of `size` numbers uses `lanes` streams: a block of four words gives PER numbers, number i of block k of stream
// s being element (k * PER + i) * lanes + s. So an element's number does not depend on the launch. Seed and offset, in
// words, are arguments, or lie at `held` (seed, offset), to which the argument is added: a captured graph reads them
// anew. The numbers are made of words as cuRAND makes them.

#ifdef EMULATED
__device__ __forceinline__ void turned(float v, float* s, float* c) { *s = sin(v); *c = cos(v); }
__device__ __forceinline__ void turned(double v, double* s, double* c) {
  *s = sin(v * 3.141592653589793238);
  *c = cos(v * 3.141592653589793238);
}
__device__ __forceinline__ float quick_log(float v) { return log(v); }
__device__ __forceinline__ float quick_exp(float v) { return exp(v); }
__device__ __forceinline__ float quick_tan(float v) { return tan(v); }
#else
__device__ __forceinline__ void turned(float v, float* s, float* c) { __sincosf(v, s, c); }
__device__ __forceinline__ void turned(double v, double* s, double* c) { sincospi(v, s, c); }
__device__ __forceinline__ float quick_log(float v) { return __logf(v); }
__device__ __forceinline__ float quick_exp(float v) { return __expf(v); }
__device__ __forceinline__ float quick_tan(float v) { return __tanf(v); }
#endif
__device__ __forceinline__ double quick_log(double v) { return log(v); }
__device__ __forceinline__ double quick_exp(double v) { return exp(v); }
__device__ __forceinline__ double quick_tan(double v) { return tan(v); }

#define DIGIT (1.1102230246251565e-16)              // 2^-53
#define TURN (2.3283064e-10f * 6.2831855f)          // 2 pi 2^-32, as a product of floats

// A number in (0, 1] of 53 bits of two words.
__device__ __forceinline__ double wide(u32 low, u32 high) {
  return (double)((unsigned long long)low ^ ((unsigned long long)high << 21));
}
__device__ __forceinline__ double unit(double, const Words& r, int i) {
  return fma(wide(r.w[2 * i], r.w[2 * i + 1]), DIGIT, DIGIT / 2);
}

// Two normal numbers by Box and Muller, the sine first.
__device__ __forceinline__ void pair(float* first, float* second, const Words& r, int i) {
  const float u = fma((float)r.w[i], WORD, WORD / 2), v = fma((float)r.w[i + 1], TURN, TURN / 2);
  const float s = sqrt(-2.0f * log(u));
  turned(v, first, second);
  *first *= s;
  *second *= s;
}
__device__ __forceinline__ void pair(double* first, double* second, const Words& r, int) {
  const double u = fma(wide(r.w[0], r.w[1]), DIGIT, DIGIT / 2);
  const double v = fma(wide(r.w[2], r.w[3]), 2 * DIGIT, DIGIT);
  const double s = sqrt(-2.0 * log(u));
  turned(v, first, second);
  *first *= s;
  *second *= s;
}

#define PER ((int)(16 / sizeof(A)))  // numbers of a block
#define STREAM i64 size, i64 lanes, const i64* held, i64 seed, i64 offset
// Every block of a draw, its words in `r`: `block` is its place, `lane` its stream.
#define BLOCKS(per)                                                                                     \
  const i64 key = held ? held[0] : seed, first = ((held ? held[1] : 0) + offset) / 4;                   \
  EACH(item, (size + lanes * (per) - 1) / (lanes * (per)) * lanes)                                      \
    if (const i64 block = item / lanes, lane = item % lanes; block * (per) * lanes + lane < size)       \
      if (const Words r = philox(key, first + block, lane); true)
#define PLACE(i, per) ((block * (per) + (i)) * lanes + lane)
// Numbers made of a uniform one, `u`.
#define DRAW(make)                                                  \
  BLOCKS(PER) {                                                     \
    for (int i = 0; i < PER; i++) {                                 \
      const i64 at = PLACE(i, PER);                                 \
      if (at >= size) break;                                        \
      const A u = unit(A(0), r, i);                                 \
      y[at] = NARROW(make);                                         \
    }                                                               \
  }
// Numbers made of a normal one, `z`.
#define DRAW_NORMAL(make)                                           \
  BLOCKS(PER) {                                                     \
    for (int i = 0; i < PER; i += 2) {                              \
      A zs[2];                                                      \
      pair(&zs[0], &zs[1], r, i);                                   \
      for (int j = 0; j < 2; j++) {                                 \
        const i64 at = PLACE(i + j, PER);                           \
        if (at >= size) break;                                      \
        const A z = zs[j];                                          \
        y[at] = NARROW(make);                                       \
      }                                                             \
    }                                                               \
  }

// What rounds to the upper bound becomes the lower one.
__device__ __forceinline__ A turned_round(A v, A low, A high) { return WIDE(NARROW(v)) == high ? low : v; }

extern "C" __global__ void uniform(T* y, STREAM, double low_, double high_) {
  const A low = WIDE(NARROW(low_)), high = WIDE(NARROW(high_)), range = WIDE(NARROW(high - low));
  DRAW(turned_round(fma(u, range, low), low, high))
}

extern "C" __global__ void normal(T* y, STREAM, double mean, double deviation) {
  DRAW_NORMAL(fma(z, A(deviation), A(mean)))
}

extern "C" __global__ void log_normal(T* y, STREAM, double mean, double deviation) {
  DRAW_NORMAL(quick_exp(fma(z, A(deviation), A(mean))))
}

// The logarithm of what is nearly 1 is never 0. `eps` is the gap above 1 of type A.
extern "C" __global__ void exponential(T* y, STREAM, double rate, double eps) {
  const A near = A(1) - A(eps) / 2, least = -A(eps) / 2;
  DRAW(A(-1) / A(rate) * (u >= near ? least : quick_log(u)))
}

extern "C" __global__ void geometric(T* y, STREAM, double log_miss) { DRAW(ceil(quick_log(u) / A(log_miss))) }

extern "C" __global__ void cauchy(T* y, STREAM, double median, double sigma, double eps) {
  const A low = A(eps), high = A(1) - A(eps);
  DRAW(A(median) + A(sigma) * quick_tan(A(3.14159265358979323846) *
                                        ((sizeof(A) == 8 ? u : u > high ? high : u < low ? low : u) - A(0.5))))
}

extern "C" __global__ void bernoulli(T* y, STREAM, double p) { DRAW(u < A(p) ? A(1) : A(0)) }

// A probability of its own to each element; here a stream gives four neighbours.
extern "C" __global__ void coins(T* y, STREAM, const A* p) {
  const i64 key = held ? held[0] : seed, first = ((held ? held[1] : 0) + offset) / 4;
  EACH(item, (size + 3) / 4) {
    const Words r = philox(key, first, item);
    for (int i = 0; i < 4 && item * 4 + i < size; i++)
      y[item * 4 + i] = NARROW(unit(0.0f, r, i) <= p[item * 4 + i] ? A(1) : A(0));
  }
}

// Whole numbers from `base` on: the remainder of one word, or with `two` of two; of 64 bits if `range` is 0.
extern "C" __global__ void whole(i64* y, STREAM, i64 base, i64 range, i64 two) {
  if (two) {
    BLOCKS(2) {
      for (int i = 0; i < 2; i++) {
        const unsigned long long v = (unsigned long long)r.w[2 * i] << 32 | r.w[2 * i + 1];
        const i64 at = PLACE(i, 2);
        if (at < size) y[at] = (i64)((range ? v % (unsigned long long)range : v) + (unsigned long long)base);
      }
    }
  } else {
    BLOCKS(4) {
      for (int i = 0; i < 4; i++) {
        const i64 at = PLACE(i, 4);
        if (at < size) y[at] = (i64)(r.w[i] % (u32)range) + base;
      }
    }
  }
}

// Where keys in order are equal, their values are shuffled: by the first thread of such a run.
extern "C" __global__ void shuffle_equals(
    i64* values, const i64* keys, i64 size, const i64* held, i64 seed, i64 offset) {
  const i64 key = held ? held[0] : seed, first = ((held ? held[1] : 0) + offset) / 4;
  EACH(at, size - 1) {
    if (keys[at] != keys[at + 1] || (at && keys[at] == keys[at - 1])) continue;
    i64 many = 2;
    while (at + many < size && keys[at + many] == keys[at]) many++;
    for (i64 i = many - 1, drawn = 0; i > 0; i--, drawn++) {
      const i64 j = philox(key, first + drawn / 4, at).w[drawn % 4] % (u32)(i + 1);
      const i64 kept = values[at + i];
      values[at + i] = values[at + j];
      values[at + j] = kept;
    }
  }
}

// ---- dropout -------------------------------------------------------------------------------------------------------
// Whether element `at` stays: streams give runs of `run` neighbours, a run of eight two blocks; with run 1 a block's
// words are `lanes` apart.
__device__ __forceinline__ bool stays(i64 key, i64 first, i64 at, i64 lanes, i64 run, float keep) {
  i64 place, stream, i;
  if (run == 1) {
    place = at / (4 * lanes);
    stream = at % lanes;
    i = at / lanes % 4;
  } else {
    const i64 blocks = run == 8 ? 2 : 1;
    stream = at / run % lanes;
    place = at / run / lanes * blocks + at % run / 4;
    i = at % 4 % run;
  }
  return unit(0.0f, philox(key, first + place, stream), (int)i) < keep;
}

// What is kept is scaled; the mask, a byte to each element, stays for the gradient.
extern "C" __global__ void dropout(
    const T* x, T* y, unsigned char* mask, STREAM, i64 run, double keep, double scale) {
  const i64 key = held ? held[0] : seed, first = ((held ? held[1] : 0) + offset) / 4;
  if (run == 4) {
    EACH(item, size / 4) {
      const Words r = philox(key, first + item / lanes, item % lanes);
      for (int i = 0; i < 4; i++) {
        const i64 at = item * 4 + i;
        const bool kept = unit(0.0f, r, i) < (float)keep;
        mask[at] = kept;
        y[at] = NARROW(WIDE(x[at]) * (kept ? A(1) : A(0)) * A(scale));
      }
    }
    return;
  }
  EACH(at, size) {
    const bool kept = stays(key, first, at, lanes, run, (float)keep);
    mask[at] = kept;
    y[at] = NARROW(WIDE(x[at]) * (kept ? A(1) : A(0)) * A(scale));
  }
}

extern "C" __global__ void dropout_gradient(const T* g, const unsigned char* mask, T* out, i64 size, double scale) {
  EACH(at, size) out[at] = NARROW(WIDE(g[at]) * (mask[at] ? A(1) : A(0)) * A(scale));
}
