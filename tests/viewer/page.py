#!/usr/bin/env python3
"""page.py TACT SOURCE [FOLDER]: the page of `tact view` in a headless Chromium: what it draws and where, its numbers
beside the log's, what it says of a slip, plots of any field, deadman and moments, pause, steps, seeking, selection,
and text of others as text. FOLDER takes the screenshots."""
import base64
import csv
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

from common import Viewer, messages_of, open_counted, pixels, sim, sim_many, sim_soft, sim_triangles, skip
from devtools import Browser

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli"))
from hostile import STRINGS  # noqa: E402

# Of a page, and the 40 of logs and scenes as a page gets them: a text that is no UTF-8 is no message.
HOSTILE = ["<img src=x onerror=window.owned=1>", "</script><script>window.owned=1</script>", "'\"><svg/onload=window.owned=1>",
           "javascript:window.owned=1", "{{7*7}}", "&lt;b&gt;", "a\u202eb", *(s.decode("utf-8", "replace") for s in STRINGS)]


def show(browser, tick):
    """Seeks, and waits for that tick; its frame without the arrays."""
    browser.evaluate(f"send({{op: 'seek', tick: {tick}}}), 1")
    browser.wait(f"tactPage.frames.length && tactPage.frames[tactPage.shown].tick === {tick} && !tactPage.dirty")
    return json.loads(browser.evaluate(
        "JSON.stringify(tactPage.frames[tactPage.shown], (k, v) => ArrayBuffer.isView(v) ? undefined : v)"))


def logged(tact, log, folder):
    """Rows of the log by tick."""
    path = os.path.join(folder, "log.csv")
    subprocess.run([tact, "export", log, "--csv", path, "--force"], check=True, stdout=subprocess.DEVNULL)
    with open(path, encoding="utf-8") as file:
        return {int(float(row["tick"])): row for row in csv.DictReader(file)}


def check_numbers(browser, rows):
    """Forces, margins, joints and poses of the page are those of the log."""
    for tick in (900, 2500, 4000):
        frame, row = show(browser, tick), rows[tick]
        assert len(frame["contacts"]) == 2, frame
        for contact, name in zip(frame["contacts"], ("ruler_pinch_left_distal", "ruler_pinch_right_distal")):
            wrench = [float(row[f"{name}_wrench[{i}]"]) for i in range(6)]
            normal = [float(row[f"{name}_patch[{3 + i}]"]) for i in range(3)]
            force = sum(a * b for a, b in zip(wrench[:3], normal))
            assert abs(contact["normal"] - force) <= 1e-12 * abs(force), (tick, contact["normal"], force)
            margins = [float(row[f"{name}_margins[{i}]"]) for i in range(6)]
            assert contact["margins"] == margins, (tick, contact["margins"], margins)
        left = float(row["pinch_position[left_distal]"])
        assert any(j["q"] == left for j in frame["joints"]), (tick, left)
    assert all(j["stop"] == 0 for j in frame["joints"]), frame["joints"]
    shown = browser.evaluate("""(() => {
      const frame = tactPage.frames[tactPage.shown], text = () => [...document.querySelectorAll("#joints td.value")].map((e) => [e.textContent, e.className]);
      tactPage.panels.drawTables({ ...frame, joints: frame.joints.map((j, i) => ({ ...j, stop: i < 3 ? i - 1 : 0 })) });
      return text();
    })()""")
    for (text, kind), stop in zip(shown, ("lower", "", "upper", "")):
        assert text.endswith(f", at its {stop} stop") == bool(stop) == ("limit" in kind), shown
    assert browser.evaluate("[figure(-1e-9, 3), figure(-0.0006, 3), figure(-0.4, 0)]") == ["0.000", "-0.001", "0"]
    text = browser.evaluate("document.getElementById('contacts').textContent")
    assert "ruler / pinch.left_distal" in text and f"{force:.3f} N" in text, text


