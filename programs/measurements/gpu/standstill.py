"""The loops of `standstill.cu`: 120 or 240 instructions of one operation, which name registers of one bank or none and leave a stall count.

`python -m programs.measurements.gpu.standstill probe.cubin FOLDER` writes one cubin for each loop and number of rounds.
"""

import sys
from pathlib import Path

ZERO = 255  # RZ
CODE, FIRST, LAST = 0x500, 0x280, 0x42E0  # of probe.cubin: where its code begins; the timed region, bytes of code
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


def control(stall: int, yields: bool = False) -> int:
    """Return a control word at its place: no counters, nothing kept."""
    return (stall | (not yields and stall < 12) << 4 | 7 << 5 | 7 << 8) << 105


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


def region(body: list[int], rounds: int) -> list[int]:
    """Return the words between the clocks: the loop, a jump to the second clock, nothing."""
    places, nothing = (LAST - FIRST) // 16, 0x918 | ALWAYS << 12 | control(1)
    words = [add(COUNTER, ZERO, 0)]
    words += [nothing] * (-(FIRST // 16 + len(words)) % 8)  # the loop begins a line
    words += [*body, add(COUNTER, COUNTER, 1), differs(COUNTER, rounds), branch(-len(body) - 3, 0)]
    words.append(branch(places - len(words) - 1))
    return words + [nothing] * (places - len(words))


def main(probe: str, folder: str) -> None:
    """Write the cubins."""
    for name in OPERATIONS:
        for reads, registers in READS.items():
            if (name == "IMAD.WIDE") != (reads == "none"):
                continue
            for stall in (2, 4, 6, 8) if name == "IMAD.WIDE" else (2, 4, 6):
                body = [
                    operation(name, 24 + (2 * (k % 8) if name == "IMAD.WIDE" else k % 16), registers, stall) for k in range(LENGTH[name])
                ]
                for rounds in ROUNDS:
                    code = bytearray(Path(probe).read_bytes())
                    words = b"".join(word.to_bytes(16, "little") for word in region(body, rounds))
                    code[CODE + FIRST : CODE + FIRST + len(words)] = words
                    Path(folder, f"{name}-{reads}-{stall}-{rounds}.cubin").write_bytes(code)


if __name__ == "__main__":
    main(*sys.argv[1:])
