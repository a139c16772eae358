"""Cases aimed at rules that few random ones meet: each decides one of the seeded bugs, by name.

One warp on one SM, unless it says more; registers start as zero.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import isa
from sim.functional import execute
from sim.gpus.loader import load
from sim.launch.launch import Launch
from tests.differential.policies import Witness
from tests.differential.pool import Job

WORDS = 2048  # of the array


@dataclass(frozen=True)
class Aimed:
    """What a listing does with the address of an array in R2, and a GPU."""

    body: str
    gpu: str
    changes: dict[str, Any] = field(default_factory=dict)  # of the preset
    blocks: int = 1
    threads: int = 32

    def job(self) -> Job:
        """Execute it."""
        if "BRX" in self.body:
            return Job(execute(Launch(with_addresses(self.body), (self.blocks,), (self.threads,))), load(self.gpu).replace({"sms": 1}))
        worded = "[B" in self.body  # all of a listing has control words, or none
        first, last = (word(stall=15, wait=wait) if worded else "" for wait in ("------", "012345"))
        begin = f".kernel aimed\n.param ptr data\n{first}MOV R2, c[0x0][data]\n"
        program = isa.parse(f"{begin}{self.body}{last}EXIT\n")
        constants = {3: np.zeros(512, np.float32)}
        trace = execute(Launch(program, (self.blocks,), (self.threads,), (np.zeros(WORDS, np.float32),), constants=constants))
        return Job(trace, load(self.gpu).replace({"sms": 1} | self.changes))


def with_addresses(body: str) -> isa.Program:
    """Return a listing whose instructions have addresses, from 0 on."""
    lines = [f"        /*{16 * k:04x}*/                   {text} ;\n" for k, text in enumerate([*body.splitlines(), "EXIT"])]
    return isa.parse('\t\tFunction : aimed\n\t.headerflags\t@"EF_CUDA_SM90"\n' + "".join(lines) + "\t\t..........\n", "aimed.sass")


def word(stall: int = 1, wait: str = "------", reuse: str = "----") -> str:
    return f"[B{wait}:R-:W-:-:S{stall:02d}:U{reuse}] "


def loads(*lines: int) -> str:
    """Return loads of 128-byte lines by all lanes together, each waiting for the one before."""
    return "".join(f"LDG R4, [R2+{128 * line}]\nFADD R5, R4, R4\nIADD R2, R2, R6\n" for line in lines)


def stores(*lines: int) -> str:
    """Return stores of one word of 128-byte lines, each to the line's next word."""
    return "".join(f"STG [R2+{128 * line + 4 * lines[:number].count(line)}], R4\n" for number, line in enumerate(lines))


def fused(*sources: tuple[str, str]) -> str:
    """Return FFMAs as fast as the control words allow. sources: the three registers, and those that are kept."""
    return "".join(f"{word(reuse=kept)}FFMA R30, {names}\n" for names, kept in sources)


