/* Charts over the cycles shown, drawn by uPlot: warps by cause, stacked; lanes per issue, where they are not all; bytes in flight. */

const BINS = 300, LABEL = 18, NEAR = 3, PARTED = 31, ROOMY = 860; // NEAR: times the largest value, beyond which a level is not shown; PARTED: lanes per issue, below which they are drawn; ROOMY: pixels, for two runs and for three charts each

class Charts {
  constructor(place, run, state, causes) {
    Object.assign(this, { place, run, state });
    this.used = causes.map((_, cause) => cause).filter((cause) => cause <= NOT_SELECTED || run.causesSeen.has(cause));
    this.count = causes.length;
    this.causes = causes;
    this.hasBytes = run.instructions.some((i) => i.bytes && i.issues);
    place.querySelector(".bytes").hidden = !this.hasBytes;
    const hasRoom = innerHeight >= (place.closest(".two") ? ROOMY : this.hasBytes ? ROOMY - 260 : 0);
    this.isParted = hasRoom && run.lanes.reduce((sum, lanes) => sum + lanes, 0) < PARTED * run.lanes.length;
    place.querySelector(".lanes").hidden = !this.isParted;
  }

  /** Draw them, from now on after every change: what takes longest of a page, so the timeline comes first. */
  begin() {
    const { place, run, state } = this, fits = () => run.fitting * (state.sm === ALL ? run.sms.length : 1);
    this.warps = this.chart(place.querySelector(".warps"), this.stacked(this.causes), "warps", fits);
    this.bytes = this.hasBytes ? this.chart(place.querySelector(".bytes"), this.single(), "KiB") : null;
    this.lanes = this.isParted ? this.chart(place.querySelector(".lanes"), this.single(), "lanes", () => LANES) : null;
    state.listen(() => this.draw());
    this.draw();
  }

  /** Options of a chart whose areas lie on each other: the topmost sum is drawn first. */
  stacked(causes) {
    const series = [...this.used].reverse().map((cause) => ({
      label: causes[cause].name, fill: fillOf(causes[cause]), stroke: "#777", width: 0.4, points: { show: false }, paths: uPlot.paths.stepped({ align: 1 }),
    }));
    return { series: [{}, ...series] };
  }

  single() {
    return { series: [{}, { label: "bytes", stroke: "#0072B2", fill: "rgba(0, 114, 178, 0.15)", width: 1.5, points: { show: false }, paths: uPlot.paths.stepped({ align: 1 }) }] };
  }

  /** level: what to draw a dashed line at, if anything. */
  chart(element, options, title, level = () => 0) {
    const { state } = this, grid = { stroke: INK.soft, width: 1 }, font = "11px system-ui, sans-serif";
    const dashes = ({ ctx, bbox, valToPos }) => {
      if (!level()) return;
      const top = Math.round(valToPos(level(), "y", true)) + 0.5;
      ctx.save();
      ctx.setLineDash([6, 4]);
      ctx.strokeStyle = INK.ink;
      ctx.beginPath();
      ctx.moveTo(bbox.left, top);
      ctx.lineTo(bbox.left + bbox.width, top);
      ctx.stroke();
      ctx.restore();
    };
    const cursorLine = (plot) => {
      const left = plot.valToPos(state.cycle + 0.5, "x", true);
      if (left < plot.bbox.left || left > plot.bbox.left + plot.bbox.width) return;
      plot.ctx.fillStyle = "crimson";
      plot.ctx.fillRect(left, plot.bbox.top, 1.5, plot.bbox.height);
    };
    const choose = (plot) => {
      if (plot.select.width < 4) return;
      const from = plot.posToVal(plot.select.left, "x"), to = plot.posToVal(plot.select.left + plot.select.width, "x");
      plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
      state.set({ from, to });
    };
    const empty = options.series.map(() => []);
    return new uPlot({
      ...options,
      width: element.clientWidth, height: element.clientHeight, legend: { show: false }, padding: [14, RIGHT, 6, 0],
      scales: { x: { time: false, auto: false }, y: { range: (_, __, most) => [0, Math.max(most, level() <= NEAR * most ? level() : 0, 1e-9) * 1.05] } },
      axes: [{ show: false }, { size: LEFT - LABEL, gap: 2, label: title, labelSize: LABEL, labelFont: font, font, stroke: INK.ink, grid, splits: this.splits }],
      cursor: { y: false, drag: { setScale: false } },
      hooks: { draw: [dashes, cursorLine], setSelect: [choose] },
    }, empty, element);
  }

  /** Three round numbers on the vertical axis. */
  splits(plot, axis, low, high) {
    const step = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000].find((size) => high / size <= 3) ?? high / 3;
    return Array.from({ length: 4 }, (_, k) => k * step).filter((value) => value <= high);
  }

  draw() {
    const { run, state } = this, { from, to } = state, bins = Math.max(Math.min(BINS, Math.round(to - from)), 2);
    const x = Array.from({ length: bins }, (_, bin) => from + (bin * (to - from)) / bins);
    const warps = run.warpsOn(state.sm), shares = warpsByCause(run, warps, from, to, bins, this.count), sums = [];
    const sum = new Float32Array(bins);
    for (const cause of this.used) {
      for (let bin = 0; bin < bins; bin++) sum[bin] += shares[cause][bin];
      sums.unshift(Array.from(sum));
    }
    const known = (values, scale = 1) => Array.from(values, (value, bin) => (run.holds(x[bin]) ? value / scale : null));
    this.show(this.warps, [x, ...sums.map((values) => known(values))]);
    if (this.lanes) this.show(this.lanes, [x, lanesPerIssue(run, warps, from, to, bins)]);
    if (this.bytes) this.show(this.bytes, [x, known(bytesInFlight(run, warps, from, to, bins), 1024)]);
  }

  show(plot, data) {
    const { clientWidth: width, clientHeight: height } = plot.root.parentElement;
    plot.batch(() => {
      if (plot.width !== width || plot.height !== height) plot.setSize({ width, height });
      plot.setData(data, false);
      plot.setScale("x", { min: this.state.from, max: this.state.to });
    });
    plot.redraw(false, true);
  }
}
