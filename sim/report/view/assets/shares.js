/* How the warps' time in a range of cycles splits by cause: counts per bin, for the overview and the charts. */

/** Add `weight` per cycle of [begin, end) to bins of `perBin` cycles from `from` on; a bin holds the mean over its cycles. */
function addSpan(bins, begin, end, from, perBin, weight = 1) {
  const a = Math.max((begin - from) / perBin, 0), b = Math.min((end - from) / perBin, bins.length);
  if (b <= a) return;
  const i = Math.floor(a), j = Math.min(Math.floor(b), bins.length - 1);
  if (i === j) {
    bins[i] += (b - a) * weight;
    return;
  }
  bins[i] += (i + 1 - a) * weight;
  for (let k = i + 1; k < j; k++) bins[k] += weight;
  bins[j] += (b - j) * weight;
}

/** Mean number of warps per bin and cause: one Float32Array per cause of the vocabulary, SELECTED and NOT_SELECTED included. */
function warpsByCause(run, warps, from, to, count, causes) {
  const perBin = (to - from) / count;
  const found = Array.from({ length: causes }, () => new Float32Array(count));
  for (const warp of warps) {
    run.spans(warp, from, to, (begin, end, cause) => addSpan(found[cause], begin, end, from, perBin));
  }
  return found;
}

/** Mean bytes per bin that loads have asked for and not got: lanes times bytes per lane, from issue to data. */
function bytesInFlight(run, warps, from, to, count) {
  const bins = new Float32Array(count), perBin = (to - from) / count, bytes = run.instructions.map((i) => i.bytes);
  for (const warp of warps) {
    for (let row = run.first[warp]; row < run.first[warp + 1] && run.cycle[row] < to; row++) {
      const asked = bytes[run.instruction[row]] * run.lanes[row];
      if (asked && run.ready[row] > from) addSpan(bins, run.cycle[row], run.ready[row], from, perBin, asked);
    }
  }
  return bins;
}

/** Mean lanes per bin of the issues in it, or of the latest before it where there is none; null before the first. */
function lanesPerIssue(run, warps, from, to, count) {
  const lanes = new Float32Array(count), issues = new Float32Array(count), perBin = (to - from) / count;
  let latest = null, when = -1;
  for (const warp of warps) {
    const next = run.rowFrom(warp, Math.floor(from));
    if (next > run.first[warp] && run.cycle[next - 1] > when) [latest, when] = [run.lanes[next - 1], run.cycle[next - 1]];
    for (let row = next; row < run.first[warp + 1] && run.cycle[row] < to; row++) {
      addSpan(issues, run.cycle[row], run.cycle[row] + 1, from, perBin);
      addSpan(lanes, run.cycle[row], run.cycle[row] + 1, from, perBin, run.lanes[row]);
    }
  }
  return Array.from(issues, (some, bin) => (latest = some > 1e-6 ? lanes[bin] / some : latest));
}
