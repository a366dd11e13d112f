// A CUDA device made of one processor thread: blocks run one after another, their threads as fibers.
//
// A fiber runs until it waits (for its block or its warp) or ends. A barrier that some thread of the block never
// reaches is an error, shared memory begins every block as nan, and the order in which fibers run can be turned round:
// what a kernel computes must not depend on it. Memory, atomics and time are those of the processor.

#define EMULATED 1
#include <csetjmp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <ucontext.h>
#include <utility>

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static __attribute__((section("on_chip")))
extern char __start_on_chip[] __attribute__((weak)), __stop_on_chip[] __attribute__((weak));

using std::cos; using std::erf; using std::erfc; using std::exp; using std::fabs; using std::log; using std::log1p;
using std::ceil; using std::fma; using std::sin; using std::sqrt; using std::tan; using std::tanh;

struct Index { unsigned x = 1, y = 1, z = 1; };

namespace emulator {
enum State { READY, AT_BLOCK, AT_WARP, DONE };
constexpr int MOST = 1024;
constexpr size_t STACK = 128 << 10, ON_CHIP = 232448;

struct Fiber {
  jmp_buf where;
  ucontext_t start;
  Index index;
  State state;
  bool begun;
};

inline Fiber fibers[MOST];
inline Fiber* current;
inline jmp_buf scheduler;
inline char* stacks;
alignas(16) inline unsigned char chip[ON_CHIP];
inline unsigned char slots[MOST][16];
inline Index block, blocks, at;
inline int order;
inline const char* wrong;
inline void (*body)(void**);
inline void** arguments;

inline void wait(State what) {
  Fiber* me = current;
  me->state = what;
  if (!_setjmp(me->where)) _longjmp(scheduler, 1);
}

inline void enter() {
  body(arguments);
  current->state = DONE;
  _longjmp(scheduler, 1);
}

inline void resume(Fiber& f, int number) {
  current = &f;
  if (_setjmp(scheduler)) return;
  if (f.begun) _longjmp(f.where, 1);
  f.begun = true;
  getcontext(&f.start);
  f.start.uc_stack.ss_sp = stacks + number * STACK;
  f.start.uc_stack.ss_size = STACK;
  f.start.uc_link = nullptr;
  makecontext(&f.start, enter, 0);
  setcontext(&f.start);
}

// Lets go those who wait with all their fellows: of a warp, else of the block. False if nobody can go on.
inline bool release(int n) {
  bool some = false;
  for (int w = 0; w < n; w += 32) {
    const int end = w + 32 < n ? w + 32 : n;
    int waiting = 0;
    for (int i = w; i < end; i++) waiting += fibers[i].state == AT_WARP;
    if (waiting != end - w) continue;
    for (int i = w; i < end; i++) fibers[i].state = READY;
    some = true;
  }
  if (some) return true;
  for (int i = 0; i < n; i++)
    if (fibers[i].state != AT_BLOCK) return false;
  for (int i = 0; i < n; i++) fibers[i].state = READY;
  return true;
}

inline void run_block(int n, size_t shared) {
  if (__start_on_chip) memset(__start_on_chip, 0xff, __stop_on_chip - __start_on_chip);
  memset(chip, 0xff, shared);
  for (int i = 0; i < n; i++) {
    fibers[i].state = READY;
    fibers[i].begun = false;
    fibers[i].index = Index{unsigned(i % block.x), unsigned(i / block.x % block.y), unsigned(i / (block.x * block.y))};
  }
  for (;;) {
    bool all = true;
    for (int k = 0; k < n; k++) {
      const int i = order == 1 ? n - 1 - k : order == 2 ? (k * 13 + 5) % n : k;
      if (fibers[i].state == READY) resume(fibers[i], i);
      all = all && fibers[i].state == DONE;
    }
    for (int i = 0; i < n && all; i++) all = fibers[i].state == DONE;
    if (all) return;
    bool ready = false;
    for (int i = 0; i < n; i++) ready = ready || fibers[i].state == READY;
    if (!ready && !release(n)) {
      wrong = "some threads wait where others have gone by";
      return;
    }
  }
}

inline const char* run(void (*what)(void**), void** args, const unsigned* sizes, size_t shared, int turn) {
  blocks = Index{sizes[0], sizes[1], sizes[2]};
  block = Index{sizes[3], sizes[4], sizes[5]};
  body = what;
  arguments = args;
  order = turn;
  wrong = nullptr;
  const unsigned n = block.x * block.y * block.z;
  if (!n || n > MOST || n % 32) return "a block has whole warps, at most 1024 threads";
  if (!blocks.x || !blocks.y || !blocks.z) return "a grid has at least one block";
  if (blocks.y > 65535 || blocks.z > 65535) return "a grid has at most 65535 blocks along y and z";
  if (shared > (48 << 10)) return "a block has 48 KiB of shared memory unless the kernel asks for more";
  if (!stacks)
    stacks = (char*)mmap(nullptr, MOST * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (at.z = 0; at.z < blocks.z; at.z++)
    for (at.y = 0; at.y < blocks.y; at.y++)
      for (at.x = 0; at.x < blocks.x && !wrong; at.x++) run_block(n, shared);
  return wrong;
}

template <typename V> inline V exchange(V v, int from) {
  static_assert(sizeof(V) <= 16, "a lane hands over 16 bytes");
  const int me = int(current - fibers), warp = me / 32 * 32;
  memcpy(slots[me], &v, sizeof(V));
  wait(AT_WARP);
  V got;
  memcpy(&got, slots[warp + (from & 31)], sizeof(V));
  wait(AT_WARP);
  return got;
}

inline int lane() { return int(current - fibers) & 31; }

// A letter to each argument of a kernel: a pointer, a whole number, a number with a fraction.
template <typename P> struct letter { static constexpr char is = '?'; };
template <typename P> struct letter<P*> { static constexpr char is = 'p'; };
template <> struct letter<long long> { static constexpr char is = 'q'; };
template <> struct letter<double> { static constexpr char is = 'd'; };

template <typename... P> const char* letters(void (*)(P...)) {
  static const char text[] = {letter<P>::is..., 0};
  return text;
}
template <typename... P, size_t... K> void call(void (*f)(P...), void** args, std::index_sequence<K...>) {
  f(*(P*)args[K]...);
}
template <typename... P> void call(void (*f)(P...), void** args) { call(f, args, std::index_sequence_for<P...>()); }
}  // namespace emulator

#define threadIdx (emulator::current->index)
#define blockIdx (emulator::at)
#define blockDim (emulator::block)
#define gridDim (emulator::blocks)
#define DYNAMIC_SHARED(type, name) type* name = (type*)emulator::chip

inline void __syncthreads() { emulator::wait(emulator::AT_BLOCK); }
inline void __syncwarp() { emulator::wait(emulator::AT_WARP); }
template <typename V> V __shfl_xor_sync(unsigned, V v, int mask) { return emulator::exchange(v, emulator::lane() ^ mask); }
template <typename V> V __shfl_sync(unsigned, V v, int from) { return emulator::exchange(v, from); }
template <typename V> V __shfl_down_sync(unsigned, V v, int by) {
  const int from = emulator::lane() + by;
  return emulator::exchange(v, from < 32 ? from : emulator::lane());
}
template <typename V> V atomicAdd(V* to, V v) { const V old = *to; *to = old + v; return old; }

inline unsigned bits_of(float f) { unsigned u; memcpy(&u, &f, 4); return u; }
inline float of_bits(unsigned u) { float f; memcpy(&f, &u, 4); return f; }

struct half_t { unsigned short bits; };
struct bfloat_t { unsigned short bits; };

inline float widened(half_t v) {
  const int sign = v.bits >> 15, exponent = v.bits >> 10 & 31, digits = v.bits & 1023;
  float f = exponent == 31 ? (digits ? NAN : INFINITY)
          : exponent ? std::ldexp(1024.0f + digits, exponent - 25) : std::ldexp(float(digits), -24);
  return sign ? -f : f;
}

inline half_t to_half(float f) {
  half_t v;
  const unsigned sign = bits_of(f) >> 16 & 0x8000;
  f = std::fabs(f);
  if (f != f) v.bits = 0x7e00;
  else if (f == 0) v.bits = 0;
  else if (f >= 65520.0f) v.bits = 0x7c00;
  else {
    int e;
    std::frexp(f, &e);
    const int scale = e < -13 ? -24 : e - 11;  // the weight of the last digit
    const unsigned whole = unsigned(std::nearbyint(std::ldexp(f, -scale)));
    // in the subnormal range whole is the pattern; else its leading bit adds one to the exponent
    v.bits = e < -13 ? whole : whole - 1024 + ((scale + 25) << 10);
  }
  v.bits |= sign;
  return v;
}
