// Small vector algebra: vectors are arrays of three numbers, rotation matrices of nine, row by row.

export const add = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const times = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
export const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
export const unit = (a) => times(a, 1 / (Math.hypot(...a) || 1));
export const column = (R, k) => [R[k], R[3 + k], R[6 + k]];

export function cross(a, b) {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

export function apply(R, v) {
  return [dot(R.slice(0, 3), v), dot(R.slice(3, 6), v), dot(R.slice(6, 9), v)];
}

export const transposed = (R) => [R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8]];

// Two unit vectors at right angles to an axis and to each other.
export function across(axis) {
  const other = Math.abs(axis[0]) < 0.7 ? [1, 0, 0] : [0, 1, 0];
  const x = unit(cross(other, axis));
  return [x, cross(axis, x)];
}

// v turned by the rotation vector w (Rodrigues).
export function turn(v, w) {
  const angle = Math.hypot(...w);
  if (angle < 1e-12) return v;
  const k = times(w, 1 / angle);
  const c = Math.cos(angle);
  const turned = add(times(v, c), cross(k, v), Math.sin(angle));
  return add(turned, k, dot(k, v) * (1 - c));
}

// Product of 4 x 4 matrices, column by column as WebGL wants them.
export function product(A, B) {
  const C = new Float32Array(16);
  for (let c = 0; c < 4; c++) {
    for (let r = 0; r < 4; r++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += A[4 * k + r] * B[4 * c + k];
      C[4 * c + r] = sum;
    }
  }
  return C;
}

// The nearest of 1, 2, 5, 10 times a power of ten.
export function niceStep(x) {
  const power = Math.pow(10, Math.floor(Math.log10(x)));
  const rest = x / power;
  if (rest < 1.5) return power;
  if (rest < 3.5) return 2 * power;
  return rest < 7.5 ? 5 * power : 10 * power;
}
