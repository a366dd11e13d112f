// The bytes that Python packs: "VT1\0", the length of the JSON, the JSON, and the arrays behind it.
// Every array of the state is found in it as { data, shape }; everything else is plain JSON.

export type Numbers =
  Float32Array | Float64Array | Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array;

export interface Nd {
  data: Numbers;
  shape: number[];
  /** The digits of a 64-bit integer beyond 2^53, where `data` has them only rounded. */
  exact?: BigInt64Array;
}

/** A number of the JSON: one that is not finite travels as a word. */
export type Real = number | "nan" | "inf" | "-inf";

export interface Packed {
  kind: string;
  state: unknown;
}

export type Raw = ArrayBufferLike | ArrayBufferView;

const HEAD = 8;

const KINDS = {
  f32: Float32Array,
  f64: Float64Array,
  i8: Int8Array,
  u8: Uint8Array,
  i16: Int16Array,
  u16: Uint16Array,
  i32: Int32Array,
  u32: Uint32Array,
} as const;

function bytesOf(raw: Raw): Uint8Array {
  return ArrayBuffer.isView(raw) ? new Uint8Array(raw.buffer, raw.byteOffset, raw.byteLength) : new Uint8Array(raw);
}

/** An array of the type that Python named, over bytes that may begin anywhere. */
export function array(type: string, shape: number[], raw: Raw): Nd {
  const bytes = bytesOf(raw);
  const count = shape.reduce((n, k) => n * k, 1);
  // A typed array must begin at a multiple of its item's size: copied only where it does not.
  const at = (size: number): [ArrayBuffer, number, number] => {
    if (count * size > bytes.byteLength) throw new RangeError("An array of the payload is longer than its bytes.");
    const whole = bytes.byteOffset % size ? bytes.slice() : bytes;
    return [whole.buffer as ArrayBuffer, whole.byteOffset, count];
  };
  if (type === "i64") {
    const exact = new BigInt64Array(...at(8));
    const data = Float64Array.from(exact, Number);
    return data.every(Number.isSafeInteger) ? { data, shape } : { data, shape, exact };
  }
  const Kind = KINDS[type as keyof typeof KINDS];
  if (!Kind) throw new TypeError(`The payload names an unknown type of array: ${type}`);
  return { data: new Kind(...at(Kind.BYTES_PER_ELEMENT)), shape };
}

interface Place {
  buffer: number;
  type: string;
  shape: number[];
}

function isPlace(value: object): value is Place {
  return "buffer" in value && "type" in value && "shape" in value && Object.keys(value).length === 3;
}

/** Read the bytes of a record. */
export function unpack(raw: Raw): Packed {
  const bytes = bytesOf(raw);
  if (bytes.byteLength < HEAD || String.fromCharCode(...bytes.subarray(0, 4)) !== "VT1\0") {
    throw new TypeError("These bytes are no record of vistorch.");
  }
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true);
  const start = Math.ceil((HEAD + length) / 8) * 8;
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(HEAD, HEAD + length))) as {
    kind: string;
    state: unknown;
    buffers: [number, number][];
  };
  const fill = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(fill);
    if (value === null || typeof value !== "object") return value;
    if (isPlace(value)) {
      const [offset, size] = head.buffers[value.buffer] ?? [0, -1];
      if (size < 0) throw new RangeError("The payload names an array that it does not carry.");
      return array(value.type, value.shape, bytes.subarray(start + offset, start + offset + size));
    }
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, fill(inner)]));
  };
  return { kind: head.kind, state: fill(head.state) };
}

/** A number of the JSON: those that are not finite travel as words. */
export function real(value: unknown): number {
  if (value === "inf" || value === "+inf") return Infinity;
  if (value === "-inf") return -Infinity;
  return typeof value === "number" ? value : NaN;
}
