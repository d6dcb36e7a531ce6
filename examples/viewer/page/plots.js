// Plots against time: of every number that frames have, and of the latency. Names come from scenes and logs of
// anybody: they are text, and never markup.
"use strict";

const PLOT_COLOURS = {
  light: ["#3b7dc4", "#c81e2d", "#d98a1f", "#2a7f4f", "#70309f", "#5f6b76"],
  dark: ["#5b9bdd", "#f0525f", "#e2a13f", "#56b383", "#b98ae0", "#9aa5af"],
};
const MAX_LISTED = 200, PLOT_SECONDS = 10, STRIP_HEIGHT = 100, AXIS_HEIGHT = 16, AXIS_WIDTH = 54;

// A quantity: name, unit, and its least and largest value in a frame, nothing where the frame has none. `free`: its
// axis need not begin at zero, as of a position.
const quantity = (name, unit, find, free) => ({ name, unit, find, free });
const single = (name, unit, value, free) => quantity(name, unit, (x) => [value(x), value(x)], free);

const TICK_QUANTITIES = [
  quantity("normal force, sum", "N", (f) => [f.contacts.reduce((s, c) => s + c.least, 0), f.contacts.reduce((s, c) => s + c.most, 0)]),
  single("contacts", "", (f) => f.contacts.length + f.leftOut),
  single("sweeps", "", (f) => f.iterations),
  single("residual", "", (f) => f.residual),
  single("age of moments", "ticks", (f) => f.age),
  single("compute, longest of a frame", "\u00b5s", (f) => f.compute / 1000),
  single("wake latency, longest of a frame", "\u00b5s", (f) => f.wake / 1000),
  single("missed deadlines so far", "ticks", (f) => f.missed),
  single("ticks of a frame", "ticks", (f) => f.ticks),
  single("safety: 0 disarmed, 1 armed, 2 fault", "", (f) => f.safety),
  single("deadman: 1 held", "", (f) => Number(f.deadman)),
];

const axes = (name, unit, value, free) => ["x", "y", "z"].map((axis, k) => single(name + " " + axis, unit, (c) => value(c)[k], free));

const CONTACT_QUANTITIES = [
  quantity("normal force", "N", (c) => [c.least, c.most]),
  single("friction", "N", (c) => c.friction),
  single("torsion", "N m", (c) => c.torsion),
  ...MARGINS.map((name, k) => single(name + ", used", "%", (c) => 100 * usedShare(c.margins[k]))),
  ...axes("force", "N", (c) => c.force),
  ...axes("torsional torque", "N m", (c) => c.moment),
  ...axes("centre of patch", "m", (c) => c.centre, true),
  ...axes("centre of pressure", "m", (c) => c.pressure, true),
  ...axes("normal of patch", "", (c) => c.n),
  single("active limits, bits", "", (c) => c.limits),
  single("peak pressure", "Pa", (c) => c.peak),
  quantity("integral of pressure", "N", (c) => c.map && [c.map.load, c.map.load]),
];

const jointQuantities = (slides) => [
  single("value", slides ? "m" : "rad", (j) => j.q, true),
  single("target", slides ? "m" : "rad", (j) => j.target, true),
  single("drive", slides ? "N" : "N m", (j) => j.torque),
  single("stop: -1 lower, 1 upper", "", (j) => j.stop),
];

// Whether the values of a record that follow a frame are of a tick near it: of its own, or, where a client is sent every
// tick, of one shortly after. After a seek they may be those of before.
function hasValuesOfTicksNear(frame) {
  return frame.values && Math.abs(frame.tick - frame.valuesTick) < 2 * Math.max(frame.ticks, 1);
}

const POSE_NAMES = ["x", "y", "z", "quaternion w", "quaternion x", "quaternion y", "quaternion z"];

// The frames of a time span, which are in order.
function framesBetween(frames, from, to) {
  const first = (time) => {
    let low = 0, high = frames.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      frames[middle].time < time ? low = middle + 1 : high = middle;
    }
    return low;
  };
  let end = first(to);
  while (end < frames.length && frames[end].time <= to) {
    end++;
  }
  return frames.slice(first(from), end);
}

