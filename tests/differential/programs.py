"""Random programs: mini-SASS text that executes without mistakes whatever is drawn.

R0 thread, R1 block, R2-R5 data (few, so that instructions depend on each other; wide loads write up to R7), R10 and R12 addresses of
global and of shared or local memory, R20 and up loop counters; P0-P2 are free, P3 is true in the first warp, P6 belongs to loops.
Barriers stand where all lanes of a warp are together.
"""

from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st

WORDS = 2048  # of the global array
SHARED = 4096  # bytes
LOOPS = 3  # of one program
PROLOGUE = """\
    S2R R0, SR_TID.X
    S2R R1, SR_CTAID.X
{pattern}    IADD R10, R12, c[0x0][data]
{apart}    ISETP.LT.AND P3, PT, R0, 32, PT
"""
PATTERNS = (  # R12 from the thread's number: at most 0x7f8; the widest access that it is aligned to
    ("SHL R12, R0, 2", 4),
    ("SHL R12, R0, 3", 8),
    ("SHL R12, R0, 4; LOP.AND R12, R12, 0x7f0", 16),
    ("SHL R12, R0, 7; LOP.AND R12, R12, 0x780", 16),  # a line of its own for each lane, all in one bank
    ("MOV R13, 0x94; IMAD R12, R0, R13, R1; LOP.AND R12, R12, 0x3fc", 4),
    ("MOV R13, 0x9e30; IMAD R12, R0, R13, RZ; SHR.U32 R12, R12, 5; LOP.AND R12, R12, 0x7f0", 16),  # here and there
    ("LOP.AND R12, R0, 0x3; SHL R12, R12, 5", 16),  # lanes on one word
    ("MOV R12, 0x40", 16),
)
BLOCKS_APART = "SHL R13, R1, 9; IADD R10, R10, R13"
LANES_APART = """\
    LOP.AND R2, R0, 0x1
    ISETP.EQ.AND P0, PT, R2, 0x1, PT
    ISETP.GE.AND P1, PT, R0, 40, PT
"""
ARITHMETIC = (
    "FADD {d}, {a}, {b}",
    "FFMA {d}, {a}, {b}, {c}",
    "FMUL {d}, {a}, 0.5",
    "FMNMX {d}, {a}, {b}, P0",
    "IADD {d}, {a}, {n}",
    "IADD {d}.CC, {a}, {b}",
    "IADD.X {d}, {a}, {b}",
    "IMAD {d}, {a}, {b}, {c}",
    "IMAD.WIDE R2, {a}, {b}, R4",
    "SHL {d}, {a}, 3",
    "LOP.XOR {d}, {a}, {b}",
    "SEL {d}, {a}, {b}, P1",
    "MOV {d}, {a}",
    "MOV {d}, c[0x0][scale]",
    "I2F {d}, {a}",
    "POPC {d}, {a}",
    "MUFU.RCP {d}, {a}",
    "MUFU.EX2 {d}, {a}",
    "S2R {d}, SR_CLOCKLO",
    "S2R {d}, SR_LANEID",
    "LDC {d}, c[0x0][scale]",
    "LDC.64 R4, c[0x0][data]",
    "LDC {d}, c[0x3][{place}]",
    "LDC {d}, c[0x3][R12]",
    "LDC {d}, c[0x3][R12]",
    "FADD {d}, {a}, c[0x3][{place}]",
    "NOP",
    "NANOSLEEP 0x40",
    "MEMBAR.SC.GPU",
    "MEMBAR.SC.GPU",
    "DEPBAR.LE SB{counter}, {left}",
)
PREDICATES = (
    "ISETP.LT.AND P{p}, PT, R0, {n}, PT",
    "ISETP.GE.AND P{p}, PT, R1, {small}, PT",
    "ISETP.EQ.XOR P{p}, P{q}, {a}, {b}, P{q}",
    "FSETP.GT.AND P{p}, PT, {a}, {b}, PT",
    "PSETP.AND.AND P{p}, PT, P{q}, !P{p}, PT",
)
MEMORY = {  # by width
    4: (
        "LDG {d}, [R10+{offset}]",
        "LDG{cache} {d}, [R10+{offset}]",
        "LDG.U8 {d}, [R10+{offset}]",
        "LD {d}, [R10]",
        "STG{cache} [R10+{offset}], {a}",
        "STG.U16 [R10+{offset}], {a}",
        "ST [R10], {a}",
        "LDS {d}, [R12+{offset}]",
        "LDS.U8 {d}, [R12+{offset}]",
        "STS [R12+{offset}], {a}",
        "LDL {d}, [R12+{offset}]",
        "STL [R12+{offset}], {a}",
        "LDG RZ, [R10]",
        "LDGSTS [R12+{offset}], [R10+{offset}]",
        "LDGDEPBAR",
        "ATOM.ADD {d}, [R10+{offset}], {a}",
        "RED.MAX [R10+{offset}], {a}",
        "ATOMS.ADD {d}, [R12+{offset}], {a}",
        "ATOMS.MAX {d}, [R12], {a}",
        "ATOMS.EXCH {d}, [R12], {a}",
    ),
    8: ("LDG.64 R4, [R10+{offset}]", "STG.64 [R10+{offset}], R2", "LDS.64 R4, [R12+{offset}]", "STS.64 [R12], R4", "LDL.64 R4, [R12]"),
    16: ("LDG.128 R4, [R10+{offset}]", "STG.128 [R10], R4", "LDS.128 R4, [R12+{offset}]", "STS.128 [R12], R4", "STL.128 [R12], R4"),
}


