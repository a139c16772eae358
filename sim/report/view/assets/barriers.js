/* Barriers in shared memory (mbarrier): a row each below the warps of their SM, a bar per phase. */

/** A bar from the first arrival or byte of each phase to its last. */
function drawPhases(timeline, context, phases, top, height) {
  const { state } = timeline;
  context.font = `${Math.min(height - 1, 10)}px system-ui, sans-serif`;
  context.textBaseline = "middle";
  for (const { number, begun, over } of phases) {
    if (over <= state.from || begun >= state.to) continue;
    const left = timeline.x(begun), width = Math.max(timeline.x(over) - left, 2), text = `phase ${number}`;
    context.fillStyle = number % 2 ? INK.odd : INK.even;
    context.fillRect(left, top + 1, width, height - 2);
    context.fillStyle = INK.ink;
    if (height > 8 && context.measureText(text).width + 8 < width) context.fillText(text, Math.max(left, LEFT) + 4, top + height / 2 + 0.5);
  }
}

/** What a barrier in shared memory does in a cycle, in the row of it. */
function phaseSentence(run, row, cycle) {
  const { number, begun, over } = run.phaseIn(row, cycle), at = (one) => one.toLocaleString("en");
  const counted = over === begun ? `counts all in cycle ${at(over)}` : `counts from cycle ${at(begun)} to ${at(over)}, ${cycles(over - begun)}`;
  const now = cycle < begun ? "nothing has arrived yet" : cycle < over ? "arrivals or bytes are missing" : "all that came have arrived";
  return `<b>cycle ${at(cycle)}: mbarrier ${escaped(run.rowNames[row].replace("mbar ", ""))}</b><br>Phase ${number}: ${now}. It ${counted}; then warps that wait for it go on.`;
}
