"""What a worker does with a request: executes, times, draws the page; the registers of a warp; the observation of an exercise.

Pure functions of a checked state; answers are plain values, ready for JSON. Limits that the operating system must enforce (time,
memory) are those of `workers.py`.
"""

from base64 import b64encode
from functools import lru_cache
from io import BytesIO
from typing import Any

import isa
import sim
from isa.errors import UserError
from sim.analysis.banks import GEOMETRY, WORD
from sim.analysis.difference import OVERHEAD, difference
from sim.functional.stepping import Step, steps
from sim.gpus.model import Gpu
from sim.lab.state import State, launch, machine
from sim.launch.file import check
from sim.report import difference as differences
from sim.report import figures, timeline
from sim.report import opcodes as reference
from sim.report.view import sections
from sim.report.view.page import page
from sim.report.words import slot_meaning
from sim.result.result import Result
from sim.traces.trace import Trace

MOST_ISSUES = 200_000  # that a timeline holds
MOST_STEPS = 4_000  # instructions of one warp whose registers go to the page
MOST_WORDS = 100_000  # of shared memory that instructions of a block change
EVERYTHING = (0, 1 << 60)
MOST_DRAWN = 16  # warps of a picture
ROWS = 5  # causes that the difference of two machines names
CACHED = 4  # programs whose traces are kept: a slider of the machine executes nothing again


def run(state: State, gpus: dict[str, str]) -> dict[str, Any]:
    """Return the page of a state, and for the editor what each line waited for. Raises UserError."""
    trace, verdict = _executed(state)
    results = [_timed(trace, machine(one, gpus)) for one in state.machines]
    return {
        "html": page(results, changed=_said(state), with_chains=state.chains, embedded=True),
        "lines": lines(results[0]),
        "cycles": [result.cycles for result in results],
        "issues": trace.warp_instructions,
        "values": verdict,
        "difference": _difference(*results) if len(results) > 1 else None,
    }


def whole_page(state: State, gpus: dict[str, str]) -> dict[str, Any]:
    """Return the page that `simtlab view` writes. Raises UserError."""
    trace, _ = _executed(state)
    return {"html": page([_timed(trace, machine(one, gpus)) for one in state.machines], changed=_said(state))}


def pictures(state: State, gpus: dict[str, str], window: tuple[int, int], sm: int) -> dict[str, str]:
    """Return the timeline of each machine as a PNG in base64, by file name. window: cycles. sm: whose warps, -1 = all. Raises UserError."""
    trace, _ = _executed(state)
    found = {}
    for letter, one in zip("ab", state.machines, strict=False):
        result = sim.simulate(trace, machine(one, gpus), window, threads=1)
        shown = [row for row, warp in enumerate(timeline.warps(result)) if sm in (-1, warp.sm)]
        if not shown:
            raise UserError(f"nothing issued on SM {sm} in these cycles", hint="zoom out, or choose all SMs")
        file = BytesIO()
        figures.figure(result, tuple(shown[:MOST_DRAWN])).savefig(file, format="png", dpi=figures.DPI)
        found[f"{state.name}{f'_{letter}' if len(state.machines) > 1 else ''}.png"] = b64encode(file.getvalue()).decode()
    return found


def registers(state: State, gpus: dict[str, str], block: int, warp: int) -> dict[str, Any]:
    """Return what a warp's registers and predicates hold at first, and what each of its instructions changes; what each instruction of
    its block changes in shared memory, as the executor comes to them. Raises UserError."""
    found = steps(launch(state).launch)
    mine = found.get((block, warp))
    if mine is None:
        raise UserError(f"the launch has no warp {warp} of block {block}")
    if len(mine) > MOST_STEPS:
        raise UserError(
            f"this warp executes {len(mine) - 1:,} instructions; the lab shows the registers of {MOST_STEPS:,}",
            hint="let its loops run fewer times",
        )
    return {
        "steps": [
            {
                "issued": step.issued,
                "registers": {name: row.tolist() for name, row in step.registers.items() if step.issued or row.any()},
                "predicates": step.predicates,
                "active": step.active,
            }
            for step in mine
        ],
        "shared": _stores(found, block) | _banks(machine(state.machines[0], gpus)),
    }


def _stores(found: dict[tuple[int, int], list[Step]], block: int) -> dict[str, Any]:
    """Return who changed shared memory of a block: [warp, instructions it had issued, [[word, value]]]; and whether that is all."""
    steps = [(step.order, warp, step) for (one, warp), steps in found.items() if one == block for step in steps if step.shared]
    stores, left = [], MOST_WORDS
    for _, warp, step in sorted(steps, key=lambda one: one[0]):
        left -= len(step.shared)
        if left < 0:
            break
        stores.append([warp, step.issued, list(step.shared.items())])
    return {"stores": stores, "whole": left >= 0}


def _banks(gpu: Gpu) -> dict[str, Any]:
    """Return how many words a row of the drawing has: one per bank, where banks are a word wide."""
    found = GEOMETRY[gpu.shared.rule]
    return {"columns": found.banks, "banks": found.interleave == WORD}


