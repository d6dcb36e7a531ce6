// The page: a socket, the frames of the last minute, and what a person does with them.
"use strict";

const page = {
  stage: null, panels: null, events: null, socket: null, frames: [], hello: null, shown: -1, follow: true, paused: false,
  dark: matchMedia("(prefers-color-scheme: dark)").matches, token: "",
  received: 0, dirty: true, error: "",
};
window.tactPage = page; // read by tests

const byId = (id) => document.getElementById(id);

// The address of a session may be opened in a tab that shows an earlier one: the page then stays, with another token.
function readToken() {
  page.token = new URLSearchParams(location.hash.slice(1)).get("token") || "";
  const live = page.hello && (page.hello.kind === "real time" || page.hello.kind === "simulation");
  byId("marker").disabled = byId("stop").disabled = !live || !page.token;
}

function watchesOnly() {
  return !!page.hello && page.hello.kind === "simulation" && !page.token;
}

// A simulation obeys, and begins, by its own address only.
function send(message) {
  if (watchesOnly() && message.op !== "ack" && message.op !== "values") {
    say("no control: it takes the address that the simulation printed, with its token");
  }
  if (page.socket && page.socket.readyState === WebSocket.OPEN) {
    page.socket.send(JSON.stringify(page.token ? { ...message, token: page.token } : message));
  }
}

function connect() {
  const scheme = location.protocol === "https:" ? "wss://" : "ws://";
  page.socket = new WebSocket(scheme + location.host + "/", "tact.view.1");
  page.socket.binaryType = "arraybuffer";
  page.socket.onmessage = (e) => (typeof e.data === "string" ? onText(JSON.parse(e.data)) : onBinary(e.data));
  page.socket.onclose = () => {
    setState("link", "closed", true);
    setTimeout(connect, 2000);
  };
}

// A page that holds its session: the messages that a server would send.
function readRecording(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0)), head = new DataView(bytes.buffer);
  for (let at = 0; at + 8 <= bytes.length;) {
    const kind = head.getUint32(at, true), size = head.getUint32(at + 4, true), part = bytes.slice(at + 8, at + 8 + size);
    if (kind === 1) {
      onText({ ...JSON.parse(new TextDecoder().decode(part)), kind: "file" });
    } else {
      onBinary(part.buffer);
    }
    at += 8 + 8 * Math.ceil(size / 8);
  }
  page.follow = false;
  page.shown = 0;
  page.started = performance.now();
}

// Whether the page plays its own frames: those of a file, and those of a session that has ended.
function playsOwnFrames() {
  const last = page.frames[page.frames.length - 1];
  return !!last && (page.hello.kind === "file" || (page.hello.kind !== "log" && last.ended));
}

// The page's own frames go by their times.
function playFrames() {
  const now = performance.now(), before = page.shown;
  if (page.paused || page.follow || !page.frames[before] || !playsOwnFrames()) {
    page.started = now;
    return;
  }
  Object.assign(page, advanceFrame(page.frames, page, now, Number(byId("speed").value)));
  if (page.shown !== before) {
    page.paused = page.shown + 1 === page.frames.length;
    page.dirty = true;
  }
}

function onText(message) {
  if (message.op === "hello") {
    page.hello = message;
    page.frames = [];
    page.shown = -1;
    page.follow = true;
    page.error = "";
    document.title = message.name + " - tact";
    byId("name").textContent = message.name;
    readToken();
    setState("link", message.kind + (watchesOnly() ? ", without its token: watching only" : ""), false);
    page.stage.setScene(message);
    page.panels.setScene(message);
    page.events.setScene(message);
    const live = message.kind === "real time" || message.kind === "simulation";
    byId("speed").disabled = message.kind === "real time";
    byId("live").hidden = !live;
    byId("speed").value = "1";
  } else if (message.op === "speed") {
    byId("speed").value = String(message.factor); // none of the list where another program asked for another one
  } else if (message.op === "event") {
    onEvent(message);
  } else if (message.op === "fault") {
    page.error = message.text;
  }
}

