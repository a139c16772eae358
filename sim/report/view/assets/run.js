/* A run: its issues warp by warp, and what a warp did in a cycle. */

const SELECTED = 0, NOT_SELECTED = 1, ALL = -1, LANES = 32; // causes, every SM, and lanes of a warp

class Run {
  /** plain: as sim/report/view/data.py writes it. issues: columns by name, rows of a warp next to each other. */
  constructor(plain, issues) {
    Object.assign(this, plain, issues);
    this.warpCount = this.first.length - 1;
    this.rowOfWarp = this.warps.row;
    this.warpsOfRow = this.rowNames.map(() => []);
    this.phasesOfRow = this.rowNames.map(() => []); // of barriers in shared memory, whose rows have no warps
    for (const [row, number, first, last] of this.phases) this.phasesOfRow[row].push({ number, first, last });
    this.sms = [...new Set(this.rowSm)];
    this.causesSeen = new Set(this.waits?.exact ? this.waits.warps.flatMap((waits) => waits.map((wait) => wait[2])) : this.cause);
    for (let warp = 0; warp < this.warpCount; warp++) this.warpsOfRow[this.rowOfWarp[warp]].push(warp);
    for (const warps of this.warpsOfRow) warps.sort((a, b) => this.begin(a) - this.begin(b));
  }

  static async from(plain) {
    const columns = columnsOf(await inflate(plain.issues), plain.columns);
    delete plain.issues;
    if (plain.chains) plain.waits = await Waits.from(plain.chains);
    return new Run(plain, undoDifferences(columns, plain.first));
  }

  /** Whether the page knows what happened in a cycle. */
  holds(cycle) {
    return cycle >= this.window[0] && (this.whole || cycle <= this.window[1]);
  }

  /** The SM of this number, or the first where the run does not use it; ALL stays ALL. */
  own(sm) {
    return sm === ALL || this.sms.includes(sm) ? sm : this.sms[0];
  }

  /** The drawn rows of an SM, or of all. */
  rowsOn(sm) {
    const rows = [...this.rowSm.keys()].filter((row) => sm === ALL || this.rowSm[row] === this.own(sm));
    return rows.sort((a, b) => this.rowSm[a] - this.rowSm[b]);
  }

  /** The phase that a barrier's row has in a cycle: the one that is counted, or else the next, or the last; undefined for a row of warps. */
  phaseIn(row, cycle) {
    const phases = this.phasesOfRow[row] ?? [];
    return phases.find(({ last }) => cycle < last) ?? phases[phases.length - 1];
  }

  /** The warps of an SM, or of all. */
  warpsOn(sm) {
    return [...this.warps.sm.keys()].filter((warp) => sm === ALL || this.warps.sm[warp] === this.own(sm));
  }

  /** First cycle of a warp in the window. */
  begin(warp) {
    return this.since[this.first[warp]];
  }

  /** Cycle after the last in which a warp does something in the window. */
  until(warp) {
    const waits = this.waits?.warps[warp];
    return Math.max(this.cycle[this.first[warp + 1] - 1] + 1, waits?.length ? waits[waits.length - 1][1] : 0);
  }

  name(warp) {
    return `warp ${this.warps.warp[warp]} of block ${this.warps.block[warp]}`;
  }

  /** The number of the warp called so, -1 when it is not in the window. */
  find(block, number) {
    for (let warp = 0; warp < this.warpCount; warp++) {
      if (this.warps.block[warp] === block && this.warps.warp[warp] === number) return warp;
    }
    return -1;
  }

