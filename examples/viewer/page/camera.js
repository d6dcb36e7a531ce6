// The camera: where it is, what it has in view, and where a point is on the canvas.
"use strict";

const ANGLE = 0.7; // between the upper and the lower edge of the view [rad]

class Camera {
  constructor(canvas) {
    this.canvas = canvas;
    this.middle = [0, 0, 0.05];
    this.distance = 0.5;
    this.azimuth = -1.05;
    this.elevation = 0.42;
  }

  eye() {
    const c = Math.cos(this.elevation);
    return add(this.middle, mul(
      [c * Math.cos(this.azimuth), c * Math.sin(this.azimuth), Math.sin(this.elevation)], this.distance));
  }

  cameraMatrix() {
    const aspect = this.canvas.width / Math.max(this.canvas.height, 1);
    return multiply(perspective(ANGLE, aspect, 0.02 * this.distance, 60 * this.distance),
      lookAt(this.eye(), this.middle, [0, 0, 1]));
  }

  // Where a point is on the canvas, in CSS pixels.
  project(p) {
    const m = this.cameraMatrix(), w = m[3] * p[0] + m[7] * p[1] + m[11] * p[2] + m[15];
    const x = (m[0] * p[0] + m[4] * p[1] + m[8] * p[2] + m[12]) / w;
    const y = (m[1] * p[0] + m[5] * p[1] + m[9] * p[2] + m[13]) / w;
    return [(0.5 + 0.5 * x) * this.canvas.clientWidth, (0.5 - 0.5 * y) * this.canvas.clientHeight];
  }

  // The axes of the view: to the camera, to the right, up; the tangent of half its angle; its width over its height.
  axes() {
    const away = unit(sub(this.eye(), this.middle)), right = unit(cross([0, 0, 1], away));
    return { away, right, up: cross(away, right), slope: Math.tan(ANGLE / 2), aspect: this.canvas.clientWidth / this.canvas.clientHeight || 1 };
  }

  // Moves and keeps its direction, so that points are in the view with room for arrows about them.
  fitTo(points) {
    const ends = (most) => [0, 1, 2].map((k) => points.reduce((end, p) => most(end, p[k]), points[0][k]));
    const { away, right, up, slope, aspect } = this.axes();
    this.middle = mul(add(ends(Math.min), ends(Math.max)), 0.5);
    this.distance = Math.max(1e-3, 1.25 * points.reduce((most, point) => {
      const p = sub(point, this.middle), across = Math.max(Math.abs(dot(right, p)) / aspect, Math.abs(dot(up, p)));
      return Math.max(most, dot(away, p) + across / slope);
    }, 0));
  }

  // Moves and keeps its direction, until a point is near the middle: by a tenth of the view's width and height at most.
  moveTowards(point) {
    const { away, right, up, slope, aspect } = this.axes(), p = sub(point, this.middle), half = 0.2 * slope * this.distance;
    for (const [axis, most] of [[right, half * aspect], [up, half], [away, 0.1 * this.distance]]) {
      const at = dot(axis, p);
      this.middle = add(this.middle, mul(axis, at - Math.max(-most, Math.min(most, at))));
    }
  }
}
