/* The page: state -> server -> frame. Of changes that follow each other fast only the last is sent; only the latest answer counts. */

"use strict";

const PAUSE = 60; // ms without a change, after which the state is sent
const EXPLAINED = 2; // causes of a difference that are put into words: the others are smaller
const LAUNCHED = ["warps", "blocks", "registers", "shared"];
const KEYS = { ArrowLeft: "ArrowLeft", ArrowRight: "ArrowRight", ArrowUp: "ArrowUp", ArrowDown: "ArrowDown", n: "n", p: "p", "+": "+", "=": "+", "-": "-", 0: "0" };
const get = (id) => document.getElementById(id);

async function post(address, body) {
  try {
    const answer = await fetch(address, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    return await answer.json();
  } catch {
    return { error: { text: "the lab's server does not answer: was it ended?", where: "", places: [] } };
  }
}

class Lab {
  constructor(begin) {
    const changed = () => this.changed();
    Object.assign(this, begin, { client: crypto.randomUUID?.() ?? String(Math.random()), number: 0, timer: 0, images: begin.causes.map((cause) => (matchMedia("(prefers-color-scheme: dark)").matches ? cause.dark : cause.colour)) });
    this.listing = new Editor(get("listing-pane"), SASS, changed, (line) => this.frame?.contentWindow.postMessage({ line }, "*"));
    this.launch = new Editor(get("launch-pane"), TOML, changed);
    this.ofLaunch = new Knobs(get("of-launch"), changed);
    this.ofMachine = new Knobs(get("of-machine"), changed);
    this.ofSecond = new Knobs(get("of-second"), changed);
    this.registers = new Registers(get("registers"), (block, warp) => this.post("/registers", { state: this.now(), block, warp }));
    this.exercise = new Exercise(get("exercise"), (exercise, guess) => this.post("/answer", { exercise, ...guess }), () => this.simulate());
    for (const choice of [get("gpu"), get("gpu-b")]) choice.append(...Object.entries(this.gpus).map(([name, long]) => new Option(`${name}: ${long}`, name)));
    get("exercises").append(...this.exercises.map(({ name, title }, place) => new Option(`${place + 1}. ${title}`, name)));
    this.saves = new Saves(this);
    this.prepare();
    this.frame = null;
    this.fragment = "";
    this.connect();
  }

  post(address, body) {
    return post(address, { ...body, client: this.client, number: ++this.number });
  }

  /** All that the page shows, as the server takes it. */
  now() {
    const machines = [{ gpu: get("gpu").value, set: this.ofMachine.values }];
    if (this.two) machines.push({ gpu: get("gpu-b").value, set: this.ofSecond.values });
    const sizes = Object.fromEntries(LAUNCHED.map((field) => [field, this.ofLaunch.values[field] ?? null]));
    return { name: this.name, listing: this.listing.text, launch: this.launch.text, machines, chains: get("chains").checked, ...sizes };
  }

  /** Show a state: of the server, an exercise or an address. exercise: its name, "" = none. */
  async show(state, exercise = "") {
    this.name = String(state.name ?? "kernel");
    const found = this.exercises.find(({ name }) => name === exercise) ?? null, [one, other] = machinesOf(state);
    get("exercises").value = found ? exercise : "";
    this.exercise.show(found);
    this.listing.text = String(state.listing ?? "");
    this.launch.text = String(state.launch ?? "");
    get("chains").checked = state.chains === true;
    const values = Object.fromEntries(LAUNCHED.filter((field) => typeof state[field] === "number").map((field) => [field, state[field]]));
    this.fragment = "";
    if (!this.exercise.isOpen) {
      this.hide(); // at once: the timeline of before must not answer the question, nor its sliders be moved
      get("gpu").value = one.gpu;
      this.ofLaunch.show([], values);
      this.ofMachine.show([], one.set ?? {});
      this.ofSecond.show([], other?.set ?? {});
      if (other) get("gpu-b").value = other.gpu;
      this.two = other !== undefined;
    }
    await this.sliders(one, other ?? null, values);
    this.simulate();
  }

  /** Make the sliders of one GPU, or two. values: of the launch. */
  async sliders(one, other, values) {
    const free = this.exercise.current?.free ?? null;
    const answer = await this.post("/knobs", { gpu: one.gpu });
    if (answer.error) return this.complain(answer.error);
    if (answer.overtaken) return;
    get("gpu").value = one.gpu;
    this.opcodes = answer.opcodes;
    this.ofLaunch.show(answer.launch, values, free);
    this.ofMachine.show(answer.machine, one.set ?? {}, free);
    get("gpu").disabled = free !== null && !free.includes("gpu");
    this.two = other !== null;
    get("second").hidden = free !== null && !this.two;
    get("second").setAttribute("aria-pressed", String(this.two));
    get("second").textContent = this.two ? "one machine again" : "compare with a second machine";
    get("second-row").hidden = !this.two;
    get("name-a").textContent = this.two ? "GPU A" : "GPU";
    if (!this.two) return;
    get("gpu-b").value = other.gpu;
    const second = await this.post("/knobs", { gpu: other.gpu });
    if (second.machine) this.ofSecond.show(second.machine, other.set ?? {}, free);
  }

  /** A lone change is sent at once, one of many after a pause. */
  changed() {
    const now = performance.now(), alone = now - (this.since ?? 0) > PAUSE;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.simulate(now), alone ? 0 : PAUSE);
    this.since = now;
  }

  /** began: when the change was made. */
  async simulate(began = performance.now()) {
    clearTimeout(this.timer);
    const state = this.now(), mine = ++this.number;
    this.remember(state);
    if (!this.exercise.isOpen) return this.hide();
    const slow = setTimeout(() => { get("busy").textContent = "simulating ..."; }, 200);
    const answer = await post("/run", { state, client: this.client, number: mine });
    clearTimeout(slow);
    if (answer.overtaken || mine <= this.shown) return;
    this.shown = mine;
    if (answer.error) {
      get("busy").textContent = this.frame ? "the timeline is that before the mistake" : "";
      return this.complain(answer.error);
    }
    this.take(answer.result, began);
  }

  /** Load a frame for the next run: that takes longer than to draw one. */
  prepare() {
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-scripts");
    frame.title = "timeline, account and memory of the run";
    frame.src = "/frame";
    frame.className = "coming";
    frame.inert = true; // the keyboard passes it by
    const loaded = new Promise((resolve) => { frame.addEventListener("load", resolve, { once: true }); });
    get("frames").append(frame);
    this.spare = { frame, loaded };
  }

  /** Show the page of a run in a new frame; the old one stays until the new one has drawn. */
  async take(result, began) {
    get("mistake").hidden = true;
    get("values").textContent = result.values;
    get("values").classList.toggle("wrong", result.values.startsWith("Wrong"));
    this.listing.mark([]);
    this.launch.mark([]);
    this.listing.annotate(result.lines, this.images);
    this.explain(result.difference);
    this.registers.forget();
    get("frames").querySelector(".veiled").hidden = true;
    if (!this.spare) this.prepare();
    const { frame, loaded } = this.spare;
    this.spare = null;
    this.coming?.remove();
    this.coming = frame;
    this.drawn = () => {
      const ms = Math.round(performance.now() - began);
      get("busy").textContent = `${result.cycles.map((cycles) => cycles.toLocaleString("en")).join(" and ")} cycles, ${ms} ms`;
      document.body.dataset.drawn = String(Number(document.body.dataset.drawn ?? 0) + 1);
      document.body.dataset.ms = String(ms);
      this.frame?.remove();
      Object.assign(this, { frame, coming: null, drawn: null });
      frame.className = "";
      frame.inert = false;
      this.prepare();
    };
    const [page] = await Promise.all([fetch(`/page/${result.page}`).catch(() => null), loaded]), body = await page?.text();
    if (this.coming !== frame) return;
    if (!page?.ok) return this.complain({ text: body ?? "the lab's server does not answer: was it ended?", where: "", places: [] });
    frame.contentWindow.postMessage({ body, fragment: this.fragment }, "*");
  }

  /** Show no timeline, not even of what was asked before and is not answered yet. */
  hide() {
    this.shown = this.number;
    this.listing.mark([]);
    this.launch.mark([]);
    this.frame?.remove();
    this.coming?.remove();
    this.frame = this.coming = null;
    this.listing.annotate([], this.images);
    this.listing.highlight(0);
    this.explain(null);
    get("mistake").hidden = true;
    get("values").textContent = get("busy").textContent = "";
    get("frames").querySelector(".veiled").hidden = false;
  }

  complain({ text, where, places }) {
    const editor = { listing: this.listing, launch: this.launch }[where];
    get("mistake").textContent = text;
    get("mistake").hidden = false;
    this.listing.mark(where === "listing" ? places : []);
    this.launch.mark(where === "launch" ? places : []);
    if (editor) this.tab(where);
  }

  /** Where the time of two machines differs. */
  explain(difference) {
    const place = get("difference");
    place.hidden = !difference;
    if (!difference) return;
    const parts = difference.causes.map(({ cause, change, meaning }, row) => `${cause} ${change > 0 ? "+" : "−"}${Math.abs(Math.round(change)).toLocaleString("en")}${meaning && row < EXPLAINED ? ` (${meaning})` : ""}`);
    place.textContent = `${difference.says} B less A, ${difference.unit}: ${parts.join(", ") || "nothing"}.`;
  }

  async remember(state) {
    const fragment = await toFragment({ ...state, exercise: this.exercise.current?.name });
    if (fragment.length < MOST_LINK) history.replaceState(null, "", `#${fragment}`);
  }

  tab(name) {
    for (const one of ["listing", "launch"]) {
      get(`${one}-pane`).hidden = one !== name;
      get(`tab-${one}`).setAttribute("aria-selected", String(one === name));
    }
  }

  /** What the opcode at the caret is. */
  help() {
    const { line, text } = this.listing.caret, [, word] = /^\s*(?:[\w.$]+:)?\s*(?:@!?U?P\w+)?\s*([A-Z][A-Z0-9]+)/.exec(text) ?? [], row = this.opcodes?.[word];
    const takes = row?.modifiers.length ? ` Modifiers: ${row.modifiers.slice(0, 24).join(" ")}${row.modifiers.length > 24 ? " ..." : ""}` : "";
    if (!row) return void (get("help").textContent = "");
    const waits = row.latency === null ? "this GPU has no numbers for it" : `a dependent issues ${row.cycles} cycles later here (${row.field})`;
    const here = this.listing.bars.get(line)?.says;
    get("help").textContent = `${here ? `This line: ${here}. ` : ""}${word} ${row.usage}: ${row.meaning}. Unit ${row.unit}${row.pipe ? `, pipe ${row.pipe}` : ""}; ${waits}.${takes}`;
  }

  connect() {
    get("gpu").addEventListener("change", () => this.again());
    get("gpu-b").addEventListener("change", () => this.again());
    get("second").addEventListener("click", () => this.again(!this.two));
    get("reset").addEventListener("click", () => this.again(this.two, true));
    get("chains").addEventListener("change", () => this.simulate());
    get("exercises").addEventListener("change", () => {
      const chosen = this.exercises.find(({ name }) => name === get("exercises").value);
      this.show(chosen?.state ?? this.state, chosen?.name);
    });
    for (const name of ["listing", "launch"]) get(`tab-${name}`).addEventListener("click", () => this.tab(name));
    for (const event of ["keyup", "click"]) this.listing.area.addEventListener(event, () => this.help());
    get("link").addEventListener("click", async () => {
      await this.remember(this.now());
      await navigator.clipboard?.writeText(location.href).catch(() => {});
      get("busy").textContent = "the address holds the state";
    });
    get("keys").addEventListener("click", () => get("keys-list").showModal());
    window.addEventListener("message", (event) => this.told(event));
    window.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("hashchange", async () => {
      const state = await fromFragment(location.hash.slice(1));
      if (state) this.show(state, state.exercise);
    });
  }

  /** The GPUs have changed: their sliders begin anew where the GPU is another. */
  async again(two = this.two, reset = false) {
    const one = { gpu: get("gpu").value, set: reset ? {} : this.ofMachine.values };
    const other = two ? { gpu: this.two ? get("gpu-b").value : one.gpu, set: reset || !this.two ? {} : this.ofSecond.values } : null;
    const begun = reset ? this.exercise.current?.state : null;
    if (begun) one.set = begun.machines[0].set;
    const sizes = Object.fromEntries(LAUNCHED.filter((field) => typeof begun?.[field] === "number").map((field) => [field, begun[field]]));
    await this.sliders(one, other, reset ? sizes : this.ofLaunch.values);
    this.simulate();
  }

  /** A frame tells where its cursor is. */
  told({ source, data }) {
    if (typeof data !== "object" || data === null || typeof data.fragment !== "string") return;
    if (this.coming && source === this.coming.contentWindow) this.drawn();
    if (!this.frame || source !== this.frame.contentWindow) return;
    this.fragment = data.fragment;
    this.sm = Number(data.sm);
    this.listing.highlight(data.phase === "gone" ? 0 : Number(data.line));
    this.registers.show(data);
  }

  key(event) {
    if (event.altKey && event.key in KEYS) {
      event.preventDefault();
      this.frame?.contentWindow.postMessage({ key: KEYS[event.key] }, "*");
    } else if (event.ctrlKey && event.key === "Enter") this.simulate();
    else if (event.key === "?" && !event.target.matches("input, select, textarea")) get("keys-list").showModal();
  }
}

/** The machines of a state, which may come from an address. */
function machinesOf({ machines }) {
  const found = (Array.isArray(machines) ? machines : []).filter((machine) => typeof machine?.gpu === "string");
  return found.length ? found : [{ gpu: "gtx480", set: {} }];
}

(async () => {
  const begin = await post("/start", {});
  const lab = new Lab(begin), linked = await fromFragment(location.hash.slice(1));
  window.lab = lab;
  await lab.show(linked ?? begin.state, linked?.exercise);
})();
