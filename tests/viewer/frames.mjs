// frames.mjs SOURCE: how fast a page plays a file, how many frames it keeps, and the scale of its arrows: page/frames.js
// without a browser.
import assert from "node:assert";
import { readFileSync } from "node:fs";

const source = readFileSync(process.argv[2] + "/examples/viewer/page/frames.js", "utf8");
const { advanceFrame, limitFrames, largestUsual } = new Function(source + "; return { advanceFrame, limitFrames, largestUsual };")();

// A session of 10 s, 60 frames a second, each at the tick before: it takes 10 s at speed 1, whatever the timer.
const file = Array.from({ length: 600 }, (_, i) => ({ time: Math.floor(1 + i * 1000 / 60) * 1e-3 }));
for (const speed of [0.1, 0.25, 1, 2, 10]) {
  for (const interval of [4, 16, 16.2, 17, 100]) {
    let play = { shown: 0, started: 0 }, now = 0;
    while (play.shown + 1 < file.length && now < 2e5) {
      now += interval;
      play = advanceFrame(file, play, now, speed);
    }
    const passed = 0.001 * now * speed, length = file[599].time - file[0].time;
    assert(passed >= length - 1e-9 && passed <= length + 0.001 * interval * speed + 1e-9, `speed ${speed}, every ${interval} ms: ${passed} s`);
  }
}

// Two hours of frames at 60 a second, of that session time: what is kept, and the frame shown where the page does not follow.
function keep(rate, bytes, count, stays) {
  let frames = [], shown;
  for (let i = 0; i < count; i++) {
    frames.push({ time: i * rate, bytes });
    shown = stays && i >= count - 3000 ? shown || frames[frames.length - 1] : undefined;
    frames = limitFrames(frames, shown);
    assert(frames.length <= 3600 && (frames.length <= 8 || frames.length * bytes <= 25e6), `${frames.length} frames`);
  }
  assert(frames.every((f, i) => !i || f.time > frames[i - 1].time), "order");
  assert(frames[frames.length - 1].time - frames[0].time <= 60, "age");
  assert(!shown || frames.includes(shown), "the frame shown was left out");
  return frames;
}

const live = keep(1 / 50, 5000, 8000);
assert.strictEqual(live.length, 3001, "all of the last minute is kept at speed 1");
const slow = keep(1 / 600, 5000, 40000, true);
assert(slow.length > 1800 && slow[slow.length - 1].time - slow[0].time > 59, `${slow.length} frames at a tenth of the speed`);
const large = keep(1 / 60, 200e3, 8000, true);
assert(large.length > 60 && large[large.length - 1].time - large[0].time > 50, `${large.length} large frames`);
const huge = keep(1 / 60, 1e8, 100);
assert(huge.length <= 8, `${huge.length} huge frames`);

// The longest arrow: an impact of a few frames does not count, a force that lasts does at once, and so does one that grows.
const rest = Array.from({ length: 100 }, () => 1), ramp = Array.from({ length: 100 }, (_, i) => i);
assert.strictEqual(largestUsual([]), 0);
assert.strictEqual(largestUsual([0, 0]), 0);
assert.strictEqual(largestUsual([0, 7]), 7);
assert.strictEqual(largestUsual([...rest, 100, 90, 5, ...rest]), 1);
assert.strictEqual(largestUsual([...rest, 100, 90, 5]), 1);
assert.strictEqual(largestUsual([...rest, 2.5, ...rest]), 2.5);
assert.strictEqual(largestUsual([...rest, ...rest.slice(0, 8).map(() => 10)]), 10);
assert.strictEqual(largestUsual(ramp), 99);
console.log("1 passed, 0 failed");
