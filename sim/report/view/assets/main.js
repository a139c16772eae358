/* Start: unpack the runs, make the parts, connect keys and buttons. */

const FIRST_ISSUES = 16; // that the page shows when it opens

/** The timeline and its panel take the height that the head leaves. */
function fit() {
  document.documentElement.style.setProperty("--head", `${document.querySelector("header").offsetHeight}px`);
}

async function start() {
  fit();
  const { causes, runs: plain } = JSON.parse(document.getElementById("data").textContent);
  const runs = await Promise.all(plain.map((run) => Run.from(run)));
  const limits = [Math.min(...runs.map((run) => run.window[0])), Math.max(...runs.map((run) => run.window[1])) + 1];
  if (INK.dark) for (const cause of causes) cause.colour = cause.dark;
  const state = new State(limits), tip = new Tip(document.getElementById("tip"), causes), images = paintSwatches(causes);
  document.querySelectorAll("#overview canvas").forEach((canvas, number) => {
    new Overview(canvas, runs[number], state, causes, runs.length > 1 ? "AB"[number] : "all cycles");
  });
  const charts = [...document.querySelectorAll(".run")].map((place, number) => {
    new Timeline(place, runs[number], number, state, causes, tip);
    return new Charts(place, runs[number], state, causes);
  });
  document.querySelectorAll(".listing").forEach((place, number) => new Listing(place, number, runs, state));
  new Panel(document.getElementById("panel"), runs, state, causes, images);
  connect(state, runs);
  if (typeof Embedded !== "undefined") new Embedded(runs, state);
  state.set(opening(runs[0], limits));
  state.read(location.hash.slice(1), runs);
  state.listen(() => {
    history.replaceState(null, "", `#${state.fragment(runs[state.run])}`);
    if (performance.getEntriesByName("drawn").length) return;
    performance.mark("drawn");
    setTimeout(() => {
      for (const each of charts) each.begin();
      document.body.dataset.ready = "yes";
    });
  });
  state.tell(); // a frame that is not seen yet may wait for its first picture for half a second
}

/** Where to begin: the first issues of the first warp, the cursor in the longest wait among them. */
function opening(run, limits) {
  const last = Math.min(run.first[1], FIRST_ISSUES) - 1;
  let longest = Math.min(1, last); // after its start
  for (let row = 2; row <= last; row++) if (run.cycle[row] - run.since[row] > run.cycle[longest] - run.since[longest]) longest = row;
  const to = run.cycle[last] + Math.max(8, (run.cycle[last] - limits[0]) / 10);
  return { from: limits[0], to, cycle: Math.floor((run.since[longest] + run.cycle[longest]) / 2), sm: run.sms.length > 1 ? run.sms[0] : ALL };
}

/** The first issue of the warp after (way 1) or before (way -1) the cursor. */
function issueBeside(run, warp, cycle, way) {
  const row = way > 0 ? run.rowFrom(warp, cycle + 1) : run.rowFrom(warp, cycle) - 1;
  const inside = row >= run.first[warp] && row < run.first[warp + 1];
  return inside ? run.cycle[row] : cycle;
}

/** The warp `way` drawn rows below the one picked, in the cursor's cycle. */
function warpBeside(run, state, way) {
  const rows = run.rowsOn(state.sm).filter((row) => run.warpsOfRow[row].length), place = rows.indexOf(run.rowOfWarp[state.warp]) + way;
  return run.warpIn(rows[Math.min(Math.max(place, 0), rows.length - 1)], state.cycle);
}

function connect(state, runs) {
  const run = () => runs[state.run], field = document.getElementById("cycle");
  const actions = {
    back: () => state.step(state.cycle - 1),
    forward: () => state.step(state.cycle + 1),
    "last-issue": () => state.step(issueBeside(run(), state.warp, state.cycle, -1)),
    "next-issue": () => state.step(issueBeside(run(), state.warp, state.cycle, 1)),
    up: () => state.set({ warp: warpBeside(run(), state, -1) }),
    down: () => state.set({ warp: warpBeside(run(), state, 1) }),
    in: () => state.zoom(0.5, state.cycle >= state.from && state.cycle < state.to ? state.cycle : undefined),
    out: () => state.zoom(2),
    all: () => state.set({ from: state.limits[0], to: state.limits[1] }),
  };
  const keys = {
    ArrowLeft: "back", ArrowRight: "forward", ArrowUp: "up", ArrowDown: "down", n: "next-issue", p: "last-issue",
    "+": "in", "=": "in", "-": "out", 0: "all",
  };
  for (const button of document.querySelectorAll("button[data-action]")) {
    button.addEventListener("click", actions[button.dataset.action]);
  }
  window.addEventListener("keydown", (event) => {
    const action = keys[event.key];
    if (!action || event.target.matches?.("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    actions[action]();
  });
  field.addEventListener("change", () => state.step(Number(field.value)));
  for (const choice of document.querySelectorAll("input[name=listing]")) {
    choice.addEventListener("change", () => {
      document.querySelectorAll(".listing").forEach((place, number) => { place.hidden = String(number) !== choice.value; });
    });
  }
  const path = document.querySelector("#path input");
  path.parentElement.hidden = runs.every((each) => !each.waits);
  path.addEventListener("change", () => state.set({ path: path.checked }));
  state.listen(() => { path.checked = state.path; });
  const choice = document.getElementById("sm");
  choice.append(...[ALL, ...new Set(runs.flatMap((run) => run.sms))].map((sm) => new Option(sm === ALL ? "all SMs" : `SM ${sm}`, sm)));
  choice.hidden = runs.every((run) => run.sms.length === 1);
  choice.addEventListener("change", () => {
    const sm = Number(choice.value), rows = run().rowsOn(sm);
    state.set({ sm, warp: run().warpIn(rows[0], state.cycle) });
  });
  state.listen(() => { choice.value = state.sm; });
  state.listen(() => { if (document.activeElement !== field) field.value = state.cycle; });
  window.addEventListener("resize", () => {
    fit();
    state.set({});
  });
  window.addEventListener("hashchange", () => state.read(location.hash.slice(1), runs));
}

if (typeof Embedded === "undefined") start();
else Embedded.wait(start);