@dataclass
class Writer:
    """Draws statements and writes them down. markers: how ifs reconverge: "" (post-dominator), "ssy" or "bssy".

    guarded_barriers: barriers may be passed by some warps; they all have number 0 then, for those that pass it to meet the others.
    """

    draw: Callable
    markers: str
    guarded_barriers: bool
    width: int  # of the widest access to memory
    memory: int  # how many of four simple statements access it
    labels: int = 0
    depth: int = 0
    loops: int = 0

    def label(self) -> str:
        self.labels += 1
        return f".L{self.labels}"

    def pick(self, *choices: object) -> object:
        return self.draw(st.sampled_from(choices))

    def simple(self) -> list[str]:
        """Return one instruction, sometimes under a guard."""
        width = self.draw(st.sampled_from([width for width in MEMORY if width <= self.width]))
        others = (ARITHMETIC, PREDICATES, ARITHMETIC)[: 4 - self.memory]
        template = self.pick(*self.draw(st.sampled_from((*others, *[MEMORY[width]] * self.memory))))
        guard = self.pick("", "", "", "@P0 ", "@!P1 ", "@P2 ")
        data = {key: f"R{self.draw(st.integers(2, 5))}" for key in "dabc" if f"{{{key}}}" in template}
        p = self.draw(st.integers(0, 2)) if "{p}" in template else 0
        data |= {
            "n": self.pick(0, 7, 16, 40),
            "small": self.pick(1, 2),
            "offset": self.pick("0x0", "0x10", "0x80", "0x180"),
            "cache": self.pick(".CA", ".CG"),
            "place": self.pick("0x0", "0x48", "0xc0", "0x104", "0x300"),
            "counter": self.pick(0, 1, 2),
            "left": self.pick(0, 1, 2, 3),
            "p": p,
            "q": (p + 1) % 3,
        }
        return [guard + template.format(**data)]

    def branch(self) -> list[str]:
        """Return an if, perhaps with an else, whose lanes come together again."""
        other, end, guard = self.label(), self.label(), self.pick("@P0", "@!P1", "@P2")
        sides = [self.statements(0, 3), self.statements(0, 2) if self.draw(st.booleans()) else []]
        if self.markers == "ssy":
            return [f"SSY {end}", f"{guard} BRA {other}", *sides[0], "SYNC", f"{other}:", *sides[1], "SYNC", f"{end}:"]
        jump = [f"{guard} BRA {other}", *sides[0], f"BRA {end}", f"{other}:", *sides[1], f"{end}:"]
        if self.markers == "bssy":
            barrier = f"B{self.depth}"
            return [f"BSSY {barrier}, {end}", *jump, f"BSYNC {barrier}"]
        return jump

    def loop(self) -> list[str]:
        """Return a loop of a few turns: as many for every lane, or one more for odd threads."""
        counter, start = f"R{20 + self.loops}", self.label()
        self.loops += 1
        turns = self.draw(st.integers(1, 2))
        uniform = self.markers == "ssy" or self.draw(st.booleans())
        first = f"MOV {counter}, 0" if uniform else f"LOP.AND {counter}, R0, 0x1"
        body = self.statements(1, 3)
        leave = [
            f"IADD {counter}, {counter}, 0x1",
            f"ISETP.LE.AND P6, PT, {counter}, {turns - 1 if uniform else turns}, PT",
            f"@P6 BRA {start}",
        ]
        if self.markers == "bssy" and not uniform:
            barrier = f"B{8 + self.depth}"
            return [first, f"BSSY {barrier}, {start}e", f"{start}:", *body, *leave, f"{start}e:", f"BSYNC {barrier}"]
        return [first, f"{start}:", *body, *leave]

    def burst(self) -> list[str]:
        """Return a run of arithmetic with three sources each: what register ports and the reuse cache are for."""
        registers = st.tuples(*[st.sampled_from((2, 4, 4, 3))] * 4)  # mostly of one bank, often the same again
        return ["FFMA R{}, R{}, R{}, R{}".format(*self.draw(registers)) for _ in range(self.draw(st.integers(6, 12)))]

    def statements(self, least: int, most: int) -> list[str]:
        """Return a run of statements one level deeper."""
        self.depth += 1
        lines = [line for _ in range(self.draw(st.integers(least, most))) for line in self.statement()]
        self.depth -= 1
        return lines

    def statement(self) -> list[str]:
        kinds = (
            ["simple"] * 6
            + ["burst"] * (self.depth < 2)
            + ["branch"] * (self.depth < 3)
            + ["loop"] * (self.depth < 3 and self.loops < LOOPS)
        )
        if self.depth == 1:
            kinds += ["barrier", "exit"]
        kind = self.draw(st.sampled_from(kinds))
        if kind == "barrier":
            guard, number = self.pick(("", 0), ("", 0), ("@P3 ", 0)) if self.guarded_barriers else ("", self.pick(0, 1))
            return [f"{guard}BAR.SYNC {number}"]
        if kind == "exit":
            return [self.pick("@P0 EXIT", "@!P1 EXIT", "NOP")]
        return {"simple": self.simple, "burst": self.burst, "branch": self.branch, "loop": self.loop}[kind]()


def indented(statements: str) -> str:
    """Return statements as lines."""
    return "".join(f"    {statement}\n" for statement in statements.split("; "))


@st.composite
def listings(draw: Callable) -> str:
    """Return the text of a program."""
    pattern, width = draw(st.sampled_from(PATTERNS))
    writer = Writer(draw, draw(st.sampled_from(("", "", "ssy", "bssy"))), draw(st.booleans()), width, draw(st.integers(1, 3)))
    header = f".kernel random\n.registers {draw(st.sampled_from((24, 32, 64)))}\n.shared {SHARED}\n.param ptr data\n.param f32 scale\n"
    lines = writer.statements(1, 12)
    body = "".join(line + "\n" if line.endswith(":") else f"    {line}\n" for line in lines)
    prologue = PROLOGUE.format(pattern=indented(pattern), apart=indented(BLOCKS_APART) if draw(st.booleans()) else "")
    return header + prologue + (LANES_APART if draw(st.booleans()) else "") + body + "    EXIT\n"
