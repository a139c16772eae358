"""What each cause means, in one plain line, and how numbers are written."""

import math

# What a warp does while a cycle is charged to the cause: "the warp ...".
CAUSE_MEANINGS = {
    "selected": "issues an instruction",
    "not_selected": "is ready, but another warp is chosen",
    "wait": "waits for an arithmetic result, or has just issued",
    "long_scoreboard": "waits for global or local memory, or an mbarrier",
    "short_scoreboard": "waits for shared memory or a special function",
    "math_pipe_throttle": "is ready, but the arithmetic pipe is taken",
    "mio_throttle": "is ready, but the shared-memory, special or branch port is taken",
    "lg_throttle": "is ready, but the load/store port is taken",
    "barrier": "waits at a barrier for other warps of its block, or for wgmma products",
    "branch_resolving": "waits for its branch to be decided",
    "no_instruction": "waits for an instruction: its block starts, or it jumped to code not fetched",
    "imc_miss": "waits for a constant from memory",
    "dispatch_stall": "is held: the scheduler or the register ports are taken, or it has too many instructions in flight",
    "drain": "has finished, but its last results are not back",
    "membar": "waits at a memory fence",
    "sleeping": "sleeps (NANOSLEEP)",
}
SLOT_MEANINGS = {
    "selected": "an instruction issues",
    "no_warp": "idle: the next warp to issue has not started yet",
    "tail": "idle: no warp is left on this scheduler",
}


KEPT_IN_VAIN = {
    kind: f"note: --keep-control-words changes nothing: {why}"
    for kind, why in (
        ("compiler", "this GPU does not differ in anything that they encode"),
        ("none", "the listing has none that this GPU obeys"),
    )
}  # by the kind of words that a run obeyed


def slot_meaning(cause: str) -> str:
    """Return what an issue slot charged to `cause` is used for."""
    return SLOT_MEANINGS.get(cause) or f"idle: the next warp {CAUSE_MEANINGS[cause]}"


def bar(fraction: float, width: int = 20) -> str:
    """Return a bar of `width` columns for a fraction of 0 to 1, in halves of a column."""
    halves = round(2 * width * min(max(fraction, 0.0), 1.0))
    return ("█" * (halves // 2) + "▌" * (halves % 2)).ljust(width)


def seconds(value: float) -> str:
    """Return a duration with three digits and a unit: "13.2 us"."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{_three(value / scale)} {unit}"
    return f"{_three(value / 1e-9)} ns"


def joules(value: float) -> str:
    """Return an energy with three digits and a unit: "13.2 uJ"."""
    for unit, scale in (("J", 1.0), ("mJ", 1e-3), ("uJ", 1e-6), ("nJ", 1e-9)):
        if value >= scale:
            return f"{_three(value / scale)} {unit}"
    return f"{_three(value / 1e-12)} pJ"


def count(number: float, noun: str) -> str:
    """Return "1 block", "2 blocks"."""
    text = f"{number:,.3g}" if isinstance(number, float) else f"{number:,}"
    return f"{text} {noun}" if number == 1 else f"{text} {noun}s"


def size(number: float) -> str:
    """Return bytes with a binary unit: "448 B", "50.8 KiB", "8.00 MiB"."""
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if number >= scale:
            return f"{number / scale:,.0f} {unit}" if number >= 1000 * scale else f"{_three(number / scale)} {unit}"
    return f"{number:.0f} B"


def percent(fraction: float) -> str:
    """Return a fraction of 0 to 1 in percent with four digits, no more than it needs: "3.125%", "50%"."""
    return f"{100 * fraction:.4g}%"


def sizes(size: tuple[int, ...]) -> str:
    """Return a grid or block as "16 x 16"; trailing ones are left out."""
    kept = list(size)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return " x ".join(map(str, kept))


def _three(value: float) -> str:
    """Return `value` (1 to 1000, or less) with three significant digits."""
    digits = 2 - math.floor(math.log10(value)) if value > 0 else 0
    return f"{value:.{min(max(digits, 0), 2)}f}"


def rate(flops: float) -> str:
    """Return a rate of operations with a decimal unit: "1.35 Tflop/s", "485 Gflop/s"."""
    for unit, scale in (("Pflop/s", 1e15), ("Tflop/s", 1e12), ("Gflop/s", 1e9), ("Mflop/s", 1e6)):
        if flops >= scale:
            return f"{_three(flops / scale)} {unit}"
    return f"{_three(flops)} flop/s"
