"""What was measured on an RTX A6000, on its preset: golden tables of Huerta et al., "Dissecting and Modeling the Architecture of Modern
GPU Cores", MICRO 2025, sections 4 to 6.

A row that the model cannot tell fails as strictly as the others pass: MISSING says why.
"""

import dataclasses

import numpy as np
import pytest

import isa
import sim
from sim.control_words import lint
from sim.control_words.finding import HAZARD
from sim.gpus.loader import load
from tests.control_words import FREE, listing, word

A6000 = load("a6000").replace({"sms": 1})
LINE = 1 << 20
UNIFORM, REGULAR, IMMEDIATE = "uniform", "regular", "immediate"

# Issue cycle of the n-th memory instruction (L1 or shared hits) on each active sub-core, in the paper's count, where the first is 2.
TOGETHER = [2, 3, 4, 5, 6]
ISSUES = {
    1: [[13], [17], [21], [25]],
    2: [[13, 15], [17, 19], [21, 23], [25, 27]],
    3: [[13, 15, 17], [19, 21, 23], [25, 27, 29], [31, 33, 35]],
    4: [[13, 15, 17, 19], [21, 23, 25, 27], [29, 31, 33, 35], [37, 39, 41, 43]],
}


@pytest.mark.parametrize("active", ISSUES)
@pytest.mark.parametrize("instruction", ["LDG", "LDS"])
def test_issue_times_of_memory_instructions(run, instruction: str, active: int) -> None:
    begin = [f"{word(2, write='0')} LDG R0, [R42]", f"{word(1, wait='0-----')} MOV R1, R0"]  # the line comes into L1, for all at once
    loads = [f"{word(1, write='1')} {instruction} R{n}, [R40]" for n in range(2, 11)]
    done = run(listing(*begin, *loads), warps=active, accesses=[(LINE, 4)] * 10, gpu=A6000)
    issued = [sorted(done.first(warp)[n] for warp in range(active)) for n in range(2, 11)]
    start = issued[0][0] - 2
    assert [[cycle - start for cycle in cycles] for cycles in issued] == [[n] * active for n in TOGETHER] + ISSUES[active]


# Cycles from issue of an instruction of 32, 64 and 128 bits per lane until its source registers may be overwritten (WAR), and until a
# consumer may issue (RAW), hits.
WAR = {
    ("LDG", UNIFORM): (9, 9, 9),
    ("LDG", REGULAR): (11, 11, 11),
    ("STG", UNIFORM): (10, 12, 16),
    ("STG", REGULAR): (14, 16, 20),
    ("LDS", UNIFORM): (9, 9, 9),
    ("LDS", REGULAR): (9, 9, 9),
    ("STS", UNIFORM): (10, 12, 16),
    ("STS", REGULAR): (12, 14, 18),
    ("LDC", IMMEDIATE): (10,),
    ("LDC", REGULAR): (29,),
    ("LDGSTS", REGULAR): (13, 13, 13),
}
RAW = {
    ("LDG", UNIFORM): (29, 31, 35),
    ("LDG", REGULAR): (32, 34, 38),
    ("LDS", UNIFORM): (23, 23, 25),
    ("LDS", REGULAR): (24, 24, 26),
    ("LDC", IMMEDIATE): (26,),
    ("LDC", REGULAR): (29,),
    ("LDGSTS", REGULAR): (39, 39, 39),
}
SHORT_WAY = "a uniform register is read, and its one address made, sooner than 32: here all addresses take lsu.latency"
EARLY_READ = "its address is read while it waits for the shared unit; here no sooner than the unit takes it, after lsu.latency = 10"
MISSING = {
    ("WAR", "LDG", UNIFORM): SHORT_WAY,
    ("WAR", "STG", UNIFORM): SHORT_WAY,
    ("WAR", "STS", UNIFORM): SHORT_WAY,
    ("WAR", "LDS", UNIFORM): EARLY_READ,
    ("WAR", "LDS", REGULAR): EARLY_READ,
    ("WAR", "LDC", IMMEDIATE): "it has no register to read: core.source_read, 3, as arithmetic; what takes 10 cycles is not known",
    ("RAW", "LDG", UNIFORM): SHORT_WAY,
    ("RAW", "LDS", UNIFORM): SHORT_WAY,
    ("RAW", "LDC", IMMEDIATE): "memory.constant_load is one number, that of an address in a register",
    (
        "RAW",
        "LDGSTS",
        REGULAR,
    ): "its data take as long as a load's into registers, 2 to 8 cycles by width, and then their passes over the banks",
}


