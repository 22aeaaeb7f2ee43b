// A moving picture as a GIF: 256 colours chosen from the pictures themselves, packed as Lempel, Ziv and Welch do.

const COLORS = 256;
const BITS = 8;
const MOST_CODES = 4096;
const KEY = (r, g, b) => ((r >> 3) << 10) | ((g >> 3) << 5) | (b >> 3);

export class Gif {
  // `hundredths` of a second between two pictures.
  constructor(width, height, hundredths) {
    Object.assign(this, { width, height, hundredths });
    this.frames = [];
  }
  // Pixels as a canvas gives them: red, green, blue, and one that is not used.
  add(pixels) {
    this.frames.push(pixels);
  }
  blob() {
    const palette = medianCut(this.frames);
    const nearest = nearestColor(palette);
    const parts = [ascii("GIF89a"), words(this.width, this.height), [0xf7, 0, 0], palette.flat(), LOOP];
    for (const pixels of this.frames) parts.push(...this.frame(pixels, nearest));
    parts.push([0x3b]);
    return new Blob(parts.map((part) => Uint8Array.from(part)), { type: "image/gif" });
  }
  frame(pixels, nearest) {
    const control = [0x21, 0xf9, 4, 4, ...words(this.hundredths), 0, 0];
    const place = [0x2c, ...words(0, 0, this.width, this.height), 0];
    const indices = new Uint8Array(pixels.length / 4);
    for (let k = 0; k < indices.length; k++) indices[k] = nearest(pixels[4 * k], pixels[4 * k + 1], pixels[4 * k + 2]);
    return [control, place, [BITS], blocks(packed(indices)), [0]];
  }
}

const ascii = (text) => [...text].map((c) => c.charCodeAt(0));
const words = (...values) => values.flatMap((value) => [value & 255, value >> 8]);
// Plays again and again.
const LOOP = [0x21, 0xff, 11, ...ascii("NETSCAPE2.0"), 3, 1, 0, 0, 0];

function blocks(bytes) {
  const found = [];
  for (let start = 0; start < bytes.length; start += 255) {
    const block = bytes.slice(start, start + 255);
    found.push(block.length);
    for (const byte of block) found.push(byte);
  }
  return found;
}

// --- colours ---
// Boxes of colours are cut at their median along their longest side, until there are enough of them.
function medianCut(frames) {
  let boxes = [sampled(frames)];
  while (boxes.length < COLORS) {
    const sizes = boxes.map((box) => (box.length > 1 ? longestSide(box).size * Math.sqrt(box.length) : -1));
    const largest = sizes.indexOf(Math.max(...sizes));
    if (sizes[largest] <= 0) break;
    const [box] = boxes.splice(largest, 1);
    const { side } = longestSide(box);
    box.sort((a, b) => a[side] - b[side]);
    boxes.push(box.slice(0, box.length >> 1), box.slice(box.length >> 1));
  }
  const palette = boxes.map((box) => [0, 1, 2].map((k) => Math.round(box.reduce((sum, c) => sum + c[k], 0) / box.length)));
  while (palette.length < COLORS) palette.push([0, 0, 0]);
  return palette;
}
function sampled(frames) {
  const seen = new Map();
  const every = Math.max(1, Math.floor(frames.length / 8));
  for (let f = 0; f < frames.length; f += every) {
    const pixels = frames[f];
    for (let k = 0; k < pixels.length; k += 4 * 7) {
      seen.set(KEY(pixels[k], pixels[k + 1], pixels[k + 2]), [pixels[k], pixels[k + 1], pixels[k + 2]]);
    }
  }
  return [...seen.values()];
}
function longestSide(box) {
  const sizes = [0, 1, 2].map((k) => {
    let low = 255;
    let high = 0;
    for (const color of box) { low = Math.min(low, color[k]); high = Math.max(high, color[k]); }
    return high - low;
  });
  const size = Math.max(...sizes);
  return { side: sizes.indexOf(size), size };
}
function nearestColor(palette) {
  const known = new Int16Array(1 << 15).fill(-1);
  return (r, g, b) => {
    const key = KEY(r, g, b);
    if (known[key] >= 0) return known[key];
    let best = Infinity;
    palette.forEach(([x, y, z], k) => {
      const distance = (r - x) ** 2 + (g - y) ** 2 + (b - z) ** 2;
      if (distance < best) { best = distance; known[key] = k; }
    });
    return known[key];
  };
}

// --- packing ---
function packed(indices) {
  const bytes = [];
  let held = 0;
  let count = 0;
  const clear = 1 << BITS;
  let table = new Map();
  let next = clear + 2;
  let size = BITS + 1;
  const put = (code) => {
    held |= code << count;
    count += size;
    while (count >= 8) { bytes.push(held & 255); held >>>= 8; count -= 8; }
  };
  put(clear);
  let prefix = indices[0];
  for (let k = 1; k < indices.length; k++) {
    const key = (prefix << 8) | indices[k];
    const code = table.get(key);
    if (code !== undefined) { prefix = code; continue; }
    put(prefix);
    if (next < MOST_CODES) {
      if (next === 1 << size) size++;
      table.set(key, next++);
    } else {
      put(clear);
      table = new Map();
      next = clear + 2;
      size = BITS + 1;
    }
    prefix = indices[k];
  }
  put(prefix);
  if (next === 1 << size && next < MOST_CODES) size++;
  put(clear + 1);
  if (count > 0) bytes.push(held & 255);
  return bytes;
}
