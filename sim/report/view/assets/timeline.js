/* Warps by cycles: a row per warp slot, black where it issues, the colour of the cause where it waits. */

const LEFT = 84, TOP = 20, RIGHT = 8, DRAG = 4, BOXES = 0.5; // pixels; BOXES per cycle, from which every issue is drawn

class Timeline {
  /** place: an element with a `.rows` box that scrolls and a canvas in it. */
  constructor(place, run, number, state, causes, tip) {
    Object.assign(this, { place, run, number, state, causes, tip });
    this.box = place.querySelector(".rows");
    this.canvas = place.querySelector("canvas");
    this.fills = causes.map(fillOf);
    this.listen();
    state.listen(() => this.draw());
  }

  get width() {
    return this.box.clientWidth - LEFT - RIGHT;
  }

  get rowHeight() {
    return Math.min(Math.max((this.box.clientHeight - TOP) / this.rows.length, 11), 24);
  }

  /** The rows drawn, from above. */
  get rows() {
    if (this.sm !== this.state.sm) {
      this.sm = this.state.sm;
      this.shown = this.run.rowsOn(this.sm);
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
    return { cycle, warp: row === undefined ? -1 : this.run.warpIn(row, cycle) };
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
    const { cycle, warp } = this.under(event);
    if (warp < 0 || cycle < this.state.from || cycle >= this.state.to) return this.tip.hide();
    this.tip.show(event, this.run, warp, Math.floor(cycle));
  }

  draw() {
    const height = this.box.clientHeight, { run, state } = this;
    this.place.querySelector(".tall").style.height = `${TOP + this.rows.length * this.rowHeight}px`;
    const context = fitted(this.canvas, this.box.clientWidth, height);
    const scroll = this.box.scrollTop, size = this.rowHeight;
    const firstRow = Math.floor(scroll / size), lastRow = Math.min(this.rows.length, Math.ceil((scroll + height - TOP) / size));
    context.save();
    context.beginPath();
    context.rect(LEFT, TOP, this.width, height - TOP);
    context.clip();
    for (let row = firstRow; row < lastRow; row++) {
      const top = TOP + row * size - scroll;
      for (const warp of run.warpsOfRow[this.rows[row]]) this.drawWarp(context, warp, top + 1, size - 2);
    }
    this.drawCursor(context, height, scroll, size);
    context.restore();
    this.drawAxis(context);
    this.drawNames(context, firstRow, lastRow, scroll, size);
  }

  drawWarp(context, warp, top, height) {
    const { run, state } = this;
    if (run.begin(warp) >= state.to || run.last(warp) + 1 <= state.from) return;
    if (this.perCycle >= BOXES) this.drawIssues(context, warp, top, height);
    else this.drawShares(context, warp, top, height);
  }

  /** A box per wait and issue. */
  drawIssues(context, warp, top, height) {
    const { run, state } = this, end = run.first[warp + 1];
    const start = Math.max(run.rowFrom(warp, Math.floor(state.from)) - 1, run.first[warp]);
    let row = start;
    for (; row < end && run.since[row] < state.to; row++) {
      const faint = state.instruction >= 0 && run.instruction[row] !== state.instruction;
      context.globalAlpha = faint ? 0.25 : 1;
      const ready = Math.max(run.eligible[row], run.since[row]);
      this.span(context, run.since[row], run.eligible[row], run.cause[row], top, height);
      this.span(context, ready, run.cycle[row], NOT_SELECTED, top, height);
      this.span(context, run.cycle[row], run.cycle[row] + 1, SELECTED, top, height);
    }
    context.globalAlpha = 1;
    for (row = start; row < end && run.since[row] < state.to; row++) {
      if (state.instruction < 0 || run.instruction[row] === state.instruction) this.label(context, row, top, height);
    }
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
    context.fillStyle = inside ? "#fff" : "#000";
    context.textBaseline = "middle";
    context.fillText(text, left, top + height / 2 + 0.5);
  }

  /** Zoomed out: a column of pixels shows what most of its cycles were, and from below in black the share in which the warp issued. */
  drawShares(context, warp, top, height) {
    const { run, state } = this, end = run.first[warp + 1], from = state.from, perCycle = this.perCycle;
    const totals = new Float32Array(this.causes.length);
    let column = -1, started = 0, painted = -1;
    const paint = (until) => {
      if (painted >= 0 && until > started) {
        context.fillStyle = this.fills[painted];
        context.fillRect(LEFT + started, top, until - started, height);
      }
    };
    const bars = [];
    const flush = () => {
      if (column < 0 || totals.every((total) => total === 0)) return;
      let most = NOT_SELECTED;
      for (let cause = 2; cause < totals.length; cause++) if (totals[cause] > totals[most]) most = cause;
      if (most !== painted) {
        paint(column);
        [started, painted] = [column, most];
      }
      if (totals[SELECTED] > 0) bars.push(column, Math.min(totals[SELECTED] * perCycle, 1));
      totals.fill(0);
    };
    const add = (begin, stop, cause) => {
      let at = Math.max((begin - from) * perCycle, 0);
      const last = Math.min((stop - from) * perCycle, this.width);
      while (at < last) {
        const pixel = Math.floor(at), until = Math.min(pixel + 1, last);
        if (pixel !== column) {
          flush();
          column = pixel;
        }
        if (last - at > 2 && at === pixel && cause !== SELECTED) { // a long wait: all its whole pixels at once
          const whole = Math.floor(last);
          totals[cause] = 1;
          flush();
          [column, at] = [whole, whole];
          continue;
        }
        totals[cause] += (until - at) / perCycle;
        at = until;
      }
    };
    for (let row = Math.max(run.rowFrom(warp, Math.floor(from)), run.first[warp]); row < end && run.since[row] < state.to; row++) {
      const ready = Math.max(run.eligible[row], run.since[row]);
      const kind = state.instruction >= 0 && run.instruction[row] !== state.instruction ? NOT_SELECTED : SELECTED;
      if (run.eligible[row] > run.since[row]) add(run.since[row], run.eligible[row], run.cause[row]);
      if (run.cycle[row] > ready) add(ready, run.cycle[row], NOT_SELECTED);
      add(run.cycle[row], run.cycle[row] + 1, kind);
    }
    flush();
    paint(Math.min(column + 1, this.width));
    context.fillStyle = "#000";
    for (let k = 0; k < bars.length; k += 2) {
      const tall = Math.max(bars[k + 1] * height, 1.5);
      context.fillRect(LEFT + bars[k], top + height - tall, 1, tall);
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
      context.fillStyle = "#999";
      context.fillRect(x, TOP - 4, 1, 4);
      context.fillStyle = "#333";
      if (x > LEFT + 10) context.fillText(cycle.toLocaleString("en"), x, TOP / 2 - 2);
    }
    context.textAlign = "left";
    context.fillStyle = "#333";
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
      context.fillStyle = mine ? "crimson" : "#333";
      context.fillText((all ? `SM${run.rowSm[this.rows[row]]} ` : "") + run.rowNames[this.rows[row]], 4, TOP + (row + 0.5) * size - scroll);
    }
    context.restore();
  }
}
