/* From the text in the page back to times: undoes sim/report/view/packing.py. */

/** Return the bytes of a deflated text in base64. */
async function inflate(text) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Return int32 columns by name from their byte planes. */
function columnsOf(bytes, names) {
  const rows = bytes.length / (4 * names.length), found = {};
  names.forEach((name, number) => {
    const column = new Int32Array(rows), start = 4 * rows * number;
    for (let row = 0; row < rows; row++) {
      const place = start + row;
      column[row] = bytes[place] | (bytes[place + rows] << 8) | (bytes[place + 2 * rows] << 16) | (bytes[place + 3 * rows] << 24);
    }
    found[name] = column;
  });
  return found;
}

/** Turn differences into times, in place: cycle, end, ready, since, eligible, and producer into a row or -1. */
function undoDifferences(columns, first) {
  const { cycle, hold, latency, since, wait, producer, dependence } = columns;
  for (let warp = 0; warp + 1 < first.length; warp++) {
    for (let row = first[warp]; row < first[warp + 1]; row++) {
      const isFirst = row === first[warp];
      since[row] += isFirst ? 0 : cycle[row - 1] + 1;
      cycle[row] += isFirst ? 0 : cycle[row - 1];
      hold[row] += cycle[row];
      latency[row] += cycle[row];
      wait[row] += since[row];
      producer[row] = producer[row] ? row - producer[row] : -1;
      dependence[row] -= 1;
    }
  }
  return {
    cycle, since, producer, dependence, end: hold, ready: latency, eligible: wait,
    cause: columns.cause, lanes: columns.lanes, instruction: columns.instruction,
  };
}
