import { describe, expect, it } from "vitest";
import { array, real, unpack } from "../src/shared/payload";
import { nd, pack } from "./make";

describe("the payload", () => {
  const state = {
    title: "x",
    deep: [{ a: nd(Float32Array.from([1, NaN, -Infinity]), [3]) }],
    codes: nd(Uint16Array.from([7, 65535]), [1, 2]),
    number: Infinity,
  };

  it("gives back what was packed", () => {
    const { kind, state: got } = unpack(pack("array", state)) as { kind: string; state: typeof state };
    expect(kind).toBe("array");
    expect(got.title).toBe("x");
    expect([...(got.deep[0]?.a.data ?? [])]).toEqual([1, NaN, -Infinity]);
    expect(got.codes.shape).toEqual([1, 2]);
    expect([...got.codes.data]).toEqual([7, 65535]);
    expect(real(got.number)).toBe(Infinity);
  });

  it("reads a view that begins at an odd byte, and an ArrayBuffer", () => {
    const bytes = pack("array", state);
    const shifted = new Uint8Array(bytes.length + 3);
    shifted.set(bytes, 3);
    for (const raw of [new DataView(shifted.buffer, 3), bytes.buffer]) {
      expect([...((unpack(raw).state as typeof state).deep[0]?.a.data ?? [])][0]).toBe(1);
    }
  });

  it("keeps the digits of large integers", () => {
    const big = array("i64", [2], BigInt64Array.from([2n ** 60n + 1n, -3n]));
    expect(big.exact?.[0]).toBe(2n ** 60n + 1n);
    expect(big.data[1]).toBe(-3);
    expect(array("i64", [1], BigInt64Array.from([5n])).exact).toBeUndefined();
  });

  it("refuses other bytes, unknown types and arrays longer than their bytes", () => {
    expect(() => unpack(new Uint8Array(16))).toThrow(TypeError);
    expect(() => array("f16", [1], new Uint8Array(8))).toThrow(/f16/);
    expect(() => array("f64", [9], new Uint8Array(8))).toThrow(RangeError);
  });

  it("does not let a key of the data change a prototype", () => {
    const text = new TextEncoder().encode('{"kind":"array","state":{"__proto__":{"evil":1}},"buffers":[]}');
    const bytes = new Uint8Array(8 + text.length);
    bytes.set([0x56, 0x54, 0x31, 0]);
    new DataView(bytes.buffer).setUint32(4, text.length, true);
    bytes.set(text, 8);
    expect(({} as { evil?: number }).evil).toBeUndefined();
    expect((unpack(bytes).state as { evil?: number }).evil).toBeUndefined();
  });

  it("reads the words for what is not finite", () => {
    expect(["nan", "inf", "-inf", 2, null].map(real)).toEqual([NaN, Infinity, -Infinity, 2, NaN]);
  });
});
