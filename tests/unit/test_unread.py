"""Every field of a GPU, in runs of programs of every kind: it changes something, or a report says why it cannot, or why it does not here is
known. What is said not to be read changes nothing."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sim
from isa.errors import UserError
from sim.gpus.fields import needed
from sim.gpus.model import Gpu
from sim.launch.file import load_launch
from sim.lowering.constant_lines import LINE, constant_lines
from sim.lowering.needs import NEEDS
from sim.lowering.unread import why_unread_by
from sim.lowering.used import used_by
from sim.report.text import report
from sim.result.result import Result
from sim.traces.trace import work_of_blocks
from tests.fields import CHAIN, Suite, launch, small
from tests.listings import FOLDER
from tests.unit.test_reductions import timed
from tests.unread import Change, Machine, changes

MACHINES = {
    "gtx480": ("gtx480", {"sms": 2}),
    "h100": ("h100", {"sms": 4}),
    "imagined": (
        "h100",
        {"sms": 2, "l1": "none", "core.issue_width": 2, "core.kind": "scoreboard", "core.policy": "two_level", "lsu.store_lines": 4}
        | {"l2.start": "warm", "l2.bytes": 1 << 22, "blocks.policy": "round_robin", "fetch.near_bytes": 256, "dram.turnaround": 10},
    ),
}
# Listings, and of how many of their blocks: as few as let some of the first two wait for a place on each machine, and for stores of others
LISTINGS = {"copy/copy_4_float": (112,), "shared/transpose_tile": (8, 8), "atomics/histogram_global": (64,), "cuda/transpose.sm_90": (8, 2)}
SMALL = ("products of warpgroups", "tiles", "bulk copies", "barriers of a cluster")


def _waits_for_place(run: Result) -> bool:
    return len(run.block_starts) > run.gpu.sms * run.occupancy.blocks


def _order_counts(run: Result) -> bool:
    assert run.trace is not None
    return _waits_for_place(run) and bool((np.diff(work_of_blocks(run.trace)) > 0).any())


def _l2_is_full(run: Result) -> bool:
    moved = 32 * (run.counters["l2_sectors_read"] + run.counters["l2_sectors_written"])
    return run.gpu.l2 is None or moved > run.gpu.l2.bytes


def _constants_are_many(run: Result) -> bool:
    return LINE * constant_lines(run.program).all > run.gpu.constants.bytes > 0


# What a run reads and yet is the same with other values: field, why, and what would contradict that, if the run's result holds it.
# That each of these changes another program is tested in `test_fields.py`.
SAME: tuple[tuple[str, str, Callable[[Result], bool] | None], ...] = (
    (r"core\.(policy|group_size|wake_rule|in_flight_cap)", "warps of a scheduler, or results under way, are too few to choose among", None),
    (r"core\.dispatch|pipes\.\w+\.\w+|units\.\w+\.(pipe|passes)", "ports are free again before they are wanted", None),
    (
        r"lsu\.(interval|replay|word_cycles)|shared\.(pass_cycles|rule)|l1\.(bytes_per_cycle|line_cycles)",
        "accesses are too far apart to meet",
        None,
    ),
    (r"sms|blocks\.(policy|retire_interval|retire_latency|sm_interval|awaits_stores)", "no block waits for a place", _waits_for_place),
    (r"blocks\.order", "no block does more than the one before, or all start at once", _order_counts),
    (r"fetch\.\w+", "all values tried hold the few lines of code, or bring them in time", lambda run: len(run.program) > 3000),
    (r"constants\.\w+", "caches of all sizes tried hold the few lines of constants", _constants_are_many),
    (r"core\.(register_banks|read_window)", "reads do not meet at a bank", None),
    (r"limits\.\w+", "as many blocks fit with all values tried", None),
    (
        r"l1\.(bytes|sector|ways|sets|replacement|unified|stores|pending|tags_per_cycle|pass_latency)",
        "what is used again is there, or not yet",
        None,
    ),
    (r"l2\.(bytes|ways|replacement|hash|far|start)", "L2 holds all that is moved", _l2_is_full),
    (r"(l2|interconnect)\.(partial_cost|store_mask|store_least)", "sectors are stored whole", None),
    (r"l2\.(write_port|coalesced|gpcs|lookup_cycles)|interconnect\.latency", "slices are idle, end-to-end latencies hold", None),
    (
        r"lsu\.(store_lines|store_wait|store_line_cycles|leaving_lines|leaving_cycles)",
        "stores come too far apart, or whole lines at once",
        None,
    ),
    (r"lsu\.depth|interconnect\.depth|dram\.(depth|channel_depth)", "queues are deep enough", None),
    (
        r"dram\.(activate_cycles|turnaround|write_batch|write_cost|refresh|refresh_interval|access_bytes)",
        "channels are idle between requests, banks there",
        None,
    ),
    (r"clock\.dram_mhz", "no bank is away when code and constants are asked for", lambda run: run.counters["dram_bytes_read"]),
    (r"lsu\.latency", "a store is over l1.latency after its issue, whatever part of that it waits", lambda run: not run.gpu.l1),
    (r"l2\.latency", "a refresh of DRAM absorbs it", lambda run: not run.gpu.dram.refresh),
    (r"units\.(uniform|shift)\.latency|units\.uniform\.reads", "what uses their results waits longer for others", None),
    (r"clusters\.\w+", "SMs tell each other too little to wait for it", None),
)


def _known(field: str, run: Result) -> bool:
    """Return whether the table says why a field changes nothing of a run, and nothing in the run contradicts that."""
    return any(re.fullmatch(pattern, field) and not (wrong and wrong(run)) for pattern, _, wrong in SAME)


@pytest.fixture(scope="module")
def others() -> dict[str, Any]:
    """Return launches that ask for one part of a machine each."""
    return small()


@pytest.fixture(scope="module")
def suite(others: dict[str, Any]) -> Suite:
    chain = launch(CHAIN.format(registers=32, shared=0), 1, 64, np.zeros(1, np.float32))
    reductions = {"bulk reductions": timed("time_add_u32", 1040, 4, 2080, 0)}
    listings = {name: replace(load_launch(FOLDER / f"{name}.sass").launch, grid=grid) for name, grid in LISTINGS.items()}
    return Suite({"chain": chain} | listings | {name: others[name] for name in SMALL} | reductions)


@pytest.fixture(scope="module", params=MACHINES)  # tests of one machine follow each other
def machine(request: pytest.FixtureRequest) -> Machine:
    base, changed = MACHINES[request.param]
    return Machine(sim.gpu(base).replace(changed))


@pytest.mark.slow
@pytest.mark.parametrize("program", ["chain", *LISTINGS, *SMALL, "bulk reductions"])
def test_what_is_not_read_changes_nothing_and_no_field_is_silent(machine: Machine, program: str, suite: Suite) -> None:
    gpu, trace = machine.gpu, suite.traces[program]
    try:
        run = sim.simulate(trace, gpu, threads=1)
    except UserError:
        pytest.skip("this GPU lacks what the program needs")
    found: dict[str, list[Change]] = {}
    for one in changes(trace, machine):
        found.setdefault(one.field, []).append(one)
    assert [one for values in found.values() for one in values if one.says and one.differs] == []
    silent = [field for field, values in found.items() if not any(one.says or one.differs for one in values)]
    assert [field for field in silent if not _known(field, run)] == []
    assert len(silent) < len(found) / 4
    assert sum(any(one.differs for one in values) for values in found.values()) > 20


def test_every_need_is_one_of_the_table_and_each_is_asked_for() -> None:
    names = [name for gpu in ("gtx480", "h100") for name in sim.gpu(gpu).names()]
    assert {needed(Gpu, name) for name in names} == set(NEEDS)


def test_a_need_names_only_fields_that_there_are() -> None:
    schema = Gpu.model_json_schema()
    sections = {name: section for name, section in schema["$defs"].items() if "needs" in section}
    assert len(sections) > 10
    for name, section in sections.items():
        assert set(section["needs"]) - {""} <= set(section["properties"]), name


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("memory.shared_load", 500, "neither an access to shared memory nor a SHFL is executed"),
        ("core.barrier_latency", 500, "no barrier of a block is executed"),
        ("lsu.shared_store_read", 500, "no store to shared memory"),
        ("shared.pass_cycles", 8, "no access to shared memory is executed"),
        ("lsu.fence_latency", 500, "no fence of the whole GPU is executed"),
        ("memory.constant_load", 500, "no LDC is executed"),
        ("clusters.latency", 500, "no access to shared memory of another block is executed"),
        ("clusters.groups", (2, 2), "the launch has no clusters of blocks"),
        ("warpgroup.queue", 2, "no wgmma product is executed"),
        ("l1.bytes", 4096, "nothing that is executed goes through L1"),
        ("l2.latency", 500, "nothing goes to L2"),
        ("dram.bandwidth", 100, "nothing goes to DRAM"),
        ("l2.atomic_cycles", 8, "no atomic of global memory is executed"),
        ("shared.tile_latency", 8, "no copy of a tile is executed"),
        ("fetch.ways", 2, "the code fits in fetch.bytes"),
        ("limits.threads_per_block", 512, "it only decides whether a launch is refused"),
    ],
)
def test_a_chain_of_arithmetic_says_what_it_does_not_read(field: str, value: object, says: str) -> None:
    gpu = sim.gpu("h100").replace({"sms": 4, field: value})
    text = report(sim.run(launch(CHAIN.format(registers=32, shared=0), 4, 64, np.zeros(1, np.float32)), gpu))
    assert re.search(rf"changed: {re.escape(field)}, set by the user; .*; not read: .*{re.escape(says)}", text), text


FIXED = {"memory.kind": "fixed", "memory.global_load": 400, "sms": 2}
FREE = dict.fromkeys(("constants.near", "constants.load_near", "constants.far"), 0) | {"sms": 2}
STORED_BULK = """.kernel out
.param ptr out
.shared 2048
MOV R6, c[0x0][out]
R2UR UR6, R6
R2UR UR7, RZ
R2UR UR8, RZ
MOV R9, 64
R2UR UR10, R9
UBLKCP.G.S [UR6], [UR8], UR10
EXIT"""
OUT = {"sms": 1, "limits.blocks": 1, "blocks.awaits_stores": True}


@pytest.mark.parametrize(
    ("program", "machine", "field", "values"),
    [
        ("fence", FIXED, "lsu.fence_latency", (1, 2000)),
        ("products of warpgroups", FIXED, "shared.pass_cycles", (1, 8)),
        ("constants", FIXED, "l2.start", ("cold", "warm")),
        ("constants", FREE, "constants.cold", (0, 2000)),
        ("constants", FREE, "constants.bytes", (2048, 65536)),
        ("constants", FREE, "constants.ways", (2, 4)),
        ("stored bulk", OUT, "lsu.latency", (1, 10)),
        ("reduced bulk", {}, "l2.atomic_cycles", (1, 100)),
    ],
)
def test_what_is_read_against_appearances(
    program: str, machine: dict[str, object], field: str, values: tuple[object, object], others: dict[str, Any]
) -> None:
    bulk = {
        "stored bulk": lambda: launch(STORED_BULK, 4, 32, np.zeros(256, np.float32)),
        "reduced bulk": lambda: timed("time_add_u32", 128, 100, 0, 0),
    }
    trace = sim.execute(bulk[program]() if program in bulk else others[program])
    runs = [sim.simulate(trace, sim.gpu("h100").replace(machine | {field: value}), threads=1) for value in values]
    assert runs[0].cycles != runs[1].cycles
    for run in runs:
        assert why_unread_by(run.gpu, field, run.words, used_by(run)) == ""


def test_what_a_program_does_is_read() -> None:
    gpu = sim.gpu("gtx480").replace({"sms": 1})
    result = Suite({"shared/transpose_tile": None}).traces["shared/transpose_tile"]
    used = used_by(run := sim.simulate(result, gpu))
    for field in ("memory.shared_load", "core.barrier_latency", "shared.rule", "lsu.latency", "l2.latency", "dram.latency"):
        assert why_unread_by(gpu, field, run.words, used) == "", field


ENTRIES = """.kernel entries
LDC R4, c[{ldc}][0x0]
LDC R5, c[{ldc}][0x100]
FADD R6, R4, c[{operand}][0x100]
FADD R6, R6, R5
EXIT"""


@pytest.mark.parametrize(("banks", "is_read"), [({"ldc": "0x0", "operand": "0x3"}, False), ({"ldc": "0x3", "operand": "0x0"}, True)])
def test_entries_of_ldc_are_read_where_ldc_asks_l2_and_not_where_an_operand_does(banks: dict[str, str], is_read: bool) -> None:
    words = np.zeros(1024, np.uint32)
    trace = sim.execute(launch(ENTRIES.format(**banks), 1, 32, constants={0: words, 3: words}))
    one, two = (sim.simulate(trace, sim.gpu("h100").replace({"constants.load_entries": entries}), threads=1) for entries in (1, 2))
    assert (one.cycles != two.cycles) is is_read
    says = why_unread_by(one.gpu, "constants.load_entries", one.words, used_by(one))
    assert says == ("" if is_read else "not read: no LDC asks L2")