// An event of a session that runs. A marker that was refused is none.
function onEvent({ tick, name, text }) {
  if (name === "no marker") {
    say(name + ": " + text);
    return;
  }
  page.events.add(tick, name, text);
  page.dirty = true;
  if (name === "marker") {
    say(name + " at " + figure(tick * page.hello.period, 3) + " s");
  }
}

// Shows a word for some seconds.
function say(text) {
  byId("said").textContent = text;
  byId("said").hidden = false;
  clearTimeout(page.saidTimer);
  page.saidTimer = setTimeout(() => { byId("said").hidden = true; }, 4000);
}

function mark() {
  if (byId("marker").disabled) {
    say(page.token ? "no marker: this session does not run" : "no marker: it takes a running session's own address");
  } else {
    send({ op: "marker" });
  }
}

function onBinary(data) {
  const type = new DataView(data).getUint8(0);
  if (type === 1) {
    page.stage.setMesh(decodeMesh(data));
    page.stage.fitted = false;
    page.dirty = true;
  } else if (type === 2 && page.hello) {
    onFrame(decodeFrame(data));
  }
}

function onFrame(frame) {
  send({ op: "ack", frame: frame.number });
  const last = page.frames[page.frames.length - 1];
  page.received++;
  page.panels.plots.noteContacts(frame);
  if (last && frame.time < last.time) {
    page.frames = []; // the server went back in a log
  }
  page.frames.push(frame);
  if (page.hello.kind !== "file") {
    const shown = page.frames[page.shown];
    page.frames = limitFrames(page.frames, page.follow ? undefined : shown);
    page.shown = page.frames.indexOf(shown);
  }
  if (page.follow) {
    page.shown = page.frames.length - 1;
    page.dirty = true;
  } else {
    page.shown = Math.max(page.shown, 0);
  }
}

const count = (n, what) => n + " " + what + (n === 1 ? "" : "s");

// What computed the moments of a tick: their age is 0 where all were computed on the host; else the source's short name.
function momentsOf(frame) {
  return frame.age ? String(page.hello.source || "source").split(":")[0] + ", " + count(frame.age, "tick") + " old" : "host";
}

function setState(id, text, bad) {
  const e = byId(id);
  e.textContent = text;
  e.className = "state " + (bad ? "bad" : "good");
}

function draw() {
  requestAnimationFrame(draw);
  const frame = page.frames[page.shown];
  if (!page.dirty || !frame) {
    return;
  }
  page.dirty = false;
  page.stage.frame = frame;
  if (!page.stage.fitted) {
    page.stage.fit();
  }
  page.stage.follow();
  page.stage.setScales(framesBetween(page.frames, frame.time - PLOT_SECONDS, frame.time));
  page.stage.draw(page.dark);
  page.panels.drawContacts(frame, page.stage.selected);
  page.panels.drawTables(frame);
  page.panels.markSelected(page.stage.selected);
  page.panels.plots.draw(page.frames, frame.time, page.dark, page.events.marks);
  page.panels.drawLatency(page.frames, frame);
  byId("clock").textContent = frame.time.toFixed(3) + " s   tick " + frame.tick;
  byId("rates").textContent = count(frame.contacts.length + frame.leftOut, "contact") + ", " + count(frame.iterations, "sweep") + ", residual " +
    (frame.residual ? frame.residual.toExponential(1) : "0") + ", compute " + figure(frame.compute / 1000, 0) + " \u00b5s, moments: " + momentsOf(frame);
  byId("rates").title = "source of moments: " + (page.hello.source || "not known");
  setState("safety", page.error && frame.safety === 2 ? "fault: " + page.error : SAFETY[frame.safety] || "", frame.safety === 2);
  byId("safety").classList.toggle("good", frame.safety === 1);
  byId("deadman").hidden = !page.hello.deadman;
  setState("deadman", "deadman " + (frame.deadman ? "held" : "released"), false);
  byId("deadman").classList.toggle("good", frame.deadman);
  byId("deadman").title = page.hello.deadman || "";
  drawLegend(frame);
  drawTimeline(frame);
}

