/* Colours and hatches of the causes, and canvases that are sharp on every screen. */

const SCHEME = matchMedia("(prefers-color-scheme: dark)");
SCHEME.addEventListener("change", () => location.reload());

/** The colours of page.css that canvases need. */
const INK = Object.fromEntries(["ink", "paper", "faint", "soft", "line", "issue"].map((name) => (
  [name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()])));
INK.dark = SCHEME.matches;
INK.idle = "#8c8c8c"; // lanes that do not execute what is issued: neither black nor white
INK.even = INK.dark ? "#31547a" : "#a9cbea"; // phases of a barrier, in turn
INK.odd = INK.dark ? "#6b4f2a" : "#f3d3a0";
INK.veil = INK.dark ? "rgba(20, 22, 26, 0.65)" : "rgba(255, 255, 255, 0.65)";

/** Fit a canvas to its place on the page; return its context, in CSS pixels, cleared. */
function fitted(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

const STROKES = {
  "//": [[0, 8, 8, 0]], "\\\\": [[0, 0, 8, 8]], "||": [[4, 0, 4, 8]], "--": [[0, 4, 8, 4]],
  xx: [[0, 0, 8, 8], [0, 8, 8, 0]], "++": [[4, 0, 4, 8], [0, 4, 8, 4]], "**": [[0, 0, 8, 8], [0, 8, 8, 0], [0, 4, 8, 4]],
};
const DOTS = { "..": 1, oo: 1.8 };

/** Return what to fill with for a cause: its colour, hatched so that it differs in grey too. */
function fillOf({ colour, hatch }) {
  if (!hatch) return colour;
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const context = tile.getContext("2d");
  context.fillStyle = colour;
  context.fillRect(0, 0, 8, 8);
  context.strokeStyle = context.fillStyle = "rgba(0, 0, 0, 0.35)";
  for (const [x, y, toX, toY] of STROKES[hatch] ?? []) {
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(toX, toY);
    context.stroke();
  }
  if (DOTS[hatch]) {
    context.beginPath();
    context.arc(4, 4, DOTS[hatch], 0, 7);
    context.fill();
  }
  return context.createPattern(tile, "repeat");
}

/** Give every element with data-cause the colour and hatch of its cause. */
function paintSwatches(causes) {
  const image = causes.map((cause) => {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 8;
    const context = tile.getContext("2d");
    context.fillStyle = fillOf(cause);
    context.fillRect(0, 0, 8, 8);
    return `url(${tile.toDataURL()})`;
  });
  for (const element of document.querySelectorAll("[data-cause]")) element.style.backgroundImage = image[element.dataset.cause];
  return image;
}

/** Return round cycles for the ticks of an axis with room for one in `room` pixels. */
function ticks(from, to, width, room = 80) {
  const least = ((to - from) * room) / width, power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  const step = [1, 2, 5, 10].map((k) => k * power).find((size) => size >= least) ?? 10 * power;
  const found = [];
  for (let cycle = Math.ceil(from / step) * step; cycle < to; cycle += step) found.push(cycle);
  return found;
}
