"""Ten bubbles made on purpose: `result.why` names the cause that each was built with, the line and the warp whose fault it is."""

import dataclasses
import pickle
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import isa
import sim
from isa.errors import UserError
from sim.causes.explain import Chain, Link
from sim.report import causes
from sim.result.causes import CAUSE_NAMES
from sim.result.result import Result

TEXTBOOK = {"sms": 1, "core.schedulers": 1}
FETCH = """    S2R R0, SR_TID.X
    SHL R1, R0, {shift}
    MOV R2, c[0x0][x]
    IADD R2, R2, R1
"""


@dataclass(frozen=True)
class Bubble:
    """A listing with a bubble in it, and what must be said of it. `asked` and `producer` are instructions, each once in the listing."""

    name: str
    listing: str
    gpu: str
    cause: str
    asked: str  # the instruction that waits
    resource: str  # what the chain must come to
    producer: str | None  # the instruction that keeps it busy there
    warp: int = 0  # that waits, in launch order
    culprit: tuple[int, int | None] | None = None  # block and warp that keep it busy
    changes: dict[str, Any] = field(default_factory=dict)
    grid: int = 1
    block: int = 32
    words: str = ""  # that the sentence holds
    root: str = ""  # an instruction further back in the chain
    before: int = 1  # the cycle asked for, counted back from the issue

    def line(self, text: str) -> int:
        lines = [number for number, line in enumerate(self.listing.splitlines(), 1) if line.strip().startswith(text)]
        assert len(lines) == 1, f"{self.name}: {text}"
        return lines[0]

    def run(self) -> Result:
        program = isa.parse(self.listing)
        args = (np.zeros(1 << 16, np.float32),) * len(program.parameters)
        launch = sim.Launch(program, grid=(self.grid,), block=(self.block,), args=args)
        return sim.run(launch, sim.gpu(self.gpu).replace(self.changes), timeline=(0, 10**6))


BUBBLES = [
    Bubble(
        name="RAW on FFMA",
        listing=".kernel raw\nMOV R1, 1.0\nFFMA R2, R1, R1, R1\nFADD R3, R2, R2\nEXIT",
        gpu="gtx480",
        cause="wait",
        asked="FADD",
        resource="units.fp32.latency",
        producer="FFMA",
        culprit=(0, 0),
        words="R2 came from FFMA",
    ),
    Bubble(
        name="RAW on a load",
        listing=f".kernel load\n.param ptr x\n{FETCH.format(shift=2)}LDG R3, [R2]\nMOV R5, 1.0\nFADD R4, R3, R3\nEXIT",
        gpu="gtx480",
        cause="long_scoreboard",
        asked="FADD",
        resource="dram.latency",
        producer="LDG",
        culprit=(0, 0),
    ),
    Bubble(
        name="full queue",
        listing=f".kernel full\n.param ptr x\n{FETCH.format(shift=7)}"
        + "".join(f"LDG R{n}, [R2+{4 * n}]\n" for n in range(10, 20))
        + "EXIT",
        gpu="gtx480",
        cause="lg_throttle",
        asked="LDG R18,",
        resource="lsu.depth",
        producer="LDG R14,",
        culprit=(0, 0),
        changes={"lsu.depth": 4},
        root="LDG R13,",
        before=2,
        words="queue behind the issue port was full",
    ),
    Bubble(
        name="bank conflict",
        listing=".kernel banks\n.shared 4096\nS2R R0, SR_TID.X\nSHL R1, R0, 7\nLDS R2, [R1]\nFADD R3, R2, R2\nEXIT",
        gpu="gtx480",
        cause="short_scoreboard",
        asked="FADD",
        resource="shared.pass_cycles",
        producer="LDS",
        culprit=(0, 0),
        words="32 passes over the banks",
    ),
    Bubble(
        name="barrier waiting for one late warp",
        listing=f".kernel late\n.param ptr x\n{FETCH.format(shift=2)}ISETP.GE.AND P0, PT, R0, 96, PT\n@P0 LDG R3, [R2]\n"
        "@P0 FADD R4, R3, R3\nBAR.SYNC 0\nMOV R5, 1.0\nEXIT",
        gpu="gtx480",
        cause="barrier",
        asked="MOV R5",
        resource="core.barrier_latency",
        producer="BAR.SYNC",
        culprit=(0, 3),
        block=128,
        before=9,
        root="@P0 LDG",
    ),
    Bubble(
        name="not selected",
        listing=".kernel many\n" + "".join(f"MOV R{n}, 1.0\n" for n in range(8)) + "EXIT",
        gpu="textbook",
        cause="not_selected",
        asked="MOV R0",
        resource="issue, one instruction per cycle",
        producer="EXIT",
        warp=1,
        culprit=(0, 0),
        block=64,
        changes=TEXTBOOK,
        words="9 instructions, one after another",
    ),
    Bubble(
        name="block launch gap",
        listing=".kernel gap\nMOV R0, 1.0\nEXIT",
        gpu="textbook",
        cause="no_warp",
        asked="MOV R0",
        resource="blocks.retire_latency",
        producer=None,
        warp=1,
        culprit=(0, None),
        grid=2,
        changes=TEXTBOOK | {"limits.blocks": 1, "blocks.retire_latency": 50, "blocks.start_latency": 20},
        words="freed",
    ),
    Bubble(
        name="DRAM queue",
        listing=f".kernel dram\n.param ptr x\n{FETCH.format(shift=2)}LDG R3, [R2]\nFADD R4, R3, R3\nEXIT",
        gpu="gtx480",
        cause="long_scoreboard",
        asked="FADD",
        resource="dram.bandwidth",
        producer="LDG",
        warp=31,
        block=1024,
        changes={"dram.bandwidth": 2, "dram.channels": 1},
        words="instructions, one after another",
    ),
    Bubble(
        name="divergent half",
        listing=".kernel half\nS2R R0, SR_LANEID\nISETP.GE.AND P0, PT, R0, 16, PT\n@P0 BRA other\n"
        "FADD R1, R0, R0\nFADD R2, R1, R1\nBRA join\nother:\nMUFU.RCP R2, R0\njoin:\nMOV R3, 1.0\nEXIT",
        gpu="gtx480",
        cause="wait",
        asked="MUFU.RCP",
        resource="units.fp32.latency",
        producer="FADD R2",
        culprit=(0, 0),
        changes={"units.fp32.latency": 60},
        words="of the other half of the warp",
    ),
    Bubble(
        name="dispatch conflict",
        listing=f".kernel port\n.param ptr x\n{FETCH.format(shift=2)}LDG R3, [R2]\nMOV R4, 1.0\nEXIT",
        gpu="textbook",
        cause="dispatch_stall",
        asked="S2R",
        resource="pipes.ldst.lanes",
        producer="LDG",
        warp=1,
        culprit=(0, 0),
        block=64,
        before=4,
        changes=TEXTBOOK | {"core.policy": "oldest", "units.int32.latency": 1, "units.shift.latency": 1, "units.special.latency": 1},
    ),
]