// A bar of at most `room` pixels, as long as the arrow of a value, of which one unit has `each` pixels. Whether there is one.
function drawScale(id, each, room, text, largest, longest) {
  const value = each ? roundDown(room / each) : 0;
  byId(id).hidden = !value;
  byId(id + "-bar").style.width = value * each + "px";
  byId(id + "-most").textContent = text(value) + (largest > CUT * longest ? "; the arrow of " + text(largest) + " is cut" : "");
  return !!value;
}

// The scales of what is drawn: bars for a force and a torsion, the colours of pressures, the lines of a plane.
function drawLegend(frame) {
  const { stage } = page, pressure = stage.largestPressure;
  byId("pressure").hidden = !pressure;
  byId("pressure-most").textContent = inPascals(pressure) + (frame.largest[2] > pressure ? " and more" : "");
  if (!stage.gl) {
    return;
  }
  const force = drawScale("force", stage.pixelsPerNewton(), 80, inNewtons, frame.largest[0], stage.longestForce);
  const torsion = drawScale("torsion", stage.pixelsPerNewtonMetre(), 60, inNewtonMetres, frame.largest[1], stage.longestTorsion);
  const left = stage.countOutOfView(), far = stage.distanceFollowed();
  const parts = [stage.gridStep && "grid " + stage.gridStep * 1000 + " mm", far > stage.distance && "view moved by " + Number(far.toPrecision(2)) + " m", left && left + " out of view, f fits"].filter((part) => part);
  byId("legend-text").textContent = parts.join("   ");
  byId("legend").hidden = !pressure && !force && !torsion && !parts.length;
}

function drawTimeline(frame) {
  const line = byId("timeline"), replay = page.hello.kind === "log";
  line.min = replay ? page.hello.first * page.hello.period : page.frames[0].time;
  line.max = replay ? page.hello.last * page.hello.period : page.frames[page.frames.length - 1].time;
  if (document.activeElement !== line || page.follow) {
    line.value = frame.time;
  }
  const last = page.frames[page.frames.length - 1];
  if (!playsOwnFrames()) {
    page.paused = page.hello.kind === "real time" ? !page.follow : last.paused || last.ended;
  } else if (page.follow) {
    page.paused = true; // at its end
  }
  byId("play").textContent = page.paused ? "play" : "pause";
  page.events.draw(Number(line.min), Number(line.max));
}

// Live, the last minute is the page's; a log is played by the server, a simulation runs at its word. What is at its end
// begins again.
function play(on) {
  if (playsOwnFrames()) {
    page.shown = on && page.shown + 1 === page.frames.length ? 0 : page.shown;
    page.paused = !on;
    page.follow = false;
    page.started = performance.now();
    page.dirty = true;
    return;
  }
  if (page.hello.kind === "log") {
    if (on && page.frames[page.shown].tick >= page.hello.last) {
      send({ op: "seek", tick: page.hello.first });
    }
    send({ op: on ? "play" : "pause" });
    return;
  }
  if (page.hello.kind === "simulation") {
    send({ op: on ? "play" : "pause" });
    page.follow = true;
    page.dirty = true;
    return;
  }
  page.follow = on;
  if (on) {
    page.shown = page.frames.length - 1;
  }
  page.dirty = true;
}

function go(steps) {
  if (page.hello.kind === "log") {
    send({ op: "step", ticks: steps });
    return;
  }
  if (page.hello.kind === "simulation" && steps > 0 && page.shown + 1 >= page.frames.length) {
    page.follow = true;
    send({ op: "step", ticks: steps });
    return;
  }
  page.follow = false;
  page.paused = true;
  page.shown = Math.max(0, Math.min(page.frames.length - 1, page.shown + steps));
  page.dirty = true;
}

function seek(time) {
  if (page.hello.kind === "log") {
    send({ op: "seek", tick: Math.round(time / page.hello.period) });
    return;
  }
  page.follow = false;
  page.shown = Math.max(page.frames.findIndex((f) => f.time >= time), 0);
  page.dirty = true;
}

