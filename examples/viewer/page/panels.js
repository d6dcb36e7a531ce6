// What stands beside the scene: contacts with their limits, devices, joints, a plot, the latency.
// Names come from scenes and logs of anybody: they are text, and never markup.
"use strict";

function element(tag, className, text) {
  const e = document.createElement(tag);
  if (className) {
    e.className = className;
  }
  if (text !== undefined) {
    e.textContent = text;
  }
  return e;
}

// Five digits at most, and no "-0".
function figure(value, digits) {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? (0).toFixed(digits) : text;
}

// A force with three digits.
function inNewtons(force) {
  return Number(force.toPrecision(3)) + " N";
}

// A torsion with three digits, and the unit that gives it one to three before the point.
function inNewtonMetres(torsion) {
  const [scale, unit] = torsion >= 0.9995 ? [1, "N m"] : torsion >= 0.9995e-3 ? [1e3, "mN m"] : [1e6, "\u00b5N m"];
  return Number((scale * torsion).toPrecision(3)) + " " + unit;
}

// The largest of 1, 2 and 5 times a power of ten that is not above a value.
function roundDown(value) {
  const power = 10 ** Math.floor(Math.log10(value)), digit = [5, 2, 1].find((d) => d * power <= value * (1 + 1e-12)) || 1;
  return Number((digit * power).toPrecision(1));
}

// A pressure with the unit that gives it one to three digits before the point.
function inPascals(pressure) {
  const [scale, unit] = pressure >= 999.5e3 ? [1e-6, "MPa"] : pressure >= 999.5 ? [1e-3, "kPa"] : [1, "Pa"];
  return Number((scale * pressure).toPrecision(3)) + " " + unit;
}

// A contact, or a piece of one, whatever others touch.
function contactKey(contact) {
  return contact.pair + "." + contact.piece;
}

// Numbers the shapes of each owner from 1; `siblings`: how many the owner has.
function numberShapes(shapes) {
  const counts = new Map();
  shapes.forEach((s) => {
    s.number = (counts.get(s.owner) || 0) + 1;
    counts.set(s.owner, s.number);
  });
  shapes.forEach((s) => { s.siblings = counts.get(s.owner); });
}

const MAX_ROWS = 40; // of the list of contacts
const MAX_EVENTS = 500; // marked on the time line
const THUMB = 16; // width of the handle of the time line [pixels]

// The events of a session: marks on the time line and a list, the newest first.
class Events {
  constructor(onseek) {
    this.onseek = onseek;
    this.marks = [];
    this.table = document.getElementById("events");
    this.line = document.getElementById("marks");
  }

  // Those of a log, of which the first are listed.
  setScene(hello) {
    this.period = hello.period;
    this.marks = [];
    this.table.replaceChildren();
    this.line.replaceChildren();
    (hello.events || []).forEach(([tick, name, text]) => this.add(tick, name, text));
    const left = (hello.event_count || 0) - this.marks.length;
    document.getElementById("event-count").textContent = left > 0 ? left + " further ones are not listed" : "";
    document.getElementById("event-section").hidden = !this.marks.length;
  }

  add(tick, name, text) {
    const time = tick * this.period, mark = element("i"), row = element("tr"), what = element("td", "", text ? name + ": " + text : name);
    mark.title = figure(time, 3) + " s, " + what.textContent;
    const isLimit = ["fault", "slip"].includes(name);
    for (const e of [mark, what]) {
      e.classList.toggle("limit", isLimit);
    }
    row.append(element("td", "number quiet", figure(time, 3) + " s"), what);
    for (const e of [mark, row]) {
      e.addEventListener("click", () => this.onseek(time));
    }
    this.line.append(mark);
    // A slip is known once its way is long enough, and has the tick in which it began.
    const later = this.marks.findLastIndex((m) => m.time <= time);
    this.table.insertBefore(row, later < 0 ? null : this.marks[later].row);
    this.marks.splice(later + 1, 0, { time, isLimit, mark, row });
    if (this.marks.length > MAX_EVENTS) {
      const old = this.marks.shift();
      old.mark.remove();
      old.row.remove();
    }
    document.getElementById("event-section").hidden = false;
  }

  // The time line goes from `first` to `last` [s].
  draw(first, last) {
    for (const { time, mark } of this.marks) {
      const share = last > first ? (time - first) / (last - first) : 0;
      mark.hidden = !(share >= 0 && share <= 1);
      mark.style.left = `calc(${THUMB / 2}px + (100% - ${THUMB}px) * ${share})`;
    }
  }
}

class Panels {
  constructor(onvalues) {
    this.rows = new Map();
    this.joints = [];
    this.devices = [];
    this.byId = (id) => document.getElementById(id);
    this.plots = new Plots((id, height) => this.open(id, height), onvalues);
  }

