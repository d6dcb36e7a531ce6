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

// Triangles with a normal at each corner: those of the faces where `sharp`, else those of the surface about, but for
// corners where it bends by more. Corners of one place and normal are one: index names them.
function surface(vertex, triangle, sharp) {
  const corners = triangle.length, face = new Float32Array(corners), sum = new Float64Array(vertex.length);
  for (let t = 0; t < corners; t += 3) {
    const [a, b, c] = [3 * triangle[t], 3 * triangle[t + 1], 3 * triangle[t + 2]];
    const ux = vertex[b] - vertex[a], uy = vertex[b + 1] - vertex[a + 1], uz = vertex[b + 2] - vertex[a + 2];
    const vx = vertex[c] - vertex[a], vy = vertex[c + 1] - vertex[a + 1], vz = vertex[c + 2] - vertex[a + 2];
    const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx, s = 1 / (Math.hypot(x, y, z) || 1);
    face[t] = x * s;
    face[t + 1] = y * s;
    face[t + 2] = z * s;
    for (const at of [a, b, c]) {
      sum[at] += x;
      sum[at + 1] += y;
      sum[at + 2] += z;
    }
  }
  return shareCorners(vertex, triangle, (t, v) => {
    const n = face.subarray(3 * Math.floor(t / 3), 3 * Math.floor(t / 3) + 3), s = 1 / (Math.hypot(sum[v], sum[v + 1], sum[v + 2]) || 1);
    const about = [sum[v] * s, sum[v + 1] * s, sum[v + 2] * s];
    return !sharp && dot(about, n) > 0.8 ? [about, true] : [n, false];
  });
}

// normalOf(corner, place of its vertex): its normal, and whether all corners of the vertex with such a one share it.
function shareCorners(vertex, triangle, normalOf) {
  const index = new Uint32Array(triangle.length), shared = new Map(), position = [], normal = [];
  for (let t = 0; t < triangle.length; t++) {
    const v = 3 * triangle[t], [n, common] = normalOf(t, v);
    let at = common ? shared.get(v) : undefined;
    if (at === undefined) {
      at = position.length / 3;
      position.push(vertex[v], vertex[v + 1], vertex[v + 2]);
      normal.push(n[0], n[1], n[2]);
      if (common) {
        shared.set(v, at);
      }
    }
    index[t] = at;
  }
  return { position: new Float32Array(position), normal: new Float32Array(normal), index };
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
