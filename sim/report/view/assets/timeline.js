/* Warps by cycles: a row per warp slot, black where it issues, the colour of the cause where it waits. */

const LEFT = 84, TOP = 20, RIGHT = 8, DRAG = 4, BOXES = 0.5, ROW = 24; // pixels; BOXES: per cycle, from which every issue is drawn

class Timeline {
  /** place: an element with a `.rows` box that scrolls and a canvas in it. */
  constructor(place, run, number, state, causes, tip) {
    Object.assign(this, { place, run, number, state, causes, tip });
    this.box = place.querySelector(".rows");
    this.canvas = place.querySelector("canvas");
    this.fills = causes.map(fillOf);
    this.listen();
    state.listen(() => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  get width() {
    return this.box.clientWidth - LEFT - RIGHT;
  }

  get rowHeight() {
    return Math.min(Math.max((this.box.clientHeight - TOP) / this.rows.length, 11), ROW);
  }

  /** The rows drawn, from above. */
  get rows() {
    if (this.sm !== this.state.sm) {
      this.sm = this.state.sm;
      this.shown = this.run.rowsOn(this.sm);
      this.placeOf = new Map(this.shown.map((row, place) => [row, place]));
    }
    return this.shown;
  }

  get perCycle() {
    return this.width / (this.state.to - this.state.from);
  }

  x(cycle) {
    return LEFT + (cycle - this.state.from) * this.perCycle;
  }

  /** Return the cycle, row and warp under a mouse event. */
  under(event) {
    const area = this.canvas.getBoundingClientRect();
    const cycle = this.state.from + (event.clientX - area.left - LEFT) / this.perCycle;
    const row = this.rows[Math.floor((event.clientY - area.top - TOP + this.box.scrollTop) / this.rowHeight)];
    return { cycle, warp: row === undefined ? -1 : this.run.warpIn(row, cycle), row };
  }

  listen() {
    const { canvas, state } = this;
    let start = null;
    this.box.addEventListener("scroll", () => this.draw());
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (sideways) state.pan(((event.deltaX || event.deltaY) / this.width) * (state.to - state.from));
      else state.zoom(1.25 ** (event.deltaY / 100), this.under(event).cycle);
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      start = { x: event.clientX, from: state.from, to: state.to, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!start) return this.hover(event);
      const shift = event.clientX - start.x;
      start.moved ||= Math.abs(shift) > DRAG;
      if (start.moved) {
        const cycles = shift / this.perCycle;
        state.set({ from: start.from - cycles, to: start.to - cycles });
      }
    });
    canvas.addEventListener("pointerup", (event) => {
      if (start && !start.moved) this.pick(event);
      start = null;
    });
    canvas.addEventListener("pointerleave", () => this.tip.hide());
    canvas.addEventListener("dblclick", (event) => state.zoom(0.25, this.under(event).cycle));
  }

  pick(event) {
    const { cycle, warp } = this.under(event);
    this.state.set({ cycle: Math.floor(cycle), run: this.number, ...(warp >= 0 ? { warp } : {}) });
  }

  hover(event) {
    const { cycle, warp, row } = this.under(event);
    if (this.run.phaseIn(row, cycle)) return this.tip.say(event, phaseSentence(this.run, row, Math.floor(cycle)));
    if (warp < 0 || cycle < this.state.from || cycle >= this.state.to) return this.tip.hide();
    this.tip.show(event, this.run, warp, Math.floor(cycle));
  }

  /** Take no more height than rows, charts and caption need. */
  settle() {
    const beside = this.place.scrollHeight - this.box.offsetHeight, basis = `${beside + TOP + this.rows.length * ROW + 4}px`;
    if (this.place.style.flexBasis !== basis) this.place.style.flexBasis = basis;
  }

