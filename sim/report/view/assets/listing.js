/* The listing: a click on an instruction shows only its issues in the timeline; the cursor's instruction is marked. */

class Listing {
  constructor(place, number, runs, state) {
    this.rows = [...place.querySelectorAll("tr[data-instruction]")];
    place.addEventListener("click", (event) => {
      const row = event.target.closest("tr[data-instruction]");
      if (!row) return;
      const picked = Number(row.dataset.instruction);
      state.set({ instruction: state.instruction === picked ? -1 : picked });
    });
    state.listen(() => {
      const { phase, row } = runs[state.run].at(state.warp, state.cycle);
      const current = (state.run === number || place.dataset.both) && row >= 0 && phase !== "absent" ? runs[state.run].instruction[row] : -1;
      for (const element of this.rows) {
        const mine = Number(element.dataset.instruction);
        element.classList.toggle("picked", mine === state.instruction);
        if (mine === current && !element.classList.contains("current")) this.reveal(place, element);
        element.classList.toggle("current", mine === current);
      }
    });
  }

  /** Scroll the listing alone, not the page, until the row is seen. */
  reveal(place, element) {
    const box = place.getBoundingClientRect(), row = element.getBoundingClientRect();
    if (row.top < box.top + 30) place.scrollTop += row.top - box.top - 30;
    else if (row.bottom > box.bottom) place.scrollTop += row.bottom - box.bottom + 4;
  }
}
