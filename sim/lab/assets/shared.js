/* What the shared memory of a block holds when each of its warps has issued so many instructions, a row of the banks below the other. */

"use strict";

const MOST_LINES = 128; // rows that are drawn

class SharedMemory {
  /** stores: [warp, instructions it had issued, [[word, value], ...]] as the executor came to them; whole: whether these are all. */
  constructor({ stores, whole, columns, banks }) {
    Object.assign(this, { stores, whole, columns, banks });
  }

  /** Words when the warps have issued what `mates` says, and who last changed each: word -> {value, warp, latest: by what is the last of `warp`}. */
  words({ mates, warp, issued }) {
    const far = new Map(mates), found = new Map();
    for (const [other, when, words] of this.stores) {
      if (when > (far.get(other) ?? 0)) continue;
      for (const [word, value] of words) found.set(word, { value, warp: other, latest: other === warp && when === issued });
    }
    return found;
  }

  /** Elements that show it. shown: words -> what people read. */
  drawn(at, shown) {
    if (!this.stores.length) return [];
    const words = this.words(at), lines = [...new Set([...words.keys()].map((word) => Math.floor(word / this.columns)))].sort((one, other) => one - other);
    const heading = document.createElement("h3"), note = document.createElement("p"), table = document.createElement("table");
    heading.textContent = `Shared memory of block ${at.block}`;
    const left = lines.length > MOST_LINES ? ` The first ${MOST_LINES} rows of ${lines.length}.` : "";
    const part = this.whole ? "" : " Only the first stores of the program are followed.";
    note.textContent = lines.length
      ? `A row: ${4 * this.columns} bytes${this.banks ? ", a word of each bank" : ""}; rows of zeros are left out. Bold: changed by the warp's last instruction; coloured: by other warps.${left}${part}`
      : "Zero, as at the start.";
    table.append(this.line("th", [this.banks ? "bank" : "word", ...Array(this.columns).keys()]));
    for (const line of lines.slice(0, MOST_LINES)) table.append(this.row(line, words, at.warp, shown));
    return lines.length ? [heading, note, table] : [heading, note];
  }

  row(line, words, warp, shown) {
    const own = Array.from({ length: this.columns }, (_, column) => words.get(line * this.columns + column));
    const row = this.line("td", [`0x${(4 * line * this.columns).toString(16)}`, ...shown(own.map((word) => word?.value ?? 0))]);
    own.forEach((word, column) => {
      if (!word) return;
      const cell = row.children[column + 1];
      cell.classList.toggle("changed", word.latest);
      cell.classList.toggle("theirs", word.warp !== warp);
      cell.title = `last changed by warp ${word.warp}`;
    });
    return row;
  }

  line(kind, cells) {
    const row = document.createElement("tr");
    for (const text of cells) row.appendChild(document.createElement(kind)).textContent = text;
    return row;
  }
}