function select(what) {
  page.stage.selected = what;
  page.dirty = true;
}

function toggle(name) {
  const box = byId("show-" + name);
  box.checked = !box.checked;
  page.stage.shown[name] = box.checked;
  page.dirty = true;
}

function setDark(dark) {
  page.dark = dark;
  document.documentElement.classList.toggle("dark", dark);
  page.dirty = true;
}

function turn(azimuth, elevation) {
  page.stage.azimuth = azimuth;
  page.stage.elevation = elevation;
  page.dirty = true;
}

function changeSpeed(by) {
  const speed = byId("speed");
  if (!speed.disabled) {
    speed.selectedIndex = Math.max(0, Math.min(speed.options.length - 1, speed.selectedIndex + by));
    send({ op: "speed", factor: Number(speed.value) });
  }
}

const KEYS = {
  " ": () => play(page.paused), ".": () => go(1), ",": () => go(-1), m: mark,
  f: () => { page.stage.fit(); page.dirty = true; }, d: () => setDark(!page.dark),
  1: () => turn(-Math.PI / 2, 0.05), 2: () => turn(0, 0.05), 3: () => turn(-Math.PI / 2, 1.5),
  s: () => toggle("solids"), p: () => toggle("patches"), o: () => toggle("forces"), t: () => toggle("torsion"),
  "[": () => changeSpeed(-1), "]": () => changeSpeed(1), "?": () => byId("help").show(),
  Escape: () => { byId("help").close(); select(null); },
};

// Whether an element itself needs a key: lists and texts need all, a box that is ticked only the space bar.
function takesKey(target, key) {
  return target.matches("select, textarea, input:not([type=checkbox], [type=range])") || (key === " " && target.matches("input[type=checkbox]"));
}

function start() {
  page.stage = new Stage(byId("canvas"));
  page.panels = new Panels((at) => {
    page.dirty = true;
    if (page.hello.kind !== "file") {
      send({ op: "values", at });
    }
  });
  page.events = new Events(seek);
  page.stage.onchange = () => { page.dirty = true; };
  page.stage.onselect = select;
  page.panels.onselect = select;
  setDark(page.dark);
  if (!page.stage.gl) {
    byId("legend-text").textContent = "this browser has no WebGL2: numbers only";
  }
  for (const name of ["solids", "patches", "forces", "torsion"]) {
    byId("show-" + name).addEventListener("change", (e) => {
      page.stage.shown[name] = e.target.checked;
      page.dirty = true;
    });
  }
  byId("help-button").addEventListener("click", () => byId("help").open ? byId("help").close() : byId("help").show());
  byId("play").addEventListener("click", () => play(page.paused));
  byId("back").addEventListener("click", () => go(-1));
  byId("step").addEventListener("click", () => go(1));
  byId("live").addEventListener("click", () => (playsOwnFrames() ? go(page.frames.length) : play(true)));
  byId("timeline").addEventListener("input", (e) => seek(Number(e.target.value)));
  byId("speed").addEventListener("change", () => changeSpeed(0));
  byId("marker").addEventListener("click", mark);
  byId("stop").addEventListener("click", () => send({ op: "stop" }));
  document.addEventListener("change", (e) => e.target.blur()); // the keys are the page's again
  document.addEventListener("keydown", (e) => {
    if (!e.ctrlKey && !e.metaKey && !e.altKey && !takesKey(e.target, e.key) && KEYS[e.key] && page.hello) {
      e.preventDefault();
      KEYS[e.key]();
    }
  });
  window.addEventListener("hashchange", readToken);
  const observer = new ResizeObserver(() => { page.dirty = true; }); // also where a longer header leaves the scene less room
  ["canvas", "plot"].forEach((id) => observer.observe(byId(id)));
  const recording = byId("recording");
  if (recording) {
    readRecording(recording.textContent);
  } else {
    connect();
  }
  setInterval(playFrames, 16);
  draw();
}

start();
