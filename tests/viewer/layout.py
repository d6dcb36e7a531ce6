#!/usr/bin/env python3
"""layout.py TACT SOURCE: what a person can read on the page of `tact view`: nothing is beyond the edge of a window of any
width, all that moves is in the view at first, of many contacts those that matter are listed, and arrows are to a scale that
an impact does not spoil."""
import json
import os
import subprocess
import sys
import tempfile

from common import Viewer, sim, skip
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
    """The log of a scene of these lines."""
    scene, log = (os.path.join(folder, name + ending) for ending in (".yaml", ".mcap"))
    with open(scene, "w", encoding="utf-8") as file:
        file.write("\n".join([f"name: {name}", "materials: [{name: steel}]", "pairs: [{materials: [steel, steel], friction: 0.5}]",
                              *lines, ""]))
    subprocess.run([tact, "sim", scene, "--moments", "host", "--record", log, "--force", "--quiet"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return log


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
    for log, tick in ((sim(tact, source, folder, seconds=2), 1900), (record(tact, folder, "w" * 47, balls(longest)), 90)):
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
    resize(browser, 1280, 720)


def check_view(tact, source, folder, browser):
    """A hand with a ball: all that moves is in the view, and fills much of it, in a wide and in a narrow window."""
    with Viewer(tact, "view", sim(tact, source, folder, "five_fingers", seconds=0.1), "--paused", "--no-browser") as viewer:
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
        browser.evaluate("turn(-Math.PI / 2, 0), tactPage.stage.middle = [0, 0, 0], 1")
        length = browser.evaluate("""(() => {
            const s = tactPage.stage, draw = s.drawArrow, found = [];
            s.drawArrow = (from, along, scale) => { found.push(s.project(from)[1] - s.project(add(from, mul(along, scale)))[1]); };
            s.draw(false);
            s.drawArrow = draw;
            return found[0];
        })()""")
        assert abs(length / (weight * each) - 1) < 0.02, (length, weight * each)


def main():
    tact, source = sys.argv[1], sys.argv[2]
    try:
        browser = Browser()
    except FileNotFoundError as why:
        skip(why)
    with tempfile.TemporaryDirectory() as folder:
        check_widths(tact, source, folder, browser)
        check_view(tact, source, folder, browser)
        check_contacts(tact, folder, browser)
        check_scale(tact, folder, browser)
    errors = browser.errors
    browser.close()
    assert not errors, errors
    print("1 passed, 0 failed")


main()
