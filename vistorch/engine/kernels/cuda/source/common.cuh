// What every kernel of this folder stands on: wide and narrow types, sums over a warp and over a block.
//
// The launcher writes two lines above this text: `#define T ...`, the type in memory, and `#define A ...`, the type
// computed in (double for double, float for all narrower ones). No header is included: the text compiles by NVRTC
// without a search path, and for the processor behind tests/cuda/emulator/device.h.

typedef long long i64;
typedef unsigned int u32;

#ifndef EMULATED
// The 16-bit floats, held as bits: conversions alone are needed.
struct half_t { unsigned short bits; };
struct bfloat_t { unsigned short bits; };

__device__ __forceinline__ float widened(half_t v) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(v.bits));
  return f;
}

__device__ __forceinline__ half_t to_half(float f) {
  half_t v;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(v.bits) : "f"(f));
  return v;
}

__device__ __forceinline__ u32 bits_of(float f) { return __float_as_uint(f); }
__device__ __forceinline__ float of_bits(u32 u) { return __uint_as_float(u); }
#define DYNAMIC_SHARED(type, name)                                   \
  extern __shared__ __align__(16) unsigned char dynamic_shared[];    \
  type* name = (type*)dynamic_shared
#endif

__device__ __forceinline__ float widened(bfloat_t v) { return of_bits((u32)v.bits << 16); }

// Rounds to the nearest, of two to the even one; nan stays nan.
__device__ __forceinline__ bfloat_t to_bfloat(float f) {
  u32 u = bits_of(f);
  bfloat_t v;
  if ((u & 0x7fffffffu) > 0x7f800000u) v.bits = 0x7fc0;
  else v.bits = (unsigned short)((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
  return v;
}

__device__ __forceinline__ float widened(float v) { return v; }
__device__ __forceinline__ double widened(double v) { return v; }

template <typename N> struct narrow;
template <> struct narrow<float> { template <typename W> static __device__ __forceinline__ float of(W v) { return (float)v; } };
template <> struct narrow<double> { template <typename W> static __device__ __forceinline__ double of(W v) { return (double)v; } };
template <> struct narrow<half_t> { template <typename W> static __device__ __forceinline__ half_t of(W v) { return to_half((float)v); } };
template <> struct narrow<bfloat_t> { template <typename W> static __device__ __forceinline__ bfloat_t of(W v) { return to_bfloat((float)v); } };

#define WIDE(v) ((A)widened(v))
#define NARROW(v) (narrow<T>::of(v))
#define INF ((A)(1e300 * 1e300))
#define EVERY_LANE 0xffffffffu
// Threads of a grid walk over `count` items, however many threads there are.
#define EACH(i, count)                                                              \
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < (count);             \
       i += (i64)gridDim.x * blockDim.x)

template <typename W> __device__ __forceinline__ W warp_sum(W v) {
  for (int k = 16; k; k >>= 1) v += __shfl_xor_sync(EVERY_LANE, v, k);
  return v;
}

template <typename W> __device__ __forceinline__ W warp_max(W v) {
  for (int k = 16; k; k >>= 1) {
    W other = __shfl_xor_sync(EVERY_LANE, v, k);
    v = other > v ? other : v;
  }
  return v;
}

// The sum over a block of whole warps, in every thread; `shared` has 32 elements.
template <typename W> __device__ __forceinline__ W block_sum(W v, W* shared) {
  const u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  v = warp_sum(v);
  __syncthreads();  // the last result may still be read
  if (lane == 0) shared[warp] = v;
  __syncthreads();
  return warp_sum(lane < warps ? shared[lane] : W(0));
}

// The maximum over a block of whole warps, in every thread; nan is passed over.
template <typename W> __device__ __forceinline__ W block_max(W v, W* shared) {
  const u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  v = warp_max(v);
  __syncthreads();
  if (lane == 0) shared[warp] = v;
  __syncthreads();
  return warp_max(lane < warps ? shared[lane] : -(W)(1e300 * 1e300));
}

// What a kernel found wrong with an index: the first to come writes, the host reads at its next synchronisation.
__device__ __forceinline__ void report(i64* flag, i64 op, i64 index, i64 size) {
  volatile i64* f = flag;
  if (f[0]) return;
  f[1] = index;
  f[2] = size;
  f[0] = op;
}

// Philox4x32-10: the four words at one place of a stream.
struct Words { u32 w[4]; };

__device__ __forceinline__ Words philox(i64 seed, i64 place, i64 stream) {
  u32 key0 = (u32)seed, key1 = (u32)((unsigned long long)seed >> 32);
  u32 a = (u32)place, b = (u32)((unsigned long long)place >> 32);
  u32 c = (u32)stream, d = (u32)((unsigned long long)stream >> 32);
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

#define WORD (2.3283064365386963e-10f)  // 2^-32
// A number in (0, 1] of one word.
__device__ __forceinline__ float unit(float, const Words& r, int i) { return fma((float)r.w[i], WORD, WORD / 2); }
