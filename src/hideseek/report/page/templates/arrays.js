// Typed arrays from the text in which the page carries them; packing.py writes it.

const ARRAY_TYPES = { u1: Uint8Array, u2: Uint16Array, i4: Int32Array, f4: Float32Array, f8: Float64Array };

function unpack(packed) {
  const text = atob(packed.data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return new ARRAY_TYPES[packed.type](bytes.buffer);
}

/** A function from a position to the number that a shade stands for. */
function unpackShades(packed) {
  const shades = unpack(packed);
  const step = (packed.high - packed.low) / 65535;
  return (i) => packed.low + shades[i] * step;
}
