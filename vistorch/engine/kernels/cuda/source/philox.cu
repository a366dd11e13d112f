// Random numbers from a counter: Philox4x32-10 of a seed and of the number's own place in the stream.
//
// Word i of a draw is word i of the stream from block `offset` on, so it is the same whatever the launch.

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

extern "C" __global__ void words(u32* y, i64 size, i64 seed, i64 offset) {
  EACH(block, (size + 3) / 4) {
    const Words r = philox(seed, offset + block);
    for (int i = 0; i < 4; i++)
      if (block * 4 + i < size) y[block * 4 + i] = r.w[i];
  }
}
