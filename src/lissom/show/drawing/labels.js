// Text above the picture: names of axes and nodes, and the compass with gravity.
import { dot, unit } from "./vectors.js";

const FONT = "system-ui, sans-serif";

export class LabelPen {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
  }

  draw(labels, viewProjection, ratio, colors) {
    const pen = this.pen;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, this.canvas.clientWidth, this.canvas.clientHeight);
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    pen.lineWidth = 3;
    for (const label of labels) {
      const place = this.onScreen(viewProjection, label.at);
      if (place) this.drawLabel(label, place, colors);
    }
  }
  // Pixels of a point in space, null behind the camera.
  onScreen(vp, p) {
    const row = (r) => vp[r] * p[0] + vp[4 + r] * p[1] + vp[8 + r] * p[2] + vp[12 + r];
    const w = row(3);
    if (!(w > 0)) return null;
    return [(0.5 + (0.5 * row(0)) / w) * this.canvas.clientWidth, (0.5 - (0.5 * row(1)) / w) * this.canvas.clientHeight];
  }
  drawLabel(label, [x, y], colors) {
    this.pen.textAlign = label.dot ? "left" : "center";
    const shift = label.dot ? 9 : 0;
    if (label.ring) this.drawRing(x, y, label.color);
    if (label.dot) this.drawDot(x, y, label.color, colors.back);
    if (label.text) this.write(label.text, x + shift, y - shift, label.color, colors.back, label.bold);
  }
  drawDot(x, y, color, back) {
    const pen = this.pen;
    pen.beginPath();
    pen.arc(x, y, 3.6, 0, 7);
    pen.fillStyle = color;
    pen.fill();
    pen.strokeStyle = back;
    pen.lineWidth = 1.5;
    pen.stroke();
    pen.lineWidth = 3;
  }
  drawRing(x, y, color) {
    const pen = this.pen;
    pen.beginPath();
    pen.arc(x, y, 8, 0, 7);
    pen.strokeStyle = color;
    pen.lineWidth = 2.5;
    pen.stroke();
    pen.lineWidth = 3;
  }
  write(text, x, y, color, back, bold) {
    this.pen.font = (bold ? "600 13px " : "12px ") + FONT;
    this.pen.strokeStyle = back;
    this.pen.strokeText(text, x, y);
    this.pen.fillStyle = color;
    this.pen.fillText(text, x, y);
  }

  // The world's axes and the pull of gravity in the corner.
  drawCompass(camera, gravity, colors) {
    const [right, top, back] = camera.axes();
    const height = this.canvas.clientHeight;
    const from = [56, height - 56];
    const axes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    const arrows = axes.map((e, k) => ({ from, e, reach: 32, color: colors.axes[k], text: "xyz"[k] }));
    if (gravity && Math.hypot(...gravity) > 0) {
      const e = unit(gravity);
      const beside = [from[0] + 74, from[1] - 6 + 16 * dot(e, top)];
      arrows.push({ from: beside, e, reach: 38, color: colors.gravity, text: "g" });
    }
    const pen = this.pen;
    pen.globalAlpha = 0.7;
    pen.fillStyle = colors.back;
    pen.beginPath();
    pen.roundRect(8, height - 112, arrows.length > 3 ? 152 : 98, 104, 10);
    pen.fill();
    pen.globalAlpha = 1;
    pen.textAlign = "center";
    // Those that point away from the eye come first.
    arrows.sort((a, b) => dot(a.e, back) - dot(b.e, back));
    arrows.forEach((arrow) => this.drawArrow(arrow, [dot(arrow.e, right), -dot(arrow.e, top)], colors));
  }
  drawArrow({ from, reach, color, text }, d, colors) {
    const pen = this.pen;
    const size = Math.hypot(...d);
    const isPoint = size < 0.12;
    const [x, y] = [d[0] / size, d[1] / size];
    const tip = [from[0] + reach * d[0], from[1] + reach * d[1]];
    pen.strokeStyle = color;
    pen.fillStyle = color;
    pen.lineWidth = 2.2;
    pen.lineCap = "round";
    pen.beginPath();
    if (isPoint) {
      pen.arc(...from, 3.2, 0, 7);
      pen.fill();
    } else {
      pen.moveTo(...from);
      pen.lineTo(tip[0] - 4.9 * x, tip[1] - 4.9 * y);
      pen.stroke();
      pen.beginPath();
      pen.moveTo(...tip);
      pen.lineTo(tip[0] - 7 * x - 3.6 * y, tip[1] - 7 * y + 3.6 * x);
      pen.lineTo(tip[0] - 7 * x + 3.6 * y, tip[1] - 7 * y - 3.6 * x);
      pen.fill();
    }
    const aside = isPoint ? [11, -9] : [11 * x, 11 * y];
    pen.lineWidth = 3;
    this.write(text, tip[0] + aside[0], tip[1] + aside[1], color, colors.back, true);
  }
}