def check_plots(browser, rows):
    """Everything that frames have can be plotted, the fields of the log by asking for them; axes by unit."""
    groups = json.loads(browser.evaluate("JSON.stringify(tactPage.panels.plots.groups().map((g) => [g.title, g.list.map((q) => q.title)]))"))
    titles = [title for _, list_ in groups for title in list_]
    assert len(set(titles)) == len(titles) > 250, len(titles)
    for title in ("residual", "deadman: 1 held", "age of moments", "ruler / pinch.left_distal: torsion, used",
                  "ruler / pinch.right_distal: centre of pressure z", "pinch.left_distal: target", "ruler, shape 1: quaternion w", "operator"):
        assert title in titles, (title, titles)
    frame = show(browser, 2500)
    missing = browser.evaluate("""JSON.stringify(tactPage.panels.plots.groups().flatMap((g) => g.list).filter((q) => q.at === undefined &&
        !q.of(tactPage.frames[tactPage.shown])).map((q) => q.title))""")
    assert all("integral of pressure" in title for title in json.loads(missing)), missing
    browser.evaluate("""(() => {
        const plots = tactPage.panels.plots, all = plots.groups().flatMap((g) => g.list);
        for (const title of ["ruler / pinch.left_distal: friction", "ruler / pinch.left_distal: torsion", "pinch_position[1]", "solver[1]"]) {
          plots.choose(all.find((q) => q.title === title));
        }
        return plots.chosen.length;
    })()""")
    browser.wait("tactPage.panels.plots.chosen.length === 5 && !!tactPage.frames[tactPage.shown].values")
    frame = show(browser, 2501)
    got = json.loads(browser.evaluate("JSON.stringify(tactPage.panels.plots.chosen.map((q) => q.of(tactPage.frames[tactPage.shown])[0]))"))
    contact = frame["contacts"][0]
    assert got[1:3] == [contact["friction"], contact["torsion"]] and got[4] == frame["iterations"], (got, contact)
    assert abs(got[3] - float(rows[2501]["pinch_position[left_distal]"])) < 1e-6, got
    # A value of a record is drawn at its own tick's time; one that is of before a seek is not drawn.
    times = browser.evaluate("""(() => {
        const q = tactPage.panels.plots.chosen[4], frame = { ...tactPage.frames[tactPage.shown], ticks: 17 };
        const late = { ...frame, valuesTick: frame.tick - 8 }, old = { ...frame, valuesTick: frame.tick - 40 };
        return [frame.valuesTick, frame.time, q.timeOf(frame), q.timeOf(late), q.of(late) !== undefined, q.of(old) === undefined];
    })()""")
    assert times[0] == 2501 and times[1] == times[2] and abs(times[3] - 2.493) < 1e-9 and times[4:] == [True, True], times
    assert browser.evaluate("document.getElementById('plot').style.height") == "316px"  # N, N m, and two without unit
    assert "add" in browser.evaluate("document.querySelector('#plot-keys select').textContent")
    # Counts of ticks have an axis of their own, and so has each unit.
    strips = json.loads(browser.evaluate("""(() => {
        const plots = tactPage.panels.plots, draw = plots.drawStrip, strips = [];
        plots.choose(plots.groups()[0].list.find((q) => q.unit === "ticks"));
        plots.drawStrip = (canvas, top, unit, list) => { strips.push([top, list.map((s) => s.q.unit)]); };
        plots.draw(tactPage.frames, 2.5, false, []);
        plots.drawStrip = draw;
        return JSON.stringify(strips);
    })()"""))
    assert [units for _, units in strips] == [["N", "N"], ["N m"], ["", ""], ["ticks"]], strips
    assert len({top for top, _ in strips}) == 4, strips
    browser.evaluate("while (tactPage.panels.plots.chosen.length > 1) { document.querySelectorAll('#plot-keys .key')[1].click(); }")
    show(browser, 2502)
    browser.wait("!tactPage.frames[tactPage.shown].values")


def check_states(browser):
    """Deadman, and source and age of the moments."""
    show(browser, 2500)
    text = "document.getElementById('rates').textContent"
    assert browser.evaluate(text).endswith("moments: host"), browser.evaluate(text)
    assert browser.evaluate("document.getElementById('rates').title").startswith("source of moments: ")
    assert browser.evaluate("document.getElementById('deadman').textContent") == "deadman held"
    assert browser.evaluate("document.getElementById('deadman').title") == "operator.deadman"
    browser.evaluate("Object.assign(tactPage.frames[tactPage.shown], { deadman: false, age: 2 }), tactPage.hello.source = 'opencl: x', tactPage.dirty = true, 1")
    browser.wait("!tactPage.dirty")
    assert browser.evaluate(text).endswith("moments: opencl, 2 ticks old"), browser.evaluate(text)
    assert browser.evaluate("document.getElementById('rates').title") == "source of moments: opencl: x"
    assert browser.evaluate("document.getElementById('deadman').textContent") == "deadman released"
    browser.evaluate("tactPage.hello.source = 'host', 1")


def check_pixels(browser):
    """The ruler, its patch and the arrow of the force are where the numbers say."""
    frame = show(browser, 4000)
    browser.evaluate("setDark(false), turn(-Math.PI / 2, 0.05), 1")
    contact = frame["contacts"][0]
    beside = [contact["centre"][0] + 0.06, contact["centre"][1], contact["centre"][2]]
    solid, ground = pixels(browser, [beside, [beside[0], beside[1], beside[2] + 0.05]])
    assert max(ground) - min(ground[:3]) < 20 and min(ground[:3]) > 230, ground
    assert solid[0] > solid[2] + 30, solid  # the ruler is ochre
    [hidden] = pixels(browser, [contact["pressure"]])
    browser.evaluate("toggle('patches'), toggle('forces'), toggle('torsion'), 1")
    [bare] = pixels(browser, [contact["pressure"]])
    browser.evaluate("toggle('patches'), toggle('forces'), toggle('torsion'), 1")
    assert sum(abs(a - b) for a, b in zip(hidden, bare)) > 30, (hidden, bare)