// Range of an axis: with zero, unless all of its quantities are free of that and vary little beside their size.
function rangeOf(values, free) {
  let low = Infinity, high = -Infinity;
  values.flat().forEach((v) => {
    low = v ? Math.min(low, v[0]) : low;
    high = v ? Math.max(high, v[1]) : high;
  });
  if (!(low <= high)) {
    return [0, 1];
  }
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (!free || high - low > 0.2 * size) {
    low = Math.min(low, 0);
    high = Math.max(high, 0);
  }
  const least = Math.max(1e-6 * size, 1e-12);
  return high - low > least ? [low, high] : low === 0 && high === 0 ? [0, 1] : [low - least / 2, high + least / 2];
}

// A value of an axis with the digits that its marks differ in; where these are many, from the lowest one.
function axisText(value, low, high) {
  const size = Math.max(Math.abs(low), Math.abs(high)), digits = Math.ceil(Math.log10(size / (high - low)) - 1e-9) + 3;
  if (digits > 6 && value !== low) {
    return "+" + Number((value - low).toPrecision(2));
  }
  const rounded = Number((Math.abs(value) < 1e-9 * size ? 0 : value).toPrecision(Math.max(3, Math.min(digits, 6))));
  return rounded !== 0 && Math.abs(rounded) < 1e-3 ? rounded.toExponential() : String(rounded);
}

// Marks of an axis, and their texts.
function marksOf(low, high) {
  const withZero = low < 0 && high > 0 && Math.min(high, -low) > 0.2 * (high - low);
  return (withZero ? [low, 0, high] : [low, (low + high) / 2, high]).map((v) => [v, axisText(v, low, high)]);
}

class Plots {
  // onchange: is called with the offsets of the fields of the log that are plotted.
  constructor(open, onchange) {
    this.open = open;
    this.onchange = onchange;
    this.chosen = [];
    this.box = document.getElementById("plot-keys");
  }

  setScene(hello, contactName) {
    this.hello = hello;
    this.contactName = contactName;
    this.contacts = new Map();
    this.unlisted = new Set();
    this.storedValues = 0;
    this.chosen = [this.groups()[0].list[0]];
    this.fill();
  }

  // Contacts that were seen may be plotted, also when they do not touch.
  noteContacts(frame) {
    this.storedValues = Math.max(this.storedValues, frame.values ? frame.values.size : 0);
    for (const c of frame.contacts) {
      const key = contactKey(c);
      if (this.contacts.size === MAX_LISTED && !this.contacts.has(key)) {
        this.unlisted.add(key);
      } else if (!this.contacts.has(key)) {
        this.contacts.set(key, { pair: c.pair, piece: c.piece, a: c.a, b: c.b, name: this.contactName(c) });
      }
    }
  }

  // What can be plotted, in groups; each quantity is looked up in a frame. Its key is its own, whatever titles are equal.
  groups() {
    const list = [], add = (key, title, quantities, from) => list.push({
      title, list: quantities.map((q, k) => ({ ...q, key: key + " " + k, title: from ? title + ": " + q.name : q.name, of: (f) => {
        const x = from ? from(f) : f, v = x === undefined ? undefined : q.find(x);
        return v && Number.isFinite(v[0]) && Number.isFinite(v[1]) ? v : undefined;
      } })),
    });
    const addCount = (count, what) => count && list.push({ title: count + " further " + what + ", not listed", list: [], isCount: true });
    add("tick", "tick", TICK_QUANTITIES);
    for (const [key, { pair, piece, name }] of this.contacts) {
      add("contact " + key, name, CONTACT_QUANTITIES, (f) => f.contacts.find((c) => c.pair === pair && c.piece === piece));
    }
    addCount(this.unlisted.size, "contacts");
    this.hello.joints.slice(0, MAX_LISTED).forEach((j, i) => add("joint " + i, j.name, jointQuantities(j.slides), (f) => f.joints[i]));
    addCount(Math.max(this.hello.joints.length - MAX_LISTED, 0), "joints");
    let moving = 0;
    this.hello.shapes.forEach((s, i) => {
      moving += s.moves;
      if (s.moves && moving <= MAX_LISTED) {
        add("shape " + i, s.owner + ", shape " + s.number, POSE_NAMES.map((name, k) =>
          single(name, k < 3 ? "m" : "", (poses) => poses[8 * i + k], true)), (f) => f.poses);
      }
    });
    addCount(Math.max(moving - MAX_LISTED, 0), "shapes");
    if (this.hello.devices.length) {
      add("devices", "devices: 0 ok, 1 stale, 2 lost, 3 ended", this.hello.devices.map((name, i) => single(name, "", (f) => f.devices[i])));
    }
    // Of a file, these were written with every frame, as many as fit; else the server sends those that are chosen.
    const fields = this.hello.fields.filter(([, , offset, count]) => this.hello.kind !== "file" || offset + count <= this.storedValues);
    const left = this.hello.field_count - fields.length;
    add("values", "fields of the log" + (left ? ", without the last " + left : ""), fields.flatMap(([name, unit, offset, count]) => Array.from({ length: count }, (_, k) => ({
        ...single(count > 1 ? name + "[" + k + "]" : name, unit.length <= 6 ? unit : "", (f) => hasValuesOfTicksNear(f) ? f.values.get(offset + k) : undefined, true),
        at: offset + k, timeOf: (f) => f.time - (f.tick - f.valuesTick) * this.hello.period,
      }))));
    return list;
  }

