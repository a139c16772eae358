"""The page: one HTML file with its data, styles and scripts in it, made from `assets/` by Jinja.

Stages: 1. the facts that need no script become HTML: headings, listings with stall bars, the account, memory, the machine; 2. the issues
become a compressed text (`packing.py`) and the rest of the run JSON (`data.py`); 3. the template puts them, the styles and the scripts
into one text. Nothing in it asks the network for anything.
"""

import functools
import json
from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from isa.errors import UserError
from sim.report.gpus import differences, facts, shown
from sim.report.heading import changes
from sim.report.tracks import recorded, tracks
from sim.report.view import chains, data, sections
from sim.report.view.roofline import rooflines
from sim.result.result import Result

if TYPE_CHECKING:
    from jinja2 import Environment

SCRIPTS = ("data", "waits", "run", "state", "shares", "paint", "words", "barriers", "timeline", "overview", "panel", "charts", "listing")
MOST_RUNS = 2


def page(
    results: list[Result],
    windows: list[tuple[int, int]] | None = None,
    sms: Sequence[int] | None = None,
    changed: str = "",
    with_chains: bool | None = None,
    embedded: bool = False,
) -> str:
    """Return the page of one run, or of two beside each other.

    windows: first and last cycle to show of each run, None = the whole timeline; a timeline that is longer completes the waits that the
    last one cuts. sms: which SMs to show, None = all that the timeline has. changed: what the second run changes, in words. with_chains:
    whether to add the chains of causes; None = for whole runs in which that takes seconds. embedded: only the body, for a `frame()`.
    Raises UserError without Jinja, for a run without a timeline, and for chains of a run that is too long or not recorded whole.
    """
    environment = _environment()
    windows = windows or [_recorded(result) for result in results]
    found = [tracks(result, sms, last) for result, (_, last) in zip(results, windows, strict=True)]
    runs = [data.run(*each) for each in zip(results, found, windows, strict=True)]
    for run, result, track in zip(runs, results, found, strict=True):
        if with_chains and not run["whole"]:
            raise UserError("chains of causes need the timeline of the whole run", hint="leave out --from, --to and --sms")
        if with_chains or (with_chains is None and run["whole"] and chains.are_cheap(result, len(track.rows.cycle))):
            run["chains"] = chains.chains(result, track)
    same = len(results) == MOST_RUNS and sections.same_listing(*results)
    return environment.get_template("body.html" if embedded else "page.html").render(
        title=" against ".join(dict.fromkeys(run["title"] for run in runs)),
        changed=changed,
        embedded=embedded,
        runs=[sections.head(*each) for each in zip(results, runs, windows, strict=True)],
        listings=[] if embedded else sections.listings(results, same=same),
        same=same,
        causes=data.causes(),
        paths=[chains.path_text(result) if "chains" in run else "" for run, result in zip(runs, results, strict=True)],
        account=sections.account(results),
        memories=[sections.memory(result) for result in results],
        rooflines=rooflines(results),
        occupancies=[sections.occupancy(result) for result in results],
        machines=[] if embedded else [_machine(result) for result in {result.gpu.name: result for result in results}.values()],
        gpu_differences=_differences(results),
        data=json.dumps({"causes": data.causes(), "runs": runs}, separators=(",", ":")).replace("<", "\\u003c"),
        **_code(),
    )


def frame() -> str:
    """Return the page without a run, for the frame of another page, which sends it the body of one (`assets/embedded.js`).

    That page shows listing and machine itself, and is told what the cursor points at. Loading a frame takes a browser longer than drawing a
    run, so it is loaded before there is one. Raises UserError without Jinja.
    """
    return _environment().get_template("page.html").render(title="timeline", embedded=True, **_code(embedded=True))


def _code(embedded: bool = False) -> dict[str, str]:
    """Return styles and scripts of the page."""
    names = (*SCRIPTS, *(("embedded",) if embedded else ()), "main")
    return {
        "style": _asset("page.css") + _vendored("uPlot.min.css"),
        "scripts": "\n".join(_asset(f"{name}.js") for name in names),
        "uplot": _vendored("uPlot.iife.min.js"),
        "uplot_licence": _vendored("uPlot.LICENSE"),
    }


def _recorded(result: Result) -> tuple[int, int]:
    """Return the first and last cycle of what a timeline holds; those of the run when it holds all of it."""
    timeline = recorded(result)
    if len(timeline.cycle) == int(result.issues_by_instruction.sum()):
        return 0, result.cycles
    return int(timeline.cycle.min()), int(timeline.cycle.max())


def check_jinja() -> None:
    """Raise UserError when Jinja is not installed."""
    _environment()


@functools.cache
def _environment() -> "Environment":
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise UserError("the page needs Jinja, which is not installed", hint="pip install 'simtlab[view]'") from None
    found = Environment(
        loader=PackageLoader("sim.report.view", "assets"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    found.filters["thousands"] = lambda number: f"{number:,}"
    return found


@functools.cache
def _asset(name: str) -> str:
    return (files("sim.report.view") / "assets" / name).read_text(encoding="utf-8")


@functools.cache
def _vendored(name: str) -> str:
    return (files("sim.report.view") / "vendor" / name).read_text(encoding="utf-8")


def _machine(result: Result) -> dict[str, Any]:
    """Return the fields of the GPU, and what was changed of the preset."""
    rows = [fact | {"value": shown(fact["value"])} for fact in facts(result.gpu) if fact["value"] is not None and fact["field"] != "note"]
    return {"name": result.gpu.name, "note": result.gpu.note, "rows": rows, "changes": changes(result)}


def _differences(results: list[Result]) -> list[tuple[str, str, str]]:
    if len(results) < MOST_RUNS:
        return []
    return [(name, shown(one), shown(other)) for name, one, other in differences(results[0].gpu, results[1].gpu)]