  draw() {
    this.settle();
    const { run, state } = this, rows = this.rows.length, height = this.box.clientHeight;
    this.place.querySelector(".tall").style.height = `${TOP + rows * this.rowHeight}px`;
    const context = fitted(this.canvas, this.box.clientWidth, height);
    const scroll = this.box.scrollTop, size = this.rowHeight;
    const firstRow = Math.floor(scroll / size), lastRow = Math.min(rows, Math.ceil((scroll + height - TOP) / size));
    context.save();
    context.beginPath();
    context.rect(LEFT, TOP, this.width, height - TOP);
    context.clip();
    for (let row = firstRow; row < lastRow; row++) {
      const top = TOP + row * size - scroll;
      for (const warp of run.warpsOfRow[this.rows[row]]) this.drawWarp(context, warp, top + 1, size - 2);
      drawPhases(this, context, run.phasesOfRow[this.rows[row]], top + 1, size - 2);
    }
    this.drawUnknown(context, height);
    this.drawPath(context, scroll, size);
    this.drawCursor(context, height, scroll, size);
    context.restore();
    this.drawAxis(context);
    this.drawNames(context, firstRow, lastRow, scroll, size);
  }

  drawWarp(context, warp, top, height) {
    const { run, state } = this;
    if (run.begin(warp) >= state.to || run.until(warp) <= state.from) return;
    if (this.perCycle >= BOXES) this.drawIssues(context, warp, top, height);
    else this.drawShares(context, warp, top, height);
  }

  /** A box per wait and issue. */
  drawIssues(context, warp, top, height) {
    const { run, state } = this, { from, to } = state;
    run.spans(warp, from, to, (begin, end, cause, row) => {
      context.globalAlpha = state.picks(run, row) ? 1 : 0.25;
      this.span(context, begin, end, cause, top, height);
      if (cause === SELECTED && run.lanes[row] < LANES) this.idle(context, begin, top, height * (1 - run.lanes[row] / LANES));
    });
    context.globalAlpha = 1;
    for (let row = run.rowFrom(warp, Math.floor(from)); row < run.first[warp + 1] && run.since[row] < to; row++) {
      if (state.picks(run, row)) this.label(context, row, top, height);
    }
  }

  /** Grey from above: the share of lanes that do not execute what is issued. */
  idle(context, begin, top, height) {
    context.fillStyle = INK.idle;
    context.fillRect(this.x(begin), top, Math.max(this.perCycle, 1), height);
  }

  span(context, begin, end, cause, top, height) {
    if (end <= begin) return;
    context.fillStyle = this.fills[cause];
    const left = this.x(begin), width = Math.max((end - begin) * this.perCycle, 1);
    context.fillRect(left, top, width, height);
    if (width > 3 && cause !== SELECTED) {
      context.strokeStyle = "rgba(0, 0, 0, 0.25)";
      context.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
    }
  }

  /** The instruction's name at the end of its wait, just before its issue; in the issue itself where that is wide enough. */
  label(context, row, top, height) {
    const { run } = this, number = run.instruction[row], inside = this.perCycle > 46;
    const room = inside ? this.perCycle : (run.cycle[row] - Math.max(run.since[row], this.state.from)) * this.perCycle;
    context.font = `${Math.min(height - 1, 10)}px system-ui, sans-serif`;
    const names = [`I${number} ${run.instructions[number].opcode}`, `I${number}`];
    const text = names.find((name) => context.measureText(name).width + 7 < room);
    if (!text || height < 8) return;
    const width = context.measureText(text).width, left = this.x(run.cycle[row]) + (inside ? 4 : -width - 2);
    if (!inside) {
      context.fillStyle = "rgba(255, 255, 255, 0.85)";
      context.fillRect(left - 2, top + 1, width + 3, height - 2);
    }
    context.fillStyle = inside ? INK.paper : "#000";
    context.textBaseline = "middle";
    context.fillText(text, left, top + height / 2 + 0.5);
  }

  /** Zoomed out: a column of pixels shows what most of its cycles were, and from below in black the share in which the warp issued. */
  drawShares(context, warp, top, height) {
    const { run, state, perCycle } = this, { from, to } = state;
    const wide = Math.ceil(this.width), most = new Float32Array(wide), main = new Int8Array(wide).fill(-1);
    const issued = new Float32Array(wide);
    const bins = this.causes.map(() => null);
    run.spans(warp, from, to, (begin, end, cause, row) => {
      if (cause === SELECTED && !state.picks(run, row)) return;
      bins[cause] ??= new Float32Array(wide);
      addSpan(cause === SELECTED ? issued : bins[cause], begin, end, from, 1 / perCycle);
    });
    bins.forEach((bin, cause) => bin?.forEach((share, pixel) => {
      if (share > most[pixel]) [most[pixel], main[pixel]] = [share, cause];
    }));
    for (let pixel = 0, start = 0; pixel < wide; pixel++) {
      if (pixel + 1 < wide && main[pixel + 1] === main[pixel]) continue;
      if (main[pixel] >= 0) {
        context.fillStyle = this.fills[main[pixel]];
        context.fillRect(LEFT + start, top, pixel + 1 - start, height);
      }
      start = pixel + 1;
    }
    context.fillStyle = INK.issue;
    issued.forEach((share, pixel) => {
      const tall = share && Math.max(Math.min(share, 1) * height, 1.5);
      if (tall) context.fillRect(LEFT + pixel, top + height - tall, 1, tall);
    });
  }

