/* What the cursor points at, in words: the warp picked, its chain, and how all warps of its SM fare in that cycle. */

class Panel {
  constructor(place, runs, state, causes, images) {
    Object.assign(this, { place, runs, state, causes, images });
    place.addEventListener("click", (event) => {
      const item = event.target.closest("[data-row], [data-cycle]")?.dataset;
      if (item) state.step(item.cycle === undefined ? runs[state.run].cycle[item.row] : Number(item.cycle));
    });
    state.listen(() => this.draw());
  }

  swatch(cause) {
    return cause < 0 ? "" : `<span class="swatch" style="background-image:${this.images[cause].replaceAll('"', "'")}"></span>`;
  }

  draw() {
    const { state, causes } = this, run = this.runs[state.run], { warp, cycle } = state;
    const { cause, name, text } = sentence(run, warp, cycle, causes), now = run.at(warp, cycle), { phase, row } = now;
    const label = this.runs.length > 1 ? `run ${"AB"[state.run]}, ` : "";
    this.place.dataset.cause = name;
    this.place.querySelector(".where").innerHTML =
      `Cycle <b>${cycle.toLocaleString("en")}</b>, ${label}${run.name(warp)}, SM ${run.warps.sm[warp]}, scheduler ${run.warps.scheduler[warp]}`;
    this.place.querySelector(".what").innerHTML = `${this.swatch(cause)}<b class="name">${escaped(name)}</b> ${text}`;
    const more = [];
    if (run.waits?.onPath.has(`${warp},${cycle}`)) more.push("This issue is on the critical path of the run.");
    if (phase === "wait" || phase === "ready") more.push(duration(run, row, cycle));
    if (phase === "issue") more.push(this.afterwards(run, row));
    this.place.querySelector(".more").textContent = more.join(" ");
    this.place.querySelector(".chain").innerHTML = phase === "absent" || phase === "gone" ? "" : chainItems(run, now).join("");
    this.place.querySelector(".others").innerHTML = this.others(run, cycle, run.warps.sm[warp]);
  }

  /** What follows from an issue. */
  afterwards(run, row) {
    const { pipe } = run.instructions[run.instruction[row]], hold = run.end[row] - run.cycle[row], took = run.ready[row] - run.cycle[row];
    const lanes = run.lanes[row] < LANES ? ` ${run.lanes[row]} of ${LANES} lanes execute${run.lanes[row] === 1 ? "s" : ""} it.` : "";
    const port = pipe ? `It holds the ${pipe} port for ${cycles(hold)}` : `It takes ${cycles(hold)}`;
    const result = run.ready[row] > run.end[row] ? `; its result is there after ${cycles(took)}, in ${run.ready[row].toLocaleString("en")}` : "";
    const waited = run.cycle[row] - run.since[row];
    return `${port}${result}.${lanes}` + (waited > 0 ? ` It waited ${cycles(waited)} before.` : "");
  }

  /** Count the warps of the SM by what they do in the cycle. */
  others(run, cycle, sm) {
    const count = new Map();
    for (let warp = 0; warp < run.warpCount; warp++) {
      if (run.warps.sm[warp] !== sm) continue;
      const { cause } = run.at(warp, cycle), { phase } = run.at(warp, cycle);
      if (phase !== "absent" && phase !== "gone") count.set(cause, (count.get(cause) ?? 0) + 1);
    }
    const parts = [...count].sort(([a], [b]) => a - b).map(([cause, n]) => `<span>${this.swatch(cause)}${n} ${this.short(cause)}</span>`);
    return parts.length ? `All warps of SM ${sm} in this cycle: ${parts.join(" ")}` : `No warp of SM ${sm} is resident in this cycle.`;
  }

  short(cause) {
    return { [SELECTED]: "issue", [NOT_SELECTED]: "ready" }[cause] ?? this.causes[cause].name;
  }
}

/** The small box beside the mouse. */
class Tip {
  constructor(element, causes) {
    Object.assign(this, { element, causes });
  }

  show(event, run, warp, cycle) {
    const { name, text } = sentence(run, warp, cycle, this.causes), now = run.at(warp, cycle);
    const chain = now.phase === "wait" ? chainItems(run, now).slice(0, 3) : [];
    this.say(event, `<b>cycle ${cycle.toLocaleString("en")}: ${escaped(name)}</b><br>${text}` + (chain.length ? `<ul>${chain.join("")}</ul>` : ""));
  }

  /** html: of escaped texts. */
  say(event, html) {
    this.element.innerHTML = html;
    this.element.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const left = event.clientX + 16 + width > window.innerWidth ? event.clientX - width - 12 : event.clientX + 16;
    const top = event.clientY + 16 + height > window.innerHeight ? event.clientY - height - 12 : event.clientY + 16;
    Object.assign(this.element.style, { left: `${Math.max(left, 4)}px`, top: `${Math.max(top, 4)}px` });
  }

  hide() {
    this.element.hidden = true;
  }
}
