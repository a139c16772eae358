/* Barriers in shared memory (mbarrier): a row each below the warps of their SM, a bar per phase. */

/** A bar from the first arrival or byte of each phase to its last. */
function drawPhases(timeline, context, phases, top, height) {
  const { state } = timeline;
  context.font = `${Math.min(height - 1, 10)}px system-ui, sans-serif`;
  context.textBaseline = "middle";
  for (const { number, first, last } of phases) {
    if (last <= state.from || first >= state.to) continue;
    const left = timeline.x(first), width = Math.max(timeline.x(last) - left, 2), text = `phase ${number}`;
    context.fillStyle = number % 2 ? INK.odd : INK.even;
    context.fillRect(left, top + 1, width, height - 2);
    context.fillStyle = INK.ink;
    if (height > 8 && context.measureText(text).width + 8 < width) context.fillText(text, Math.max(left, LEFT) + 4, top + height / 2 + 0.5);
  }
}

/** What a barrier in shared memory does in a cycle, in the row of it. */
function phaseSentence(run, row, cycle) {
  const { number, first, last } = run.phaseIn(row, cycle), at = (one) => one.toLocaleString("en");
  const counted = last === first ? `All of it counts in cycle ${at(last)}` : `It counts from cycle ${at(first)} to ${at(last)}, ${cycles(last - first)}`;
  const now = cycle < first ? "nothing has arrived yet" : cycle < last ? "arrivals or bytes are missing" : "nothing more arrives in this phase";
  return `<b>cycle ${at(cycle)}: mbarrier ${escaped(run.rowNames[row].replace("mbar ", ""))}</b><br>Phase ${number}: ${now}. ${counted}; once it is complete, warps that wait for it go on.`;
}
