/* In a frame of another page, which prepares it before there is a run: take the run when it comes, tell it what the cursor points at, and do what it asks. Messages hold numbers and short words only. */

class Embedded {
  constructor(runs, state) {
    Object.assign(this, { runs, state });
    state.listen(() => this.tell());
    window.addEventListener("message", ({ source, data }) => {
      if (source !== window.parent || typeof data !== "object" || data === null) return;
      if (Number.isInteger(data.line)) state.set({ line: data.line });
      if (typeof data.key === "string") window.dispatchEvent(new KeyboardEvent("keydown", { key: data.key }));
    });
  }

  /** Call `start` when the run has come: the body of its page, and what its address would say after #. */
  static wait(start) {
    const take = ({ source, data }) => {
      if (source !== window.parent || typeof data?.body !== "string") return;
      window.removeEventListener("message", take);
      document.body.replaceChildren(...new DOMParser().parseFromString(data.body, "text/html").body.childNodes);
      history.replaceState(null, "", `#${data.fragment}`);
      start();
    };
    window.addEventListener("message", take);
  }

  /** How many instructions the warp, and each of its block, has issued up to the cursor's cycle, the last one, and which results are under way. */
  tell() {
    const { state } = this, run = this.runs[state.run], { warp, cycle } = state, first = run.first[warp];
    const next = run.rowFrom(warp, cycle + 1), pending = [];
    for (let row = Math.max(first, next - 400); row < next; row++) if (run.ready[row] > cycle + 1) pending.push([row - first + 1, run.ready[row]]);
    const now = run.at(warp, cycle), row = now.row >= 0 ? now.row : run.first[warp + 1] - 1;
    const mates = [...Array(run.warpCount).keys()].filter((other) => run.warps.block[other] === run.warps.block[warp]);
    window.parent.postMessage({
      mates: mates.map((other) => [run.warps.warp[other], run.rowFrom(other, cycle + 1) - run.first[other]]), fragment: state.fragment(run), run: state.run, sm: state.sm, cycle, block: run.warps.block[warp], warp: run.warps.warp[warp],
      issued: next - first, pending, line: run.instructions[run.instruction[row]]?.line ?? 0, phase: now.phase,
    }, "*");
  }
}
