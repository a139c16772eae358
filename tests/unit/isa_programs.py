"""Random programs as text, from the opcode table, and equality of programs."""

import numpy as np
from hypothesis import strategies as st

import isa
from isa.fill import SPECIALS
from isa.opcodes import OPCODES, Opcode

UNIFORM = [f"UR{4 * n}" for n in range(15)]
REGISTERS = st.sampled_from(["RZ", *(f"R{4 * n}" for n in range(60)), *UNIFORM])  # multiples of 4: any may start a quad
PREDICATES = st.sampled_from(["PT", *(f"P{n}" for n in range(7)), *(f"UP{n}" for n in range(7))])
INTEGERS = st.integers(-(1 << 31), (1 << 32) - 1).flatmap(lambda n: st.sampled_from([str(n), hex(n)]))
BITS = st.integers(0, (1 << 32) - 1).map(hex)
FLOATS = st.floats(width=32, allow_nan=False).map(lambda x: repr(x).replace("inf", "+INF").replace("-+", "-"))
OFFSETS = st.integers(-2048, 2048).map(lambda n: 4 * n)
CONSTANTS = st.builds("c[{:#x}][{:#x}]".format, st.integers(0, 4), st.integers(0, 1000).map(lambda n: 16 * n))
INDICES = st.sampled_from(["", *(f"+{register}" for register in UNIFORM)])
SCALES = st.sampled_from(["", "", ".X4", ".X8", ".U32", ".64"])
DESCRIPTORS = st.sampled_from(["", "", "desc[UR4]"])
ADDRESSES = st.builds(
    lambda prefix, base, scale, index, n: f"{prefix}[{base}{scale}{index}+{n:#x}]" if n else f"{prefix}[{base}{scale}{index}]",
    DESCRIPTORS,
    REGISTERS,
    SCALES,
    INDICES,
    OFFSETS,
)


def same(p: isa.Program, q: isa.Program) -> bool:
    """Return True when two programs differ in lines, file and spacing at most."""
    arrays = all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(p.encoded, q.encoded, strict=True))
    words = [(i.index, i.opcode, i.text) for i in p.instructions] == [(i.index, i.opcode, i.text) for i in q.instructions]
    facts = ["labels", "registers", "shared_bytes", "parameters", "parameter_base", "markers", "architecture"]
    return arrays and words and all(getattr(p, fact) == getattr(q, fact) for fact in facts)


def _signed(opcode: Opcode, text: str) -> st.SearchStrategy[str]:
    forms = [text]
    forms += [f"-{text}"] if "-" in opcode.signs else []
    forms += [f"|{text}|", f"-|{text}|"] if "|" in opcode.signs else []
    forms += [f"~{text}"] if "~" in opcode.signs else []
    return st.sampled_from(forms)


def operand(opcode: Opcode, word: str) -> st.SearchStrategy[str]:
    """Return operands for one word of a pattern; branches go to the label `start`."""
    if word in "abc":
        numbers = {"integer": INTEGERS, "float": FLOATS | BITS, "bits": INTEGERS | FLOATS, "double": FLOATS, "half": st.nothing()}[
            opcode.numbers
        ]
        return (REGISTERS | CONSTANTS).flatmap(lambda text: _signed(opcode, text)) | numbers
    return {
        "Rd": REGISTERS,
        "D": st.builds(lambda register, n: f"[{register}+{n:#x}]", st.sampled_from(["R4", "RZ", "R17"]), st.integers(0, 0x8000)),
        "r": REGISTERS,
        "Pd": PREDICATES,
        "Pq": PREDICATES,
        "Pa": st.builds(str.__add__, st.sampled_from(["", "!"]), PREDICATES),
        "Pb": st.builds(str.__add__, st.sampled_from(["", "!"]), PREDICATES),
        "Pc": st.builds(str.__add__, st.sampled_from(["", "!"]), PREDICATES),
        "PT": st.just("PT"),
        "PR": st.just("PR"),
        **dict.fromkeys("Hh", st.sampled_from(["0", "1", "-0.5", "1.9375", "0x3c00", "+INF"])),
        "m": st.integers(0, 255).map(hex),
        "A": ADDRESSES,
        "i": st.sampled_from(["[UR4]", "[UR6]"]),
        "K": CONSTANTS,
        "n": st.integers(0, 15).map(hex),
        "o": st.integers(-512, 512).map(hex),
        "x": REGISTERS,
        "S": st.sampled_from(sorted(SPECIALS)),
        "L": st.sampled_from(["start", "`(start)"]),
        "B": st.integers(0, 15).map("B{}".format),
        "G": st.builds("gdesc[UR{}]{}".format, st.integers(0, 15).map(lambda n: 4 * n), st.sampled_from(["", ".tnspB", ".negA.tnspA"])),
        "g": st.just("gsb0"),
    }[word]


@st.composite
def instructions(draw: st.DrawFn) -> str:
    """Draw one instruction that follows the table; rules of isa.checks may still refuse it."""
    opcode = draw(st.sampled_from(list(OPCODES.values())))
    spelling = opcode.name
    for group, names in opcode.modifiers.items():
        if group in opcode.required or draw(st.booleans()):
            spelling += "." + draw(st.sampled_from(list(names)))
    words = [word for word in draw(st.sampled_from(opcode.patterns)) if word != "0"]
    guard = draw(st.sampled_from(["", "@P0 ", "@!P3 "]))
    separator = draw(st.sampled_from([", ", ",", " , "]))
    return f"{guard}{spelling} {separator.join(draw(operand(opcode, word)) for word in words)}"


def _is_legal(instruction: str) -> bool:
    try:
        isa.parse(f"start: {instruction}\nEXIT")
    except isa.UserError:
        return False
    return True


@st.composite
def listings(draw: st.DrawFn) -> str:
    """Draw a whole listing: directives, labels, instructions, an end."""
    types = draw(st.lists(st.sampled_from(["ptr", "u32", "s32", "f32", "u64", "s64", "f64"]), max_size=4))
    lines = [f".parameter_base {draw(st.integers(0, 100)) * 4}", f".shared {draw(st.integers(0, 4096))}"]
    lines += [f".param {type_} p{n}" for n, type_ in enumerate(types)] + ["start:"]
    for n, instruction in enumerate(draw(st.lists(instructions().filter(_is_legal), max_size=12))):
        lines.append(f"{draw(st.sampled_from(['', f'I{n}:', f'.L{n} :']))} {instruction}{draw(st.sampled_from(['', ';', '  // note']))}")
    return "\n".join([*lines, draw(st.sampled_from(["EXIT", "BRA start", "@P1 BRA start"]))])