  /** First row of a warp whose issue is in `cycle` or later; the end of the warp's rows when there is none. */
  rowFrom(warp, cycle) {
    let low = this.first[warp], high = this.first[warp + 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.cycle[middle] < cycle) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * What a warp does in a cycle. phase: "issue", "wait" (for `cause`), "ready" (its turn or its port is missing), "absent" (not started),
   * "drain" (after its last issue, until its results are back), "gone". row: of the issue that it does or that ends the wait, -1 after
   * the last. wait: with its links, where the page has chains.
   */
  at(warp, cycle) {
    const row = this.rowFrom(warp, cycle), end = this.first[warp + 1], wait = this.waits?.at(warp, cycle);
    if (row < end && this.cycle[row] === cycle) return { phase: "issue", row, cause: SELECTED };
    if (row === end) return wait ? { phase: "drain", row: -1, cause: wait.cause, wait } : { phase: "gone", row: -1, cause: -1 };
    if (wait && this.waits.exact) return { phase: "wait", row, cause: wait.cause, wait };
    if (cycle < this.since[row]) return { phase: row === this.first[warp] ? "absent" : "wait", row, cause: this.cause[row], wait };
    if (cycle < this.eligible[row]) return { phase: "wait", row, cause: this.cause[row], wait };
    return { phase: "ready", row, cause: NOT_SELECTED, wait };
  }

  /** Call `see(begin, end, cause)` for every span of a warp in [from, to): its issues and its waits. */
  spans(warp, from, to, see) {
    const end = this.first[warp + 1];
    for (let row = this.rowFrom(warp, Math.floor(from)); row < end && this.cycle[row] < to; row++) {
      see(this.cycle[row], this.cycle[row] + 1, SELECTED, row);
    }
    if (this.waits?.exact) {
      const waits = this.waits.warps[warp];
      for (let place = this.waits.placeFrom(warp, from); place < waits.length && waits[place][0] < to; place++) {
        see(waits[place][0], waits[place][1], waits[place][2], this.rowFrom(warp, waits[place][1]));
      }
      return;
    }
    for (let row = this.rowFrom(warp, Math.floor(from)); row < end && this.since[row] < to; row++) {
      const ready = Math.max(this.eligible[row], this.since[row]);
      if (this.eligible[row] > this.since[row]) see(this.since[row], this.eligible[row], this.cause[row], row);
      if (this.cycle[row] > ready) see(ready, this.cycle[row], NOT_SELECTED, row);
    }
  }

  /** The warp that has the drawn row in a cycle: the one there, or the one that is nearest before; -1 when none. */
  warpIn(row, cycle) {
    let found = -1;
    for (const warp of this.warpsOfRow[row] ?? []) if (found < 0 || this.begin(warp) <= cycle) found = warp;
    return found;
  }

  /** The row that issued on a scheduler in a cycle or within the issue interval before it, -1 when none. */
  issuedBy(sm, scheduler, cycle) {
    for (let warp = 0; warp < this.warpCount; warp++) {
      if (this.warps.sm[warp] !== sm || this.warps.scheduler[warp] !== scheduler || this.begin(warp) > cycle) continue;
      const row = this.rowFrom(warp, cycle - this.interval + 1);
      if (row < this.first[warp + 1] && this.cycle[row] <= cycle) return row;
    }
    return -1;
  }

  /** Rows of other issues that hold the ports that `row` needs in a cycle; [] when some port is free, as far as issues tell. */
  holders(row, cycle) {
    const need = this.instructions[this.instruction[row]], mine = this.warpOf(row), found = [];
    for (let warp = 0; warp < this.warpCount; warp++) {
      if (this.warps.sm[warp] !== this.warps.sm[mine] || this.begin(warp) > cycle) continue;
      if (!need.shared && this.warps.scheduler[warp] !== this.warps.scheduler[mine]) continue;
      for (let other = this.rowFrom(warp, cycle) - 1; other >= this.first[warp] && this.cycle[other] > cycle - 64; other--) {
        if (this.end[other] > cycle && this.instructions[this.instruction[other]].pipe === need.pipe) found.push(other);
      }
    }
    return found.length >= need.ports ? found : [];
  }

  warpOf(row) {
    let low = 0, high = this.warpCount;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.first[middle] <= row) low = middle;
      else high = middle;
    }
    return low;
  }

  /** "I5 LD.E R6, [R2]; (line 9)" */
  say(row) {
    const number = this.instruction[row], { text, line } = this.instructions[number];
    return `I${number} ${text} (line ${line})`;
  }

  /** The issues that `row` had to wait for, each for the one after it: [row, the row whose result it waited for] pairs. */
  chain(row, most = 8) {
    const links = [];
    while (links.length < most && this.producer[row] >= 0) {
      links.push([row, this.producer[row]]);
      row = this.producer[row];
    }
    return links;
  }
}
