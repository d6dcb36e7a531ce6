#!/usr/bin/env python3
"""layout.py TACT SOURCE: what a person can read on the page of `tact view`: nothing is beyond the edge of a window of any
width, all that moves is in the view at first, of many contacts those that matter are listed, and arrows are to a scale that
an impact does not spoil."""
import json
import math
import os
import subprocess
import sys
import tempfile

from common import Viewer, pixels, skip
from devtools import Browser

# What is beyond an edge of the window, though nothing that cuts it off ends with dots.
BEYOND = """(() => {
  const bad = [...document.body.querySelectorAll("header *, footer *, aside *, #legend, #legend *, #toggles, #toggles *")].filter((e) => {
    const box = e.getBoundingClientRect();
    return e.offsetParent && e.tagName !== "OPTION" && box.width > 0 && (box.right > innerWidth + 0.5 || box.left < -0.5);
  });
  const wide = [...document.querySelectorAll("html, body, header, footer, main, aside, #contacts, #stage")].filter((e) => e.scrollWidth > e.clientWidth + 1);
  return JSON.stringify([...bad, ...wide].map((e) => e.tagName + "#" + e.id + "." + e.className + " " + e.textContent.slice(0, 40)));
})()"""


def record(tact, folder, name, lines):
    """The log of a scene of these lines, its materials steel, and ice that slides on steel without friction."""
    scene, log = (os.path.join(folder, name + ending) for ending in (".yaml", ".mcap"))
    with open(scene, "w", encoding="utf-8") as file:
        file.write("\n".join([f"name: {name}", "materials: [{name: steel}, {name: ice}]", "pairs:",
                              "  - {materials: [steel, steel], friction: 0.5}", "  - {materials: [steel, ice], friction: 0}",
                              *lines, ""]))
    return simulate(tact, scene, log)