  fillChoice(choose) {
    choose.known = [];
    while (choose.children.length > 1) {
      choose.lastChild.remove();
    }
    for (const group of this.groups().filter((g) => g.list.length || g.isCount)) {
      const part = document.createElement("optgroup");
      part.label = group.title;
      group.list.forEach((q) => {
        const option = element("option", "", q.name + (q.unit ? " [" + q.unit + "]" : ""));
        option.value = String(choose.known.push(q) - 1);
        part.append(option);
      });
      choose.append(part);
    }
  }

  choose(q) {
    if (q && this.chosen.length < PLOT_COLOURS.light.length && !this.chosen.some((k) => k.key === q.key)) {
      this.chosen.push(q);
      this.fill();
    }
  }

  // Marks the keys of quantities of what is selected: `is` has a function for each kind of their keys.
  markSelected(is) {
    this.box.querySelectorAll(".key").forEach((e, i) => {
      const [kind, which] = this.chosen[i].key.split(" ");
      e.classList.toggle("selected", !!is[kind] && is[kind](kind === "contact" ? this.contacts.get(which) : Number(which)));
    });
  }

  // The quantities that are shown, each a button that takes it out, and the choice of another.
  fill() {
    const choose = element("select");
    choose.setAttribute("aria-label", "add a quantity to the plot");
    choose.append(element("option", "", "add \u2026"));
    choose.disabled = this.chosen.length >= PLOT_COLOURS.light.length;
    this.fillChoice(choose);
    for (const event of ["mousedown", "focus"]) {
      choose.addEventListener(event, () => this.fillChoice(choose));
    }
    choose.addEventListener("change", () => this.choose(choose.known[Number(choose.value)]));
    this.lines = [];
    this.box.replaceChildren(...this.chosen.map((q, i) => {
      const key = element("button", "key"), line = element("i");
      this.lines.push(line);
      key.title = "take it out: " + q.title;
      key.append(line, element("span", "", q.title + (q.unit ? " [" + q.unit + "]" : "")));
      key.addEventListener("click", () => {
        this.chosen.splice(i, 1);
        this.fill();
      });
      return key;
    }), choose);
    this.onchange(this.chosen.filter((q) => q.at !== undefined).map((q) => q.at));
  }

  // One strip for each unit, so that no axis has two. events: their times and whether each is a limit that was reached.
  draw(frames, now, dark, events) {
    const colours = PLOT_COLOURS[dark ? "dark" : "light"];
    this.lines.forEach((line, i) => { line.style.background = colours[i]; });
    const units = [...new Set(this.chosen.map((q) => q.unit))];
    const canvas = this.open("plot", STRIP_HEIGHT * Math.max(units.length, 1) + AXIS_HEIGHT);
    this.drawEvents(canvas, STRIP_HEIGHT * Math.max(units.length, 1), events, now);
    units.forEach((unit, k) => {
      const list = this.chosen.map((q, i) => ({ q, colour: colours[i] })).filter((s) => s.q.unit === unit);
      this.drawStrip(canvas, STRIP_HEIGHT * k, unit, list, frames, now);
    });
    this.drawTimes(canvas, now);
  }