  setScene(hello) {
    this.hello = hello;
    numberShapes(hello.shapes);
    this.rows.clear();
    this.byId("contacts").replaceChildren();
    this.joints = this.table("joints", hello.joints.map((j) => j.name));
    this.joints.forEach((value, i) => value.parentNode.addEventListener("click", () => {
      const shape = hello.shapes.find((s) => s.link === i);
      this.onselect(shape ? { owner: shape.owner } : null);
    }));
    this.devices = this.table("devices", hello.devices);
    this.byId("joint-section").hidden = !hello.joints.length;
    this.byId("device-section").hidden = !hello.devices.length;
    this.plots.setScene(hello, (contact) => this.contactName(contact));
  }

  table(id, names) {
    const body = this.byId(id);
    body.replaceChildren();
    return names.map((name) => {
      const row = element("tr"), value = element("td", "value");
      row.append(element("td", "", name), value);
      body.append(row);
      return value;
    });
  }

  // Of an owner with several shapes it says which one touches: two contacts between the same owners have different names.
  contactName(contact) {
    const shapes = this.hello.shapes, piece = contact.piece ? ", piece " + contact.piece : "";
    const name = (s) => !s ? "?" : s.owner + (s.siblings > 1 ? ", shape " + s.number : "");
    return name(shapes[contact.a]) + " / " + name(shapes[contact.b]) + piece;
  }

  makeRow(contact) {
    const row = element("div", "contact"), title = element("div", "title"), says = element("div", "says");
    const name = element("span", "", this.contactName(contact)), force = element("span", "number");
    name.title = name.textContent;
    const pressure = element("div", "pressure quiet");
    title.append(name, force);
    row.append(title, says, pressure);
    const bars = MARGINS.map((label) => {
      const bar = element("div", "bar"), fill = element("div", "fill"), share = element("span", "share"), track = element("div", "track");
      track.append(fill);
      bar.append(element("span", "quiet", label), track, share);
      row.append(bar);
      return { bar, fill, share };
    });
    row.addEventListener("click", () => this.onselect(row.entry));
    return { row, force, says, pressure, bars };
  }

  // The contacts that have a row: of more than there are rows for, the selected ones, those at a limit, and those with the
  // largest forces. A row is left to its contact until another has a quarter more.
  chooseContacts(frame, selected) {
    if (frame.contacts.length <= MAX_ROWS) {
      return frame.contacts;
    }
    const rank = frame.contacts.map((c) => ({ c, first: this.isSelected(c, selected), reached: describeContact(c)[1] && c.normal > 0,
      force: c.normal * (this.rows.has(contactKey(c)) ? 1.25 : 1) }));
    rank.sort((a, b) => b.first - a.first || b.reached - a.reached || b.force - a.force);
    return rank.slice(0, MAX_ROWS).map((r) => r.c);
  }

  isSelected(contact, selected) {
    const { shapes } = this.hello;
    return !!selected && (selected.pair === contact.pair || [contact.a, contact.b].some((i) => shapes[i].owner === selected.owner));
  }

  // Joints and keys of the plot that belong to what is selected.
  markSelected(selected) {
    const { shapes } = this.hello;
    const owns = (owner) => !!selected && (selected.owner === owner || (selected.owners || []).includes(owner));
    const links = new Set(shapes.filter((s) => s.link >= 0 && owns(s.owner)).map((s) => s.link));
    this.joints.forEach((value, i) => value.parentNode.classList.toggle("selected", links.has(i)));
    this.plots.markSelected({ contact: (c) => this.isSelected(c, selected), joint: (i) => links.has(i), shape: (i) => owns(shapes[i].owner) });
  }

  // Rows stay where they are: of pairs that touch no longer they are taken away.
  drawContacts(frame, selected) {
    const list = this.byId("contacts"), here = new Set(), shown = this.chooseContacts(frame, selected);
    const count = frame.contacts.length + frame.leftOut;
    this.byId("contact-count").textContent = count > shown.length ? shown.length + " of " + count : String(count);
    this.byId("contact-count").title = count > shown.length ? "selected, at a limit, or with the largest forces" : "";
    for (const contact of shown) {
      const key = contactKey(contact);
      here.add(key);
      if (!this.rows.has(key)) {
        this.rows.set(key, this.makeRow(contact));
        list.append(this.rows.get(key).row);
      }
      this.drawRow(this.rows.get(key), contact, selected);
    }
    for (const [key, row] of this.rows) {
      if (!here.has(key)) {
        row.row.remove();
        this.rows.delete(key);
      }
    }
  }