TWO_WAYS = {"l1.bytes": 256, "l1.ways": 2}
TWO_OF_FOUR = {"l1.bytes": 256, "l1.ways": 4, "l1.sets": 1}
ONE_SET = {"l1.bytes": 128, "l1.ways": 1, "l2.bytes": 256, "l2.ways": 2, "dram.channels": 1}
BY_LANE = "S2R R7, SR_TID.X\nSHL R7, R7, {}\nIADD R2, R2, R7\n"  # that power of two bytes from lane to lane
SECTOR_1, USE, SUM = "LDG R4, [R2+32]\n", "FADD R5, R4, R4\n", "FADD R7, R7, R7\n"
FIXED = {"memory.kind": "fixed", "memory.global_load": 400, "memory.global_store": 100}
KEEPS_TWO = {"lsu.store_lines": 2}
ONE_LINE = {"l1.bytes": 128, "l1.ways": 1, "l1.stores": "allocate", "core.policy": Witness}
CHOICES = "".join(f"FADD R{10 + number}, R8, R9\n" for number in range(20))  # of a policy that chooses by what it was told
AIMED = {
    # line 0 is the older of two, but was used last: line 2 takes the place of line 1
    "L1 evicts first in, first out": Aimed(loads(0, 1, 0, 2, 0, 1), "gtx480", TWO_WAYS),
    # line 2 takes the place of line 0, not that of line 1
    "L1 evicts the line used last": Aimed(loads(0, 1, 2, 1), "gtx480", TWO_WAYS),
    # line 2 has a place of its own, and the data of line 1
    "the line of L1 used last gives its data up": Aimed(loads(0, 1, 0, 2, 0), "gtx480", TWO_OF_FOUR),
    "L1 has room for the data of all its tags": Aimed(loads(0, 1, 0, 2, 1), "gtx480", TWO_OF_FOUR),
    # line 3 takes the place of line 1, not that of line 2, which stands in the first place
    "L2 evicts the first place": Aimed(loads(0, 1, 2, 3, 2), "gtx480", ONE_SET),
    # the second load lacks a word of sector 0, of which another was stored: the third does not find sector 1 any more
    "a load of a sector written in part keeps its line": Aimed(
        f"{SECTOR_1}{USE}STG [R2], R5\nLDG R4, [R2+4]\n{USE}{SECTOR_1}{USE}", "h100"
    ),
    # the store meets the load on its way: the second load does not find sector 1
    "a line that is invalidated is still found": Aimed(f"{SECTOR_1}STG [R2], R6\n{USE}{SECTOR_1}{USE}", "h100"),
    "the reuse cache keeps nothing": Aimed(fused(("R4, R6, R8", "A---"), ("R4, R10, R9", "----")) * 8, "h100"),
    # the FFMA keeps R4, which the DMUL between does not take
    "FP64 shares the reuse cache of the others": Aimed(
        f"{word(reuse='A---')}FFMA R30, R4, R6, R9\n{word()}DMUL R32, R10, R10\n" * 8, "h100"
    ),
    "registers read in one cycle more": Aimed(fused(("R4, R6, R8", "----")) * 8, "h100"),
    "a branch by a register takes no longer": Aimed("BRX R4 0x0\n" * 2, "h100"),
    "atomics on one word cost no more": Aimed(
        "RED.ADD [R2], R4\n" * 4 + "ATOM.ADD R5, [R2], R4\nIADD R6, R5, 1\n", "h100", {"l2.atomic_cycles": 4}
    ),
    # the load misses: the store before it brought no line
    "stores always allocate in L1": Aimed(f"STG [R2], R6\nLDG R4, [R2]\n{USE}", "gtx480"),
    "half-warps never in order": Aimed(f"{BY_LANE.format(2)}{loads(0)}", "g80"),
    # the second load hits, and passes over the banks twice
    "further passes over L1 take no longer": Aimed(f"{BY_LANE.format(3)}{loads(0, 0)}", "h100"),
    # a line for each lane, four to a look-up, of which each two have a word in the same bank: a second warp waits for the reading
    "loads that waited read all lines at once": Aimed(
        "S2R R7, SR_TID.X\nLOP3.LUT R7, R7, 0x1f, RZ, 0xc0, !PT\nSHL R8, R7, 7\nSHR R9, R7, 1\nSHL R9, R9, 2\n"
        f"IADD R2, R2, R8\nIADD R2, R2, R9\n{loads(0)}",
        "h100",
        threads=64,
    ),
    # the third line drives out line 0, the oldest: the last store finds line 1
    "the newest of the lines kept of stores leaves": Aimed(stores(0, 1, 2, 1, 2, 1), "h100", KEEPS_TWO),
    # the second store meets the line while it leaves: the last load does not find what the first one brought
    "lines that leave L1 take stores in": Aimed(
        f"LDG R4, [R2+8]\n{USE}STG [R2], R6\n{SUM}{SUM}STG [R2+4], R7\n{SUM * 99}LDG R4, [R2+8]\n{USE}",
        "h100",
    ),
    # two SMs of each part of L2, and their line is in one: the second of the other part finds the copy under way
    "a copy of the other part's is there at once": Aimed(f"LDG R4, [R2+4096]\n{USE}", "h100", {"sms": 4}, blocks=4),
    # the store meets the load on its way: the last load takes the place of a line that is invalid
    "lines that are invalid are evicted": Aimed(f"{SECTOR_1}STG [R2], R6\n{USE}{SECTOR_1}{USE}{CHOICES}", "gtx480", ONE_LINE),
    "a policy is not told of look-ups": Aimed(f"{loads(0, 1, 0)}{CHOICES}", "gtx480", {"core.policy": Witness}),
    "a policy has no hook lookup": Aimed(f"{loads(0, 1, 0)}{CHOICES}", "gtx480", {"core.policy": Witness}),
    "a policy is not told of evictions": Aimed(f"{loads(0, 1, 0)}{CHOICES}", "gtx480", ONE_LINE),
    "a counter waits for no load": Aimed(
        f"[B------:R-:W0:-:S02:U----] LDG R4, [R2]\n{word(wait='0-----')}FADD R5, R4, R4\n" + f"{word()}FADD R7, R8, R9\n" * 20,
        "h100",
        {"core.policy": Witness},
    ),
    # two warps of each scheduler: both are withheld, one issues, the other is withheld again
    "what was withheld is accounted twice": Aimed(CHOICES, "gtx480", {"core.policy": Witness}, blocks=4),
    # the fifth waits until one of four is there
    "LDC asks L2 without an entry": Aimed("".join(f"LDC R{10 + n}, c[0x3][{256 * n}]\n" for n in range(5)) + "FADD R5, R14, R14\n", "h100"),
    "further passes over shared memory take no longer": Aimed(
        f".shared 2048\n{BY_LANE.format(4)}LDS R4, [R7]\n{USE}", "h100", {"shared.pass_latency": 5}
    ),
    # the first warp waits at the barrier when the second one ends
    "barrier latency dropped": Aimed(
        f"S2R R7, SR_TID.X\nISETP.GT.AND P0, PT, R7, 31, PT\n@P0 BRA late\nBAR.SYNC 0x0\n{USE}EXIT\nlate:\n" + "FADD R4, R4, R4\n" * 8,
        "gtx480",
        {"core.barrier_latency": 12},
        threads=64,
    ),
    # the code that it jumps to comes later than the first
    "code comes at once as a kernel starts": Aimed("BRA late\n" + "FADD R4, R4, R4\n" * 900 + "late:\nFADD R5, R5, R5\n", "h100"),
    # block 1 is on an SM near the other part
    "the code lies in one part of L2": Aimed("NOP\n", "h100", {"sms": 2, "l2.gpcs": (1, 1)}, blocks=2),
    # block 0 is on an SM on the other side of the chip
    "code is equally far from all SMs": Aimed(
        "BRA late\n" + "FADD R4, R4, R4\n" * 900 + "late:\nFADD R5, R5, R5\n", "h100", {"sms": 3, "l2.gpcs": (1, 1, 1)}, blocks=3
    ),
    # 32 lines of eight groups, which the cache lacks
    "each line that LDC lacks comes alone": Aimed(f"{BY_LANE.format(6)}LDC R4, c[0x3][R7]\n{USE}", "h100", {"constants.group_cycles": 200}),
    "a warp ends before its stores": Aimed("STG [R2], R4\n", "gtx480", FIXED),
    # four warps per scheduler: a chain has no control words, so each lets the next in turn go first, and not the youngest
    "warps are never served in turn": Aimed("FADD R5, R5, R4\n" * 6, "h100", threads=512),
    "lines kept of stores outlive their block": Aimed(stores(0, 1), "h100", KEEPS_TWO, blocks=2),
}


def aimed() -> dict[str, Job]:
    """Return the cases by the bugs that they decide, executed."""
    return {bug: case.job() for bug, case in AIMED.items()}