  // Wake latency and computing time: the longest of the ticks of each frame, by their logarithm, and the period.
  drawLatency(frames, now, colours) {
    const canvas = this.open("latency-time", STRIP_HEIGHT + AXIS_HEIGHT), period = Math.log10(this.hello.period * 1e6);
    const list = ["compute", "wake"].map((name, i) => ({ colour: colours[i], q: { of: (f) => {
      const decade = Math.log10(Math.max(f[name] / 1000, 0.1)); // a log that tact did not write may have any number
      return Number.isFinite(decade) ? [decade, decade] : undefined;
    } } }));
    const decades = (values) => {
      const all = values.flat(2).filter((v) => v !== undefined); // these may be more than a call takes as arguments
      const low = Math.floor(all.reduce((a, v) => Math.min(a, v), 0)), high = Math.ceil(all.reduce((a, v) => Math.max(a, v), Math.max(2, period)));
      return [low, high, Array.from({ length: high - low + 1 }, (_, k) => [low + k, String(Number((10 ** (low + k)).toPrecision(1)))])];
    };
    const y = this.drawStrip(canvas, 0, "\u00b5s", list, frames, now, decades);
    canvas.g.strokeStyle = canvas.limit;
    canvas.g.beginPath();
    canvas.g.moveTo(AXIS_WIDTH, y(period));
    canvas.g.lineTo(canvas.w, y(period));
    canvas.g.stroke();
    this.drawTimes(canvas, now);
  }

  // A line across all strips at each event.
  drawEvents({ g, w, ink, limit }, bottom, events, now) {
    for (const { time, isLimit } of events.filter((e) => e.time >= now - PLOT_SECONDS && e.time <= now)) {
      g.fillStyle = isLimit ? limit : ink;
      g.globalAlpha = 0.5;
      g.fillRect(Math.round(w - (w - AXIS_WIDTH) * (now - time) / PLOT_SECONDS), 14, 1, bottom - 18);
    }
    g.globalAlpha = 1;
  }

  // From where the plot begins, or where the session does.
  drawTimes({ g, w, h, ink }, now) {
    const from = Math.max(now - PLOT_SECONDS, 0), x = AXIS_WIDTH + (w - AXIS_WIDTH) * (1 - (now - from) / PLOT_SECONDS);
    g.fillStyle = ink;
    g.fillText(figure(from, 1) + " s", Math.min(x, w - 80), h - 3);
    g.textAlign = "right";
    g.fillText(figure(now, 1) + " s", w, h - 3);
    g.textAlign = "left";
  }

  // Bands from the least to the largest value of each frame: no peak of a tick is left out. scale: the lower and upper end
  // of the axis and its marks, from all values. Returns where a value is.
  drawStrip({ g, w, ink, line }, top, unit, list, frames, now, scale) {
    const from = now - PLOT_SECONDS, seen = framesBetween(frames, from, now), values = list.map((s) => seen.map((f) => s.q.of(f)));
    const range = scale ? null : rangeOf(values, list.every((s) => s.q.free)), upper = top + 14, bottom = top + STRIP_HEIGHT - 4;
    const [low, high, marks] = scale ? scale(values) : [...range, marksOf(...range)];
    const timeOf = list.map((s) => s.q.timeOf || ((f) => f.time));
    const x = (t) => AXIS_WIDTH + (w - AXIS_WIDTH) * Math.min(Math.max(t - from, 0) / PLOT_SECONDS, 1), y = (v) => bottom - (bottom - upper) * (v - low) / (high - low);
    g.strokeStyle = line;
    g.fillStyle = ink;
    g.fillText(unit, AXIS_WIDTH, top + 10);
    for (const [v, text] of marks) {
      g.beginPath();
      g.moveTo(AXIS_WIDTH, y(v));
      g.lineTo(w, y(v));
      g.stroke();
      g.fillText(text, 0, y(v) + 4);
    }
    values.forEach((series, i) => {
      g.strokeStyle = list[i].colour;
      g.beginPath();
      let before = false;
      series.forEach((v, k) => {
        if (v) {
          const at = x(timeOf[i](seen[k]));
          before ? g.lineTo(at, y(v[0])) : g.moveTo(at, y(v[0]));
          g.lineTo(at, y(v[1]));
        }
        before = !!v;
      });
      g.stroke();
    });
    return y;
  }
}