def simulate(tact, scene, log, *options):
    subprocess.run([tact, "sim", scene, "--moments", "host", "--record", log, "--force", "--quiet", *options], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return log


def gallery(tact, source, folder, scene, seconds):
    """The log of a scene of the gallery, with the files that it names."""
    return simulate(tact, os.path.join(source, "examples/scenes", scene + ".yaml"), os.path.join(folder, scene + ".mcap"),
                    "--duration", str(seconds))


def balls(names, speeds=None):
    """Lines of a scene of balls that rest on a floor, the last one the heaviest."""
    body = "  - {{name: {}, mass: {}, position: [{}, {}, 0.012], velocity: [{}, 0, 0], shapes: [{}]}}"
    shape = "{type: sphere, radius: 0.012, material: steel}"
    return ["duration: 0.1", "bodies:", "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: steel}]}",
            *(body.format(name, round(0.01 + 0.001 * i, 3), round(0.03 * (i % 10), 2), round(0.03 * (i // 10), 2), (speeds or {}).get(i, 0), shape)
              for i, name in enumerate(names))]


def resize(browser, width, height):
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
    browser.evaluate("tactPage.dirty = true, 1")
    browser.wait(f"innerWidth === {width} && !tactPage.dirty")


def open_page(browser, viewer):
    browser.open(viewer.address)
    browser.wait("window.tactPage && tactPage.received > 0 && tactPage.stage.frame && tactPage.stage.solids.every((s) => s.mesh || s.kind === 'halfspace')")


def show(browser, tick):
    browser.evaluate(f"send({{op: 'seek', tick: {tick}}}), 1")
    browser.wait(f"tactPage.frames[tactPage.shown].tick === {tick} && !tactPage.dirty")


def check_widths(tact, source, folder, browser):
    """Windows from that of a telephone on, with ordinary names and with the longest ones."""
    longest = [f"b{i:02d}_" + "w" * 43 for i in range(75)]
    for log, tick in ((gallery(tact, source, folder, "ruler", 2), 1900), (record(tact, folder, "w" * 47, balls(longest)), 90)):
        with Viewer(tact, "view", log, "--paused", "--no-browser") as viewer:
            open_page(browser, viewer)
            show(browser, tick)
            browser.evaluate("""(() => {
                const plots = tactPage.panels.plots;
                plots.groups().slice(0, 4).flatMap((g) => g.list.slice(0, 2)).forEach((q) => plots.choose(q));
            })()""")
            for width in (320, 420, 700, 800, 801, 1000, 1280, 1900):
                resize(browser, width, 720)
                beyond = json.loads(browser.evaluate(BEYOND))
                assert not beyond, (width, beyond)
                cut, above = browser.evaluate("(() => { const r = byId('rates'); return [r.scrollWidth > r.clientWidth, byId('help-button').getBoundingClientRect().top < byId('name').getBoundingClientRect().bottom]; })()")
                assert tick != 1900 or not cut and (above or width < 700), (width, cut, above)
                browser.key("?")
                box = browser.evaluate("(() => { const b = document.getElementById('help').getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; })()")
                stage = browser.evaluate("(() => { const b = document.getElementById('stage').getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; })()")
                assert stage[0] <= box[0] < box[2] <= stage[2] and stage[1] <= box[1] < box[3] <= stage[3], (width, box, stage)
                browser.key("Escape")
    resize(browser, 1280, 720)


def check_view(tact, source, folder, browser):
    """A hand with a ball: all that moves is in the view, and fills much of it, in a wide and in a narrow window."""
    with Viewer(tact, "view", gallery(tact, source, folder, "five_fingers", 0.1), "--paused", "--no-browser") as viewer:
        for width, height in ((1280, 720), (420, 800)):
            resize(browser, width, height)
            open_page(browser, viewer)
            browser.wait("tactPage.stage.fitted && !tactPage.dirty")
            left, right, top, bottom, w, h = browser.evaluate("""(() => {
                const s = tactPage.stage, points = s.frame.joints.map((j) => j.at);
                s.solids.forEach((o, i) => o.moves && points.push([...s.frame.poses.subarray(8 * i, 8 * i + 3)]));
                const x = points.map((p) => s.project(p)[0]), y = points.map((p) => s.project(p)[1]);
                return [Math.min(...x), Math.max(...x), Math.min(...y), Math.max(...y), s.canvas.clientWidth, s.canvas.clientHeight];
            })()""")
            assert left > 0 and right < w and top > 0 and bottom < h, (width, left, right, top, bottom, w, h)
            assert max((right - left) / w, (bottom - top) / h) > 0.4, (width, left, right, top, bottom, w, h)
    resize(browser, 1280, 720)


def check_following(tact, folder, browser):
    """A cup that slides away stays in the view until a person moves the view, and is in it again by the key f; one of
    several bodies that falls away does not take the view along."""
    log = record(tact, folder, "away", [
        "duration: 1", "bodies:", "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: steel}]}",
        "  - {name: cup, mass: 0.1, position: [0, 0, 0.04], velocity: [2, 0, 0], shapes: [{type: box, size: [0.06, 0.06, 0.08], material: ice}]}"])
    with Viewer(tact, "view", log, "--paused", "--no-browser") as viewer:
        open_page(browser, viewer)
        inside = """(() => {
            const s = tactPage.stage, [x, y] = s.project([...s.frame.poses.subarray(8, 11)]);
            return x > 0 && x < s.canvas.clientWidth && y > 0 && y < s.canvas.clientHeight;
        })()"""
        for tick in (1, 200, 900):
            show(browser, tick)
            assert browser.evaluate(inside) and browser.evaluate("tactPage.stage.countOutOfView()") == 0, tick
        assert browser.evaluate("tactPage.frames[tactPage.shown].poses[8]") > 1.7
        assert browser.evaluate("document.getElementById('legend-text').textContent").endswith("view moved by 1.8 m")
        browser.drag((300, 300), (310, 300), shift=True)
        show(browser, 1)
        assert not browser.evaluate(inside)
        browser.key("f")
        browser.wait("!tactPage.dirty")
        assert browser.evaluate(inside)
    log = record(tact, folder, "several", [
        "duration: 0.5", "bodies:", "  - {name: table, fixed: true, shapes: [{type: box, size: [0.2, 0.2, 0.02], material: steel}]}",
        *(f"  - {{name: box_{i}, mass: 0.1, position: [{0.06 * i - 0.06:.2f}, 0, 0.03], velocity: [{3 * (i == 2)}, 0, 0], "
          f"shapes: [{{type: box, size: [0.04, 0.04, 0.04], material: {'ice' if i == 2 else 'steel'}}}]}}" for i in range(3))])
    with Viewer(tact, "view", log, "--paused", "--no-browser") as viewer:
        open_page(browser, viewer)
        show(browser, 1)
        before = browser.evaluate("tactPage.stage.middle")
        show(browser, 490)
        assert browser.evaluate("tactPage.stage.middle") == before
        assert browser.evaluate("tactPage.stage.countOutOfView()") == 1


def check_again(tact, folder, browser):
    """A short session is over before it was watched: the key for play begins it again, of a simulation and of a log."""
    log = record(tact, folder, "again", balls(["ball"]))
    shown = "tactPage.frames[tactPage.shown]?.tick"
    for words, stream in ((("sim", os.path.join(folder, "again.yaml"), "--view", "--quiet"), "stderr"), (("view", log), "stdout")):
        with Viewer(tact, *words, "--no-browser", stream=stream) as viewer:
            open_page(browser, viewer)
            browser.wait(f"{shown} === 99 && tactPage.paused && document.getElementById('play').textContent === 'play'")
            browser.evaluate("byId('speed').value = '0.01', changeSpeed(0), 1")  # 10 s, for a busy machine
            browser.evaluate("window.least = 99, window.seen = setInterval(() => { least = Math.min(least, tactPage.frames[tactPage.shown]?.tick ?? 99); }, 1), 1")
            browser.key(" ")
            browser.wait("least < 30", state="JSON.stringify([least, page.hello.kind, page.paused, page.follow, page.shown, page.frames.map((f) => f.tick)])")
            browser.evaluate("byId('speed').value = '1', changeSpeed(0), 1")
            browser.wait(f"{shown} === 99 && tactPage.paused && !tactPage.dirty")
            browser.evaluate("clearInterval(seen), 1")
        browser.open("about:blank")


def check_contacts(tact, folder, browser):
    """Of 75 contacts the list has the light one that slips, the heaviest, and the one that is selected."""
    log = record(tact, folder, "many", balls([f"ball_{i}" for i in range(75)], {0: 0.3}))
    with Viewer(tact, "view", log, "--paused", "--no-browser") as viewer:
        open_page(browser, viewer)
        show(browser, 20)
        names = "[...document.querySelectorAll('.contact .title span:first-child')].map((e) => e.textContent)"
        listed = browser.evaluate(names)
        assert browser.evaluate("document.getElementById('contact-count').textContent") == "40 of 75" and len(listed) == 40, listed
        assert "floor / ball_0" in listed and "floor / ball_74" in listed and "floor / ball_10" not in listed, listed
        shares = browser.evaluate("[...document.querySelectorAll('.bar:not([hidden]) .share')].map((e) => e.textContent)")
        assert all(text.endswith(" %") and 0 <= float(text[:-2]) <= 100 for text in shares) and "100 %" in shares, shares
        browser.evaluate("select({owner: 'ball_10'}), 1")
        browser.wait("!tactPage.dirty")
        assert "floor / ball_10" in browser.evaluate(names)


def colour(browser, point):
    """Colour of the canvas where a point of the scene is drawn."""
    return pixels(browser, [point])[0]


def check_sliding(tact, folder, browser):
    """Boxes that lie, slide with friction, and slide without any: their words and bars, and the colour of their patches."""
    box = "  - {{name: {0}, mass: 0.1, position: [{1}, 0, 0.02], velocity: [0, {2}, 0], shapes: [{{type: box, size: [0.04, 0.04, 0.04], material: {3}}}]}}"
    log = record(tact, folder, "sliding", [
        "duration: 0.05", "bodies:", "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: steel}]}",
        box.format("lies", 0, 0, "steel"), box.format("slides", 0.1, 0.5, "steel"), box.format("glides", 0.2, 0.5, "ice")])
    with Viewer(tact, "view", log, "--paused", "--no-browser") as viewer:
        open_page(browser, viewer)
        show(browser, 40)
        rows = browser.evaluate("""[...document.querySelectorAll('.contact')].map((e) => [e.querySelector('.says').textContent,
            [...e.querySelectorAll('.bar')].filter((b) => b.textContent.startsWith("friction")).map((b) => b.querySelector('.share').textContent)[0]])""")
        assert rows == [["sticks, 0 % of friction and torsion used", "0 %"], ["slips: friction 100 %", "100 %"], ["slides without friction", "none"]], rows
        assert browser.evaluate("[0, 0.004, 0.5, 0.994, 0.9999, 1].map(inPercent)") == [0, 0, 50, 99, 99, 100]
        browser.evaluate("setDark(false), toggle('solids'), toggle('forces'), toggle('torsion'), turn(-Math.PI / 2, 1.5), 1")
        browser.wait("!tactPage.dirty")
        patches = [colour(browser, [c[0] + 0.01, c[1] + 0.01, c[2]])
                   for c in browser.evaluate("tactPage.frames[tactPage.shown].contacts.map((c) => c.centre)")]
        browser.evaluate("toggle('solids'), toggle('forces'), toggle('torsion'), 1")
        for red, green, blue, _ in patches:
            assert red > 200 and red > green + 20 and red > blue + 20, patches
        assert patches[1][1] < patches[0][1] - 40, patches  # the one at its limit is red, the others orange


def check_pressures(tact, source, folder, browser):
    """Patches whose surface has many polygons have all of their pressure, and one without room in the map says so."""
    for scene, seconds, tick, least in (("socket", 0.05, 40, 0.85), ("mug_pads", 0.2, 190, 0.85)):
        with Viewer(tact, "view", gallery(tact, source, folder, scene, seconds), "--paused", "--no-browser") as viewer:
            open_page(browser, viewer)
            show(browser, tick)
            shares = browser.evaluate("""tactPage.frames[tactPage.shown].contacts.filter((c) => c.peak > 0).map((c) => [...c.map.cells].reduce((sum, v) =>
                sum + Math.max(v - 1, 0), 0) / 254 * c.peak * norm(cross(c.map.u, c.map.v)) / CELLS ** 2 / c.map.load)""")
            assert shares and all(least < share < 1.05 for share in shares), (scene, shares)
    with Viewer(tact, "view", gallery(tact, source, folder, "bolt", 0.01), "--paused", "--no-browser") as viewer:
        open_page(browser, viewer)
        show(browser, 9)
        drawn = browser.evaluate("tactPage.frames[tactPage.shown].contacts.map((c) => c.map.drawn)")
        texts = browser.evaluate("[...document.querySelectorAll('.contact .pressure')].map((e) => e.textContent)")
        assert drawn == [True, True, False] and [text.endswith(" N") for text in texts] == drawn, (drawn, texts)


def check_scale(tact, folder, browser):
    """A box that fell: after the impact the arrow of its weight is as long as one of its own scale, and the legend's bar has
    as many pixels a newton as the arrow that is drawn."""
    log = record(tact, folder, "fall", [
        "duration: 1", "bodies:", "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: steel}]}",
        "  - {name: box, mass: 0.1, position: [0, 0, 0.05], shapes: [{type: box, size: [0.04, 0.04, 0.04], material: steel}]}"])
    with Viewer(tact, "view", log, "--paused", "--no-browser") as viewer:
        open_page(browser, viewer)
        peak = 0
        for tick in [*range(70, 90), *range(100, 900, 25)]:
            show(browser, tick)
            peak = max(peak, browser.evaluate("tactPage.frames[tactPage.shown].largest[0]"))
            if tick == 89:
                assert peak > 20, peak
        weight = browser.evaluate("tactPage.frames[tactPage.shown].largest[0]")
        assert abs(weight - 0.981) < 0.01, weight
        assert abs(browser.evaluate("tactPage.stage.longestForce") / weight - 1) < 0.01
        each = browser.evaluate("tactPage.stage.pixelsPerNewton()")
        text = browser.evaluate("document.getElementById('force-most').textContent")
        width = browser.evaluate("document.getElementById('force-bar').getBoundingClientRect().width")
        assert text == "0.2 N" and abs(width - 0.2 * each) < 0.1, (text, width, each)
        # the arrow, seen from the front: its ends at the distance of the middle
        browser.evaluate("turn(-Math.PI / 2, 0), tactPage.stage.followed = [], tactPage.stage.middle = [0, 0, 0], 1")
        length = browser.evaluate("""(() => {
            const s = tactPage.stage, draw = s.drawArrow, found = [];
            s.drawArrow = (from, along, scale) => { found.push(s.project(from)[1] - s.project(add(from, mul(along, scale)))[1]); };
            s.draw(false);
            s.drawArrow = draw;
            return found[0];
        })()""")
        assert abs(length / (weight * each) - 1) < 0.02, (length, weight * each)


def check_fixed(tact, folder, browser):
    """A body that is fixed can be selected by a click, a plane cannot; f then fits it."""
    log = record(tact, folder, "table", [
        "duration: 0.05", "bodies:", "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: steel}]}",
        "  - {name: table, fixed: true, position: [0, 0, 0.02], shapes: [{type: box, size: [0.1, 0.1, 0.04], material: steel}]}",
        "  - {name: box, mass: 0.1, position: [0.02, 0, 0.06], shapes: [{type: box, size: [0.03, 0.03, 0.04], material: steel}]}"])
    with Viewer(tact, "view", log, "--paused", "--no-browser") as viewer:
        open_page(browser, viewer)
        show(browser, 40)
        browser.evaluate("turn(-Math.PI / 2, 1.0), tactPage.stage.followed = [], tactPage.stage.middle = [0, 0, 0.02], tactPage.stage.distance = 0.4, 1")
        browser.wait("!tactPage.dirty")
        for point, owner in (([-0.03, 0, 0.04], "table"), ([-0.09, 0, 0], None), ([0.02, 0, 0.08], "box"), ([-0.04, -0.05, 0.02], "table")):
            x, y = browser.evaluate(f"(() => {{ const b = tactPage.stage.canvas.getBoundingClientRect(), [x, y] = tactPage.stage.project({json.dumps(point)}); return [b.left + x, b.top + y]; }})()")
            browser.click(x, y)
            browser.wait(f"!tactPage.dirty && (tactPage.stage.selected?.owner ?? null) === {json.dumps(owner)}")
        assert browser.evaluate("document.querySelectorAll('.contact.selected').length") == 1
        browser.key("f")
        browser.wait("!tactPage.dirty")
        middle = browser.evaluate("tactPage.stage.middle")
        assert max(abs(a - b) for a, b in zip(middle, [0, 0, 0.02])) < 1e-6, middle


def check_resized(browser):
    """A header that grows leaves the scene less room: it is drawn anew, and not squeezed."""
    sizes = "(() => { const c = tactPage.stage.canvas; return [c.width, c.height, c.clientWidth, c.clientHeight]; })()"
    before = browser.evaluate(sizes)
    browser.evaluate("document.querySelector('header').style.height = '200px', 1")
    browser.wait(f"tactPage.stage.canvas.clientHeight < {before[3]} && !tactPage.dirty && tactPage.stage.canvas.height === tactPage.stage.canvas.clientHeight")
    browser.evaluate("document.querySelector('header').style.height = '', 1")
    browser.wait(f"tactPage.stage.canvas.height === {before[1]}")
    assert browser.evaluate(sizes) == before, before


def check_torsion(tact, folder, browser):
    """Two discs that spin, one twice as heavy: their torsion is mu N 2/3 R, the radii of their arrows are in proportion, and
    as long as the legend's bar says; pixels on that circle are violet, and none within or beyond it."""
    disc = "  - {{name: {0}, mass: {1}, position: [{2}, 0, 0.005], angular_velocity: [0, 0, 40], shapes: [{{type: cylinder, radius: 0.02, length: 0.01, material: steel}}]}}"
    log = record(tact, folder, "discs", [
        "duration: 0.05", "bodies:", "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: steel}]}",
        disc.format("light", 0.1, -0.1), disc.format("heavy", 0.2, 0.1)])
    with Viewer(tact, "view", log, "--paused", "--no-browser") as viewer:
        open_page(browser, viewer)
        check_resized(browser)
        for tick in range(30, 46):  # the first contact is no measure of the scale
            show(browser, tick)
        browser.evaluate("setDark(false), toggle('solids'), toggle('patches'), toggle('forces'), turn(-Math.PI / 2, 1.5), 1")
        browser.wait("!tactPage.dirty")
        contacts = browser.evaluate("tactPage.frames[tactPage.shown].contacts.map((c) => ({ centre: c.centre, torsion: norm(c.moment) }))")
        for contact, mass in zip(contacts, (0.1, 0.2)):
            assert abs(contact["torsion"] / (0.5 * 9.81 * mass * 2 / 3 * 0.02) - 1) < 0.02, contacts
        each = browser.evaluate("tactPage.stage.pixelsPerNewtonMetre()")
        text, width = browser.evaluate("[document.getElementById('torsion-most').textContent, document.getElementById('torsion-bar').getBoundingClientRect().width]")
        number, unit = text.split(" ", 1)
        assert unit == "mN m" and abs(width - 1e-3 * float(number) * each) < 0.1, (text, width, each)
        scale = browser.evaluate("(() => { const s = tactPage.stage, [x] = s.project(s.middle), [y] = s.project(add(s.middle, [0.01, 0, 0])); return (y - x) / 0.01; })()")
        for contact in contacts:
            radius, (x, y, z) = contact["torsion"] * each / scale, contact["centre"]
            violet = []
            for share in (0.6, 1, 1.4):
                ring = [colour(browser, [x + share * radius * math.cos(a), y + share * radius * math.sin(a), z])
                        for a in (2 * math.pi * k / 16 for k in range(16))]
                violet.append(sum(p[2] > p[1] + 60 for p in ring))
            assert violet[0] == violet[2] == 0 and 9 <= violet[1] <= 13, (violet, contact)
        browser.evaluate("toggle('solids'), toggle('patches'), toggle('forces'), 1")


def check_without_shapes(tact, folder, browser):
    """A hand whose links have no shapes: all of its joints are in the view and of a size to it, and what is between them is
    the background. Devices that are lost are red, and outputs that are disarmed are not green."""
    log = record(tact, folder, "bare", [
        "duration: 0.1", "gravity: [0, 0, 0]", "hands:", "  - name: arm", "    position: [0.4, 0.3, 0.2]", "    links:",
        *("      - {name: %s, mass: 0.1, inertia: [1e-4, 1e-4, 1e-4, 0, 0, 0]%s, joint: {type: hinge, axis: [0, 1, 0], position: [%s, 0, 0]}}" % link
          for link in (("upper", "", 0), ("middle", ", parent: upper", 0.1), ("lower", ", parent: middle", 0.1)))])
    with Viewer(tact, "view", log, "--paused", "--no-browser") as viewer:
        open_page(browser, viewer)
        show(browser, 50)
        browser.evaluate("setDark(false), turn(-Math.PI / 2, 0.05), 1")
        browser.key("f")
        browser.wait("!tactPage.dirty")
        size, places = browser.evaluate("[[tactPage.stage.canvas.clientWidth, tactPage.stage.canvas.clientHeight], tactPage.frames[tactPage.shown].joints.map((j) => tactPage.stage.project(j.at))]")
        assert len(places) == 3 and all(0.05 * most < p < 0.95 * most for place in places for p, most in zip(place, size)), (size, places)
        assert abs(places[2][0] - places[0][0]) > 0.4 * size[0], (size, places)
        skin, rod, above = (colour(browser, at) for at in ([0.4, 0.3, 0.2], [0.45, 0.3, 0.2], [0.45, 0.3, 0.215]))
        assert skin[0] > skin[2] + 30 and rod[0] > rod[2] + 30 and max(above[:3]) - min(above[:3]) < 20, (skin, rod, above)
        browser.evaluate("""tactPage.panels.devices = tactPage.panels.table("devices", ["a", "b", "c", "d"]),
            onFrame({ ...tactPage.frames[tactPage.shown], devices: [0, 1, 2, 3], safety: 0, residual: 0 }), 1""")
        browser.wait("!tactPage.dirty")
        states = browser.evaluate("[...document.querySelectorAll('#devices td.value')].map((e) => [e.textContent, e.classList.contains('limit')])")
        assert states == [["ok", False], ["stale", True], ["lost", True], ["ended", False]], states
        kinds = []
        for safety in (0, 1, 2):
            browser.evaluate(f"onFrame({{ ...tactPage.frames[tactPage.shown], safety: {safety} }}), 1")
            browser.wait("!tactPage.dirty")
            kinds.append(browser.evaluate("[document.getElementById('safety').textContent, document.getElementById('safety').className]"))
        assert kinds == [["disarmed", "state"], ["armed", "state good"], ["fault", "state bad"]], kinds
        text = browser.evaluate("document.getElementById('rates').textContent")
        assert "residual 0," in text, text


def check_bones(tact, source, folder, browser):
    """What is drawn between the joints of a hand is no wider than its thinnest shape, as chopsticks of 6 mm, and does not hide
    the box in a gripper."""
    def thickness():
        return browser.evaluate("""[tactPage.stage.boneWidth, Math.min(...tactPage.stage.solids.filter((s) => s.link >= 0)
            .flatMap((s) => [0, 1, 2].map((k) => (s.high[k] - s.low[k]) / 2)))]""")
    for scene, seconds in (("chopsticks", 0.5), ("grasp_tool", 1.5), ("ruler", 1)):
        with Viewer(tact, "view", gallery(tact, source, folder, scene, seconds), "--paused", "--no-browser") as viewer:
            open_page(browser, viewer)
            show(browser, round(1000 * seconds) - 100)
            width, thinnest = thickness()
            assert 0 < width < thinnest, (scene, width, thinnest)
            if scene == "grasp_tool":
                browser.evaluate("setDark(false), toggle('patches'), toggle('forces'), toggle('torsion'), turn(-Math.PI / 2, 0.2), 1")
                browser.wait("!tactPage.dirty")
                box = browser.evaluate("(() => { const f = tactPage.frames[tactPage.shown], i = tactPage.hello.shapes.findIndex((s) => s.owner === 'box'); return [...f.poses.subarray(8 * i, 8 * i + 3)]; })()")
                ochre = colour(browser, box)
                browser.evaluate("toggle('patches'), toggle('forces'), toggle('torsion'), 1")
                assert ochre[0] > ochre[2] + 50, ochre


def main():
    tact, source = sys.argv[1], sys.argv[2]
    try:
        browser = Browser()
    except FileNotFoundError as why:
        skip(why)
    with tempfile.TemporaryDirectory() as folder:
        check_widths(tact, source, folder, browser)
        check_view(tact, source, folder, browser)
        check_following(tact, folder, browser)
        check_again(tact, folder, browser)
        check_contacts(tact, folder, browser)
        check_sliding(tact, folder, browser)
        check_pressures(tact, source, folder, browser)
        check_scale(tact, folder, browser)
        check_fixed(tact, folder, browser)
        check_torsion(tact, folder, browser)
        check_without_shapes(tact, folder, browser)
        check_bones(tact, source, folder, browser)
    errors = browser.errors
    browser.close()
    assert not errors, errors
    print("1 passed, 0 failed")


main()