  /** The critical path: a line from issue to issue. */
  drawPath(context, scroll, size) {
    const { run, state } = this;
    if (!state.path || !run.waits) return;
    context.beginPath();
    const { path } = run.waits, first = path.findIndex(([, cycle]) => cycle >= state.from);
    for (let k = Math.max(first - 1, 0); first >= 0 && k < path.length; k++) {
      const [warp, cycle] = path[k], place = this.placeOf.get(run.rowOfWarp[warp]);
      if (place !== undefined) context.lineTo(this.x(cycle + 0.5), TOP + (place + 0.5) * size - scroll);
      if (cycle > state.to) break;
    }
    context.lineWidth = 4;
    context.strokeStyle = "#fff";
    context.stroke();
    context.lineWidth = 2;
    context.strokeStyle = "#e6007e";
    context.stroke();
    context.lineWidth = 1;
  }

  /** Grey over the cycles that the page does not hold. */
  drawUnknown(context, height) {
    const [first, last] = this.run.window;
    for (const [begin, end] of [[this.state.from, first], [this.run.whole ? Infinity : last + 1, this.state.to]]) {
      if (end <= begin) continue;
      const left = this.x(begin), width = this.x(end) - left;
      context.fillStyle = INK.soft;
      context.fillRect(left, TOP, width, height - TOP);
      context.font = "11px system-ui, sans-serif";
      context.fillStyle = INK.faint;
      context.textBaseline = "middle";
      if (width > 80) context.fillText("not recorded", left + 6, TOP + 12);
    }
  }

  drawCursor(context, height, scroll, size) {
    const { run, state } = this, left = this.x(state.cycle), width = Math.max(this.perCycle, 1.5);
    context.fillStyle = "rgba(220, 20, 60, 0.25)";
    context.fillRect(left, TOP, width, height - TOP);
    context.strokeStyle = "crimson";
    context.lineWidth = 1;
    context.strokeRect(left - 0.5, TOP - 2, width + 1, height);
    if (state.run !== this.number) return;
    context.lineWidth = 2;
    const place = this.rows.indexOf(run.rowOfWarp[state.warp]);
    if (place >= 0) context.strokeRect(left - 1, TOP + place * size - scroll, width + 2, size);
    context.lineWidth = 1;
  }

  drawAxis(context) {
    context.clearRect(0, 0, this.box.clientWidth, TOP);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "center";
    for (const cycle of ticks(this.state.from, this.state.to, this.width)) {
      const x = this.x(cycle);
      context.fillStyle = INK.faint;
      context.fillRect(x, TOP - 4, 1, 4);
      context.fillStyle = INK.ink;
      if (x > LEFT + 10) context.fillText(cycle.toLocaleString("en"), x, TOP / 2 - 2);
    }
    context.textAlign = "left";
    context.fillStyle = INK.ink;
    context.fillText("cycle", LEFT - 36, TOP / 2 - 2);
  }

  drawNames(context, firstRow, lastRow, scroll, size) {
    const { run, state } = this, each = Math.max(1, Math.ceil(12 / size)), all = state.sm === ALL && run.sms.length > 1;
    context.save();
    context.beginPath();
    context.rect(0, TOP, LEFT, this.box.clientHeight - TOP);
    context.clip();
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    for (let row = firstRow; row < lastRow; row++) {
      const mine = state.run === this.number && run.rowOfWarp[state.warp] === this.rows[row];
      if (row % each && !mine) continue;
      context.fillStyle = mine ? "crimson" : INK.ink;
      context.fillText((all ? `SM${run.rowSm[this.rows[row]]} ` : "") + run.rowNames[this.rows[row]], 4, TOP + (row + 0.5) * size - scroll);
    }
    context.restore();
  }
}
