/* What is looked at: the range of cycles, the cursor's cycle, warp and run, the instruction picked. It lives in the address' fragment too. */

class State {
  /** limits: [first, end) cycles that any run of the page covers. */
  constructor(limits) {
    this.limits = limits;
    this.listeners = [];
    Object.assign(this, { from: limits[0], to: limits[1], cycle: limits[0], warp: 0, run: 0, sm: ALL, path: false, instruction: -1, line: 0, scheduled: false });
  }

  /** Call `listener` after every change, at most once per frame. */
  listen(listener) {
    this.listeners.push(listener);
  }

  set(patch) {
    Object.assign(this, patch);
    const [first, end] = this.limits, least = Math.min(8, end - first);
    const span = Math.min(Math.max(this.to - this.from, least), end - first);
    this.from = Math.min(Math.max(this.from, first), end - span);
    this.to = this.from + span;
    this.cycle = Math.min(Math.max(Math.round(this.cycle), first), end - 1);
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => this.tell());
  }

  /** Call the listeners now, and not again in the next frame. */
  tell() {
    if (!this.scheduled) return;
    this.scheduled = false;
    for (const listener of this.listeners) listener();
  }

  /** Whether an issue is drawn in full: nothing is picked, or its instruction is, or its line. */
  picks(run, row) {
    const number = run.instruction[row];
    return (this.instruction < 0 || number === this.instruction) && (!this.line || run.instructions[number].line === this.line);
  }

  /** Show `factor` times as many cycles, keeping `cycle` where it is. */
  zoom(factor, cycle = (this.from + this.to) / 2) {
    const least = Math.min(8, this.limits[1] - this.limits[0]);
    const span = Math.max((this.to - this.from) * factor, least);
    const share = (cycle - this.from) / (this.to - this.from);
    const from = cycle - share * span;
    this.set({ from, to: from + span });
  }

  pan(cycles) {
    const span = this.to - this.from, [first, end] = this.limits;
    const from = Math.min(Math.max(this.from + cycles, first), end - span);
    this.set({ from, to: from + span });
  }

  /** Move the cursor, and the range with it where it would leave it. */
  step(cycle) {
    const span = this.to - this.from, patch = { cycle };
    if (cycle < this.from || cycle >= this.to) Object.assign(patch, { from: cycle - span / 2, to: cycle + span / 2 });
    this.set(patch);
  }

  /** Return the state as the text after #. */
  fragment(run) {
    const warp = `b${run.warps.block[this.warp]}w${run.warps.warp[this.warp]}`;
    const parts = { cycle: this.cycle, warp, from: Math.round(this.from), to: Math.round(this.to) };
    if (this.run) parts.run = "B";
    if (this.sm === ALL && run.sms.length > 1) parts.sm = "all";
    if (this.path) parts.path = 1;
    return new URLSearchParams(parts).toString();
  }

  /** Take what a fragment says, as far as it makes sense. */
  read(fragment, runs) {
    const said = new URLSearchParams(fragment), patch = {};
    if (said.get("run") === "B" && runs.length > 1) patch.run = 1;
    for (const name of ["cycle", "from", "to"]) if (/^\d+$/.test(said.get(name) ?? "")) patch[name] = Number(said.get(name));
    const [, block, number] = /^b(\d+)w(\d+)$/.exec(said.get("warp") ?? "") ?? [];
    patch.path = said.get("path") === "1";
    const run = runs[patch.run ?? this.run];
    if (block !== undefined) patch.warp = Math.max(run.find(Number(block), Number(number)), 0);
    patch.sm = said.get("sm") === "all" ? ALL : run.warps.sm[patch.warp ?? this.warp];
    this.set(patch);
  }
}