def observe(state: State, gpus: dict[str, str], metric: str) -> float:
    """Return one number of a run: a counter, `stall.CAUSE` or `slot.CAUSE` as a share, `blocks_per_sm`, `waves`. Raises UserError."""
    result = _timed(_executed(state)[0], machine(state.machines[0], gpus))
    kind, _, cause = metric.partition(".")
    if cause and kind in ("stall", "slot"):
        account = result.stalls if kind == "stall" else result.issue_slots
        return account.get(cause, 0) / (sum(account.values()) or 1)
    own = {"blocks_per_sm": float(result.occupancy.blocks), "lanes": _lanes(result)}
    if metric not in own and metric not in result.counters:
        raise UserError(f"observe: there is no counter {metric}", hint=f"counters: {', '.join([*own, *result.counters])}")
    return own[metric] if metric in own else float(result.counters[metric])


def issues(state: State, gpus: dict[str, str], chosen: list[int], cycles: tuple[int, int]) -> list[list[int]]:
    """Return of each chosen warp of block 0 the cycles, of those from the first to the last, in which it issues. Raises UserError."""
    result = _timed(_executed(state)[0], machine(state.machines[0], gpus))
    found = {warp.warp: {issue.cycle for issue in warp.issues} for warp in timeline.warps(result) if warp.block == 0}
    absent = [warp for warp in chosen if warp not in found]
    if absent:
        raise UserError(f"draw: block 0 has no warp {absent[0]}")
    return [sorted(cycle for cycle in found[warp] if cycles[0] <= cycle <= cycles[1]) for warp in chosen]


def lines(result: Result) -> list[dict[str, Any]]:
    """Return what the editor shows beside each line, the copies that .rept makes of it together: the bar of causes, in percent of the
    longest, and what it says in words."""
    found: dict[int, list[int]] = {}
    for instruction in result.program.instructions:
        found.setdefault(instruction.line, []).append(instruction.index)
    most = max(int(result.stalls_by_instruction[chosen][:, sections.WAITS].sum()) for chosen in found.values()) or 1
    rows = []
    for line, chosen in found.items():
        bar = sections.bar(result, chosen, most)
        segments = [(cause, round(share, 2)) for cause, share in bar["segments"]]
        rows.append({"line": line, "issues": bar["issues"], "segments": segments, "says": bar["says"]})
    return rows


@lru_cache(maxsize=CACHED)
def _kept(program: tuple[Any, ...]) -> tuple[Trace, str]:
    state = State.model_construct(
        **dict(zip(("name", "listing", "launch", "warps", "blocks", "registers", "shared"), program, strict=True))
    )
    made = launch(state)
    trace = sim.execute(made.launch, threads=1)
    if trace.warp_instructions > MOST_ISSUES:
        raise UserError(
            f"the program executes {trace.warp_instructions:,} warp instructions; the lab takes {MOST_ISSUES:,}",
            hint="launch fewer blocks, let loops run fewer times, or use `simtlab run` and `simtlab view`",
        )
    wrong = check(made.launch, made.expectation)
    names = ", ".join(made.expectation)
    if wrong:
        at = f"{wrong[0].array}[{', '.join(map(str, wrong[0].index))}]"
        return trace, f"Wrong: {at} is {wrong[0].got}, and should be {wrong[0].expected}."
    return trace, f"Results equal NumPy's: {names}." if names else ""


def forget() -> None:
    """Give back the memory of the programs that are kept."""
    _kept.cache_clear()


def _executed(state: State) -> tuple[Trace, str]:
    """Return what was executed, and whether its results are right. Raises UserError for a program that is too long."""
    return _kept(state.program)


def _timed(trace: Trace, gpu: Gpu) -> Result:
    return sim.simulate(trace, gpu, EVERYTHING, threads=1)


def _lanes(result: Result) -> float:
    return float(result.counters["thread_instructions"]) / (float(result.counters["warp_instructions"]) or 1.0)


def _said(state: State) -> str:
    """Return what the second machine has that the first has not, in words; "" without a second."""
    if len(state.machines) == 1:
        return ""
    one, other = state.machines
    named = {"gpu": other.gpu} if one.gpu != other.gpu else {}
    changes = named | {name: value for name, value in other.set.items() if one.set.get(name) != value or named}
    return ", ".join(f"{name}={value}" for name, value in changes.items())


def _difference(a: Result, b: Result) -> dict[str, Any]:
    """Return which of two machines is faster, and where the difference of their times comes from."""
    found = difference(a, b)
    causes = sorted(found.causes, key=lambda share: -abs(share.change))[:ROWS]
    return {
        "says": differences.summary(a, b, found).splitlines()[-1],
        "unit": found.unit,
        "causes": [{"cause": share.cause, "meaning": _meaning(share.cause), "change": share.change} for share in causes if share.change],
    }


def _meaning(cause: str) -> str:
    return "" if cause == OVERHEAD else slot_meaning(cause).removeprefix("idle: ")


def opcodes(gpu: Gpu) -> dict[str, dict[str, Any]]:
    """Return for each opcode what `simtlab opcodes` says of it on a GPU."""
    return {
        name: {
            **(found := reference.facts(name, gpu)),
            "cycles": reference.cycles(found),
            "modifiers": sorted({one for names in found["modifiers"].values() for one in names}),
        }
        for name in isa.OPCODES
    }
