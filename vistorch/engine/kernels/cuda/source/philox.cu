// Random numbers from a counter: Philox4x32-10 of a seed and of the number's own place in the stream.
//
// Element i of a draw is made of word i of the stream from `offset` on, so it is the same whatever the launch.
// A pair of words goes into a double, one word into the narrower types.

struct Words { u32 w[4]; };

__device__ __forceinline__ Words philox(i64 seed, i64 block) {
  u32 key0 = (u32)seed, key1 = (u32)((unsigned long long)seed >> 32);
  u32 a = (u32)block, b = (u32)((unsigned long long)block >> 32), c = 0, d = 0;
  for (int round = 0; round < 10; round++) {
    const unsigned long long p = 0xD2511F53ull * a, q = 0xCD9E8D57ull * c;
    const u32 next_a = (u32)(q >> 32) ^ b ^ key0, next_c = (u32)(p >> 32) ^ d ^ key1;
    b = (u32)q;
    d = (u32)p;
    a = next_a;
    c = next_c;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return Words{{a, b, c, d}};
}

// Uniform in [0, 1): 24 bits of one word, or 53 of two.
__device__ __forceinline__ float unit(float, const Words& r, int i) { return (r.w[i] >> 8) * (1.0f / 16777216.0f); }
__device__ __forceinline__ double unit(double, const Words& r, int i) {
  const unsigned long long v = ((unsigned long long)r.w[2 * i + 1] << 32 | r.w[2 * i]) >> 11;
  return (double)v * (1.0 / 9007199254740992.0);
}
#define PER ((int)(16 / sizeof(A)))  // numbers of a block of four words
#define UNIT(r, i) (unit(A(0), r, i))

// A block of words to a thread: PER neighbouring elements.
#define DRAW(make)                                                     \
  EACH(block, (size + PER - 1) / PER) {                                \
    const Words r = philox(seed, offset + block);                      \
    for (int i = 0; i < PER; i++)                                      \
      if (block * PER + i < size) {                                    \
        const A u = UNIT(r, i);                                        \
        y[block * PER + i] = NARROW(make);                             \
      }                                                                \
  }

extern "C" __global__ void words(u32* y, i64 size, i64 seed, i64 offset) {
  EACH(block, (size + 3) / 4) {
    const Words r = philox(seed, offset + block);
    for (int i = 0; i < 4; i++)
      if (block * 4 + i < size) y[block * 4 + i] = r.w[i];
  }
}

// A narrow type may round up to the bound, which does not belong to the interval: the lower end takes its place.
__device__ __forceinline__ A below(A v, A low, A high) { return WIDE(NARROW(v)) >= high && high > low ? low : v; }

extern "C" __global__ void uniform(T* y, i64 size, i64 seed, i64 offset, double low, double high) {
  DRAW(below(u * (A(high) - A(low)) + A(low), A(low), A(high)))
}

// Pairs by Box and Muller: the first of a pair takes the cosine, the second the sine.
extern "C" __global__ void normal(T* y, i64 size, i64 seed, i64 offset, double mean, double deviation) {
  EACH(block, (size + PER - 1) / PER) {
    const Words r = philox(seed, offset + block);
    for (int i = 0; i < PER; i += 2) {
      const A radius = sqrt(A(-2) * log(A(1) - UNIT(r, i))), angle = A(6.283185307179586476925) * UNIT(r, i + 1);
      const i64 at = block * PER + i;
      if (at < size) y[at] = NARROW(radius * cos(angle) * A(deviation) + A(mean));
      if (at + 1 < size) y[at + 1] = NARROW(radius * sin(angle) * A(deviation) + A(mean));
    }
  }
}

extern "C" __global__ void exponential(T* y, i64 size, i64 seed, i64 offset, double rate) {
  DRAW(-log(A(1) - u) / A(rate))
}

extern "C" __global__ void bernoulli(T* y, i64 size, i64 seed, i64 offset, double p) {
  DRAW(u < A(p) ? A(1) : A(0))
}

// Dropout in one pass: what is kept is scaled, and the mask stays for the gradient.
extern "C" __global__ void dropout(
    const T* x, T* y, T* mask, i64 size, i64 seed, i64 offset, double keep, double scale) {
  EACH(block, (size + PER - 1) / PER) {
    const Words r = philox(seed, offset + block);
    for (int i = 0; i < PER; i++) {
      const i64 at = block * PER + i;
      if (at >= size) continue;
      const A m = UNIT(r, i) < A(keep) ? A(scale) : A(0);
      mask[at] = NARROW(m);
      y[at] = NARROW(WIDE(x[at]) * m);
    }
  }
}
