"""Which lanes run together, and when: recursive kernels as an H100 ran them, event by event."""

import csv
import functools
import re
from pathlib import Path

import numpy as np
import pytest

import isa
import sim
from isa.program import Program
from programs.measurements.gpu.convergence import LANES, inputs
from programs.published import rows
from sim.launch.file import load_launch

MEASURED = Path(__file__).parents[2] / "programs" / "measurements" / "h100"
FOLDER = MEASURED / "convergence"
with (FOLDER / "traces.csv").open() as file:
    TRACES = list(csv.DictReader(file))


@functools.cache
def compiled(kernel: str, yields: bool) -> Program:
    text = (FOLDER / "convergence.sm_90.sass").read_text()
    return isa.parse(text if yields else text.replace("YIELD ;", "NOP;"), function=kernel)


def sites(program: Program) -> dict[int, int]:
    """Return the site of each clock read: what LOG puts above the clock's bits; 0 where nothing is."""
    texts, found = [instruction.text for instruction in program.instructions], {}
    reads = [i for i, text in enumerate(texts) if "SR_CLOCKLO" in text]
    for i, after in zip(reads, [*reads[1:], len(texts)], strict=True):
        clock = texts[i].split("CS2R.32 ")[1].split(",")[0]
        put = (re.search(rf"LOP3\.LUT R\d+, {clock}, 0x(\w+), RZ, 0xfc", text) for text in texts[i:after])
        found[i] = next((int(match[1], 16) >> 26 for match in put if match), 0)
    return found


def events(program: Program, values: np.ndarray, threads: int) -> list[str]:
    """Return site and active mask of each clock read, in order."""
    arrays = (values, np.zeros(544, np.uint32), np.zeros(LANES * 2000, np.uint32))
    trace = sim.execute(sim.Launch(program, grid=(1,), block=(threads,), args=arrays, shared_dynamic=1280)).arrays
    at = sites(program)
    return [f"{at[i]}:{mask:x}" for i, mask in zip(trace.instruction.tolist(), trace.mask.tolist(), strict=True) if i in at]


@pytest.mark.parametrize("row", TRACES, ids=lambda row: "-".join(row[name] for name in ("kernel", "yields", "seed", "threads")))
def test_lanes_run_together_as_on_an_h100(row: dict[str, str]) -> None:
    found = events(compiled(row["kernel"], row["yields"] == "1"), inputs(row["kernel"], int(row["seed"])), int(row["threads"]))
    assert found == row["events"].split()


@pytest.mark.parametrize("kernel", ["one", "two", "full"])
def test_many_groups_run_in_the_order_of_an_h100(kernel: str) -> None:
    """Of the nine launches that sort, two groups change places in one, and in one lanes that are to leave merge, unlike on the H100."""
    program = isa.load(MEASURED / "groups.sm_90.cubin", kernel)
    table = [row for row in rows(MEASURED / "groups.csv") if row["kernel"] == kernel]
    pairs = [(events(program, np.array(row["numbers"].split(), np.int32), LANES), row["events"].split()) for row in table]
    assert len(pairs) == {"one": 30, "two": 20, "full": 9}[kernel]
    others = {i: (here, there) for i, (here, there) in enumerate(pairs) if here != there}
    assert list(others) == ([4, 8] if kernel == "full" else [])
    if others:
        here, there = others[4]
        assert [*here[:620], here[621], here[620], *here[622:]] == there
        here, there = others[8]
        assert here[:659] == there[:659]
        assert len(here) == len(there) - 1


def test_quicksort_executes_about_as_many_instructions_as_on_an_h100() -> None:
    """85 lanes of 4 warps: 60,944 on the H100, 17 stores of each of 37 groups among them; in sight while the rules were sought."""
    program = isa.load(MEASURED / "kernels" / "quicksort.sm_90.sass")
    launch = load_launch(MEASURED.parents[1] / "cuda" / "heldout" / "quicksort.toml", program).launch
    trace = sim.execute(launch)
    assert (trace.warp_instructions, trace.thread_instructions) == (60_944 - 1, 173_195 - 339)
    stores = [i for i, instruction in enumerate(program.instructions) if instruction.opcode.startswith("STG")]
    assert trace.executed[stores].sum() == 629