def check_force(browser, rows):
    """The arrow of each force by itself, from the side: red at the middle of its shaft, and neither beside it nor beyond its
    ends, which are where the log's force is to the scale of the largest."""
    frame = show(browser, 4000)
    browser.evaluate("setDark(false), toggle('solids'), toggle('patches'), toggle('torsion'), turn(0, 0.05), 1")
    browser.wait("!tactPage.dirty")
    scale, thick = browser.evaluate("[0.2 * tactPage.stage.distance / tactPage.stage.longestForce, 0.02 * tactPage.stage.distance]")
    for i, name in enumerate(("ruler_pinch_left_distal", "ruler_pinch_right_distal")):
        along = [scale * float(rows[4000][f"{name}_wrench[{k}]"]) for k in range(3)]
        contact = frame["contacts"][i]
        tail = [p - a if contact["pushes"] else p for p, a in zip(contact["pressure"], along)]
        places = [[t + share * a for t, a in zip(tail, along)] for share in (0.4, 0.7, 1.15, -0.15, 0.4)]
        places[-1][2] += thick
        alone = f"s.frame = {{...s.frame, contacts: [tactPage.frames[tactPage.shown].contacts[{i}]]}};"
        red = [colour[0] > 100 and colour[0] > 60 + max(colour[1:3]) for colour in pixels(browser, places, alone)]
        assert red == [True, True, False, False, False], (name, red, along)
        [bare] = pixels(browser, places[:1], alone + "s.shown.forces = false;")
        browser.evaluate("tactPage.stage.shown.forces = true, 1")
        assert min(bare[:3]) > 230, bare
    browser.evaluate("toggle('solids'), toggle('patches'), toggle('torsion'), turn(-Math.PI / 2, 0.05), 1")
    browser.wait("!tactPage.dirty")


def check_events(browser, tact, log):
    """The events of a log are those of tact info: in the list, on the time line where they belong, and a click goes there."""
    info = json.loads(subprocess.run([tact, "info", log, "--json"], capture_output=True, text=True, check=True).stdout)
    found = info["events"]
    assert found and browser.evaluate("tactPage.hello.events") == [[e["tick"], e["name"], e["text"]] for e in found], found
    listed = browser.evaluate("[...document.querySelectorAll('#events tr')].map((e) => e.textContent)")
    period = browser.evaluate("tactPage.hello.period")
    assert listed == [f"{e['tick'] * period:.3f} s{e['name']}: {e['text']}" for e in reversed(sorted(found, key=lambda e: e["tick"]))], listed
    show(browser, 4000)
    inked = json.loads(browser.evaluate("""(() => { // columns of the plot without numbers whose middle is drawn on, between the lines of the axis
        const canvas = byId("plot"), width = canvas.width, first = 0.2 * width;
        tactPage.panels.plots.draw([], 4, false, tactPage.events.marks);
        const bare = canvas.getContext("2d").getImageData(0, 30, width, 1).data;
        return JSON.stringify(Array.from({ length: width }, (_, x) => x).filter((x) => x > first && bare[4 * x + 3] > 0));
    })()"""))
    width = browser.evaluate("byId('plot').clientWidth")
    assert inked == [round(width - (width - 54) * (4 - e["tick"] * period) / 10) for e in found], (inked, found)
    for i, event in enumerate(found):
        show(browser, 4000)
        box = browser.evaluate(f"""(() => {{
            const mark = document.querySelectorAll('#marks i')[{i}].getBoundingClientRect(), line = byId('timeline').getBoundingClientRect();
            return [mark.left + mark.width / 2, line.left, line.width, mark.top + 2];
        }})()""")
        share = (event["tick"] - info["first_tick"]) / (info["last_tick"] - info["first_tick"])
        assert abs(box[0] - (box[1] + 8 + (box[2] - 16) * share)) < 1.5, (box, share)
        browser.click(box[0], box[3])
        browser.wait(f"tactPage.frames[tactPage.shown].tick === {event['tick']}")


