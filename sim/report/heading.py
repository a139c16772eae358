"""The head of every report: what ran where, what the user changed of the GPU, and whose control words the run obeyed."""

import math
import textwrap

from isa.architecture import number
from sim.gpus.clocks import SET_BY_USER
from sim.gpus.model import SAME, Gpu
from sim.gpus.unread import why_unread
from sim.lowering.control_words import obeys_control_words
from sim.lowering.unread import why_unread_by
from sim.lowering.used import used_by
from sim.report.words import KEPT_IN_VAIN, count, sizes
from sim.result.result import Result


def heading(result: Result) -> str:
    """Return what ran, where."""
    gpu, blocks, threads = result.gpu, math.prod(result.grid), math.prod(result.block)
    many = f"{sizes(result.grid)} blocks" if len(sizes(result.grid)) > 3 or blocks > 1 else "1 block"
    if result.trace is not None and result.trace.launch.cluster_shape:
        many += f", in clusters of {result.trace.launch.ranks},"
    return (
        f"{result.name} on {gpu.name} ({gpu.chip}, compute capability {gpu.compute_capability})\n"
        f"{many} of {sizes(result.block)} threads: {count(blocks * math.ceil(threads / gpu.core.warp_size), 'warp')} "
        f"on {int(result.counters['sms_used'])} of {count(gpu.sms, 'SM')}"
        + "".join(f"\n{'as before' if SAME in change else 'changed'}: {change}" for change in changes(result))
        + (f"\n{KEPT_IN_VAIN[kind]}" if _is_kept(result) and (kind := result.words.kind) in KEPT_IN_VAIN else "")
        + _too_new(result)
        + _sampled(result)
    )


def _is_kept(result: Result) -> bool:
    return result.trace is not None and result.trace.launch.control_words == "keep"


def _sampled(result: Result) -> str:
    """Return of a sampled run what was simulated and what is estimated; nothing of another one."""
    sample = result.sample
    if sample is None:
        return ""
    if sample.whole:
        return "\nsampled: no, all blocks were simulated: a sample would have been most of them. Arrays were left as they were"
    what = f"{sample.blocks:,} of {sample.grid:,} blocks simulated ({sample.blocks / sample.grid:.2%})"
    what += f"; cycles within {sample.cycles_bar / result.cycles:.1%}, in 95 of 100 launches"
    return "\n" + textwrap.fill(f"sampled: {what}. Counts are scaled from the sample; results are incomplete, and were not compared", 100)


def _too_new(result: Result) -> str:
    """Return a line for code of an architecture that came after the GPU's, which real GPUs of that kind do not run."""
    written, gpu = result.program.architecture, result.gpu
    if not written or not gpu.architecture or number(written) <= number(gpu.architecture):
        return ""
    rules = "its control words" if obeys_control_words(result.gpu, result.program) else "a register scoreboard, not its control words"
    return (
        f"\nnote: this is {written} code, which no {gpu.architecture} GPU runs; timed all the same, with this GPU's latencies and {rules}"
    )


def changes(of: Result | Gpu) -> list[str]:
    """Return what the user changed of the preset, one line each, and which of it a run, or any run on a GPU, does not look at."""
    return list(_changes(of).values())


def unread(gpu: Gpu) -> list[str]:
    """Return those of `changes` that no run looks at."""
    return [change for name, change in _changes(gpu).items() if why_unread(gpu, name)]


def _changes(of: Result | Gpu) -> dict[str, str]:
    gpu = of if isinstance(of, Gpu) else of.gpu
    mine = {name: source.text for name, source in gpu.source.items() if source.text.startswith(SET_BY_USER)}
    return {name: f"{name}, {text}" + (f"; {why}" if (why := _why_unread(of, name)) else "") for name, text in mine.items()}


def _why_unread(of: Result | Gpu, name: str) -> str:
    if isinstance(of, Gpu):
        return why_unread(of, name)
    return why_unread_by(of.gpu, name, of.words, used_by(of))


def control(result: Result) -> list[str]:
    """Return in at most one sentence whose control words the run obeyed."""
    kind, fields, _ = result.words
    if kind == "scheduled":
        held = f" for {', '.join(fields)}" if fields else ""
        return [f"rescheduled{held}, not the compiler's; `simtlab compare` says what the words alone change"]
    return ["the listing's control words say when an instruction may issue"] if obeys_control_words(result.gpu, result.program) else []
