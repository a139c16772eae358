/* A text area with a painted copy behind it: colours, marked mistakes, and what each line waited for. Texts become text nodes, never HTML. */

"use strict";

const LINE = 17; // pixels, as in the style sheet
const SASS = [
  ["comment", /^(#.*|\/\/.*|\/\*.*?\*\/)/], ["directive", /^\.[A-Za-z_]\w*(?![\w.]*:)/], ["label", /^[A-Za-z_.$][\w.$]*:/], ["guard", /^@!?U?P[0-6T]\b/],
  ["register", /^(U?R(\d+|Z)|U?P[0-6T]|SR_\w+|B\d+)\b/], ["constant", /^c\[[^\]]*\](\[[^\]]*\])?/], ["number", /^[+-]?(0x[\da-f]+|\d+(\.\d*)?(e[+-]?\d+)?)\b/i],
  ["opcode", /^[A-Z][A-Z0-9]+(\.\w+)*/], ["word", /^\.?[\w$]+/],
];
const TOML = [
  ["comment", /^#.*/], ["directive", /^\[\[?[^\]]*\]\]?/], ["number", /^[+-]?\d[\d._xa-fe+-]*/], ["constant", /^"[^"]*"?/], ["opcode", /^[A-Za-z_]\w*(?=\s*=)/], ["word", /^\w+/],
];

/** Pieces of a line: [kind, text]; an opcode is the first word of an instruction only. */
function pieces(line, rules) {
  const found = [];
  let seen = false;
  for (let at = 0; at < line.length;) {
    const rest = line.slice(at);
    let [kind, text] = ["", rest[0]];
    for (const [name, pattern] of rules) {
      const match = pattern.exec(rest);
      if (!match || (rules === SASS && name === "opcode" && seen)) continue;
      [kind, text] = [name, match[0]];
      break;
    }
    if (kind === "opcode" || kind === "directive") seen = true;
    found.push([kind, text]);
    at += text.length;
  }
  return found;
}

class Editor {
  /** changed: called after each change; pointed: with the line under the mouse, 0 = none any more. */
  constructor(place, rules, changed, pointed = () => {}) {
    Object.assign(this, { rules, pointed, under: 0, paint: place.querySelector(".paint"), area: place.querySelector("textarea"), marks: new Map(), bars: new Map(), hot: 0, leave: false });
    this.area.addEventListener("mousemove", (event) => this.point(Math.floor((event.offsetY + this.area.scrollTop) / LINE) + 1));
    this.area.addEventListener("mouseleave", () => this.point(0));
    this.area.addEventListener("input", () => {
      this.point(0);
      this.bars.clear();
      this.draw();
      changed();
    });
    this.area.addEventListener("scroll", () => {
      this.paint.scrollTop = this.area.scrollTop;
      this.paint.scrollLeft = this.area.scrollLeft;
    });
    this.area.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.leave = true;
      else if (event.key === "Tab" && !this.leave && !event.shiftKey) {
        event.preventDefault();
        this.area.setRangeText("    ", this.area.selectionStart, this.area.selectionEnd, "end");
        this.area.dispatchEvent(new Event("input"));
      } else this.leave = false;
    });
  }

  /** Say what the line waited for, and which it is; a line without a bar is none. */
  point(line) {
    const bar = this.bars.get(line);
    this.area.title = bar?.says ?? "";
    if (this.under !== (bar ? line : 0)) this.pointed(this.under = bar ? line : 0);
  }

  get text() {
    return this.area.value;
  }

  set text(value) {
    if (this.area.value !== value) this.area.value = value;
    this.bars.clear();
    this.draw();
  }

  /** The line of the caret, from 1, and the word under it. */
  get caret() {
    const before = this.area.value.slice(0, this.area.selectionStart).split("\n"), line = before.length;
    return { line, text: this.area.value.split("\n")[line - 1] };
  }

  /** marks: line -> message. */
  mark(places) {
    this.marks = new Map(places.map(({ line, column, message }) => [line, { column, message }]));
    this.draw();
  }

  /** bars: of each line {segments: [cause, share], says}; images: of causes. */
  annotate(lines, images) {
    this.bars = new Map(lines.map((line) => [line.line, line]));
    this.images = images;
    this.draw();
  }

  highlight(line) {
    if (this.hot === line) return;
    this.paint.children[this.hot - 1]?.classList.remove("hot");
    this.hot = line;
    this.paint.children[line - 1]?.classList.add("hot");
  }

  draw() {
    const lines = this.area.value.split("\n").map((text, place) => this.line(text, place + 1));
    this.paint.replaceChildren(...lines);
    this.paint.scrollTop = this.area.scrollTop;
  }

  line(text, number) {
    const row = document.createElement("div"), mark = this.marks.get(number), bar = this.bars.get(number);
    row.className = `line${mark ? " wrong" : ""}${number === this.hot ? " hot" : ""}`;
    row.append(this.gutter(number, bar));
    for (const [kind, piece] of pieces(text, this.rules)) {
      const span = document.createElement("span");
      span.className = kind;
      span.textContent = piece;
      row.append(span);
    }
    if (mark) {
      const note = document.createElement("span");
      note.className = "note";
      note.textContent = `  ${mark.message}`;
      row.append(note);
    }
    return row;
  }

  /** The line's number, and the bar of what warps waited for before it. */
  gutter(number, bar) {
    const place = document.createElement("span"), box = document.createElement("span");
    place.className = "gutter";
    box.className = "bar";
    for (const [cause, share] of bar?.segments ?? []) {
      const part = document.createElement("i");
      part.style.width = `${Math.max(share * 0.46, 0.5)}px`;
      part.style.background = this.images[cause];
      box.append(part);
    }
    place.append(box, String(number));
    return place;
  }
}