def check_hands(browser):
    """Keys, steps, selection by a click on the page."""
    browser.evaluate("send({op: 'pause'}), 1")
    show(browser, 3000)
    browser.key(".")
    browser.wait("tactPage.frames[tactPage.shown].tick === 3001")
    browser.key(",")
    browser.wait("tactPage.frames[tactPage.shown].tick === 3000")
    browser.key(" ")
    browser.wait("tactPage.frames[tactPage.shown].tick > 3050")
    browser.key(" ")
    browser.wait("tactPage.paused")
    frame = show(browser, 3000)
    x, y = browser.evaluate(f"tactPage.stage.project({json.dumps([0.12, 0.0, 0.0])})")
    left, top = browser.evaluate("(() => { const b = tactPage.stage.canvas.getBoundingClientRect(); return [b.left, b.top]; })()")
    browser.click(left + x, top + y)
    browser.wait("tactPage.stage.selected && tactPage.stage.selected.owner === 'ruler'")
    browser.wait("document.querySelectorAll('.contact.selected').length === 2")
    browser.key("Escape")
    browser.wait("!tactPage.stage.selected")
    legend = "document.getElementById('legend-text').textContent"
    assert "out of view" not in browser.evaluate(legend)
    browser.evaluate("tactPage.stage.followed = [], tactPage.stage.middle = [9, 9, 9], tactPage.dirty = true, 1")
    browser.wait(f"{legend}.endsWith('3 out of view, f fits')")
    browser.key("f")
    browser.wait(f"!{legend}.includes('out of view')")
    # A ruler whose origin is beyond the edge of the view and whose end is in it is not out of view, unlike the links.
    browser.evaluate("tactPage.stage.followed = [], tactPage.stage.middle = [0.14, 0, 0], tactPage.stage.distance = 0.05, tactPage.dirty = true, 1")
    browser.wait("!tactPage.dirty")
    width, origin = browser.evaluate("[tactPage.stage.canvas.clientWidth, tactPage.stage.project([0, 0, 0])]")
    assert not 0 <= origin[0] <= width, (origin, width)
    browser.wait(f"{legend}.endsWith('2 out of view, f fits')")
    browser.key("f")
    browser.wait(f"!{legend}.includes('out of view')")
    # A click on a contact in the scene, seen from near, and one in its row.
    browser.evaluate("tactPage.stage.followed = [], tactPage.stage.middle = tactPage.frames[tactPage.shown].contacts[0].centre, tactPage.stage.distance = 0.1, turn(-0.3, 0.3), 1")
    browser.wait("!tactPage.dirty")
    for which in (0, 1):
        x, y = browser.evaluate(f"tactPage.stage.project(tactPage.frames[tactPage.shown].contacts[{which}].centre)")
        browser.click(left + x, top + y)
        browser.wait(f"tactPage.stage.selected && tactPage.stage.selected.pair === tactPage.frames[tactPage.shown].contacts[{which}].pair")
        browser.wait(f"document.querySelectorAll('.contact')[{which}].classList.contains('selected')")
        assert browser.evaluate("document.querySelectorAll('.contact.selected').length") == 1
        browser.key("Escape")
    browser.key("f")
    browser.key("1")
    browser.evaluate("document.querySelectorAll('.contact')[1].click(), 1")
    browser.wait("tactPage.stage.selected.pair === tactPage.frames[tactPage.shown].contacts[1].pair")
    browser.wait("document.querySelectorAll('.contact.selected').length === 1")
    browser.key("Escape")
    browser.wait("!tactPage.stage.selected")
    assert frame["contacts"][0]["limits"] == 0


def check_selected(browser):
    """A click on a joint selects its link in the scene, in the lists, and in the keys of the plot, and nothing else."""
    show(browser, 3000)
    keys = ["ruler / pinch.left_distal: torsion", "ruler / pinch.right_distal: torsion", "pinch.left_distal: value",
            "pinch.right_distal: value", "ruler, shape 1: x"]
    browser.evaluate(f"""(() => {{
        const plots = tactPage.panels.plots, all = plots.groups().flatMap((g) => g.list);
        {json.dumps(keys)}.forEach((title) => plots.choose(all.find((q) => q.title === title)));
    }})()""")
    state = """[[...document.querySelectorAll("#joints tr.selected td:first-child")], [...document.querySelectorAll(".contact.selected .title span:first-child")],
        [...document.querySelectorAll(".key.selected span")]].map((list) => list.map((e) => e.textContent.replace(/ \\[.*/, "")))"""
    names = browser.evaluate("[...document.querySelectorAll('#joints td:first-child')].map((e) => e.textContent)")
    browser.evaluate(f"document.querySelectorAll('#joints tr')[{names.index('pinch.left_distal')}].click(), 1")
    browser.wait("!tactPage.dirty && tactPage.stage.selected && tactPage.stage.selected.owner === 'pinch.left_distal'")
    found = browser.evaluate(state)
    assert found == [["pinch.left_distal"], ["ruler / pinch.left_distal"], [keys[0], keys[2]]], found
    browser.evaluate("select({owner: 'ruler'}), 1")
    browser.wait("!tactPage.dirty")
    found = browser.evaluate(state)
    assert found == [[], ["ruler / pinch.left_distal", "ruler / pinch.right_distal"], [keys[0], keys[1], keys[4]]], found
    browser.key("Escape")
    browser.wait("!tactPage.dirty && !tactPage.stage.selected")
    assert browser.evaluate(state) == [[], [], []]
    browser.evaluate("while (tactPage.panels.plots.chosen.length > 1) { document.querySelectorAll('#plot-keys .key')[1].click(); }")


