"""The report of a run, for a person: how long, how full, where the warps' time went, what would help."""

import math
import textwrap

import numpy as np

from isa.architecture import number
from isa.vocabulary import Unit
from sim.advice import diagnose
from sim.control import obeys_control_words
from sim.gpus.model import SET_BY_USER, Gpu
from sim.gpus.occupancy import WARP
from sim.gpus.unread import why_unread
from sim.report.memory import chart
from sim.report.occupancy import limit_sentence
from sim.report.words import CAUSE_MEANINGS, bar, count, seconds, sizes, slot_meaning
from sim.result import Result
from sim.vocabulary import CAUSE_NAMES, StallCause

WAITS = [cause for cause in StallCause if cause is not StallCause.SELECTED]


def report(result: Result) -> str:
    """Return the report that `simtlab run` prints."""
    parts = [
        heading(result),
        summary(result),
        account("Where the warps' time went", "warp-cycles", result.stalls, CAUSE_MEANINGS),
        account("What the issue slots did", "slots", result.issue_slots, {name: slot_meaning(name) for name in result.issue_slots}),
        slowest(result),
        memory(result),
        textwrap.fill(diagnose(result).sentence, 100),
    ]
    return "\n\n".join(part for part in parts if part)


def heading(result: Result) -> str:
    """Return what ran, where."""
    gpu, blocks, threads = result.gpu, math.prod(result.grid), math.prod(result.block)
    many = f"{sizes(result.grid)} blocks" if len(sizes(result.grid)) > 3 or blocks > 1 else "1 block"
    return (
        f"{result.name} on {gpu.name} ({gpu.chip}, compute capability {gpu.compute_capability})\n"
        f"{many} of {sizes(result.block)} threads: {count(blocks * math.ceil(threads / WARP), 'warp')} "
        f"on {int(result.counters['sms_used'])} of {count(gpu.sms, 'SM')}"
        + "".join(f"\nchanged: {change}" for change in changes(gpu))
        + _too_new(result)
    )


def _too_new(result: Result) -> str:
    """Return a line for code of an architecture that came after the GPU's, which real GPUs of that kind do not run."""
    written, gpu = result.program.architecture, result.gpu
    if not written or not gpu.architecture or number(written) <= number(gpu.architecture):
        return ""
    rules = "its control words" if by_control_words(result) else "a register scoreboard, not its control words"
    return (
        f"\nnote: this is {written} code, which no {gpu.architecture} GPU runs; timed all the same, with this GPU's latencies and {rules}"
    )


def changes(gpu: Gpu) -> list[str]:
    """Return what the user changed of the preset, one line each, and which of it a run does not look at."""
    return list(_changes(gpu).values())


def unread(gpu: Gpu) -> list[str]:
    """Return those of `changes` that a run does not look at."""
    return [change for name, change in _changes(gpu).items() if why_unread(gpu, name)]


def _changes(gpu: Gpu) -> dict[str, str]:
    mine = {name: source.text for name, source in gpu.source.items() if source.text.startswith(SET_BY_USER)}
    return {name: f"{name}, {text}" + (f"; {why}" if (why := why_unread(gpu, name)) else "") for name, text in mine.items()}


def summary(result: Result) -> str:
    """Return the main numbers, one per line."""
    counters, gpu = result.counters, result.gpu
    share = result.issue_slots.get("selected", 0) / counters["issue_slots"] if counters["issue_slots"] else 0.0
    lines = [
        ("time", f"{result.cycles:,} cycles of the ALU clock; {seconds(result.seconds)} at {gpu.clock.alu_mhz:g} MHz{_overhead(result)}"),
        ("issued", f"{count(int(counters['warp_instructions']), 'warp instruction')}, {counters['ipc']:.3f} per cycle and SM (IPC)"),
        ("FP32 peak", f"{peak(result, int(counters['sms_used'])):.1%} of the {_sms_used(result)}, {peak(result, gpu.sms):.1%} of the chip"),
        ("issue slots", f"{share:.1%} used"),
        *([("control", "the listing's control words say when an instruction may issue")] if by_control_words(result) else []),
        ("occupancy", f"{limit_sentence(result.occupancy, gpu)}; achieved {counters['achieved_occupancy']:.1%}"),
    ]
    return "\n".join(f"{name:<12} {text}" for name, text in lines)


def by_control_words(result: Result) -> bool:
    """Return whether the run obeyed the listing's control words; else a register scoreboard found the dependences."""
    return obeys_control_words(result.gpu, result.program)


def peak(result: Result, sms: int) -> float:
    """Return the share of the FP32 peak of `sms` SMs that the run reached, 0 to 1; a fused multiply-add counts two."""
    best = 2.0 * result.gpu.lanes(Unit.FP32) * sms * result.cycles
    return result.counters["fp32_flops"] / best if best else 0.0


def account(title: str, unit: str, causes: dict[str, int], meanings: dict[str, str]) -> str:
    """Return a closed account as a bar list, largest first."""
    total = sum(causes.values())
    lines = [f"{title} ({total:,} {unit})"]
    for name, n in sorted(causes.items(), key=lambda item: -item[1]):
        lines.append(f"  {n / total:6.1%} {bar(n / total)} {name:<18} {n:>13,}  {meanings[name]}")
    return "\n".join(lines)


def slowest(result: Result, rows: int = 3) -> str:
    """Return the instructions whose warps waited longest before issuing them; the copies that `.rept` makes of a line count as one."""
    waited, total = result.stalls_by_instruction[:, WAITS], int(result.stalls_by_instruction[:, WAITS].sum())
    lines: dict[tuple[int, str], list[int]] = {}
    for instruction in result.program.instructions:
        lines.setdefault((instruction.line, instruction.text), []).append(instruction.index)
    order = sorted(lines, key=lambda key: -waited[lines[key]].sum())
    chosen = [key for key in order[:rows] if waited[lines[key]].sum()]
    if not chosen:
        return ""
    width = max(len(text) for _, text in chosen)
    found = ["Waited longest: share of all waiting, cycles per issue, main cause"]
    for line, text in chosen:
        causes, issues = waited[lines[line, text]].sum(axis=0), int(result.issues_by_instruction[lines[line, text]].sum())
        main, cycles = int(np.argmax(causes)), int(causes.sum())
        cause = f"{CAUSE_NAMES[WAITS[main]]} ({causes[main] / cycles:.0%})"
        found.append(f"  line {line:>4}  {text:<{width}}  {cycles / total:>5.1%}  {cycles / max(issues, 1):>8.1f}  {cause}")
    return "\n".join(found)


def memory(result: Result) -> str:
    """Return the memory chart; for memory of a fixed latency the requests, and what that leaves out; "" when there were none."""
    loads, stores = int(result.counters["global_load_requests"]), int(result.counters["global_store_requests"])
    if result.gpu.memory.kind == "hierarchy" or not loads + stores:
        return chart(result)
    return textwrap.fill(
        f"Global memory: {count(loads, 'load request')}, {count(stores, 'store request')}. Memory is a fixed latency of "
        f"{result.gpu.memory.global_load} cycles here (memory.kind = 'fixed'): neither caches nor bandwidth are modelled.",
        100,
    )


def _overhead(result: Result) -> str:
    extra = result.elapsed_cycles - result.cycles
    return f", with {extra:,} cycles of launch overhead" if extra else ""


def _sms_used(result: Result) -> str:
    used = int(result.counters["sms_used"])
    return "SM used" if used == 1 else f"{used} SMs used"
