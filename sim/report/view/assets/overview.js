/* The whole window in one strip: how many warps issue and wait, by cause; the range shown below is marked and can be dragged. */

class Overview {
  constructor(canvas, run, state, causes, title) {
    Object.assign(this, { canvas, run, state, causes, title });
    this.fills = causes.map(fillOf);
    this.shares = null;
    let from = null;
    const cycleAt = (event) => {
      const area = canvas.getBoundingClientRect(), [first, end] = state.limits;
      return first + ((event.clientX - area.left - LEFT) / (area.width - LEFT - RIGHT)) * (end - first);
    };
    canvas.addEventListener("pointerdown", (event) => {
      from = cycleAt(event);
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (from !== null) this.dragged(from, cycleAt(event));
    });
    canvas.addEventListener("pointerup", (event) => {
      this.dragged(from, cycleAt(event));
      from = null;
    });
    state.listen(() => this.draw());
  }

  /** Show what was dragged over; a click moves the range there. */
  dragged(from, to) {
    const { state } = this, least = (state.limits[1] - state.limits[0]) / 200;
    if (Math.abs(to - from) > least) return state.set({ from: Math.min(from, to), to: Math.max(from, to) });
    const span = state.to - state.from;
    return state.set({ from: to - span / 2, to: to + span / 2 });
  }

  draw() {
    const width = this.canvas.parentElement.clientWidth, height = this.canvas.parentElement.clientHeight / this.canvas.parentElement.children.length;
    const context = fitted(this.canvas, width, height), room = width - LEFT - RIGHT, { state, run } = this;
    const [first, end] = state.limits, bins = Math.min(room, end - first);
    if (this.shares?.[0].length !== bins || this.sm !== state.sm) {
      this.shares = warpsByCause(run, run.warpsOn(state.sm), first, end, bins, this.causes.length);
      this.sm = state.sm;
    }
    const most = Math.max(...Array.from({ length: bins }, (_, bin) => this.shares.reduce((sum, cause) => sum + cause[bin], 0)), 1);
    for (let bin = 0; bin < bins; bin++) {
      if (!run.holds(first + (bin * (end - first)) / bins)) continue;
      let bottom = height;
      const left = LEFT + (bin * room) / bins;
      for (let cause = 0; cause < this.causes.length; cause++) {
        const tall = (this.shares[cause][bin] / most) * (height - 2);
        if (!tall) continue;
        context.fillStyle = this.fills[cause];
        context.fillRect(left, bottom - tall, room / bins + 0.5, tall);
        bottom -= tall;
      }
    }
    const a = LEFT + ((state.from - first) / (end - first)) * room, b = LEFT + ((state.to - first) / (end - first)) * room;
    context.fillStyle = INK.veil;
    context.fillRect(LEFT, 0, a - LEFT, height);
    context.fillRect(b, 0, LEFT + room - b, height);
    context.strokeStyle = INK.ink;
    context.strokeRect(a + 0.5, 0.5, Math.max(b - a - 1, 1), height - 1);
    context.fillStyle = "crimson";
    context.fillRect(LEFT + ((state.cycle - first) / (end - first)) * room, 0, 1.5, height);
    context.fillStyle = INK.ink;
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    const many = Math.round(most), warps = `${many} warp${many === 1 ? "" : "s"}`, tall = height > 30;
    context.fillText(tall ? this.title : `${this.title}: ${warps}`, 4, height / 2 - (tall ? 7 : 0));
    if (tall) context.fillText(warps, 4, height / 2 + 7);
  }
}
