/* Chains of causes, where the page has them: exact waits by cause, what was busy meanwhile, the critical path. See chains.py. */

class Waits {
  /** texts: sentences; warps: per warp [begin, end, cause, [begin, end, text, ...]] in order; path: [warp, cycle] of issues, backwards. exact: causes are the account's. */
  constructor({ texts, warps }, path, exact) {
    Object.assign(this, { texts, warps, path: path.reverse(), exact });
    this.onPath = new Set(path.map(([warp, cycle]) => `${warp},${cycle}`));
  }

  static async from({ waits, path, exact }) {
    return new Waits(JSON.parse(new TextDecoder().decode(await inflate(waits))), path, exact);
  }

  /** First wait of a warp that ends after `cycle`, by its place; their number when there is none. */
  placeFrom(warp, cycle) {
    const waits = this.warps[warp];
    let low = 0, high = waits.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (waits[middle][1] <= cycle) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The wait of a warp in a cycle: {begin, end, cause, links: [{begin, end, text}]}, null when it issues or is not resident. */
  at(warp, cycle) {
    const wait = this.warps[warp][this.placeFrom(warp, cycle)];
    if (!wait || wait[0] > cycle) return null;
    const [begin, end, cause, flat] = wait, links = [];
    for (let k = 0; k < flat.length; k += 3) links.push({ begin: flat[k], end: flat[k + 1], text: this.texts[flat[k + 2]] });
    return { begin, end, cause, links };
  }
}
