"""`volkov-tlp-ilp`: hide arithmetic latency with threads (TLP) or with independent instructions (ILP).

V. Volkov, "Better Performance at Lower Occupancy", GTC 2010, part I; what it states is in published.toml.
"""

from typing import Any

from programs.published import fitted_to, published
from programs.reproduction import Check, Reproduction
from programs.steady import PERFECT, is_perfect
from programs.volkov.checks import comparison, published_checks
from programs.volkov.sweep import FOLDER, ONE_SM, REACHED, Sweep, chains, percent_of_peak, resized, sweep
from sim.functional import execute
from sim.gpus.loader import load
from sim.gpus.model import Gpu
from sim.report.curves import Curve


def reproduce(gpu: str | None = None) -> Reproduction:
    """Sweep block sizes for ILP 1 to 8 on one SM of `gpu` (default gtx480); beside it, the same GPU with a perfect scoreboard."""
    name = gpu or "gtx480"
    machine = load(name)
    said = published(FOLDER).get(name, {})
    machines = {scoreboard(machine): machine}
    if not is_perfect(machine):
        machines[f"perfect scoreboard ({machine.core.policy})"] = machine.replace(PERFECT)
    curves = dict(zip(machines, sweep(list(machines.values())), strict=True))
    return Reproduction(
        title=f"TLP or ILP: percent of one SM's peak, {machine.name}",
        checks=tuple(_checks(machines, curves, said)),
        notes=(_reached(), *_fitted(machine), *_uneven(machine), *_policy(machine, next(iter(curves.values())))),
        curves=tuple(curve for panel, found in curves.items() for curve in _curves(panel, machine, found, said)),
        x_label="threads per block (one block on one SM)",
        y_label="percent of the SM's FP32 peak",
    )


def is_fitted(gpu: Gpu) -> bool:
    """Return whether the preset's wake rule is fitted to a measurement."""
    return bool(fitted_to(gpu, "core.wake_rule"))


def scoreboard(gpu: Gpu) -> str:
    """Return what the preset assumes of scoreboard and policy, in words, with the label of a fit."""
    cap = f"cap {gpu.core.in_flight_cap}" if gpu.core.in_flight_cap else "no cap"
    fit = "; wake rule, cap and policy FITTED to the marked points" if is_fitted(gpu) else ""
    return f"{gpu.chip}: {gpu.core.wake_rule}, {cap}, {gpu.core.policy}{fit}"


def _checks(machines: dict[str, Gpu], curves: dict[str, Sweep], said: dict[str, Any]) -> list[Check]:
    """Return the judged checks of the preset, then whatever is shown for comparison."""
    preset, *others = machines
    checks = list(published_checks(said, curves[preset], is_fitted(machines[preset])))
    if not checks:
        checks += comparison(machines[preset].chip, machines[preset], curves[preset], said)
    for label in others:
        checks += comparison("perfect scoreboard", machines[label], curves[label], said)
    return checks


def _curves(panel: str, gpu: Gpu, found: Sweep, said: dict[str, Any]) -> list[Curve]:
    marks = {row["ilp"]: float(row["threads"]) for row in said.get("threshold", ())}
    return [
        Curve(f"ILP {ilp}", found.sizes, percent, panel, period=gpu.core.schedulers, mark=marks.get(ilp))
        for ilp, percent in found.percent.items()
    ]


def _reached() -> str:
    return f"100 % means {REACHED:g} % or more of peak: loop overhead, ramp-up and drain keep the last 0.5 % from any block size."


def _fitted(gpu: Gpu) -> list[str]:
    if not is_fitted(gpu):
        return []
    return [
        f"The wake rule ({gpu.core.wake_rule}), the cap ({gpu.core.in_flight_cap} instructions in flight per warp) and the policy "
        f"({gpu.core.policy}) are FITTED to these four thresholds. With a perfect scoreboard ILP 1, 2 and 4 follow from the latency, the "
        "issue rate and whole warps per scheduler alone, whatever the policy; ILP 3 (256, not 192) and the end of the gain past ILP 4 do "
        "not. No source states Fermi's scoreboard."
    ]


def _uneven(gpu: Gpu) -> list[str]:
    schedulers = gpu.core.schedulers
    if schedulers == 1:
        return []
    return [
        f"Dips between multiples of {32 * schedulers} threads: warps are dealt to {schedulers} schedulers in turn, so one has a warp more "
        "than another and its work ends last. The figure's lines join the multiples; dots are all sizes."
    ]


def _policy(gpu: Gpu, found: Sweep) -> list[str]:
    """Measure, one warp past the threshold at ILP 1, what choosing the oldest warp does to a kernel of fixed work per warp."""
    threshold = found.threshold(1)
    if threshold is None or threshold == found.sizes[-1]:
        return []
    threads = threshold + 32
    trace = execute(resized(chains(1), threads, gpu))
    rotate, oldest = (percent_of_peak(trace, gpu.replace(ONE_SM | {"core.policy": policy})) for policy in ("gtr", "gto"))
    return [
        f"Policy, measured at ILP 1 and {threads} threads, one warp past the threshold: greedy-then-rotate {rotate:.0f} %, "
        f"greedy-then-oldest {oldest:.0f} % (the preset has {gpu.core.policy}). When the oldest always wins, the youngest warps starve "
        "until the others have ended and then run with their latency bare: the thresholds stay, the plateau behind them does not."
    ]
