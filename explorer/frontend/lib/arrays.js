// Arrays travel as typed bytes: inline in base64 when small, from /arrays/<digest> when large.

const TYPES = { u1: Uint8Array, u2: Uint16Array, i4: Int32Array, f4: Float32Array };

async function bytes(packed) {
  if (packed.url) {
    const answer = await fetch(new URL(packed.url, location.origin));
    if (!answer.ok) throw new Error(`array ${packed.url}: ${answer.status}`);
    return answer.arrayBuffer();
  }
  const text = atob(packed.data);
  const out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) out[i] = text.charCodeAt(i);
  return out.buffer;
}

/** [make(0), make(1) … make(n − 1)] */
export const upTo = (n, make = (i) => i) => Array.from({ length: n }, (_, i) => make(i));

/** A list of numbers as a file holds it, with what its axis and its numbers are. */
export const filed = (data, axis, unit, shape = [data.length]) => ({
  shape,
  data,
  axes: [axis].flat(),
  unit,
});

/**
 * @param {{dtype: string, shape: number[], scale?: number, data?: string, url?: string}} packed
 * @returns {Promise<{shape: number[], data: Float32Array, packed: object, slice: (...index:
 * number[]) => Float32Array}>} values = raw × scale
 */
export async function unpack(packed) {
  const raw = new TYPES[packed.dtype](await bytes(packed));
  const scale = packed.scale ?? 1;
  const data = new Float32Array(raw.length);
  for (let i = 0; i < raw.length; i += 1) data[i] = raw[i] * scale;
  const shape = packed.shape;
  return {
    shape,
    data,
    packed,
    /**
     * The sub-array behind the leading indices, without a copy: slice(layer, head) is the flat
     * (query × key) map.
     */
    slice(...index) {
      const size = shape.slice(index.length).reduce((a, b) => a * b, 1);
      let at = 0;
      index.forEach((value, axis) => {
        at = at * shape[axis] + value;
      });
      return data.subarray(at * size, (at + 1) * size);
    },
  };
}

/** A value with its arrays unpacked, however deep they lie; what is unpacked already stays so. */
export async function opened(value) {
  if (!value || typeof value !== "object" || ArrayBuffer.isView(value) || value.packed) {
    return value;
  }
  if (value.dtype) return unpack(value);
  if (Array.isArray(value)) {
    return typeof value[0] === "object" ? Promise.all(value.map(opened)) : value;
  }
  const each = Object.entries(value).map(async ([key, one]) => [key, await opened(one)]);
  return Object.fromEntries(await Promise.all(each));
}