def check_keys(browser):
    """Every key that the help lists: views, toggles, dark and light, speed, the help itself; dragging and the wheel."""
    def state():
        return json.loads(browser.evaluate("""JSON.stringify({ shown: tactPage.stage.shown, dark: document.documentElement.classList.contains("dark"),
            view: [tactPage.stage.azimuth, tactPage.stage.elevation], middle: tactPage.stage.middle, distance: tactPage.stage.distance,
            speed: document.getElementById("speed").value, help: document.getElementById("help").open })"""))
    keys = browser.evaluate("Object.keys(KEYS)")
    listed = browser.evaluate("[...document.querySelectorAll('#help th')].map((e) => e.textContent)")
    words = {word for line in listed for word in line.split()}
    names = {" ": "space", "Escape": "esc"}
    assert all(names.get(key, key) in words for key in keys if key != "?"), (keys, listed)
    views = []
    for key in "123":
        browser.key(key)
        views.append([round(angle, 2) for angle in state()["view"]])
    assert views == [[-1.57, 0.05], [0.0, 0.05], [-1.57, 1.5]], views
    for key, name in (("s", "solids"), ("p", "patches"), ("o", "forces"), ("t", "torsion")):
        for on in (False, True):
            browser.key(key)
            assert state()["shown"][name] == on == browser.evaluate(f"document.getElementById('show-{name}').checked"), (name, on)
    dark = state()["dark"]
    for expected in (not dark, dark):
        browser.key("d")
        assert state()["dark"] == expected
    for key, speed in (("]", "2"), ("]", "10"), ("]", "10"), ("[", "2"), ("[", "1")):
        browser.key(key)
        assert state()["speed"] == speed, (key, speed)
    browser.key("?")
    assert state()["help"]
    browser.key("Escape")
    assert not state()["help"]
    before = state()
    browser.drag((300, 300), (360, 320))
    turned = state()
    assert turned["view"] != before["view"] and turned["middle"] == before["middle"], (before, turned)
    browser.drag((300, 300), (360, 320), shift=True)
    moved = state()
    assert moved["view"] == turned["view"] and moved["middle"] != turned["middle"], (turned, moved)
    browser.wheel(300, 300, -120)
    browser.wait(f"tactPage.stage.distance < {moved['distance']}")
    browser.key("f")
    browser.wait("!tactPage.dirty")


def shoot(browser, path):
    """A picture of the ruler after it was lifted, with what it did before in the plot."""
    browser.evaluate("turn(-1.05, 0.42), 1")
    for tick in range(100, 4601, 50):
        show(browser, tick)
    browser.evaluate("tactPage.stage.fit(), tactPage.dirty = true, 1")
    browser.wait("!tactPage.dirty")
    browser.screenshot(path)


def check_slip(tact, source, folder, browser):
    """Too little torsion: the ruler turns, and the page says why."""
    log = sim(tact, source, folder, change=[("friction: 0.8", "friction: 0.6")], seconds=2)
    with Viewer(tact, "view", log, "--paused", "--no-browser") as viewer:
        browser.open(viewer.address)
        browser.wait("window.tactPage && tactPage.received > 0")
        show(browser, 900)
        assert "sticks" in browser.evaluate("document.querySelector('.says').textContent")
        show(browser, 1040)
        text = browser.evaluate("document.querySelector('.says').textContent")
        assert text == "slips: torsion 100 %", text
    for seconds in (0.9, 1.04):  # `tact info` states what the page does of the last tick
        log = sim(tact, source, folder, change=[("friction: 0.8", "friction: 0.6")], seconds=seconds)
        info = subprocess.run([tact, "info", log, "--json"], check=True, capture_output=True, text=True).stdout
        stated = [pair["at_end"] for pair in json.loads(info)["pairs"] if "at_end" in pair]
        with Viewer(tact, "view", log, "--paused", "--no-browser") as viewer:
            browser.open(viewer.address)
            browser.wait("window.tactPage && tactPage.received > 0")
            show(browser, round(1000 * seconds) - 1)
            shown = json.loads(browser.evaluate(
                "JSON.stringify(tactPage.frames[tactPage.shown].contacts.map((contact) => describeContact(contact)[0]))"))
        assert len(stated) >= 2 and sorted(stated) == sorted(shown), (stated, shown)
        assert ("slips: torsion 100 %" in stated) == (seconds > 1), stated


def check_pressure(tact, folder, browser):
    """A soft ball on a plane: a paraboloid of pressure, light in the middle and dark at its rim."""
    with Viewer(tact, "view", sim_soft(tact, folder, 1), "--paused", "--no-browser") as viewer:
        browser.open(viewer.address)
        browser.wait("window.tactPage && tactPage.received > 0")
        contact = show(browser, 290)["contacts"][0]
        force, slope, radius = 0.1 * 9.81, 2e5 / 0.01, 0.02
        depth = (force / (3.141592653589793 * radius * slope)) ** 0.5  # of a paraboloid, d^3 apart
        assert abs(contact["map"]["load"] - force) < 1e-3 * force, contact["map"]
        assert abs(contact["peak"] - slope * depth) < 0.02 * slope * depth, (contact["peak"], slope * depth)
        text = browser.evaluate("document.querySelector('.contact .pressure').textContent")
        assert text.startswith("pressure: peak ") and text.endswith("0.981 N"), text
        assert "kPa" in browser.evaluate("document.getElementById('pressure-most').textContent")
        browser.evaluate("setDark(false), turn(-Math.PI / 2, 1.5), toggle('solids'), toggle('forces'), 1")
        rim = 0.9 * (radius * radius - (radius - depth) ** 2) ** 0.5
        x, y, z = contact["pressure"]
        middle, edge, beside = pixels(browser, [[x + at, y, z] for at in (0.3 * rim, rim, 1.4 * rim)])
        browser.evaluate("toggle('solids'), toggle('forces'), 1")
        assert middle[0] > 200 and middle[1] > 150 and middle[2] < 180, middle
        assert edge[1] < 110 and edge[2] > edge[1], edge
        assert min(beside[:3]) > 230, beside


