// Vectors, matrices (column-major, as WebGL has them) and the triangles of what is drawn.
"use strict";

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const mul = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const norm = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => mul(a, 1 / (norm(a) || 1));

function perpendicular(n) {
  return unit(cross(n, Math.abs(n[0]) < 0.7 ? [1, 0, 0] : [0, 1, 0]));
}

function multiply(a, b) {
  const out = new Float32Array(16);
  for (let i = 0; i < 4; i++) {
    for (let j = 0; j < 4; j++) {
      for (let k = 0; k < 4; k++) {
        out[4 * j + i] += a[4 * k + i] * b[4 * j + k];
      }
    }
  }
  return out;
}

function lookAt(eye, middle, up) {
  const back = unit(sub(eye, middle)), right = unit(cross(up, back)), over = cross(back, right);
  return new Float32Array([
    right[0], over[0], back[0], 0, right[1], over[1], back[1], 0, right[2], over[2], back[2], 0,
    -dot(right, eye), -dot(over, eye), -dot(back, eye), 1]);
}

function perspective(angle, aspect, near, far) {
  const f = 1 / Math.tan(angle / 2);
  return new Float32Array([
    f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, 2 * far * near / (near - far), 0]);
}

// A pose x y z, w x y z as a matrix.
function poseMatrix(p, at) {
  const [x, y, z, qw, qx, qy, qz] = p.subarray(at, at + 7);
  return new Float32Array([
    1 - 2 * (qy * qy + qz * qz), 2 * (qx * qy + qw * qz), 2 * (qx * qz - qw * qy), 0,
    2 * (qx * qy - qw * qz), 1 - 2 * (qx * qx + qz * qz), 2 * (qy * qz + qw * qx), 0,
    2 * (qx * qz + qw * qy), 2 * (qy * qz - qw * qx), 1 - 2 * (qx * qx + qy * qy), 0, x, y, z, 1]);
}

// Axes u, v, n and an origin as a matrix.
function frameMatrix(u, v, n, o) {
  return new Float32Array([...u, 0, ...v, 0, ...n, 0, ...o, 1]);
}

// Triangles with a normal at each corner; sharp: those of the faces, else those of the surface about.
function surface(vertex, triangle, sharp) {
  const position = new Float32Array(3 * triangle.length), normal = new Float32Array(3 * triangle.length);
  const sum = new Float64Array(vertex.length), at = (i) => [vertex[3 * i], vertex[3 * i + 1], vertex[3 * i + 2]];
  for (let t = 0; t < triangle.length; t += 3) {
    const corner = [at(triangle[t]), at(triangle[t + 1]), at(triangle[t + 2])];
    const n = cross(sub(corner[1], corner[0]), sub(corner[2], corner[0])), face = unit(n);
    for (let k = 0; k < 3; k++) {
      position.set(corner[k], 3 * (t + k));
      normal.set(face, 3 * (t + k));
      for (let i = 0; i < 3; i++) {
        sum[3 * triangle[t + k] + i] += n[i];
      }
    }
  }
  for (let t = 0; t < triangle.length && !sharp; t++) {
    const n = unit([sum[3 * triangle[t]], sum[3 * triangle[t] + 1], sum[3 * triangle[t] + 2]]);
    normal.set(dot(n, normal.subarray(3 * t, 3 * t + 3)) > 0.8 ? n : normal.slice(3 * t, 3 * t + 3), 3 * t);
  }
  return { position, normal };
}

// A surface of revolution about z of a profile of [radius, height].
function revolve(profile, sides) {
  const vertex = [], triangle = [];
  for (const [r, z] of profile) {
    for (let i = 0; i < sides; i++) {
      const a = 2 * Math.PI * i / sides;
      vertex.push(r * Math.cos(a), r * Math.sin(a), z);
    }
  }
  for (let k = 0; k + 1 < profile.length; k++) {
    for (let i = 0; i < sides; i++) {
      const a = k * sides + i, b = k * sides + (i + 1) % sides;
      triangle.push(a, b, b + sides, a, b + sides, a + sides);
    }
  }
  return surface(vertex, triangle, false);
}

function ball(radius) {
  const profile = [];
  for (let i = 0; i <= 24; i++) {
    const a = Math.PI * (i / 24 - 0.5);
    profile.push([radius * Math.cos(a), radius * Math.sin(a)]);
  }
  return revolve(profile, 48);
}

// An arrow from the origin along z, of length 1; its widths go with `slim`.
function arrow(slim) {
  const w = 0.012 * slim, h = 0.035 * slim;
  return revolve([[0, 0], [w, 0], [w, 0.86], [h, 0.86], [0, 1]], 16);
}

// A square of a plane, 1 a side, normal z.
function square() {
  return surface([-0.5, -0.5, 0, 0.5, -0.5, 0, 0.5, 0.5, 0, -0.5, 0.5, 0], [0, 1, 2, 0, 2, 3], true);
}

// An arc about z with an arrow's head: torsion, of radius 1.
function turnArrow() {
  const vertex = [], triangle = [], sides = 8, steps = 40, tube = 0.07;
  const ring = (angle, width) => {
    for (let i = 0; i < sides; i++) {
      const a = 2 * Math.PI * i / sides, r = 1 + width * Math.cos(a);
      vertex.push(r * Math.cos(angle), r * Math.sin(angle), width * Math.sin(a));
    }
  };
  for (let i = 0; i <= steps; i++) {
    ring(1.35 * Math.PI * i / steps, tube);
  }
  ring(1.35 * Math.PI, 3 * tube);
  ring(1.5 * Math.PI, 0);
  for (let k = 0; k < steps + 2; k++) {
    for (let i = 0; i < sides; i++) {
      const a = k * sides + i, b = k * sides + (i + 1) % sides;
      triangle.push(a, a + sides, b + sides, a, b + sides, b);
    }
  }
  return surface(vertex, triangle, false);
}
