// The messages of the server as objects (wire.h has the layout). All numbers are little-endian.
"use strict";

const LIMIT_OPEN = 1, LIMIT_FRICTION = 2, LIMIT_EDGE = 4, LIMIT_SPIN = 8, LIMIT_JOINT = 16;
const SAFETY = ["disarmed", "armed", "fault"];
const DEVICE_STATES = ["ok", "stale", "lost", "ended"];
const MARGINS = ["normal", "slip", "friction", "torsion", "edge", "drive"];
const HEAD = 88, CONTACT = 176, POSE = 32, JOINT = 40, PRESSURE = 616, CELLS = 24;

function decodeMesh(data) {
  const head = new DataView(data);
  const vertices = head.getUint32(8, true), triangles = head.getUint32(12, true);
  return {
    shape: head.getUint32(4, true),
    vertex: new Float32Array(data, 16, 3 * vertices),
    triangle: new Uint32Array(data, 16 + 12 * vertices, 3 * triangles),
  };
}

function vector(data, at) {
  return [data.getFloat32(at, true), data.getFloat32(at + 4, true), data.getFloat32(at + 8, true)];
}

function decodeContact(data, at) {
  const u32 = (k) => data.getUint32(at + 4 * k, true), f64 = (k) => data.getFloat64(at + 24 + 8 * k, true);
  const contact = {
    pair: u32(0), a: u32(1), b: u32(2), limits: u32(3), pushes: !!data.getUint16(at + 20, true), piece: data.getUint16(at + 22, true),
    normal: f64(0), friction: f64(1), torsion: f64(2), least: f64(3), most: f64(4),
    margins: [0, 1, 2, 3, 4, 5].map((k) => f64(5 + k)),
    centre: vector(data, at + 112), n: vector(data, at + 124), pressure: vector(data, at + 136),
    force: vector(data, at + 148), moment: vector(data, at + 160), peak: data.getFloat32(at + 172, true),
    outline: [], map: null,
  };
  const corners = u32(4);
  for (let i = 0; i < corners; i++) {
    contact.outline.push(vector(data, at + CONTACT + 12 * i));
  }
  at += CONTACT + 8 * Math.ceil(12 * corners / 8);
  if (contact.peak > 0) {
    contact.map = {
      corner: vector(data, at), u: vector(data, at + 12), v: vector(data, at + 24), load: data.getFloat32(at + 36, true),
      cells: new Uint8Array(data.buffer, at + 40, CELLS * CELLS),
    };
    contact.map.drawn = contact.map.u.some((x) => x !== 0);
    at += PRESSURE;
  }
  return [contact, at];
}

function decodeFrame(buffer) {
  const data = new DataView(buffer), u32 = (at) => data.getUint32(at, true), f64 = (at) => data.getFloat64(at, true);
  const flags = data.getUint8(1);
  const frame = {
    paused: !!(flags & 1), ended: !!(flags & 2), deadman: !!(flags & 4), safety: data.getUint8(2),
    number: u32(4), tick: f64(8), time: f64(16), wake: f64(24), compute: f64(32), residual: f64(40),
    iterations: u32(48), missed: u32(52), age: u32(56), ticks: u32(80), leftOut: u32(84),
    contacts: [], joints: [], devices: [], bytes: buffer.byteLength,
  };
  const shapes = u32(60), contacts = u32(64), joints = u32(68), devices = u32(72), bins = u32(76);
  let at = HEAD;
  frame.poses = new Float32Array(buffer, at, 8 * shapes);
  at += POSE * shapes;
  for (let i = 0; i < contacts; i++) {
    let contact;
    [contact, at] = decodeContact(data, at);
    frame.contacts.push(contact);
  }
  for (let i = 0; i < joints; i++, at += JOINT) {
    frame.joints.push({ q: f64(at), target: f64(at + 8), torque: f64(at + 16), at: vector(data, at + 24), stop: data.getFloat32(at + 36, true) });
  }
  for (let i = 0; i < devices; i++) {
    frame.devices.push(u32(at + 4 * i));
  }
  at += 8 * Math.ceil(devices / 2);
  frame.wakeBins = new Uint32Array(buffer, at, bins);
  frame.computeBins = new Uint32Array(buffer, at + 4 * bins, bins);
  at += 8 * bins;
  if (at < buffer.byteLength) {
    const count = u32(at + 8), first = at + 16, value = (i) => i < count ? data.getFloat32(first + 4 * i, true) : undefined;
    frame.values = { get: value, size: count };
    if (u32(at + 12)) { // of chosen offsets, which stand after the values
      frame.values = new Map(Array.from({ length: count }, (_, i) => [u32(first + 4 * count + 4 * i), value(i)]));
    }
    frame.valuesTick = f64(at);
  }
  return frame;
}

// What would stop all motion over a limit, from the margin to it (contact/limits.h): more than 1 where that would take more.
function neededShare(margin) {
  return margin >= 0 ? 1 - margin : 1 / (1 + margin);
}

// Share of a limit that is used, at most 1; 0 of a limit that is 0.
function usedShare(margin) {
  return isWithoutLimit(margin) ? 0 : margin > 0 ? Math.max(1 - margin, 0) : 1;
}

// In whole per cent: 100 only at the limit.
function inPercent(used) {
  return used < 1 ? Math.min(Math.round(100 * used), 99) : 100;
}

// Whether a limit is 0, as that of the torsion of a point, and more would be needed.
function isWithoutLimit(margin) {
  return margin <= -1;
}

// What a contact does, in words.
function describeContact(contact) {
  const at = (bit) => !!(contact.limits & bit), said = [];
  if (!(contact.normal > 0)) {
    return ["opens", true];
  }
  if (at(LIMIT_FRICTION) && at(LIMIT_SPIN)) {
    said.push("slips and spins");
  } else if (at(LIMIT_FRICTION)) {
    said.push("slips: friction 100 %");
  } else if (at(LIMIT_SPIN)) {
    said.push("slips: torsion 100 %");
  }
  if (at(LIMIT_EDGE)) {
    said.push("tips about its edge");
  }
  if (at(LIMIT_JOINT)) {
    said.push("drive at its limit");
  }
  if (said.length) {
    return [said.join(", "), true];
  }
  const [, slip, friction] = contact.margins;
  if (isWithoutLimit(friction)) {
    return ["slides without friction", false];
  }
  const [margin, what] = isWithoutLimit(slip) ? [friction, "friction"] : [slip, "friction and torsion"];
  return ["sticks, " + inPercent(usedShare(margin)) + " % of " + what + " used", false];
}
