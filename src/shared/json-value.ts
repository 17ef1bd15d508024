/**
 * Any value in the form it can have in JSON.
 *
 * Owns what becomes of the values that JSON does not know. Does not write text.
 */

/**
 * The value itself when it is JSON already, else a copy with everything JSON does not know replaced by something
 * readable: big integers, maps, sets, bytes, errors and references to an object around them.
 *
 * Copies only the branches that change. Runs `toJSON` methods and getters, so it throws what they throw.
 */
export function toJsonValue(value: unknown): unknown {
  return convert(value, []);
}

function convert(value: unknown, around: object[]): unknown {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'boolean':
      return value;
    case 'bigint':
      return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
    case 'object':
      return value === null ? null : convertObject(value, around);
    default:
      return undefined;
  }
}

function convertObject(value: object, around: object[]): unknown {
  if (around.includes(value)) return '[Circular]';
  around.push(value);
  const json = Array.isArray(value) ? convertArray(value, around) : convertOther(value, around);
  around.pop();
  return json;
}

function convertArray(items: readonly unknown[], around: object[]): unknown {
  let copy: unknown[] | undefined;
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index];
    const json = convert(item, around);
    if (json === item) continue;
    copy ??= items.slice();
    copy[index] = json;
  }
  return copy ?? items;
}

function convertOther(value: object, around: object[]): unknown {
  if (ArrayBuffer.isView(value))
    return toBase64(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  if (value instanceof ArrayBuffer) return toBase64(new Uint8Array(value));
  if (value instanceof Map) return convertMap(value, around);
  if (value instanceof Set) return convert([...value], around);
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') return convert(toJSON.call(value), around);
  if (value instanceof Error) return { name: value.name, message: value.message };
  if (value instanceof RegExp) return String(value);
  return convertProperties(value as Record<string, unknown>, around);
}

function convertProperties(value: Record<string, unknown>, around: object[]): unknown {
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(value)) {
    const property = value[key];
    const json = convert(property, around);
    if (json === property) continue;
    // spread and defineProperty keep a property named `__proto__` what it is
    copy ??= { ...value };
    Object.defineProperty(copy, key, { value: json, enumerable: true, writable: true, configurable: true });
  }
  return copy ?? value;
}

function convertMap(map: ReadonlyMap<unknown, unknown>, around: object[]): unknown {
  const entries = [...map];
  return entries.every(([key]) => typeof key === 'string')
    ? convert(Object.fromEntries(entries as [string, unknown][]), around)
    : convert(entries, around);
}

function toBase64(bytes: Uint8Array): string {
  let binary = '';
  const step = 0x8000;
  for (let start = 0; start < bytes.length; start += step) {
    binary += String.fromCharCode(...bytes.subarray(start, start + step));
  }
  return btoa(binary);
}