  drawRow(row, contact, selected) {
    const shapes = this.hello.shapes, [words, reached] = describeContact(contact);
    row.row.entry = { pair: contact.pair, owners: [shapes[contact.a].owner, shapes[contact.b].owner] };
    row.row.classList.toggle("selected", this.isSelected(contact, selected));
    row.force.textContent = figure(contact.normal, 3) + " N";
    row.says.textContent = words;
    row.pressure.hidden = !contact.map;
    row.pressure.textContent = contact.map ? "pressure: peak " + inPascals(contact.peak) + ", total " + figure(contact.map.load, 3) + " N" +
      (contact.map.drawn ? "" : ", without room in the map") : "";
    row.says.classList.toggle("limit", reached);
    contact.margins.forEach((margin, i) => {
      const used = usedShare(margin), needed = neededShare(margin), bar = row.bars[i], isWithout = i > 0 && isWithoutLimit(margin);
      bar.bar.hidden = (i === 5 && margin >= 1) || (i === 0 && used <= 0);
      bar.bar.className = "bar" + (used >= 1 ? " limit" : used > 0.8 ? " high" : "");
      bar.fill.style.width = 100 * used + "%";
      bar.share.textContent = isWithout ? "none" : inPercent(used) + " %";
      bar.bar.title = isWithout ? "the contact transmits none" : needed > 1 ? "to stop all motion: " + (needed < 1000 ? Number(needed.toPrecision(3)) : "over 1000") + " times this limit" : "";
    });
  }

  drawTables(frame) {
    frame.joints.forEach((j, i) => {
      const slides = this.hello.joints[i].slides, scale = slides ? 1000 : 180 / Math.PI;
      this.joints[i].textContent = figure(j.q * scale, 1) + (slides ? " mm, " : "\u00b0, ") + figure(j.torque, 3) + (slides ? " N" : " N m") +
        (j.stop < 0 ? ", at its lower stop" : j.stop > 0 ? ", at its upper stop" : "");
      this.joints[i].classList.toggle("limit", j.stop !== 0);
    });
    frame.devices.forEach((state, i) => {
      this.devices[i].textContent = DEVICE_STATES[state] || "?";
      this.devices[i].classList.toggle("limit", ["stale", "lost"].includes(DEVICE_STATES[state]));
    });
  }

  // A canvas at the screen's own resolution; its size in CSS pixels.
  open(id, h) {
    const canvas = this.byId(id), ratio = window.devicePixelRatio || 1, w = canvas.clientWidth;
    if (canvas.width !== Math.round(w * ratio) || canvas.style.height !== h + "px") {
      canvas.width = Math.round(w * ratio);
      canvas.height = Math.round(h * ratio);
      canvas.style.height = h + "px";
    }
    const g = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, w, h);
    g.font = "11px system-ui, sans-serif";
    return { g, w, h, ink: style.getPropertyValue("--quiet"), line: style.getPropertyValue("--line"), limit: style.getPropertyValue("--limit"), used: style.getPropertyValue("--used") };
  }

  // Bins of ten a decade from 0.1 us on; counts by their logarithm.
  drawLatency(frames, frame) {
    const { g, w, h, ink, line, limit, used } = this.open("latency", 110), bins = frame.computeBins.length, bottom = h - 16;
    const most = Math.max(10, ...frame.computeBins, ...frame.wakeBins), x = (i) => w * i / bins;
    const y = (n) => n ? bottom - (bottom - 4) * (0.08 + 0.92 * Math.log(n) / Math.log(most)) : bottom;
    g.fillStyle = ink;
    for (let decade = 0; 10 * decade < bins; decade++) {
      g.fillText(["0.1", "1", "10", "100", "1000 \u00b5s", "10\u2074", "10\u2075"][decade] || "", x(10 * decade), h - 3);
    }
    [[frame.computeBins, used], [frame.wakeBins, ink]].forEach(([counts, colour], which) => {
      g.strokeStyle = colour;
      g.fillStyle = colour;
      g.globalAlpha = which ? 1 : 0.55;
      for (let i = 0; i < bins; i++) {
        if (counts[i] && !which) {
          g.fillRect(x(i), y(counts[i]), w / bins - 1, bottom - y(counts[i]));
        } else if (counts[i]) {
          g.strokeRect(x(i) + 0.5, y(counts[i]), w / bins - 2, bottom - y(counts[i]));
        }
      }
    });
    g.globalAlpha = 1;
    const at = bins * 0.1 * (Math.log10(this.hello.period * 1e6) + 1) / (bins / 10);
    g.strokeStyle = limit;
    g.beginPath();
    g.moveTo(w * at / (bins / 10), 0);
    g.lineTo(w * at / (bins / 10), bottom);
    g.stroke();
    g.strokeStyle = line;
    this.plots.drawLatency(frames, frame.time, [used, ink]);
    this.byId("latency-text").textContent = "above: counts of all ticks, below: longest of each frame; blue: compute, grey: wake-up, " +
      "red: period; missed " + frame.missed;
  }
}
