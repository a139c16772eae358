"""Control words for a machine that is not the one a compiler wrote them for: rescheduled, or kept; and what was done.

A compiler knows how late results of fixed latency come, how long an instruction holds its pipe, how far apart a warp's instructions must
be, and which may issue together. Where a machine differs in one of these from the preset that it is a what-if of, words that hold the old
numbers would make the change do nothing, or make code wrong. What a program computes does not depend on them.
"""

import dataclasses
from itertools import product
from typing import Literal

import numpy as np

from isa.errors import UserError
from isa.program import Program
from isa.vocabulary import Unit
from sim.control_words import latency, schedule
from sim.control_words.change import UNCHANGED, Change
from sim.gpus.assumed import shipped
from sim.gpus.checks import LATENCY_ELSEWHERE
from sim.gpus.model import Gpu
from sim.launch.launch import Launch
from sim.lowering.control_words import PORTED, obeys_control_words
from sim.lowering.listing import PerProgram
from sim.result.words import Words
from sim.traces.trace import Trace

HELD = ("core.issue_width", "core.reissue_distance", "core.warp_size", "core.kind", "compute_capability")
_schedules = PerProgram[Program](32)


def rescheduled(trace: Trace, gpu: Gpu) -> tuple[Trace, Words]:
    """Return the trace with the control words that a run on `gpu` obeys, and which these are.

    `trace.launch.control_words` says what is wanted: "auto" reschedules words where the machine differs in what a compiler knows,
    "keep" never does, "schedule" always. Words of an architecture whose latencies are not known are kept.
    """
    words, change = _wanted(trace.launch, gpu)
    if words.kind != "scheduled":
        return trace, words
    program = scheduled(trace.program, change)
    return dataclasses.replace(trace, launch=dataclasses.replace(trace.launch, program=program)), words


def words_of(launch: Launch, gpu: Gpu) -> Words:
    """Return which control words a run of the launch on `gpu` obeys."""
    return _wanted(launch, gpu)[0]


def may_hold(name: str) -> bool:
    """Return whether control words may hold the field `name` of a GPU."""
    return name.startswith(("units.", "pipes.")) or name in HELD


def _wanted(launch: Launch, gpu: Gpu) -> tuple[Words, Change]:
    if not obeys_control_words(gpu, launch.program):
        return Words(), UNCHANGED
    change, fields, why = difference(launch.program, gpu)
    wanted = launch.control_words
    if wanted == "keep" or why or (wanted == "auto" and not fields):
        kept = why or "the compiler's control words are kept, and hold it"
        return Words("kept" if fields else "compiler", fields, kept if fields else ""), change
    return Words("scheduled", fields), change


def difference(program: Program, gpu: Gpu) -> tuple[Change, tuple[str, ...], str]:
    """Return by how much `gpu` differs in what a compiler of `program` knows, in which fields, and why nothing can heed it."""
    base = shipped(gpu)
    if base is None:
        return UNCHANGED, (), ""
    units = [Unit(int(unit)) for unit in np.unique(program.encoded.unit) if unit != Unit.NONE]
    fields: dict[str, None] = {}
    later = {unit: gpu.latency(unit) - base.latency(unit) for unit in units if unit.name.lower() not in LATENCY_ELSEWHERE}
    slower = {unit: _held(gpu, unit) - _held(base, unit) for unit in units}
    pairs, width = frozenset[tuple[Unit, Unit]](), gpu.core.issue_width
    if width > base.core.issue_width:
        fields["core.issue_width"] = None
    if width > 1:
        pairs = frozenset((one, two) for one, two in product(units, units) if _together(gpu, one, two))
    if gpu.core.reissue_distance > base.core.reissue_distance:
        fields["core.reissue_distance"] = None
    known, why = _fixed(program) if any(later.values()) or fields or any(slower.values()) else (set(), "")
    for unit in units:
        if later.get(unit) and unit in known:
            fields[f"units.{unit.name.lower()}.latency"] = None
        if slower[unit]:
            fields |= dict.fromkeys(_of_pipe(gpu, base, unit))
    kept = tuple((unit, cycles) for unit, cycles in later.items() if cycles and unit in known)
    change = Change(kept, tuple((unit, cycles) for unit, cycles in slower.items() if cycles), gpu.core.reissue_distance, pairs, width)
    return change, tuple(fields), why


def worded(trace: Trace, control_words: Literal["auto", "keep", "schedule"]) -> Trace:
    """Return the trace of a launch that wants its control words so."""
    return dataclasses.replace(trace, launch=dataclasses.replace(trace.launch, control_words=control_words))


def is_known(trace: Trace, gpu: Gpu, other: Gpu) -> bool:
    """Return whether a compiler would write other control words for the one GPU than for the other: then a run of both lays them down."""
    obeyed = [obeys_control_words(one, trace.program) and trace.launch.control_words != "keep" for one in (gpu, other)]
    if not all(obeyed):
        return False
    found = [difference(trace.program, one) for one in (gpu, other)]
    return found[0][0] != found[1][0] and not any(why for *_, why in found)


def change_of(program: Program, gpu: Gpu | None) -> Change:
    """Return by how much a GPU differs in what a compiler of `program` knows; None = in nothing."""
    return UNCHANGED if gpu is None else difference(program, gpu)[0]


def scheduled(program: Program, change: Change) -> Program:
    """Return the program with control words scheduled for a changed machine; each schedule is made once."""
    return _schedules.get(program, change, lambda: schedule(program, program.architecture, change))


def _fixed(program: Program) -> tuple[set[Unit], str]:
    """Return the units whose results the stall counts of `program` wait for, and why nobody can tell; then all are taken."""
    try:
        variable = latency.of(program.architecture).variable
    except UserError as error:
        return set(Unit), f"the code cannot be scheduled again: {error.message}"
    names = latency.Classes(program).names
    return {Unit(int(unit)) for unit, name in zip(program.encoded.unit, names, strict=True) if name not in variable}, ""


def _held(gpu: Gpu, unit: Unit) -> int:
    """Return how many cycles apart a pipe takes instructions of a unit."""
    name = gpu.serving(unit).pipe
    return -(-gpu.hold(name) * gpu.serving(unit).passes // gpu.pipes[name].count)


def _of_pipe(gpu: Gpu, base: Gpu, unit: Unit) -> list[str]:
    """Return the fields that make a unit's pipe slower or faster."""
    name = unit.name.lower()
    mine, own = gpu.serving(unit).pipe, base.serving(unit).pipe
    if mine != own:
        return [f"units.{name}.pipe"]
    if gpu.serving(unit).passes != base.serving(unit).passes:
        return [f"units.{name}.passes"]
    lanes = [f"pipes.{mine}.{field}" for field in ("lanes", "count") if getattr(gpu.pipes[mine], field) != getattr(base.pipes[own], field)]
    return lanes + ["core.warp_size"] * (gpu.core.warp_size != base.core.warp_size)


def _together(gpu: Gpu, one: Unit, two: Unit) -> bool:
    """Return whether instructions of two units find ports in one cycle; of those behind register banks one begins to read per cycle."""
    if gpu.core.register_banks and {one, two} <= {*PORTED}:
        return False
    first, second = (gpu.serving(unit).pipe for unit in (one, two))
    return one is not Unit.BRANCH and (first != second or gpu.pipes[first].count > 1)
