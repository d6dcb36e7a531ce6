// The scene in WebGL2: solids, patches, forces, a camera that a hand turns, and what it points at.
"use strict";

// Solids are lit at their vertices: of a fine mesh there are fewer of them than pixels, each at the corner of six triangles.
const VERTEX = `#version 300 es
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
uniform mat4 model, camera;
uniform vec4 colour;
uniform vec3 eye;
uniform bool lit; // else the normals may be 0
out vec3 tint;
void main() {
  vec4 at = model * vec4(position, 1.0);
  tint = colour.rgb;
  if (lit) {
    vec3 n = normalize(mat3(model) * normal), light = normalize(vec3(0.35, -0.5, 0.8));
    tint *= 0.62 + 0.30 * max(dot(n, light), 0.0) + 0.08 * dot(n, normalize(eye - at.xyz));
  }
  gl_Position = camera * at;
}`;
const FRAGMENT = `#version 300 es
precision highp float;
in vec3 tint;
uniform vec4 colour;
out vec4 drawn;
void main() {
  drawn = vec4(tint, colour.a);
}`;

// A plane has lines on it.
const PLANE_VERTEX = `#version 300 es
layout(location = 0) in vec3 position;
uniform mat4 model, camera;
out vec2 world;
void main() {
  vec4 at = model * vec4(position, 1.0);
  world = at.xy;
  gl_Position = camera * at;
}`;
const PLANE_FRAGMENT = `#version 300 es
precision highp float;
in vec2 world;
uniform vec3 colour;
uniform float grid;
out vec4 drawn;
void main() {
  vec2 at = world / grid, width = fwidth(at);
  vec2 line = abs(fract(at - 0.5) - 0.5) / width;
  float near = 1.0 - smoothstep(0.0, 1.0, min(line.x, line.y));
  float far = smoothstep(0.5, 0.1, max(width.x, width.y));
  drawn = vec4(colour * (1.0 - 0.16 * near * far), 1.0);
}`;

// Pressures of a patch: cells with, in red, the pressure, in green, 1 where there is any.
const MAP_VERTEX = `#version 300 es
layout(location = 0) in vec3 position;
uniform mat4 model, camera;
out vec2 place;
void main() {
  place = position.xy + 0.5;
  gl_Position = camera * model * vec4(position, 1.0);
}`;
const MAP_FRAGMENT = `#version 300 es
precision highp float;
in vec2 place;
uniform sampler2D cells;
uniform float share, cover;
out vec4 drawn;
vec3 ramp(float p) {
  vec3 a = vec3(0.20, 0.05, 0.35), b = vec3(0.70, 0.15, 0.35), c = vec3(0.95, 0.50, 0.15), d = vec3(1.0, 0.95, 0.45);
  float at = 3.0 * clamp(p, 0.0, 1.0);
  return at < 1.0 ? mix(a, b, at) : at < 2.0 ? mix(b, c, at - 1.0) : mix(c, d, at - 2.0);
}
void main() {
  vec2 cell = texture(cells, place).rg;
  if (cell.g < 0.5) {
    discard;
  }
  drawn = vec4(ramp(share * cell.r / cell.g), cover);
}`;
const COLOURS = [
  [0.85, 0.74, 0.48], [0.50, 0.66, 0.82], [0.62, 0.76, 0.56], [0.83, 0.60, 0.56], [0.68, 0.62, 0.80], [0.55, 0.74, 0.74]];
const FIXED = [0.72, 0.74, 0.77], SKIN = [0.87, 0.72, 0.62], PATCH = [0.85, 0.45, 0.05], FORCE = [0.78, 0.06, 0.13], TORSION = [0.44, 0.13, 0.69];

// Over the distance of the camera, the length of the arrow of the largest force, and the radius of that of the largest
// torsion; how much longer one is before it is cut, and of how many frames the scales are.
const ARROW = 0.2, TURN = 0.05, CUT = 2, SCALE_FRAMES = 600;

// The same brightness as in VERTEX.
function brightness(n, toEye) {
  return 0.62 + 0.30 * Math.max(dot(n, unit([0.35, -0.5, 0.8])), 0) + 0.08 * dot(n, toEye);
}