def check_feet(tact, folder, browser):
    """Two contacts between the same two bodies: each is named by its shape, and both can be plotted."""
    scene, log = os.path.join(folder, "feet.yaml"), os.path.join(folder, "feet.mcap")
    foot = "{{type: sphere, radius: 0.01, position: [{}, 0, 0], material: steel}}"
    with open(scene, "w", encoding="utf-8") as file:
        file.write("\n".join([
            "name: feet", "duration: 0.2", "materials: [{name: steel}]", "pairs: [{materials: [steel, steel], friction: 0.5}]", "bodies:",
            "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: steel}]}",
            f"  - {{name: stool, mass: 0.03, position: [0, 0, 0.01], shapes: [{foot.format(-0.01)}, {foot.format(0.02)}]}}", ""]))
    subprocess.run([tact, "sim", scene, "--moments", "host", "--record", log, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    with Viewer(tact, "view", log, "--paused", "--no-browser") as viewer:
        browser.open(viewer.address)
        browser.wait("window.tactPage && tactPage.received > 0")
        places = [c["centre"][0] for c in show(browser, 190)["contacts"]]
        assert len(places) == 2, places
        browser.evaluate("""tactPage.panels.plots.groups().flatMap((g) => g.list).filter((q) => q.title.endsWith(": centre of patch x"))
            .forEach((q) => tactPage.panels.plots.choose(q)), 1""")
        titles = browser.evaluate("tactPage.panels.plots.chosen.slice(1).map((q) => q.title)")
        names = sorted(title.removesuffix(": centre of patch x") for title in titles)
        assert len(names) == 2 and "shape 1" in names[0] and "shape 2" in names[1], titles
        assert browser.evaluate("[...document.querySelectorAll('.contact .title span:first-child')].map((e) => e.textContent).sort()") == names
        plotted = browser.evaluate("tactPage.panels.plots.chosen.slice(1).map((q) => q.of(tactPage.frames[tactPage.shown])[1])")
        assert plotted == places and sorted(round(x, 3) for x in plotted) == [-0.01, 0.02], (plotted, places)


def check_long_lists(tact, folder, browser):
    """700 bodies: what the page lists is limited, it says how much is beyond, and the lists are filled at once."""
    with Viewer(tact, "view", sim_many(tact, folder, 700, 0.1), "--paused", "--no-browser") as viewer:
        browser.open(viewer.address)
        browser.wait("window.tactPage && tactPage.received > 0")
        labels = browser.evaluate("[...document.querySelectorAll('#plot-keys optgroup')].map((e) => e.label)")
        assert "500 further shapes, not listed" in labels and any("without the last " in label for label in labels), labels
        count = browser.evaluate("document.querySelectorAll('#plot-keys option').length")
        assert 8000 < count < 8192 + 7 * 200 + 30, count
        before = browser.cpu_seconds()
        browser.evaluate("tactPage.panels.plots.fill(), 1")
        taken = browser.cpu_seconds() - before
        print(f"list of {count} values: {1000 * taken:.0f} ms of processors")
        assert taken < 1, taken


def check_triangles(tact, folder, browser):
    """A frame of 100,000 triangles drawn by the processor takes less than two processors have in a fifteenth of a second
    (tests/bench/page measures the frames of a second)."""
    with Viewer(tact, "view", sim_triangles(tact, folder, 20), "--no-browser") as viewer:
        open_counted(browser, viewer)
        count = browser.evaluate("tactPage.stage.solids.reduce((sum, s) => sum + s.mesh.count / 3, 0)")
        assert count == 100000, count
        browser.wait("drawn > 2")
        tries = []  # a frame takes up to three times as long while other programs want the processors
        while not tries or tries[-1] >= 2 / 15:
            assert len(tries) < 5, tries
            before, taken = browser.evaluate("drawn"), browser.cpu_seconds()
            browser.wait(f"drawn >= {before + 20}", 60)
            frames, taken = browser.evaluate("drawn") - before, browser.cpu_seconds() - taken
            tries.append(taken / frames)
        print(f"100,000 triangles: {1000 * tries[-1]:.0f} ms of processors a frame")


def check_live(tact, source, browser):
    """A session in real time: what it did before while it runs, and the newest again."""
    words = (tact, "run", os.path.join(source, "examples/scenes/ruler.yaml"), "--moments", "host", "--duration", "30", "--view",
             "--no-browser", "--quiet")
    browser.open("about:blank")  # an address that differs in its token only is opened by the page that is there
    with Viewer(*words, stream="stderr") as viewer:
        browser.open(viewer.address)
        browser.wait("window.tactPage && tactPage.hello && tactPage.hello.kind === 'real time' && tactPage.frames.length > 20")
        tick = browser.evaluate("seek(tactPage.frames[10].time), tactPage.frames[10].tick")
        browser.wait(f"tactPage.received > 60 && !tactPage.dirty && document.getElementById('clock').textContent.endsWith('tick {tick}')")
        state = browser.evaluate("[tactPage.shown, tactPage.paused, tactPage.frames.length]")
        assert state[:2] == [10, True] and state[2] > 40, state
        browser.evaluate("document.getElementById('live').click(), 1")
        browser.wait(f"!tactPage.paused && tactPage.frames[tactPage.shown].tick > {tick} + 400")
        browser.evaluate("document.getElementById('stop').click(), 1")
        viewer.process.communicate(timeout=30)
        assert viewer.process.returncode == 0


def check_session(tact, source, folder, browser):
    """A simulation that runs: pause and step, frames of before again, a marker by its key, the touch as the log has it, the end by
    its button."""
    log = os.path.join(folder, "session.mcap")
    words = (tact, "sim", os.path.join(source, "examples/scenes/ruler.yaml"), "--record", log, "--view", "--no-browser", "--quiet")
    with Viewer(*words, stream="stderr") as viewer:
        browser.open(viewer.address.partition("#")[0])  # shows the start, and says why nothing moves
        browser.wait("window.tactPage && tactPage.frames.length > 0 && document.getElementById('link').textContent.endsWith('watching only')")
        browser.key(" ")
        assert browser.evaluate("document.getElementById('said').textContent").startswith("no control: ")
        assert browser.evaluate("tactPage.frames.at(-1).tick") == 0
        browser.open("about:blank")
        browser.open(viewer.address)
        browser.wait("window.tactPage && tactPage.hello && tactPage.hello.kind === 'simulation' && tactPage.frames.length > 20")
        browser.key("m")
        browser.wait("/^marker at \\d+\\.\\d{3} s$/.test(document.getElementById('said').textContent) && !document.getElementById('said').hidden")
        assert browser.evaluate("document.querySelectorAll('#marks i[title*=marker]').length") == 1
        browser.wait("document.querySelectorAll('#marks i').length === 2")
        touch = browser.evaluate("[...document.querySelectorAll('#events tr')].map((e) => e.textContent).filter((text) => !text.includes('marker'))")
        browser.key(" ")
        paused = browser.wait("tactPage.paused && tactPage.frames[tactPage.shown].tick")
        browser.key(".")
        browser.wait(f"tactPage.frames[tactPage.shown].tick === {paused + 1}")
        middle = browser.evaluate("seek(tactPage.frames[10].time), tactPage.frames[10].tick")
        browser.wait(f"tactPage.shown === 10 && !tactPage.dirty && document.getElementById('clock').textContent.endsWith('tick {middle}')")
        browser.evaluate("document.getElementById('stop').click(), 1")
        viewer.process.communicate(timeout=30)
        assert viewer.process.returncode == 0
    info = subprocess.run([tact, "info", log, "--json"], capture_output=True, text=True, check=True)
    found = json.loads(info.stdout)["events"]
    assert [e["text"] for e in found if e["name"] == "marker"] == ["a marker set on the page of tact view"], found
    assert touch == [f"{e['tick'] * 1e-3:.3f} s{e['name']}: {e['text']}" for e in found if e["name"] != "marker"], (touch, found)


# Hands a page texts in every place that shows one, and returns those places that do not show it as text. It lets the page
# draw each, and puts the scene back.
SHOW_TEXTS = """(async (names) => {
  const kept = [tactPage.hello, tactPage.frames[tactPage.shown]], bad = [], receive = tactPage.socket.onmessage;
  tactPage.socket.onmessage = null; // frames of the server would take the place of these
  const places = { "#name": 1, "#safety": 1, ".contact .title span": 2, "#devices td": 1, "#joints td": 1, "#events td": 1, "#plot-keys .key": 2,
                   "#plot-keys optgroup": 3, "#plot-keys option": 2 };
  for (const name of names) {
    const [hello, frame] = kept;
    onText({ ...hello, name, source: name, deadman: name, devices: hello.devices.map(() => name), joints: hello.joints.map((j) => ({ ...j, name })),
      shapes: hello.shapes.map((s) => ({ ...s, owner: name })), fields: [[name, name, 0, 1]], field_count: 1, events: [[1, name, name]], event_count: 1 });
    onText({ op: "fault", text: name });
    onFrame({ ...frame, safety: 2 });
    const plots = tactPage.panels.plots;
    plots.groups().forEach((g) => g.list.slice(0, 1).forEach((q) => plots.choose(q)));
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    for (const [place, least] of Object.entries(places)) {
      const shown = [...document.querySelectorAll(place)].filter((e) => (e.tagName === "OPTGROUP" ? e.label : e.textContent).includes(name)).length;
      if (shown < least) {
        bad.push([place, shown, name]);
      }
    }
    if (window.owned !== undefined || document.querySelector("img, svg, b, aside script") || document.scripts.length !== scripts) {
      bad.push(["markup", 0, name]);
    }
  }
  onText(kept[0]);
  onFrame(kept[1]);
  tactPage.socket.onmessage = receive;
  return JSON.stringify(bad);
})"""


def check_text(browser):
    """Names and texts of a session are text, whatever they look like. Scenes are refused that have such names, so
    the page is handed them."""
    browser.evaluate("window.scripts = document.scripts.length, 1")
    assert len(HOSTILE) == 47, len(HOSTILE)
    bad = browser.evaluate(f"{SHOW_TEXTS}({json.dumps(HOSTILE)})")
    assert bad == "[]", bad[:2000]


def check_hostile_file(page, folder, browser):
    """An exported page whose session has such names: they are in no place that a browser reads as markup."""
    messages = messages_of(page)
    hello = json.loads(messages[0][1])
    names = iter(HOSTILE * 3)
    hello.update(name="".join(HOSTILE), source=next(names), deadman=next(names), devices=[next(names) for _ in hello["devices"]])
    for item in hello["joints"]:
        item["name"] = next(names)
    for item in hello["shapes"]:
        item["owner"] = next(names)
    hello.update(events=[[1, text, text] for text in HOSTILE], event_count=len(HOSTILE))
    for i, item in enumerate(hello["fields"]):
        item[0], item[1] = next(names, f"field {i}"), "unit"
    data = b""
    for kind, message in [(1, json.dumps(hello).encode()), *messages[1:]]:
        data += struct.pack("<II", kind, len(message)) + message + bytes(-len(message) % 8)
    scripts, path = browser.evaluate("document.scripts.length"), os.path.join(folder, "hostile.html")
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(r'(id="recording">)[^<]*', lambda m: m[1] + base64.b64encode(data).decode(), page))
    browser.open("file://" + path)
    browser.wait("window.tactPage && tactPage.frames.length === 301 && tactPage.shown >= 0 && !tactPage.dirty")
    assert browser.evaluate("document.getElementById('name').textContent") == hello["name"]
    assert browser.evaluate(f"window.owned === undefined && !document.querySelector('img, svg, b') && document.scripts.length === {scripts}")


def check_file(tact, log, folder, browser):
    """The session as one page: frames of all of it, played without a server."""
    path = os.path.join(folder, "session.html")
    subprocess.run([tact, "export", log, "--html", path], check=True, stdout=subprocess.DEVNULL)
    browser.open("file://" + path)
    browser.wait("window.tactPage && tactPage.frames.length === 301 && tactPage.shown > 5")
    assert browser.evaluate("tactPage.frames[300].tick === 4999 && tactPage.frames[300].contacts.length === 2")
    # Contacts beyond the capacity of a frame are in the count.
    assert browser.evaluate("""(() => {
        const frame = tactPage.frames[300], counts = [frame.leftOut];
        tactPage.panels.drawContacts({...frame, leftOut: 300}, null);
        return counts.concat(document.getElementById("contact-count").textContent).join();
    })()""") == "0,2 of 302"
    browser.evaluate("seek(2.5), 1")
    browser.wait("!tactPage.dirty && document.getElementById('contacts').textContent.includes('3.979 N')")
    # Every field of every frame is in the file, without asking a server.
    assert browser.evaluate("""(() => {
        const field = tactPage.hello.fields.find((f) => f[0] === "solver"), frames = tactPage.frames;
        return frames.filter((f) => f.values.get(field[2] + 1) === f.iterations).length;
    })()""") == 301
    with open(path, encoding="utf-8") as file:
        check_hostile_file(file.read(), folder, browser)


def main():
    tact, source = sys.argv[1], sys.argv[2]
    shots = sys.argv[3] if len(sys.argv) > 3 else None
    try:
        browser = Browser()
    except FileNotFoundError as why:
        skip(why)
    with tempfile.TemporaryDirectory() as folder:
        log = sim(tact, source, folder, seconds=5)
        rows = logged(tact, log, folder)
        with Viewer(tact, "view", log, "--paused", "--no-browser") as viewer:
            browser.open(viewer.address)
            browser.wait("window.tactPage && tactPage.received > 0")
            assert browser.evaluate("!!tactPage.stage.gl"), "no WebGL2"
            check_numbers(browser, rows)
            check_states(browser)
            check_plots(browser, rows)
            check_pixels(browser)
            check_force(browser, rows)
            check_events(browser, tact, log)
            check_hands(browser)
            check_selected(browser)
            check_keys(browser)
            if shots:
                shoot(browser, os.path.join(shots, "view.png"))
            check_text(browser)
        check_file(tact, log, folder, browser)
        check_slip(tact, source, folder, browser)
        check_pressure(tact, folder, browser)
        check_feet(tact, folder, browser)
        check_long_lists(tact, folder, browser)
        check_triangles(tact, folder, browser)
        check_live(tact, source, browser)
        check_session(tact, source, folder, browser)
    errors = browser.errors
    browser.close()
    assert not errors, errors
    print("1 passed, 0 failed")


main()