def missing(reason: str) -> pytest.MarkDecorator:
    return pytest.mark.xfail(reason=reason, strict=True, raises=AssertionError)


def rows(kind: str, table: dict[tuple[str, str], tuple[int, ...]]) -> list:
    """Return the parameters of each number of a table: instruction, kind of address, bits per lane, cycles."""
    found = []
    for (opcode, address), cycles in table.items():
        marks = [missing(MISSING[kind, opcode, address])] if (kind, opcode, address) in MISSING else []
        for bits, expected in zip((32, 64, 128), cycles, strict=False):  # LDC: 32 only
            found.append(pytest.param(opcode, address, bits, expected, marks=marks, id=f"{opcode}.{bits} {address}"))
    return found


def memory_instruction(opcode: str, address: str, bits: int) -> str:
    place = "[UR4]" if address == UNIFORM else "[R4]"
    if opcode == "LDC":
        return f"LDC R0, c[0x0][{'0x160' if address == IMMEDIATE else 'R4'}]"
    if opcode == "LDGSTS":
        return f"LDGSTS.{bits} [R8], {place}"
    return f"{opcode}.{bits} " + (f"{place}, R0" if opcode in ("STG", "STS") else f"R0, {place}")


def issue_distance(run, opcode: str, address: str, bits: int, first: list[str], then: str) -> int:
    """Return the cycles from the first of some instructions to the one behind them, when the lines of its addresses are in L1."""
    warm = [f"{word(2, write='5')} LDG.{bits} R12, [R20]", f"{word(1, wait='-----5')} MOV R16, R12"]
    base = 0 if opcode in ("LDS", "STS", "LDC") else LINE
    stride = 0 if address == UNIFORM else bits // 8
    done = run(".shared 1024\n" + listing(*warm, *first, then), accesses=[(LINE, bits // 8), (base, stride)], gpu=A6000).first()
    return done[2 + len(first)] - done[2]


@pytest.mark.parametrize(("opcode", "address", "bits", "cycles"), rows("WAR", WAR))
def test_source_registers_may_be_overwritten(run, opcode: str, address: str, bits: int, cycles: int) -> None:
    access = f"{word(2, read='1', write='0')} {memory_instruction(opcode, address, bits)}"
    assert issue_distance(run, opcode, address, bits, [access], f"{word(wait='-1----')} MOV R4, R20") == cycles


@pytest.mark.parametrize(("opcode", "address", "bits", "cycles"), rows("RAW", RAW))
def test_results_may_be_read(run, opcode: str, address: str, bits: int, cycles: int) -> None:
    if opcode == "LDGSTS":  # its counter is that of the LDGDEPBAR behind it
        access = [f"{word(2)} {memory_instruction(opcode, address, bits)}", f"{word(2, write='0')} LDGDEPBAR"]
    else:
        access = [f"{word(2, write='0')} {memory_instruction(opcode, address, bits)}"]
    assert issue_distance(run, opcode, address, bits, access, f"{word(wait='0-----')} MOV R5, R0") == cycles


# R2 is read and kept (`IADD3 R1, R2.reuse, R3, R4`); a second instruction, by whom R2 may be kept again; `IADD3 R10, R2, R12, R13`.
# Does the second, does the third find R2 in the reuse cache?
THIRD = "IADD3 R10, R2, R12, R13"
REUSE = {
    "the second reader hits, the third does not": ("----", "FFMA R5, R2, R7, R8", True, False),
    "kept again, the third hits": ("A---", "FFMA R5, R2, R7, R8", True, True),
    "another position misses and leaves it": ("----", "FFMA R5, R7, R2, R8", False, True),
    "another register in bank and position evicts it": ("----", "FFMA R5, R4, R7, R8", False, False),
}


@pytest.mark.parametrize("case", REUSE)
def test_the_reuse_cache(run, case: str) -> None:
    """Behind three reads of bank 0 its port is taken: an instruction then holds up the next one for as many cycles as it reads from it.

    Each of the three names two registers of bank 0.
    """
    kept, second, second_hits, third_hits = REUSE[case]
    first, full = f"{word(reuse='A---')} IADD3 R1, R2, R3, R4", f"{FREE} FFMA R21, R22, R24, R26"
    issued = run(listing(full, first, f"{word(reuse=kept)} {second}", f"{FREE} {THIRD}"), gpu=A6000).first()
    assert [int(cycles) for cycles in np.diff(issued[1:5])] == [2, 2 - second_hits, 2 - third_hits]


CLOCK = f"{FREE} CS2R.32 R40, SR_CLOCKLO", f"{FREE} NOP"


def between_clocks(run, *lines: str) -> int:
    """Return the cycles between two clock reads around some instructions, each read apart from them by a NOP."""
    issued = run(listing(*CLOCK, *lines, *CLOCK[::-1]), gpu=A6000).first()
    return issued[-2] - issued[0]


# By the stall count of a FADD before the FFMA that reads its result: cycles between two clock reads, and whether the value was right.
STALL_COUNTS = {1: (5, False), 4: (8, True)}
PRODUCER, CONSUMER = "FADD R1, R2, R3", "FFMA R5, R1, R1, R1"


@pytest.mark.parametrize("stall", STALL_COUNTS)
def test_a_stall_count_too_small_is_obeyed(run, stall: int) -> None:
    assert between_clocks(run, f"{word(stall)} {PRODUCER}", f"{FREE} {CONSUMER}") == STALL_COUNTS[stall][0]


@pytest.mark.parametrize("stall", STALL_COUNTS)
def test_a_stall_count_too_small_is_a_hazard(stall: int) -> None:
    program = isa.parse(listing(f"{word(stall)} {PRODUCER}", f"{word(15)} {CONSUMER}"))
    found = lint(dataclasses.replace(program, architecture=A6000.architecture))
    assert all(finding.level != HAZARD for finding in found) == STALL_COUNTS[stall][1]


@pytest.mark.parametrize("stall", [pytest.param(1, marks=missing("values are computed in program order, apart from issue times")), 4])
def test_a_stall_count_too_small_gives_a_wrong_value(stall: int) -> None:
    before = ["MOV R6, c[0x0][data]", "MOV R1, 8.0", "MOV R2, 1.0", "MOV R3, 1.0"]
    after = [f"{word(15)} {CONSUMER}", f"{word(2)} STG [R6], R5"]
    text = listing(*[f"{word(15)} {line}" for line in before], f"{word(stall)} {PRODUCER}", *after)
    stored = np.zeros(1, np.float32)
    sim.run(sim.Launch(isa.parse(f".kernel stall_counts\n.param ptr data\n{text}"), (1,), (1,), (stored,)), A6000)
    assert (stored[0] == 2 * 2 + 2) == STALL_COUNTS[stall][1]


# Bubbles that an instruction makes behind an FFMA which reads three registers of one bank, between two clock reads.
BUBBLES = {
    "FMUL R13, R16, R17": 0,
    "FMUL R13, R16, R18": 1,
    "FFMA R13, R16, R17, R19": 0,
    "FFMA R13, R16, R18, R20": 2,
}


@pytest.mark.parametrize("instruction", BUBBLES)
def test_bank_conflicts_between_two_clock_reads(run, instruction: str) -> None:
    without = 5  # two clock reads, two NOPs and two instructions
    took = between_clocks(run, f"{FREE} FFMA R11, R10, R12, R14", f"{FREE} {instruction}")
    assert took == without + BUBBLES[instruction]