// Whether triangles are drawn by the processor: then each sample of a pixel takes its time.
function drawsInSoftware() {
  const gl = document.createElement("canvas").getContext("webgl2"), info = gl && gl.getExtension("WEBGL_debug_renderer_info");
  const name = info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : "";
  const lose = gl && gl.getExtension("WEBGL_lose_context");
  if (lose) {
    lose.loseContext();
  }
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

class Stage extends Camera {
  constructor(canvas) {
    super(canvas);
    this.gl = canvas.getContext("webgl2", { alpha: false, antialias: !drawsInSoftware() });
    this.shown = { solids: true, patches: true, forces: true, torsion: true };
    this.solids = [];
    this.selected = null;
    this.longestForce = 0;
    this.longestTorsion = 0;
    this.largestPressure = 0;
    this.frame = null;
    this.followed = []; // indices of the solids that the view goes with
    if (this.gl) {
      this.prepare();
    }
    this.listen();
  }

  link(vertex, fragment, names) {
    const gl = this.gl, program = gl.createProgram(), uniform = {};
    for (const [type, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
      throw new Error("shaders: " + gl.getProgramInfoLog(program));
    }
    for (const name of names) {
      uniform[name] = gl.getUniformLocation(program, name);
    }
    return [program, uniform];
  }

  prepare() {
    const gl = this.gl;
    [this.program, this.uniform] = this.link(VERTEX, FRAGMENT, ["model", "camera", "colour", "eye", "lit"]);
    [this.planeProgram, this.planeUniform] = this.link(PLANE_VERTEX, PLANE_FRAGMENT, ["model", "camera", "colour", "grid"]);
    [this.mapProgram, this.mapUniform] = this.link(MAP_VERTEX, MAP_FRAGMENT, ["model", "camera", "share", "cover"]);
    this.cells = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.cells);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RG8, CELLS, CELLS);
    for (const [name, value] of [[gl.TEXTURE_MIN_FILTER, gl.LINEAR], [gl.TEXTURE_MAG_FILTER, gl.LINEAR],
      [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE]]) {
      gl.texParameteri(gl.TEXTURE_2D, name, value);
    }
    this.arrow = this.upload(arrow(1.3));
    this.turn = this.upload(turnArrow());
    this.square = this.upload(square());
    this.dot = this.upload(ball(1));
    this.patch = this.upload({ position: new Float32Array(3 * 3 * 64), normal: new Float32Array(3 * 3 * 64) }, true);
    gl.cullFace(gl.BACK);
    this.rod = this.upload(revolve([[1, 0], [1, 1]], 20));
  }

  upload(mesh, changes) {
    const gl = this.gl, array = gl.createVertexArray(), buffers = [];
    gl.bindVertexArray(array);
    [mesh.position, mesh.normal].forEach((data, i) => {
      buffers.push(gl.createBuffer());
      gl.bindBuffer(gl.ARRAY_BUFFER, buffers[i]);
      gl.bufferData(gl.ARRAY_BUFFER, data, changes ? gl.DYNAMIC_DRAW : gl.STATIC_DRAW);
      gl.enableVertexAttribArray(i);
      gl.vertexAttribPointer(i, 3, gl.FLOAT, false, 0, 0);
    });
    if (mesh.index) {
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, mesh.index, gl.STATIC_DRAW);
    }
    gl.bindVertexArray(null);
    return { array, buffers, indexed: !!mesh.index, count: mesh.index ? mesh.index.length : mesh.position.length / 3 };
  }

  // What a scene consists of, from the server's first message; meshes follow.
  setScene({ shapes, joints }) {
    this.links = joints;
    this.frame = this.selected = null;
    this.longestForce = this.longestTorsion = this.largestPressure = this.gridStep = 0;
    const owners = [...new Set(shapes.filter((s) => s.moves && s.link < 0).map((s) => s.owner))];
    this.solids = shapes.map((s) => ({
      ...s, mesh: null, radius: 0, low: [0, 0, 0], high: [0, 0, 0],
      colour: !s.moves ? FIXED : s.link >= 0 ? SKIN : COLOURS[owners.indexOf(s.owner) % COLOURS.length] }));
    this.solids.forEach((s) => {
      if (s.kind === "sphere") {
        s.mesh = this.gl && this.upload(ball(s.size[0]));
        s.radius = s.size[0];
        s.high = [s.radius, s.radius, s.radius];
        s.low = mul(s.high, -1);
      }
    });
    this.fitted = false;
    this.followed = [];
    this.measureBones();
  }

  // As wide as the thinnest shape of a link, so that it is hidden by none; 0 where no link has a shape.
  measureBones() {
    const sizes = this.solids.filter((s) => s.link >= 0 && s.radius > 0).map((s) => Math.min(...sub(s.high, s.low)) / 2);
    this.boneWidth = sizes.length ? 0.6 * Math.min(...sizes, 1) : 0;
  }

  setMesh(mesh) {
    const solid = this.solids[mesh.shape];
    for (let i = 0; i < mesh.vertex.length; i += 3) {
      solid.radius = Math.max(solid.radius, Math.hypot(mesh.vertex[i], mesh.vertex[i + 1], mesh.vertex[i + 2]));
      for (let k = 0; k < 3; k++) {
        solid.low[k] = i ? Math.min(solid.low[k], mesh.vertex[i + k]) : mesh.vertex[k];
        solid.high[k] = i ? Math.max(solid.high[k], mesh.vertex[i + k]) : mesh.vertex[k];
      }
    }
    this.measureBones();
    if (this.gl) {
      solid.mesh = this.upload(surface(mesh.vertex, mesh.triangle, solid.flat));
    }
  }

  // Looks at what is selected, or at all that moves, or where nothing moves at all, and goes with it from then on; at the
  // joints where no link has a shape.
  fit() {
    const joints = this.frame ? this.frame.joints : [];
    const choices = [(s) => this.selected && s.owner === this.selected.owner, (s) => s.moves, () => !joints.length];
    const chosen = choices.find((choice) => this.frame && this.findCorners(choice).length);
    if (!chosen && joints.length) {
      this.fitTo(joints.map((j) => j.at));
      this.distance = Math.max(this.distance, 0.1);
      this.followed = [];
      this.fitted = true;
    } else if (chosen) {
      this.fitTo(this.findCorners(chosen));
      this.followed = this.solids.map((s, i) => i).filter((i) => this.solids[i].kind !== "halfspace" && chosen(this.solids[i]));
      this.offset = sub(this.middleOfFollowed(), this.middle);
      this.start = this.middle;
      this.fitted = true;
    }
  }

  // Goes with what the view was fitted to, until the view is moved by hand.
  follow() {
    if (this.followed.length) {
      this.moveTowards(sub(this.middleOfFollowed(), this.offset));
    }
  }

  // How far it has gone with them [m].
  distanceFollowed() {
    return this.followed.length ? norm(sub(this.middle, this.start)) : 0;
  }

  // The median place of these solids along each axis: a few that fly off do not change it.
  middleOfFollowed() {
    return [0, 1, 2].map((k) => this.followed.map((i) => this.frame.poses[8 * i + k]).sort((p, q) => p - q)[this.followed.length >> 1]);
  }

  // The corners of the boxes of solids, and the joints of those that are links.
  findCorners(chosen) {
    const points = [], { poses, joints } = this.frame;
    this.solids.forEach((s, i) => {
      if (s.kind !== "halfspace" && chosen(s)) {
        const m = poseMatrix(poses, 8 * i);
        for (let corner = 0; corner < 8; corner++) {
          const p = [0, 1, 2].map((k) => (corner >> k & 1 ? s.high : s.low)[k]);
          points.push([0, 1, 2].map((row) => m[row] * p[0] + m[4 + row] * p[1] + m[8 + row] * p[2] + m[12 + row]));
        }
        for (let link = s.link; link >= 0 && joints[link]; link = this.selected ? -1 : this.links[link].parent) {
          points.push(joints[link].at);
        }
      }
    });
    return points;
  }

  // Whether a solid may be in the view: not where all corners of its box are beyond the same side of it.
  isInView(solid, camera, model) {
    const m = multiply(camera, model), beyond = [0, 0, 0, 0, 0];
    for (let corner = 0; corner < 8; corner++) {
      const p = [0, 1, 2].map((k) => (corner >> k & 1 ? solid.high : solid.low)[k]);
      const [x, y, w] = [0, 1, 3].map((row) => m[row] * p[0] + m[4 + row] * p[1] + m[8 + row] * p[2] + m[12 + row]);
      [x < -w, x > w, y < -w, y > w, w <= 0].forEach((is, side) => { beyond[side] += is; });
    }
    return !beyond.includes(8);
  }

  // How many bodies and links that move are out of the view.
  countOutOfView() {
    const seen = new Map(), camera = this.cameraMatrix();
    this.solids.forEach((s, i) => {
      if (s.moves && this.frame) {
        seen.set(s.owner, seen.get(s.owner) || this.isInView(s, camera, poseMatrix(this.frame.poses, 8 * i)));
      }
    });
    return [...seen.values()].filter((shown) => !shown).length;
  }

  resize() {
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const w = Math.round(this.canvas.clientWidth * ratio), h = Math.round(this.canvas.clientHeight * ratio);
    if (this.canvas.width !== w || this.canvas.height !== h) {
      this.canvas.width = w;
      this.canvas.height = h;
    }
  }

  draw(dark) {
    const gl = this.gl;
    if (!gl || !this.frame) {
      return;
    }
    this.resize();
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    const ground = dark ? [0.08, 0.09, 0.10] : [0.965, 0.97, 0.975];
    gl.clearColor(...ground, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.useProgram(this.program);
    gl.uniformMatrix4fv(this.uniform.camera, false, this.cameraMatrix());
    gl.uniform3fv(this.uniform.eye, this.eye());
    gl.uniform1i(this.uniform.lit, 1);
    gl.enable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
    if (this.shown.solids) {
      this.drawSolids((s) => this.isSelected(s.owner) ? mul(s.colour, 1.15) : dark && !s.moves ? mul(s.colour, 0.55) : s.colour);
    }
    this.drawContacts();
  }

  isSelected(owner) {
    return this.selected && (this.selected.owner === owner || (this.selected.owners || []).includes(owner));
  }

  drawSolids(colourOf, picking) {
    const gl = this.gl;
    gl.enable(gl.CULL_FACE);
    this.solids.forEach((s, i) => {
      const c = colourOf(s, i);
      if (s.kind === "halfspace" && !picking) {
        this.drawPlane(i, c);
      } else if (s.mesh) {
        this.drawMesh(s.mesh, poseMatrix(this.frame.poses, 8 * i), [...c, 1]);
      }
    });
    gl.disable(gl.CULL_FACE);
    if (!picking) {
      this.drawBones();
    }
  }

  // From the joint of each link to those of its children, and to its solids.
  drawBones() {
    const width = this.boneWidth ? Math.max(this.boneWidth, 0.002 * this.distance) : 0.01 * this.distance, joints = this.frame.joints;
    joints.forEach((j, i) => {
      const parent = this.links[i] ? this.links[i].parent : -1, r = width / 0.6;
      this.drawMesh(this.dot, frameMatrix([r, 0, 0], [0, r, 0], [0, 0, r], j.at), [...SKIN, 1]);
      if (parent >= 0) {
        this.drawRod(joints[parent].at, j.at, width);
      }
    });
    this.solids.forEach((s, i) => {
      if (s.link >= 0 && joints[s.link]) {
        this.drawRod(joints[s.link].at, [...this.frame.poses.subarray(8 * i, 8 * i + 3)], width);
      }
    });
  }

  drawRod(from, to, width) {
    const along = sub(to, from), length = norm(along);
    if (length > width) {
      const n = unit(along), u = perpendicular(n), v = cross(n, u);
      this.drawMesh(this.rod, frameMatrix(mul(u, width), mul(v, width), along, from), [...SKIN, 1]);
    }
  }

  // A plane as far as the camera sees, drawn about the point under its middle.
  drawPlane(i, colour) {
    const gl = this.gl, m = poseMatrix(this.frame.poses, 8 * i), n = [m[8], m[9], m[10]], o = [m[12], m[13], m[14]];
    if (dot(n, sub(this.eye(), o)) <= 0) {
      return;
    }
    const size = 60 * this.distance, foot = sub(this.middle, mul(n, dot(n, sub(this.middle, o))));
    const lines = Math.pow(10, Math.floor(Math.log10(this.distance / 2)));
    gl.useProgram(this.planeProgram);
    gl.uniformMatrix4fv(this.planeUniform.camera, false, this.cameraMatrix());
    gl.uniformMatrix4fv(this.planeUniform.model, false,
      frameMatrix(mul([m[0], m[1], m[2]], size), mul([m[4], m[5], m[6]], size), n, foot));
    gl.uniform3fv(this.planeUniform.colour, mul(colour, brightness(n, unit(sub(this.eye(), foot)))));
    gl.uniform1f(this.planeUniform.grid, lines);
    this.drawTriangles(this.square);
    gl.useProgram(this.program);
    this.gridStep = lines;
  }

  drawMesh(mesh, matrix, colour) {
    const gl = this.gl;
    gl.uniformMatrix4fv(this.uniform.model, false, matrix);
    gl.uniform4fv(this.uniform.colour, colour);
    this.drawTriangles(mesh);
  }

  drawTriangles(mesh) {
    const gl = this.gl;
    gl.bindVertexArray(mesh.array);
    if (mesh.indexed) {
      gl.drawElements(gl.TRIANGLES, mesh.count, gl.UNSIGNED_INT, 0);
    } else {
      gl.drawArrays(gl.TRIANGLES, 0, mesh.count);
    }
  }

  // Sets the scales of arrows and colours by the largest values of frames up to the one that is shown.
  setScales(frames) {
    const newest = frames.slice(-SCALE_FRAMES), largest = (f, of) => f.contacts.reduce((most, c) => Math.max(most, of(c)), 0);
    newest.forEach((f) => {
      f.largest = f.largest || [largest(f, (c) => norm(c.force)), largest(f, (c) => norm(c.moment)), largest(f, (c) => c.peak)];
    });
    [this.longestForce, this.longestTorsion, this.largestPressure] = [0, 1, 2].map((k) => largestUsual(newest.map((f) => f.largest[k])));
  }

  // How many pixels an arrow has for each newton, and its radius for each newton metre, where it is as far away as the
  // middle of the view; 0 where none is drawn.
  pixelsPerNewton() {
    return this.longestForce > 0 ? ARROW * this.canvas.clientHeight / (2 * Math.tan(ANGLE / 2) * this.longestForce) : 0;
  }

  pixelsPerNewtonMetre() {
    return this.hasTorsion() ? TURN * this.canvas.clientHeight / (2 * Math.tan(ANGLE / 2) * this.longestTorsion) : 0;
  }

  // Whether a torsion is more than rounding errors.
  hasTorsion() {
    return this.longestTorsion > 0 && this.longestTorsion >= 1e-6 * this.longestForce * this.distance;
  }

  // Patches and forces lie over the solids: faint where those hide them.
  drawContacts() {
    const gl = this.gl;
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthMask(false);
    for (const [test, cover] of [[gl.GREATER, 0.2], [gl.LEQUAL, 1]]) {
      gl.depthFunc(test);
      this.frame.contacts.forEach((c) => this.drawContact(c, cover));
    }
    gl.depthMask(true);
    gl.depthFunc(gl.LESS);
  }

  drawContact(c, cover) {
    const gl = this.gl, at = this.selected && this.selected.pair === c.pair ? 1 : 0.85;
    if (this.shown.patches && c.outline.length > 2) {
      gl.uniform1i(this.uniform.lit, 0);
      if (c.map && c.map.drawn) {
        this.drawPressure(c, at * Math.max(cover, 0.5)); // so that its colours are legible through a solid
      } else {
        this.fill(c);
        const used = usedShare(c.margins[1]), tint = used >= 1 ? FORCE : PATCH;
        this.drawMesh(this.patch, frameMatrix([1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]), [...tint, at * cover * (0.45 + 0.45 * used)]);
      }
      const r = 0.004 * this.distance;
      this.drawMesh(this.dot, frameMatrix([r, 0, 0], [0, r, 0], [0, 0, r], c.pressure), [0.1, 0.1, 0.1, cover]);
      gl.uniform1i(this.uniform.lit, 1);
    }
    if (this.shown.forces && this.longestForce > 0) {
      const scale = ARROW * this.distance / Math.max(this.longestForce, norm(c.force) / CUT);
      this.drawArrow(c.pushes ? sub(c.pressure, mul(c.force, scale)) : c.pressure, c.force, scale, [...FORCE, cover * at]);
    }
    const size = norm(c.moment);
    if (this.shown.torsion && this.hasTorsion() && size > 0.02 * this.longestTorsion) {
      const n = unit(c.moment), u = perpendicular(n), v = cross(n, u), r = TURN * this.distance * Math.min(size / this.longestTorsion, CUT);
      this.drawMesh(this.turn, frameMatrix(mul(u, r), mul(v, r), mul(n, r), c.centre), [...TORSION, cover * at]);
    }
  }

  drawPressure(c, cover) {
    const gl = this.gl, data = new Uint8Array(2 * CELLS * CELLS), lift = mul(c.n, 1e-4 * this.distance);
    c.map.cells.forEach((value, i) => {
      data[2 * i] = value ? value - 1 : 0;
      data[2 * i + 1] = value ? 255 : 0;
    });
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, CELLS, CELLS, gl.RG, gl.UNSIGNED_BYTE, data);
    gl.useProgram(this.mapProgram);
    gl.uniformMatrix4fv(this.mapUniform.camera, false, this.cameraMatrix());
    gl.uniformMatrix4fv(this.mapUniform.model, false, frameMatrix(c.map.u, c.map.v, c.n,
      add(add(c.map.corner, lift), mul(add(c.map.u, c.map.v), 0.5))));
    gl.uniform1f(this.mapUniform.share, c.peak / Math.max(this.largestPressure, 1e-30));
    gl.uniform1f(this.mapUniform.cover, cover);
    this.drawTriangles(this.square);
    gl.useProgram(this.program);
  }

  drawArrow(from, along, scale, colour) {
    const length = norm(along) * scale;
    if (length > 1e-4 * this.distance) {
      const n = unit(along), u = perpendicular(n), v = cross(n, u), w = 0.2 * this.distance;
      this.drawMesh(this.arrow, frameMatrix(mul(u, w), mul(v, w), mul(n, length), from), colour);
    }
  }

  fill(c) {
    const gl = this.gl, corners = c.outline, lift = mul(c.n, 1e-4 * this.distance), data = [];
    for (let i = 1; i + 1 < corners.length && data.length < 9 * 62; i++) {
      data.push(...add(corners[0], lift), ...add(corners[i], lift), ...add(corners[i + 1], lift));
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, this.patch.buffers[0]);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(data), gl.DYNAMIC_DRAW);
    this.patch.count = data.length / 3;
  }

  // The solid or the contact under a point of the canvas.
  pick(x, y) {
    let contact = null, least = 8; // the nearest within so many pixels
    for (const c of this.frame ? this.frame.contacts : []) {
      const [px, py] = this.project(c.centre), away = Math.hypot(px - x, py - y);
      [contact, least] = away < least ? [c, away] : [contact, least];
    }
    if (contact) {
      return { pair: contact.pair, owners: [this.solids[contact.a].owner, this.solids[contact.b].owner] };
    }
    const gl = this.gl, ratio = this.canvas.width / this.canvas.clientWidth, pixel = new Uint8Array(4);
    if (!gl || !this.frame) {
      return null;
    }
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.useProgram(this.program);
    gl.uniformMatrix4fv(this.uniform.camera, false, this.cameraMatrix());
    gl.uniform1i(this.uniform.lit, 0);
    gl.disable(gl.BLEND);
    this.drawSolids((s, i) => [((i + 1) & 255) / 255, ((i + 1) >> 8) / 255, 0], true);
    gl.readPixels(Math.round(x * ratio), this.canvas.height - Math.round(y * ratio), 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    const id = pixel[0] + 256 * pixel[1] - 1;
    return id >= 0 && this.solids[id] ? { owner: this.solids[id].owner } : null;
  }

  listen() {
    let held = null;
    this.canvas.addEventListener("pointerdown", (e) => {
      held = { x: e.clientX, y: e.clientY, moved: 0 };
      this.canvas.setPointerCapture(e.pointerId);
    });
    this.canvas.addEventListener("pointermove", (e) => {
      if (!held) {
        return;
      }
      const dx = e.clientX - held.x, dy = e.clientY - held.y;
      held.moved += Math.abs(dx) + Math.abs(dy);
      held.x = e.clientX;
      held.y = e.clientY;
      if (e.shiftKey || e.buttons & 4) {
        this.followed = [];
        const m = this.cameraMatrix(), s = this.distance / this.canvas.clientHeight;
        const right = unit([m[0], m[4], m[8]]), up = unit([m[1], m[5], m[9]]);
        this.middle = add(this.middle, add(mul(right, -dx * s), mul(up, dy * s)));
      } else {
        this.azimuth -= 0.008 * dx;
        this.elevation = Math.max(-1.5, Math.min(1.5, this.elevation + 0.008 * dy));
      }
      this.onchange();
    });
    this.canvas.addEventListener("pointerup", (e) => {
      const box = this.canvas.getBoundingClientRect();
      if (held && held.moved < 4) {
        this.onselect(this.pick(e.clientX - box.left, e.clientY - box.top));
      }
      held = null;
    });
    this.canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      this.distance *= Math.exp(0.001 * e.deltaY);
      this.onchange();
    }, { passive: false });
  }
}
