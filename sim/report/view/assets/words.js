/* Sentences about a warp in a cycle. They return pieces of HTML made of escaped texts. */

const escaped = (text) => String(text).replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
const cycles = (n) => `${n.toLocaleString("en")} cycle${n === 1 ? "" : "s"}`;
const code = (text) => `<code>${escaped(text)}</code>`;

/** Why a warp that is ready does not issue: its port is held, another warp was chosen, or what issues do not show. Returns [cause, why]. */
function whyReady(run, row, cycle) {
  const warp = run.warpOf(row), { pipe, port } = run.instructions[run.instruction[row]];
  const holders = run.holders(row, cycle);
  if (holders.length) {
    const by = holders.map((other) => `${run.name(run.warpOf(other))} with ${code(run.say(other))}`).join(", ");
    const until = Math.min(...holders.map((other) => run.end[other]));
    return [port, `the ${escaped(pipe)} port is held until cycle ${until.toLocaleString("en")} by ${by}`];
  }
  const chosen = run.issuedBy(run.warps.sm[warp], run.warps.scheduler[warp], cycle);
  if (chosen >= 0 && run.warpOf(chosen) !== warp) {
    return ["not_selected", `its scheduler chose ${run.name(run.warpOf(chosen))}, which issued ${code(run.say(chosen))}`];
  }
  return [chosen >= 0 ? "not_selected" : port, "its turn, or what lies behind its port: a full queue, or register ports in use"];
}

/** One line for the tip and the first of the panel: {cause (a number, -1 = none), name, text}. */
function sentence(run, warp, cycle, causes) {
  const { phase, row, cause, wait } = run.at(warp, cycle), who = `Warp ${run.warps.warp[warp]} of block ${run.warps.block[warp]}`;
  if (phase === "absent") return { cause: -1, name: "not started", text: `${who} has not started.` };
  if (phase === "gone") {
    const last = run.first[warp + 1] - 1, end = run.whole ? "its last instruction" : "its last in this window";
    return { cause: -1, name: "finished", text: `${who} issued ${end}, ${code(run.say(last))}, in cycle ${run.cycle[last].toLocaleString("en")}.` };
  }
  if (phase === "issue") return { cause, name: "selected", text: `${who} issues ${code(run.say(row))}.` };
  if (phase === "drain") {
    const last = run.first[warp + 1] - 1;
    return { cause, name: causes[cause].name, text: `${who} ${escaped(causes[cause].meaning)}: it issued ${code(run.say(last))} in cycle ${run.cycle[last].toLocaleString("en")}, and ends in ${wait.end.toLocaleString("en")}.` };
  }
  if (phase === "ready") {
    const [name, why] = whyReady(run, row, cycle);
    return { cause: causes.findIndex((c) => c.name === name), name, text: `${who} is ready for ${code(run.say(row))}, but ${why}.` };
  }
  return { cause, name: causes[cause].name, text: `${who} ${escaped(causes[cause].meaning)}, before ${code(run.say(row))}.` };
}

/** When the wait began and ends. */
function duration(run, row, cycle) {
  const since = run.since[row], issue = run.cycle[row], total = issue - since;
  const ready = run.eligible[row] < issue && run.eligible[row] > since ? `; ready from ${run.eligible[row].toLocaleString("en")}` : "";
  return `Waits ${cycles(total)}, from ${since.toLocaleString("en")}${ready}; issues in cycle ${issue.toLocaleString("en")}, ${issue - cycle} from here.`;
}

/** The chain behind a wait, as list items: what was busy, the nearest reason first; without chains in the page the results alone. */
function chainItems(run, { row, wait }) {
  if (!wait) return row < 0 ? [] : resultItems(run, row);
  const span = ({ begin, end }) => (end - begin > 1 ? `${begin.toLocaleString("en")} to ${(end - 1).toLocaleString("en")}` : begin.toLocaleString("en"));
  return wait.links.map((link) => `<li data-cycle="${link.begin}"><b>${span(link)}</b> ${escaped(link.text)}</li>`);
}

/** What result this issue waited for, what the one that made it waited for, and so on. */
function resultItems(run, row) {
  const links = run.chain(row);
  const items = links.map(([waiter, maker]) => {
    const name = escaped(run.dependences[run.dependence[waiter]]), took = run.ready[maker] - run.cycle[maker];
    const at = (cycle) => cycle.toLocaleString("en");
    return `<li data-row="${maker}"><b>${name}</b> comes from ${code(run.say(maker))}: issued in cycle ${at(run.cycle[maker])}, there after ${cycles(took)}, in ${at(run.ready[maker])}.</li>`;
  });
  if (!links.length) return items;
  const [, root] = links[links.length - 1];
  if (run.producer[root] < 0) items.push(`<li>${code(run.say(root))} itself waited for no result.</li>`);
  else items.push("<li>and so on.</li>");
  return items;
}
