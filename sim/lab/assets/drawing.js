/* Issue slots drawn as a prediction: a row per warp, a cell per cycle. What the simulator issues comes from the server, after the commitment. */

"use strict";

class Drawing {
  /** ask: of each warp the cycles marked -> promise of the judgement; committed: called when the result may be seen. */
  constructor(place, ask, committed) {
    Object.assign(this, { place, ask, committed, cells: [] });
    place.addEventListener("submit", (event) => {
      event.preventDefault();
      this.commit();
    });
    place.addEventListener("keydown", (event) => this.key(event));
    for (const name of ["focusin", "pointerover"]) place.addEventListener(name, ({ target }) => this.say(target.dataset?.says ?? ""));
  }

  /** asked: {question, cycles, warps}, null = nothing is to be drawn. */
  show(asked) {
    const { place } = this;
    place.hidden = !asked;
    this.cells = [];
    if (!asked) return;
    const [first, last] = asked.cycles, cycles = Array.from({ length: last - first + 1 }, (_, k) => first + k);
    place.querySelector(".asked").textContent = asked.question;
    this.cells = asked.warps.map((warp) => cycles.map((cycle) => this.cell(warp, cycle)));
    this.cells[0][0].tabIndex = 0; // the others are reached by arrow keys
    const rows = this.cells.map((cells, row) => this.row(`warp ${asked.warps[row]}`, cells));
    place.querySelector(".slots").replaceChildren(this.ruler(cycles), ...rows);
    this.judge("", "");
    this.say("");
  }

  row(name, cells) {
    const row = document.createElement("div");
    row.appendChild(document.createElement("span")).textContent = name;
    row.append(...cells);
    return row;
  }

  /** The cycles' numbers, at the first and every tenth. */
  ruler(cycles) {
    const row = this.row("cycle", cycles.map((cycle, k) => {
      const mark = document.createElement("span");
      mark.textContent = k === 0 || (cycle % 10 === 0 && k > 3) ? cycle : "";
      return mark;
    }));
    row.className = "ruler";
    row.setAttribute("aria-hidden", "true");
    return row;
  }

  cell(warp, cycle) {
    const cell = Object.assign(document.createElement("input"), { type: "checkbox", tabIndex: -1, value: cycle });
    cell.dataset.says = `warp ${warp}, cycle ${cycle}`;
    cell.setAttribute("aria-label", cell.dataset.says);
    return cell;
  }

  say(text) {
    this.place.querySelector(".cell").textContent = text;
  }

  key(event) {
    const row = this.cells.findIndex((cells) => cells.includes(event.target)), [down, right] = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key] ?? [0, 0];
    const next = this.cells[row + down]?.[this.cells[row]?.indexOf(event.target) + right];
    if (row < 0 || event.altKey || !next || next === event.target) return;
    event.preventDefault();
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  async commit() {
    const drawn = this.cells.map((cells) => cells.filter(({ checked }) => checked).map(({ value }) => Number(value)));
    const answer = await this.ask(drawn);
    if (!answer.result) return this.judge(answer.error?.text ?? "", "wrong");
    const { right, missed, excess, slots, explanation } = answer.result;
    this.cells.forEach((cells, row) => cells.forEach((cell) => {
      const issues = slots[row].includes(Number(cell.value));
      const mark = issues ? (cell.checked ? "hit" : "missed") : (cell.checked ? "excess" : "");
      cell.className = mark;
      cell.setAttribute("aria-label", [cell.dataset.says, { hit: "right", missed: "issues, not marked", excess: "marked, does not issue" }[mark]].filter(Boolean).join(": "));
    }));
    const wrong = `Not quite: ${missed} missed (striped), ${excess} too many (red).`;
    this.judge(`${right ? "Right." : wrong} ${explanation}`, right ? "right" : "wrong");
    this.committed();
  }

  judge(text, kind) {
    const place = this.place.querySelector(".drawn");
    place.textContent = text;
    place.className = `drawn ${kind}`;
    if (text) place.scrollIntoView({ block: "nearest" });
  }
}
