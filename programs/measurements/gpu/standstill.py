"""The loops of `standstill.cu`: 120 or 240 instructions of one operation, which name registers of one bank or none and leave a stall count.

`python -m programs.measurements.gpu.standstill probe.cubin FOLDER` writes one cubin for each loop and number of rounds.
"""

import sys
from pathlib import Path

ZERO = 255  # RZ
OPERATIONS = {  # low and high words without operands
    "FFMA": (0x223, 0),
    "IMAD": (0x224, 0x078E0200),
    "LOP3": (0x212, 0x078E9600),
    "IMAD.WIDE": (0x225, 0x078E0000),
}
READS = {"none": (ZERO, ZERO, ZERO), "one": (8, ZERO, ZERO), "two": (8, 10, ZERO), "three": (8, 10, 12)}  # registers of bank 0
LENGTH = dict.fromkeys(OPERATIONS, 120) | {"IMAD.WIDE": 240}  # instructions of a round
COUNTER = 46
ROUNDS = (8, 24)
ALWAYS = 7  # PT
CS2R = 0x7805  # low 16 bits of its word


def control(stall: int) -> int:
    """Return a control word at its place: no counters, nothing kept, no yield but with the counts of 12 and more that have one."""
    return (stall | (stall < 12) << 4 | 7 << 5 | 7 << 8) << 105


def operation(name: str, target: int, registers: tuple[int, int, int], stall: int) -> int:
    """Return the word of an instruction of arithmetic."""
    low, high = OPERATIONS[name]
    a, b, c = registers
    return low | ALWAYS << 12 | target << 16 | a << 24 | b << 32 | (high | c) << 64 | control(stall)


def add(target: int, source: int, number: int) -> int:
    """Return VIADD target, source, number."""
    return 0x836 | ALWAYS << 12 | target << 16 | source << 24 | number << 32 | control(5)


def differs(source: int, number: int) -> int:
    """Return ISETP.NE.AND P0, PT, source, number, PT."""
    return 0x780C | source << 24 | number << 32 | 0x03F05270 << 64 | control(13)


def branch(instructions: int, predicate: int = ALWAYS) -> int:
    """Return BRA to so many instructions after the next one."""
    quarter = 4 * instructions
    return (
        0x947
        | predicate << 12
        | (quarter & 0xFF) << 16
        | (quarter >> 8 & 0x3FFFFFFF) << 34
        | (0x03800000 | quarter >> 38 & 0x3FFFF) << 64
        | control(5)
    )


def between_clocks(cubin: bytes) -> tuple[int, int]:
    """Return the bytes [begin, end) of a cubin between its two clocks. Raises SystemExit if it has more or less."""
    clocks = [at for at in range(0, len(cubin) - 15, 16) if int.from_bytes(cubin[at : at + 2], "little") == CS2R]
    if len(clocks) != 2:
        sys.exit(f"{len(clocks)} CS2R in the cubin, not 2: is it that of standstill.cu, for sm_90?")
    return clocks[0] + 16, clocks[1]


def region(body: list[int], rounds: int, begin: int, end: int) -> list[int]:
    """Return the words of the bytes between the clocks: the loop, a jump to the second clock, nothing. Code begins at a multiple of 128."""
    places, nothing = (end - begin) // 16, 0x918 | ALWAYS << 12 | control(1)
    words = [add(COUNTER, ZERO, 0)]
    words += [nothing] * (-(begin // 16 + len(words)) % 8)  # the loop begins a line
    words += [*body, add(COUNTER, COUNTER, 1), differs(COUNTER, rounds), branch(-len(body) - 3, 0)]
    words.append(branch(places - len(words) - 1))
    return words + [nothing] * (places - len(words))


def main(probe: str, folder: str) -> None:
    """Write the cubins."""
    frame = Path(probe).read_bytes()
    begin, end = between_clocks(frame)
    for name in OPERATIONS:
        for reads, registers in READS.items():
            if (name == "IMAD.WIDE") != (reads == "none"):
                continue
            for stall in (2, 4, 6, 8) if name == "IMAD.WIDE" else (2, 4, 6):
                body = [
                    operation(name, 24 + (2 * (k % 8) if name == "IMAD.WIDE" else k % 16), registers, stall) for k in range(LENGTH[name])
                ]
                for rounds in ROUNDS:
                    words = b"".join(word.to_bytes(16, "little") for word in region(body, rounds, begin, end))
                    Path(folder, f"{name}-{reads}-{stall}-{rounds}.cubin").write_bytes(frame[:begin] + words + frame[end:])


if __name__ == "__main__":
    main(*sys.argv[1:])