def explained(bubble: Bubble) -> tuple[Result, Chain]:
    """Return the run, and the chain of the wait of the instruction asked for, asked in its last cycle."""
    result = bubble.run()
    rows = result.timeline
    assert rows is not None
    block, warp = divmod(bubble.warp, -(-bubble.block // 32))
    instruction = next(one.index for one in result.program.instructions if one.line == bubble.line(bubble.asked))
    issue = int(rows.cycle[(rows.block == block) & (rows.warp == warp) & (rows.instruction == instruction)][0])
    cycle = 0 if bubble.cause == "no_warp" else issue - bubble.before
    return result, result.why(bubble.warp, cycle)


@pytest.mark.parametrize("bubble", BUBBLES, ids=lambda bubble: bubble.name)
def test_a_prepared_bubble_is_explained_by_what_it_was_made_of(bubble: Bubble) -> None:
    result, chain = explained(bubble)
    assert (chain.cause, chain.line) == (bubble.cause, bubble.line(bubble.asked)), str(chain)
    found = [link for link in chain.links if link.resource == bubble.resource]
    assert found, str(chain)
    if bubble.producer:
        assert found[0].producer_line == bubble.line(bubble.producer), str(chain)
    if bubble.culprit:
        assert (found[0].block, found[0].warp) == bubble.culprit, str(chain)
    assert bubble.words in str(chain)
    assert not bubble.root or bubble.line(bubble.root) in [link.producer_line for link in chain.links]
    check_links(chain)
    check_path(result)


def check_links(chain: Chain) -> None:
    """The links explain every cycle of the wait, without a gap."""
    assert chain.links[0].end == chain.end
    assert chain.links[-1].begin <= chain.begin
    assert all(later.begin == earlier.end for later, earlier in zip(chain.links, chain.links[1:], strict=False))


def check_path(result: Result) -> None:
    path = result.critical_path()
    assert path.cycles == result.cycles == sum(link.cycles for link in path.links)
    assert all(sum(part.cycles for part in parts) == result.cycles for parts in (path.causes, path.resources))
    assert sum(part.cycles for _, part in path.lines) == result.cycles


def test_one_warps_path_is_its_account() -> None:
    """Where every instruction needs the one before, nothing is off the path."""
    listing = ".kernel chain\nS2R R0, SR_TID.X\nMUFU.RCP R1, R0\nFADD R2, R1, R1\nISETP.GE.AND P0, PT, R2, R2, PT\n@P0 EXIT\nEXIT"
    trace = sim.execute(sim.Launch(isa.parse(listing), grid=(1,), block=(32,)))
    for gpu in ("gtx480", "textbook", "h100", "gtx460"):
        result = sim.simulate(trace, sim.gpu(gpu))
        path = {part.name: part.cycles for part in result.critical_path().causes}
        assert path == {name: cycles for name, cycles in result.stalls.items() if cycles}


def test_what_the_path_does_not_hold_does_not_help() -> None:
    """A shorter latency on the path shortens the run by as much as the path goes through it; one off the path does nothing."""
    bubble = BUBBLES[0]
    result = bubble.run()
    (times,) = (part.times for part in result.critical_path().resources if part.name == "units.fp32.latency")
    shorter = bubble.gpu, {"units.fp32.latency": 17}, {"units.mufu.latency": 5}
    gpu = sim.gpu(shorter[0])
    trace = result.trace
    assert trace is not None
    assert times == 2
    assert sim.simulate(trace, gpu.replace(shorter[1])).cycles == result.cycles - times
    assert sim.simulate(trace, gpu.replace(shorter[2])).cycles == result.cycles


def test_every_cycle_of_every_warp_is_explained_by_the_cause_that_the_account_charged() -> None:
    """The timeline's columns say what each cycle was charged to; chains say the same."""
    for bubble in BUBBLES:
        result = bubble.run()
        rows = result.timeline
        assert rows is not None
        for row in range(0, len(rows.cycle), 1 + len(rows.cycle) // 40):
            warp = int(rows.block[row]), int(rows.warp[row])
            since, eligible, issue = (int(column[row]) for column in (rows.since, rows.eligible, rows.cycle))
            for cycle in {since, eligible - 1, eligible, issue - 1}:
                if since <= cycle < issue:
                    chain = result.why(warp, cycle)
                    check_links(chain)
                    assert chain.begin <= cycle < chain.end <= chain.issue == issue
                    assert cycle >= eligible or chain.cause == CAUSE_NAMES[int(rows.cause[row])]


def test_mistakes_are_answered() -> None:
    result = BUBBLES[0].run()
    with pytest.raises(UserError, match="there is no warp 7"):
        result.why(7, 0)
    with pytest.raises(UserError, match="there is no cycle 999"):
        result.why(0, 999)
    with pytest.raises(UserError, match="without its trace"):
        pickle.loads(pickle.dumps(result)).why(0, 0)
    long = dataclasses.replace(result, counters=result.counters | {"cycles": 1e9})
    with pytest.raises(UserError, match=r"too long for chains of causes.*at most 60\n  shorten its loops"):
        long.why(0, 0)
    with pytest.raises(UserError, match=r"at most 60\n  launch 5 of its blocks \(--grid\)"):
        dataclasses.replace(long, grid=(30, 30)).why(0, 0)


def test_a_link_is_plain_data() -> None:
    link = BUBBLES[0].run().why((0, 0), 20).links[0]
    assert link == Link(18, 36, "wait", "units.fp32.latency", link.text, 0, 0, 4, 3)
    assert link.text == "R2 came from FFMA R2, R1, R1, R1 (line 3): units.fp32.latency, 18 cycles"


def test_a_wait_for_a_result_that_the_instruction_does_not_read_is_said_to_be_the_rule_s() -> None:
    bubble = Bubble("wake rule", ".kernel other\nMOV R0, 1\nMOV R3, 2\nFADD R8, R0, R0\nEXIT\n", "gtx480", "wait", "FADD", "", None)
    (link,) = bubble.run().why((0, 0), 12).links
    assert "a result that it does not read came from MOV R3, 2" in link.text
    assert "core.wake_rule" in link.text


@pytest.mark.parametrize("between", ["MOV R1, 1", "BAR.SYNC 0"])
def test_a_constant_is_waited_for_by_the_instruction_that_reads_it(between: str) -> None:
    listing = f".kernel constant\n.param f32 a\nMOV R0, 1\n{between}\nFADD R2, R0, c[0x0][a]\nEXIT\n"
    result = sim.run(sim.Launch(isa.parse(listing), grid=(1,), block=(32,), args=(np.float32(1),)), sim.gpu("h100"))
    chain = result.longest_wait(0)
    assert (chain.cause, chain.line) == ("imc_miss", 5)
    (link,) = [one for one in chain.links if one.resource == "constants.near"]
    assert link.producer_line == 5
    assert "a line of constants came to the SM's constant cache, for FADD R2, R0, c[0x0][a]" in link.text
    check_path(result)


START = ".kernel start\nMOV R0, 1\nEXIT\n"


def resources(result: Result) -> dict[str, int]:
    check_path(result)
    return {part.name: part.cycles for part in result.critical_path().resources}


def test_the_first_instruction_of_an_sm_is_booked_on_what_it_waited_for() -> None:
    """The code lies in one part of L2: what an SM near the other waits more is said, and that the warp's end takes time."""
    h100 = sim.gpu("h100")
    gpu = h100.replace({"l2.across": 0})
    found = resources(sim.run(sim.Launch(isa.parse(START), grid=(1,), block=(32,)), gpu))
    assert (found["fetch.first"], found["fetch.far"], found["blocks.start_latency"]) == (
        gpu.fetch.first,
        gpu.fetch.far,
        gpu.blocks.start_latency + 1,
    )
    assert found["core.exit_latency"] == gpu.core.exit_latency
    nearer = resources(sim.run(sim.Launch(isa.parse(START), grid=(1,), block=(32,)), h100))
    assert nearer["fetch.first"] == gpu.fetch.first - h100.l2.across
    everywhere = sim.run(sim.Launch(isa.parse(START), grid=(132,), block=(32,)), h100)
    assert resources(everywhere)["l2.across"] == h100.l2.across
    assert "from the part of L2 that it is not near" in str(everywhere.why((0, 0), 1))
    assert any("not near" not in str(everywhere.why((block, 0), 1)) for block in range(8, 16))


def refreshed(turn: int, **changes: int | str) -> Result:
    """Return the run of one load of a line whose bank is refreshed in most cycles; from 64 KB to 64 KB at other times."""
    listing = f".kernel load\n.param ptr x\n{FETCH.format(shift=2)}IADD R2, R2, {65536 * turn}\nLDG R3, [R2]\nFADD R4, R3, R3\nEXIT"
    launch = sim.Launch(isa.parse(listing), grid=(1,), block=(32,), args=(np.zeros(1 << 18, np.float32),))
    machine = {"dram.refresh": 3000, "dram.refresh_interval": 3100} | {name.replace("__", "."): n for name, n in changes.items()}
    return sim.run(launch, sim.gpu("h100").replace(machine))


@pytest.mark.parametrize("turn", [0, 1, 3, 4, 5, 6, 7])  # at 2 the load comes just as the refresh begins
def test_what_a_refresh_absorbs_is_not_on_the_path(turn: int) -> None:
    result = refreshed(turn)
    found = resources(result)
    gains = {
        "dram.refresh": result.cycles - refreshed(turn, dram__refresh=2999).cycles,
        "blocks.start_latency": result.cycles - refreshed(turn, blocks__start_latency=19).cycles,
        "fetch.first": result.cycles - refreshed(turn, fetch__first=159).cycles,
    }
    assert found["dram.refresh"] > 500
    assert gains["dram.refresh"] == 1
    assert {name for name, gain in gains.items() if gain} == {"dram.refresh"}
    assert not gains.keys() - {"dram.refresh"} & found.keys()
    chain = result.longest_wait()
    check_links(chain)
    assert "dram.refresh begins at set times" in causes.text(result.critical_path(), result.program)
    assert "dram.refresh" in [link.resource for link in chain.links]


def test_what_came_before_a_refresh_stays_on_the_path() -> None:
    """It begins while the SM's first instruction comes: what is done from then on until it ends costs no time."""
    result = refreshed(12, dram__refresh=250, dram__refresh_interval=320, l2__start="dirty")  # code is in L2
    found = resources(result)
    links = result.critical_path().links
    begins = next(link.begin for link in links if link.resource == "dram.refresh")
    assert found["dram.refresh"] == 250
    assert sum(found.get(name, 0) for name in ("blocks.start_latency", "fetch.first", "fetch.far", "l2.across")) == begins > 20
    assert [part.name for part in result.critical_path().causes][:2] == ["long_scoreboard", "no_instruction"]
