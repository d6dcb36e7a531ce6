// Which frames a page keeps, which frame of a file is shown at a time, and what the longest arrow of a time span is.
"use strict";

// A frame takes about four times its message once it is an object: so 100 MB of frames at most.
const KEPT_SECONDS = 60, KEPT_FRAMES = 3600, KEPT_BYTES = 25e6, NEWEST_FRAMES = 15;

const bytesOf = (frames) => frames.reduce((sum, f) => sum + f.bytes, 0);

// All of the newest frames, half as many as the limit, and of the older ones as many as half of those have room in the
// time that is kept, evenly; the frame shown stays.
function spreadFrames(frames, limit, shown) {
  const recent = frames.length - Math.max(Math.floor(limit / 2), 2), spacing = 4 * KEPT_SECONDS / limit;
  let last = -Infinity;
  return frames.filter((f, i) => {
    const stays = i >= recent || f === shown || f.time >= last + spacing;
    last = stays && f !== shown ? f.time : last;
    return stays;
  });
}

// The frames without those that are too old and, where the session is slow or its frames are large, with fewer old ones.
function limitFrames(frames, shown) {
  const isRecent = (f) => f.time >= frames[frames.length - 1].time - KEPT_SECONDS;
  let kept = frames.slice(Math.max(frames.findIndex(isRecent), 0));
  for (let limit = KEPT_FRAMES; kept.length > 8 && (kept.length > KEPT_FRAMES || bytesOf(kept) > KEPT_BYTES); limit *= 0.75) {
    kept = spreadFrames(kept, limit, shown);
  }
  return kept;
}

// The frame of a file to be shown now [ms], and when it began: frames go by their times. `play`: the index of the frame
// that is shown, and when it began.
function advanceFrame(frames, play, now, speed) {
  const time = frames[play.shown].time, end = time + (now - play.started) * 0.001 * speed;
  let next = play.shown;
  while (next + 1 < frames.length && frames[next + 1].time <= end) {
    next++;
  }
  return { shown: next, started: play.started + (frames[next].time - time) * 1000 / speed };
}

// The largest of values, one of each frame: what nine in ten of those above zero do not exceed, or more where it is not
// above three times that, so that an impact of few ticks does not make all other arrows short; but at least what half of
// the newest frames exceed.
function largestUsual(values) {
  const at = (list, share) => list.length ? list[Math.ceil(share * list.length) - 1] : 0;
  const inOrder = (list) => list.filter((v) => v > 0).sort((a, b) => a - b);
  const all = inOrder(values), most = 3 * at(all, 0.9), recent = inOrder(values.slice(-NEWEST_FRAMES));
  return Math.max(at(all.filter((v) => v <= most), 1), at(recent, 0.5));
}
