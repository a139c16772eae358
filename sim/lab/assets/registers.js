/* What a warp's registers and predicates hold at the cursor's cycle, by the instructions issued up to there; results under way are marked. Below them its block's shared memory. */

"use strict";

const LANES = 32;

class Registers {
  /** ask: (block, warp) -> a promise of {steps} or {error}. */
  constructor(place, ask) {
    Object.assign(this, { place, ask, key: "", steps: null, at: null, form: "hex" });
    place.addEventListener("toggle", () => this.follow());
  }

  /** The state has changed: what is known of its registers holds no more. */
  forget() {
    this.key = "";
    this.steps = null;
    this.follow();
  }

  /** at: what the frame tells of its cursor. */
  show(at) {
    this.at = at;
    this.follow();
  }

  async follow() {
    const { at } = this;
    if (!this.place.open || !at) return;
    const key = `${at.block},${at.warp}`;
    if (this.key !== key) {
      this.key = key;
      this.steps = null;
      this.say(`executing warp ${at.warp} of block ${at.block} step by step ...`);
      const answer = await this.ask(at.block, at.warp);
      if (this.key !== key) return;
      if (answer.overtaken) this.key = "";
      this.steps = answer.result?.steps ?? null;
      this.shared = answer.result ? new SharedMemory(answer.result.shared) : null;
      if (!this.steps) return this.say(answer.error?.text ?? "");
    }
    if (this.steps) this.draw(this.values(this.at.issued));
  }

  say(text) {
    this.place.querySelector(".where").textContent = text;
    this.place.querySelector(".table").replaceChildren();
  }

  /** Registers and predicates after `issued` instructions, and what the last of them changed. */
  values(issued) {
    const registers = new Map(), predicates = new Map(), writer = new Map();
    let changed = [], active = 0xffffffff;
    for (const step of this.steps) {
      if (step.issued > issued) break;
      changed = [...Object.keys(step.registers), ...Object.keys(step.predicates)];
      active = step.active;
      for (const [name, row] of Object.entries(step.registers)) registers.set(name, row);
      for (const [name, mask] of Object.entries(step.predicates)) predicates.set(name, mask);
      if (step.issued) for (const name of changed) writer.set(name, step.issued);
    }
    return { registers, predicates, changed: issued ? changed : [], writer, active };
  }

  draw({ registers, predicates, changed, writer, active }) {
    const { at } = this, pending = new Map(at.pending);
    const lanes = [...Array(LANES).keys()].filter((lane) => (active >>> lane) & 1).length;
    const name = at.run ? " (the second machine's cursor)" : "";
    this.place.querySelector(".where").textContent =
      `Warp ${at.warp} of block ${at.block}, cycle ${at.cycle.toLocaleString("en")}${name}: ${at.issued} instruction${at.issued === 1 ? "" : "s"} issued; ${lanes} lane${lanes === 1 ? " goes on" : "s go on together"}. ` +
      "Bold: changed by the last. Italic: the result is still under way.";
    const table = document.createElement("table");
    table.append(this.row("th", ["lane", ...Array.from({ length: LANES }, (_, lane) => lane)]));
    const order = (one, other) => one.localeCompare(other, "en", { numeric: true });
    for (const register of [...registers.keys()].sort(order)) {
      this.add(table, register, this.shown(registers.get(register)), { changed, writer, pending });
    }
    for (const predicate of [...predicates.keys()].filter((one) => writer.has(one)).sort(order)) {
      const mask = predicates.get(predicate);
      this.add(table, predicate, Array.from({ length: LANES }, (_, lane) => ((mask >>> lane) & 1 ? "T" : "·")), { changed, writer, pending });
    }
    this.place.querySelector(".table").replaceChildren(this.forms(), table, ...this.shared.drawn(at, (words) => this.shown(words)));
  }

  add(table, name, cells, { changed, writer, pending }) {
    const until = pending.get(writer.get(name)), row = this.row("td", [name, ...cells]);
    row.classList.toggle("changed", changed.includes(name));
    row.classList.toggle("under-way", until !== undefined);
    if (until !== undefined) row.title = `there in cycle ${until.toLocaleString("en")}`;
    table.append(row);
  }

  row(kind, cells) {
    const row = document.createElement("tr");
    for (const text of cells) {
      const cell = document.createElement(kind);
      cell.textContent = text;
      row.append(cell);
    }
    return row;
  }

  /** 32-bit words as people read them. */
  shown(words) {
    if (this.form === "integers") return words.map((word) => word | 0);
    if (this.form === "floats") return [...new Float32Array(Uint32Array.from(words).buffer)].map((value) => Number(value.toPrecision(6)));
    return words.map((word) => word.toString(16));
  }

  forms() {
    const choice = document.createElement("select");
    choice.setAttribute("aria-label", "words as");
    choice.append(...["hex", "integers", "floats"].map((form) => new Option(form, form)));
    choice.value = this.form;
    choice.addEventListener("change", () => {
      this.form = choice.value;
      this.follow();
    });
    return choice;
  }
}
