"""The published experiments by name: `reproduce("volkov-tlp-ilp", gpu="g80")`. A new one is a function and a row here."""

from collections.abc import Callable

from isa.errors import UserError
from programs.coalescing import lecture
from programs.coarsening import horner
from programs.copy import volkov_copy
from programs.documents import numbers
from programs.fft import fft_outputs
from programs.intervals import analysis, loops
from programs.l1 import on_off
from programs.littles_law import needed
from programs.lower_occupancy import talk
from programs.measurements import core, intervals, memory
from programs.measurements.occupancy import curves
from programs.occupancy import lecture as occupancy_lecture
from programs.pipeline import pipeline
from programs.register_cache import savings
from programs.reproduction import Check, Reproduction
from programs.scheduling import blocks, dual_issue, groups, policies
from programs.scheduling import occupancy as scheduling_occupancy
from programs.sgemm import sgemm_ladder
from programs.tesla import volkov_demmel
from programs.volkov import tlp_ilp
from sim.gpus.fields import nearest

__all__ = ["REPRODUCTIONS", "Check", "Reproduction", "reproduce"]

# name -> function of a GPU's name or TOML path (None = the GPU of the publication)
REPRODUCTIONS: dict[str, Callable[[str | None], Reproduction]] = {
    "block-scheduling": blocks.reproduce,
    "coalescing": lecture.reproduce,
    "document-numbers": numbers.reproduce,
    "dual-issue": dual_issue.reproduce,
    "fetch-groups": groups.reproduce,
    "fft": fft_outputs.reproduce,
    "l1-on-off": on_off.reproduce,
    "littles-law": needed.reproduce,
    "h100-core": core.reproduce,
    "h100-intervals": intervals.reproduce,
    "h100-memory": memory.reproduce,
    "interval-analysis": analysis.reproduce,
    "lower-occupancy": talk.reproduce,
    "notes-loops": loops.reproduce,
    "occupancy-lecture": occupancy_lecture.reproduce,
    "occupancy-curves": curves.reproduce,
    "pipeline": pipeline.reproduce,
    "register-cache": savings.reproduce,
    "scheduling-occupancy": scheduling_occupancy.reproduce,
    "sgemm-ladder": sgemm_ladder.reproduce,
    "thread-coarsening": horner.reproduce,
    "volkov-copy": volkov_copy.reproduce,
    "volkov-demmel": volkov_demmel.reproduce,
    "volkov-tlp-ilp": tlp_ilp.reproduce,
    "warp-scheduling": policies.reproduce,
}

# Experiments that are published for further GPUs: `reproduce --all` runs these, too.
ON_OTHERS = {"volkov-tlp-ilp": ("g80", "gtx460")}


def reproduce(name: str, gpu: str | None = None) -> Reproduction:
    """Run the experiment `name`, on another GPU than the publication's if one is given. Raises UserError for an unknown name."""
    if name not in REPRODUCTIONS:
        near = [known for known in REPRODUCTIONS if name and known.startswith(name)] or [nearest(name, REPRODUCTIONS)]
        hint = f"did you mean {' or '.join(near)}?" if near[0] else f"there are: {', '.join(REPRODUCTIONS)}"
        raise UserError(f"no reproduction is called '{name}'", hint=hint)
    return REPRODUCTIONS[name](gpu)
