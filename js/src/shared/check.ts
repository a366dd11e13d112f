// Checks of what arrived against what the page was written for: the types of a record are made into these by
// `make generated`. A check throws one sentence with the path of what is wrong; what is right it leaves alone.

import type { Nd } from "./payload";

/** Throws where a value is not a T; `at` is its path. */
export interface Check<T> {
  (value: unknown, at: string): void;
  /** Never there: which type it is for. */
  readonly of?: T;
  /** Of a record, the checks of its fields. */
  readonly fields?: Record<string, Check<unknown>>;
}

type Fields<T> = { [K in keyof T]-?: Check<T[K]> };
type Of<C> = C extends Check<infer T> ? T : never;

const SHORT = 40;

/** A value in a sentence. */
function said(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (value !== null && typeof value === "object") return "data" in value && "shape" in value ? "an array" : "a record";
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > SHORT ? `${text.slice(0, SHORT)}…` : text;
}

function refuse(at: string, expected: string, value: unknown): never {
  throw new TypeError(`${at}: expected ${expected}, got ${said(value)}`);
}

const kind =
  <T>(type: string, expected: string): Check<T> =>
  (value, at) => {
    if (typeof value !== type) refuse(at, expected, value);
  };

export const text = kind<string>("string", "text");
export const num = kind<number>("number", "a number");
export const flag = kind<boolean>("boolean", "true or false");
/** What is passed on unread. */
export const any: Check<never> = () => {};

/** A number, or the word for one that JSON cannot say. */
export const real: Check<number | "nan" | "inf" | "-inf"> = (value, at) => {
  if (value !== "nan" && value !== "inf" && value !== "-inf") num(value, at);
};

export const none: Check<null> = (value, at) => {
  if (value !== null) refuse(at, "null", value);
};

/** One of these words. */
export const one =
  <const T extends (string | number | boolean)[]>(...words: T): Check<T[number]> =>
  (value, at) => {
    if (!words.includes(value as T[number])) refuse(at, words.map((word) => JSON.stringify(word)).join(" or "), value);
  };

export const maybe =
  <T>(check: Check<T>): Check<T | null> =>
  (value, at) => {
    if (value !== null) check(value, at);
  };

/** A field that may be left out. */
export const optional =
  <T>(check: Check<T>): Check<T> =>
  (value, at) => {
    if (value !== undefined) check(value, at);
  };

/** The first that fits; else what the last one says. */
export const either =
  <C extends Check<unknown>[]>(...checks: C): Check<Of<C[number]>> =>
  (value, at) => {
    let why: unknown;
    for (const check of checks) {
      try {
        check(value, at);
        return;
      } catch (error) {
        why = error;
      }
    }
    throw why;
  };

export const list =
  <T>(check: Check<T>): Check<T[]> =>
  (value, at) => {
    if (!Array.isArray(value)) refuse(at, "a list", value);
    for (let i = 0; i < value.length; i++) check(value[i], `${at}[${i}]`);
  };

/** A list of known length. */
export const row =
  <T extends unknown[]>(...checks: { [K in keyof T]: Check<T[K]> }): Check<T> =>
  (value, at) => {
    if (!Array.isArray(value) || value.length !== checks.length) refuse(at, `a list of ${checks.length}`, value);
    checks.forEach((check, i) => check(value[i], `${at}[${i}]`));
  };

const fields = (value: unknown, at: string): Record<string, unknown> =>
  value !== null && typeof value === "object" && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : refuse(at, "a record", value);

export const dict =
  <T>(check: Check<T>): Check<Record<string, T>> =>
  (value, at) => {
    for (const [name, inner] of Object.entries(fields(value, at))) check(inner, `${at}.${name}`);
  };

export const record =
  <T>(checks: Fields<T>): Check<T> =>
  Object.assign(
    (value: unknown, at: string) => {
      const found = fields(value, at);
      for (const name in checks) checks[name](found[name], `${at}.${name}`);
    },
    { fields: checks as unknown as Record<string, Check<unknown>> },
  );

/** The fields that are there, of a record that may lack any. */
export const partial =
  <T>(check: Check<T>): Check<Partial<T>> =>
  (value, at) => {
    const found = fields(value, at);
    for (const name in check.fields) if (found[name] !== undefined) check.fields[name]?.(found[name], `${at}.${name}`);
  };

/** An array of so many axes; -1 for any number. */
export const nd =
  (axes: number): Check<Nd> =>
  (value, at) => {
    const { data, shape } = (value ?? {}) as Partial<Nd>;
    if (!ArrayBuffer.isView(data) || !Array.isArray(shape)) refuse(at, "an array", value);
    if (axes >= 0 && shape.length !== axes) throw new TypeError(`${at}: expected an array of ${axes} axes, got one of ${shape.length}`);
  };

/** A check that is made after this one: of a type that holds itself. */
export const later =
  <T>(check: () => Check<T>): Check<T> =>
  (value, at) =>
    check()(value, at);
