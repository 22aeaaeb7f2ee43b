// The camera: it goes round what it looks at, with gravity pointing down.
import { add, cross, dot, product, times, unit } from "./vectors.js";

const FIELD = (32 * Math.PI) / 180;
const DEGREE = Math.PI / 180;
const STEEPEST = 1.55;
const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

export class Camera {
  constructor(content) {
    const g = content.gravity;
    this.size = content.size;
    this.normal = content.normal;
    this.up = Math.hypot(...g) > 0 ? unit(times(g, -1)) : [0, 0, 1];
    const sizes = this.up.map(Math.abs);
    const other = [0, 0, 0];
    other[(sizes.indexOf(Math.max(...sizes)) + 1) % 3] = 1;
    this.east = unit(add(other, this.up, -dot(other, this.up)));
    this.north = cross(this.up, this.east);
    Object.assign(this, { azimuth: 0, elevation: 0, distance: 1, target: [0, 0, 0], moved: false });
  }

  // Near enough to fill the stage, far enough to see all of the points.
  lookFrom(azimuth, elevation, points, aspect) {
    Object.assign(this, { azimuth, elevation });
    const axes = this.axes();
    const tan = Math.tan(FIELD / 2);
    const seen = points.map((p) => axes.map((axis) => dot(p, axis)));
    const middle = [0, 1, 2].map((k) => {
      const all = seen.map((p) => p[k]);
      return 0.5 * (Math.min(...all) + Math.max(...all));
    });
    this.target = axes.reduce((sum, axis, k) => add(sum, axis, middle[k]), [0, 0, 0]);
    this.distance = 0.25 * this.size;
    for (const p of seen) {
      const [x, y, z] = p.map((v, k) => v - middle[k]);
      const room = 0.12 * this.size;
      const forHeight = z + (Math.abs(y) + room) / (0.78 * tan);
      const forWidth = z + (Math.abs(x) + room) / (0.86 * tan * aspect);
      this.distance = Math.max(this.distance, forHeight, forWidth);
    }
  }
  lookHome(points, aspect) {
    const n = this.normal;
    if (!n) return this.lookFrom(-52 * DEGREE, 22 * DEGREE, points, aspect);
    // A motion in a plane is seen from its side.
    if (Math.abs(dot(n, this.up)) > 0.8) return this.lookFrom(-70 * DEGREE, 48 * DEGREE, points, aspect);
    const facing = Math.atan2(dot(n, this.north), dot(n, this.east));
    return this.lookFrom(facing + 24 * DEGREE, 14 * DEGREE, points, aspect);
  }
  lookAlong(direction, points, aspect) {
    const azimuth = Math.atan2(dot(direction, this.north), dot(direction, this.east));
    const elevation = clamp(Math.asin(dot(direction, this.up)), -STEEPEST, STEEPEST);
    this.lookFrom(azimuth, elevation, points, aspect);
  }
  lookInSpace(points, aspect) {
    this.lookFrom(-52 * DEGREE, 22 * DEGREE, points, aspect);
  }

  // From what it looks at towards the eye, of unit length.
  direction() {
    const level = Math.cos(this.elevation);
    const eastward = times(this.east, level * Math.cos(this.azimuth));
    const sideways = add(eastward, this.north, level * Math.sin(this.azimuth));
    return add(sideways, this.up, Math.sin(this.elevation));
  }
  eye() {
    return add(this.target, this.direction(), this.distance);
  }
  // By the angles alone: they are right whatever target and distance were before.
  axes() {
    const back = this.direction();
    const right = unit(cross(this.up, back));
    return [right, cross(back, right), back];
  }
  viewProjection(aspect) {
    const [x, y, z] = this.axes();
    const o = this.eye();
    const f = 1 / Math.tan(FIELD / 2);
    const near = Math.max(this.distance - 12 * this.size, 0.02 * this.distance);
    const far = this.distance + 40 * this.size;
    const depth = [(far + near) / (near - far), (2 * far * near) / (near - far)];
    const view = [x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -dot(x, o), -dot(y, o), -dot(z, o), 1];
    const lens = [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, depth[0], -1, 0, 0, depth[1], 0];
    return product(lens, view);
  }

  // How far to the right and upwards a place on the stage is seen, at the distance of one from the eye.
  ray(x, y, width, height) {
    const half = Math.tan(FIELD / 2);
    const aspect = width / Math.max(height, 1);
    return [half * aspect * (2 * x / width - 1), half * (1 - 2 * y / height)];
  }

  orbit(dx, dy) {
    this.azimuth -= 0.008 * dx;
    this.elevation = clamp(this.elevation + 0.008 * dy, -STEEPEST, STEEPEST);
  }
  pan(dx, dy, height) {
    const [right, top] = this.axes();
    const k = (2 * this.distance * Math.tan(FIELD / 2)) / Math.max(height, 1);
    this.target = add(add(this.target, right, -k * dx), top, k * dy);
  }
  zoom(factor) {
    this.moved = true;
    this.distance = clamp(this.distance * factor, 0.2 * this.size, 40 * this.size);
  }
}
