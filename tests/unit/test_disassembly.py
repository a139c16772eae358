"""Real disassembly as programs: operands, targets, resources, what is refused, and what a mutated listing may do."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import isa
import sim
from isa import cubin, disassembly, sass
from isa.dependences import name as dependence_name
from isa.operands import HEXADECIMAL
from isa.sass import resources
from isa.sass.function import RawInstruction
from isa.vocabulary import RZ, UNIFORM_BASE, UP0, Flag, Operation
from sim.traces.trace import Trace
from tests.unit import sass_data

CUDA = Path(__file__).resolve().parents[2] / "programs" / "cuda"
LISTINGS = sorted(CUDA.rglob("*.sass"))
KERNEL = '\t\tFunction : k\n\t.headerflags\t@"EF_CUDA_SM{}"\n{}\t\t..........\n'


def program(*instructions: str, architecture: int = 75) -> isa.Program:
    """Return instructions at addresses 0, 16, ... as a program; before Volta they stand 8 apart behind where control words would."""
    volta = architecture >= 70
    places = [16 * k if volta else 8 * (k + 1 + k // 3) for k in range(len(instructions))]
    lines = [f"        /*{place:04x}*/                   {text} ;\n" for place, text in zip(places, instructions, strict=True)]
    return isa.parse(KERNEL.format(architecture, "".join(lines)), "k.sass")


def refused(*instructions: str, architecture: int = 75) -> str:
    with pytest.raises(isa.UserError) as caught:
        program(*instructions, architecture=architecture)
    return str(caught.value)


@pytest.mark.parametrize("path", LISTINGS, ids=lambda path: path.stem)
def test_a_listing_carries_what_the_disassembler_showed(path: Path) -> None:
    function = sass.read(path)[0]
    found = isa.load(path)
    assert len(found) == len(function) == len(found.addresses)
    assert found.architecture == function.architecture
    assert found.architecture.rstrip("a") == path.stem.rpartition(".")[2]
    assert [instruction.line for instruction in found.instructions] == [raw.line for raw in function.instructions]
    assert found.control is not None
    assert found.control.stall.shape == (len(found),)
    assert "REG:" in found.source
    assert f"REG:{found.registers} " in found.source
    assert f"SHARED:{found.shared_bytes} " in found.source


@pytest.mark.parametrize("path", LISTINGS, ids=lambda path: path.stem)
def test_the_canonical_text_encodes_the_same(path: Path) -> None:
    """Every row of the table that these kernels use is read, printed and read again."""
    found = isa.load(path)
    again = isa.parse(found.listing())
    for name, a, b in zip(found.encoded._fields, found.encoded, again.encoded, strict=True):
        assert np.array_equal(a, b), name
    assert (again.architecture, again.registers, again.shared_bytes) == (found.architecture, found.registers, found.shared_bytes)


@pytest.mark.parametrize(
    ("text", "register", "second", "wide", "second_wide", "scale", "offset"),
    [
        ("LDG.E R0, [R2+0xc]", 2, -1, True, False, 1, 12),
        ("LDG.E R0, [R2.64]", 2, -1, True, False, 1, 0),
        ("LDG.E R0, desc[UR4][R2.64+-0x4]", 2, -1, True, False, 1, -4),
        ("LDG.E R0, [R2.64+UR4]", 2, UNIFORM_BASE + 4, True, True, 1, 0),
        ("LDG.E R0, [R3.U32+UR4+0x8]", 3, UNIFORM_BASE + 4, False, True, 1, 8),
        ("LDG.E R0, [UR4+0x4]", UNIFORM_BASE + 4, -1, True, False, 1, 4),
        ("LDS R0, [R3.X4+0x400]", 3, -1, False, False, 4, 0x400),
        ("LDS R0, [R3+UR5]", 3, UNIFORM_BASE + 5, False, False, 1, 0),
        ("LDS R0, [R3+URZ]", 3, -1, False, False, 1, 0),
        ("LDS R0, [0x20]", RZ, -1, False, False, 1, 32),
        ("ULDC UR6, c[0x3][UR4+0x20]", UNIFORM_BASE + 4, -1, False, False, 1, 0),
    ],
)
def test_addresses(text: str, register: int, second: int, wide: bool, second_wide: bool, scale: int, offset: int) -> None:
    e = program(text, "EXIT").encoded
    flags = int(e.flags[0])
    assert (e.address_register[0], e.address_index[0], e.address_scale[0], e.address_offset[0]) == (register, second, scale, offset)
    assert (bool(flags & Flag.ADDRESS64), bool(flags & Flag.INDEX64)) == (wide, second_wide)


def test_targets_are_addresses() -> None:
    found = program("@!P0 BRA P1, 0x30", "BSSY B0, 0x30", "CALL.REL.NOINC 0x0", "EXIT")
    assert found.encoded.target.tolist() == [3, 3, 0, -1]
    assert found.labels == {".L_0x30": 3, ".L_0x0": 0}
    assert found.encoded.predicate_source[0][:2].tolist() == [1, 7]
    before = program("BRA 0x20", "NOP", "NOP", "EXIT", architecture=52)  # 0x20 is the control word of the group that EXIT opens
    assert before.encoded.target.tolist() == [3, -1, -1, -1]


def test_indirect_jumps_count_from_the_next_instruction_or_from_the_function() -> None:
    found = program("BRX R4 -0x10", "RET.REL.NODEC R6 0x0", "EXIT")
    assert found.encoded.operation[:2].tolist() == [Operation.BRX, Operation.BRX]
    assert found.encoded.address_offset[:2].tolist() == [0, 0]
    assert found.markers


def test_uniform_registers_are_registers_of_their_own() -> None:
    e = program("UIADD3 UR5, UP0, UPT, -UR4, 0x1, URZ", "@UP0 EXIT", "EXIT").encoded
    assert e.destination[0] == UNIFORM_BASE + 5
    assert e.predicate_destination[0].tolist() == [UP0, 7]
    assert e.source_value[0, 0] == UNIFORM_BASE + 4
    assert e.guard[1] == UP0
    assert [dependence_name(int(d)) for d in e.writes[0] if d >= 0] == ["UR5", "UP0"]


def test_opcodes_mean_what_their_architecture_says() -> None:
    paired, single = (program("IMAD.HI.U32 R0, R1, R2, R4", "EXIT", architecture=sm).encoded for sm in (75, 35))
    assert paired.reads[0][:4].tolist() == [1, 2, 4, 5]
    assert single.reads[0][:4].tolist() == [1, 2, 4, -1]
    assert program("CS2R R2, SRZ", "EXIT").encoded.destination_count[0] == 2
    assert program("CS2R R2, SR_CLOCKLO", "EXIT", architecture=52).encoded.destination_count[0] == 1
    assert program("SHF.L.W R1, R2, 0x7, R3", "EXIT", architecture=52).encoded.flags[0] & Flag.HIGH
    assert program("@P0 NOP.S", "EXIT", architecture=35).encoded.flags[0] & Flag.JOIN


def test_all_that_is_not_covered_is_said_at_once_with_its_lines() -> None:
    message = refused("ARRIVES R4, R5", "FADD.XX R1, R2, R3", "BRA 0x8", "ARRIVES R6, R7", "MOV R0, [R4]", "EXIT")
    assert "function k (sm_75) holds what is not covered" in message
    assert (
        "lines 3, 6: ARRIVES: arrivals of copies (cp.async.mbarrier.arrive) are not modelled; use cp.async.wait_group, or bulk copies"
        in message
    )
    assert "line 4: FADD has no modifier .XX" in message
    assert "line 5: no instruction stands at 0x8" in message
    assert "line 7: operand 2 of MOV is an address" in message


def run(found: isa.Program, *args: object, block: int = 32, **more: object) -> Trace:
    return sim.execute(sim.Launch(found, grid=(1,), block=(block,), args=args, **more))  # type: ignore[arg-type]


def stored(*instructions: str, architecture: int = 75, **more: object) -> np.ndarray:
    """Return what R0 of each lane holds after the instructions: R2 is the lane's word of an array."""
    head = ["S2R R8, SR_TID.X", "MOV R3, 0x4", "IMAD.WIDE R2, R8, R3, c[0x0][0x160]"]
    out = np.zeros(32, np.uint32)
    run(program(*head, *instructions, "STG.E [R2.64], R0", "EXIT", architecture=architecture), out, **more)
    return out


def test_a_uniform_register_holds_one_value_whatever_lanes_run() -> None:
    lane = np.arange(32)
    assert stored("ISETP.GE.AND P0, PT, R8, 0x10, PT", "@P0 UMOV UR4, 0x7", "MOV R0, UR4").tolist() == [7] * 32
    assert stored("ISETP.GE.AND P0, PT, R8, 0x10, PT", "@P0 R2UR UR4, R8", "MOV R0, UR4").tolist() == [16] * 32
    assert stored("ULDC UR4, c[0x0][0x160]", "UIADD3 UR4, UR4, 0x1, URZ", "IADD3 R0, R8, UR4, RZ").tolist() == (0x10000001 + lane).tolist()
    assert stored("UISETP.GE.AND UP0, UPT, URZ, 0x1, UPT", "@!UP0 MOV R0, R8").tolist() == lane.tolist()


def test_the_high_word_of_a_shifted_pair_with_carry() -> None:
    values = stored("MOV R4, 0xffffffff", "LEA.HI R0, R8, R8, R4, 0x4")
    assert values.tolist() == [((0xFFFFFFFF << 32 | lane) << 4 >> 32 & 0xFFFFFFFF) + lane & 0xFFFFFFFF for lane in range(32)]
    signed = stored("IADD3 R4, -R8, RZ, RZ", "LEA R5, P0, R4, 0xffffffff, 0x2", "LEA.HI.X.SX32 R0, R4, RZ, 0x2, P0")
    carries = [int(lane > 0) for lane in range(32)]
    assert signed.tolist() == [((-lane << 2) >> 32) + carry & 0xFFFFFFFF for lane, carry in zip(range(32), carries, strict=True)]


def test_lanes_jump_each_to_its_own_address() -> None:
    """Lanes 0-15 to 0x70, the others to 0x90: BRX of R4 = 0 or 32, counted from the next instruction at 0x60."""
    values = stored("LOP3.LUT R4, R8, 0x10, RZ, 0xc0, !PT", "SHF.L.U32 R4, R4, 0x1, RZ", "BRX R4 0x10", "EXIT",
                    "MOV R0, 0x1", "BRA 0xa0", "MOV R0, 0x2")  # fmt: skip
    assert values.tolist() == [1] * 16 + [2] * 16


def test_a_jump_to_nowhere_is_said() -> None:
    with pytest.raises(isa.UserError, match="jump to 0x1234, where no instruction stands"):
        run(program("MOV R4, 0x1234", "RET.REL.NODEC R4 0x0", "EXIT"))


def test_calls_through_a_register() -> None:
    """Lanes below 16 call 0x90, the others 0xb0; both come back to 0x80."""
    values = stored("LOP3.LUT R4, R8, 0x10, RZ, 0xc0, !PT", "IMAD R4, R4, 0x2, RZ", "MOV R6, 0x80", "BSSY B0, 0x90",
                    "CALL.REL.NOINC R4 0xb0", "BSYNC B0", "BRA 0xf0", "NOP",
                    "MOV R0, 0x1", "RET.REL.NODEC R6 0x0", "MOV R0, 0x2", "RET.REL.NODEC R6 0x0")  # fmt: skip
    assert values.tolist() == [1] * 16 + [2] * 16


def test_a_trap_and_a_call_out_of_the_listing_end_the_run_where_they_stand() -> None:
    trap = ("S2R R8, SR_TID.X", "ISETP.NE.AND P0, PT, R8, 0x5, PT", "@!P0 BPT.TRAP 0x1", "EXIT")
    with pytest.raises(isa.UserError, match=r"k\.sass:5: trap: the program ends itself here\n  kernel k, .* lane 5 "):
        run(program(*trap))
    run(program(*trap), block=5)
    for code in (("LEPC R18", "CALL.ABS.NOINC R14", "EXIT"), ("LEPC R20, 0x20", "CALL.ABS.NOINC R2", "EXIT")):
        with pytest.raises(isa.UserError, match=r"k\.sass:4: call of a function at 0x0, which the listing does not hold"):
            run(program(*code))
    assert stored("LEPC R4", "LEPC R6, 0xb0", "IMAD R0, R4, 0x1000, R6").tolist() == [0x300B0] * 32
    twice = ("LEPC R4", "MOV R6, R4", "LEPC R4", "IMAD R0, R6, 0x1000, R4")  # the same text, another address
    assert stored(*twice).tolist() == [0x30050] * 32
    assert stored("MOV R4, 0xffffffff", "WARPSYNC R4", "LEPC R4", "MOV R0, R4").tolist() == [0x50] * 32


def test_lanes_of_another_mask_come_after_an_exclusive_warpsync() -> None:
    """What cooperative groups make of a reduction over tiles of 16 lanes, which one REDUX after the other computes."""
    lane = np.arange(32)
    code = ("LOP3.LUT R4, R8, 0x10, RZ, 0xc0, !PT", "MOV R5, 0xffff", "SHF.L.U32 R4, R5, R4, RZ", "BSSY B0, 0xa0",
            "WARPSYNC.EXCLUSIVE R4", "REDUX.SUM UR4, R8", "MOV R0, UR4", "BSYNC B0", "IADD3 R0, R0, R8, RZ")  # fmt: skip
    assert stored(*code).tolist() == (np.where(lane < 16, 120, 376) + lane).tolist()
    guarded = stored("LOP3.LUT R4, R8, 0x18, RZ, 0xc0, !PT", "MOV R5, 0xff", "SHF.L.U32 R4, R5, R4, RZ", "BSSY B0, 0xb0",
                     "ISETP.GE.AND P0, PT, R8, 0x10, PT", "@P0 WARPSYNC.EXCLUSIVE R4", *code[5:])  # fmt: skip
    assert (guarded - lane).tolist() == [120] * 16 + [156] * 8 + [220] * 8


def test_a_guard_of_bra_div_says_whose_mask_is_right_and_all_lanes_go() -> None:
    """Three masks in a warp: no lane stays on the fast path, where one REDUX would join those of the other two."""
    code = ("ISETP.GE.AND P1, PT, R8, 0x4, PT", "ISETP.GE.AND P2, PT, R8, 0xa, PT", "MOV R4, 0xf", "@P1 MOV R4, 0x3f0",
            "@P2 MOV R4, 0xfffffc00", "REDUX.OR UR4, R4", "R2UR P0, URZ, R4", "@!P0 BRA.DIV UR4, 0xe0",
            "REDUX.SUM UR5, R8", "MOV R0, UR5", "BRA 0x140",
            "BSSY B0, 0x140", "WARPSYNC.COLLECTIVE R4, 0x130", "REDUX.SUM UR5, R8", "MOV R0, UR5", "ENDCOLLECTIVE", "BSYNC B0")  # fmt: skip
    assert stored(*code).tolist() == [6] * 4 + [39] * 6 + [451] * 22
    assert stored(*code[:2], "MOV R4, 0xffffffff", "NOP", "NOP", *code[5:]).tolist() == [496] * 32


def test_lanes_of_several_masks_wait_each_for_their_own() -> None:
    """Lanes 0, 4, 8, ... come apart from the others, of eight masks: each meets the three beside it."""
    code = ("LOP3.LUT R4, R8, 0x1c, RZ, 0xc0, !PT", "MOV R5, 0xf", "SHF.L.U32 R4, R5, R4, RZ", "LOP3.LUT R5, R8, 0x3, RZ, 0xc0, !PT",
            "ISETP.EQ.AND P0, PT, R5, RZ, PT", "BSSY B0, 0xe0", "@P0 BRA 0xa0", "NOP", "WARPSYNC R4",
            "REDUX.SUM UR4, R8", "MOV R0, UR4", "BSYNC B0")  # fmt: skip
    assert stored(*code).tolist() == np.repeat(np.arange(32).reshape(8, 4).sum(1), 4).tolist()


def test_special_registers_of_a_warp_and_a_block() -> None:
    assert stored("S2R R0, SR_VIRTID", "SHF.R.U32.HI R0, RZ, 0x8, R0", "SGXT.U32 R0, R0, 0x7").tolist() == [0] * 32
    assert stored("S2R R0, SR_SMEMSZ", shared_dynamic=96).tolist() == [96] * 32
    for name, value in (("SR_VIRTUALSMID", 0), ("SR_GLOBALTIMERLO", 4), ("SR_GLOBALTIMERHI", 0)):  # 4 instructions were executed before
        assert stored("MOV R0, R8", f"S2R R0, {name}").tolist() == [value] * 32
    out = np.zeros(64, np.uint32)
    store = ("S2R R0, SR_VIRTID", "S2R R8, SR_TID.X", "MOV R3, 0x4", "IMAD.WIDE R2, R8, R3, c[0x0][0x160]", "STG.E [R2.64], R0", "EXIT")
    run(program(*store), out, block=64)
    assert (out >> 8 & 0x7F).tolist() == [0] * 32 + [1] * 32


def test_lanes_that_left_a_barrier_are_not_waited_for() -> None:
    values = stored("BSSY B0, 0xa0", "ISETP.GE.AND P0, PT, R8, 0x8, PT", "@P0 BREAK B0", "@P0 BRA 0x80", "BSYNC B0", "MOV R0, 0x5")
    assert values.tolist() == [5] * 32


def test_members_of_a_barrier_go_through_a_register() -> None:
    """Once its lanes have gone on, a register is empty."""
    code = (
        "BSSY B0, 0x90",
        "BMOV.32.CLEAR R4, B0",
        "BMOV.32 B1, R4",
        "BMOV.32 R5, B1",
        "BSYNC B1",
        "BMOV.32 R6, B1",
        "IADD3 R0, R5, R6, RZ",
    )
    assert stored(*code).tolist() == [0xFFFFFFFF] * 32


def test_lanes_wait_for_each_other_at_a_barrier_from_volta_on() -> None:
    halves = ("ISETP.GE.AND P0, PT, R8, 0x10, PT", "BSSY B0, 0xa0", "@P0 BRA 0x80", "NOP", "NOP", "BAR.SYNC 0x0", "BSYNC B0", "MOV R0, 0x3")
    assert stored(*halves).tolist() == [3] * 32


def test_loops_and_calls_before_volta() -> None:
    """PBK and BRK leave a loop lane by lane; CAL and RET come back; SSY in between is left too."""
    out = np.zeros(32, np.uint32)
    found = program(
        "S2R R0, SR_TID.X", "SHL R2, R0, 0x2", "IADD R2, R2, c[0x0][0x140]",  # 08 10 18
        "MOV R1, RZ", "PBK 0x70", "ISETP.GE.AND P0, PT, R1, R0, PT",  # 28 30 38
        "@P0 BRK", "IADD R1, R1, 0x1", "BRA 0x38",  # 48 50 58
        "CAL 0x90", "ST [R2], R1", "EXIT",  # 68 70 78: the loop ends at 70, behind the call
        "IADD R1, R1, 0x64", "RET", "NOP",  # 88 90 98
        architecture=52,
    )  # fmt: skip
    run(found, out)
    assert out.tolist() == list(range(32))


def test_parameters_come_from_the_arguments() -> None:
    launch = sim.Launch(program("EXIT"), (1,), (32,), (np.zeros(4, np.float32), np.float32(1), np.zeros(2), np.uint8(3), -1, 2.0))
    assert [(p.type, p.offset) for p in launch.program.parameters] == [
        ("ptr", 0x160), ("f32", 0x168), ("ptr", 0x170), ("u8", 0x178), ("s32", 0x17C), ("f32", 0x180),
    ]  # fmt: skip
    with pytest.raises(isa.UserError, match="an argument is str x"):
        sim.Launch(program("EXIT"), (1,), (32,), ("x",))


def test_constant_banks_of_the_compiler_are_read() -> None:
    words = np.array([5, 6], np.uint32)
    assert stored("ULDC UR4, c[0x3][0x4]", "MOV R0, UR4", constants={3: words}).tolist() == [6] * 32


def test_a_cubin_needs_its_disassembler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "k.cubin"
    path.write_bytes(b"\x7fELF" + bytes(60))
    monkeypatch.setattr(cubin, "disassembler", lambda: None)
    with pytest.raises(isa.UserError, match="reading a cubin needs nvdisasm"):
        isa.load(path)
    monkeypatch.setattr(cubin, "disassembler", lambda: shutil.which("false"))
    with pytest.raises(isa.UserError, match="nvdisasm refuses this file"):
        isa.load(path)


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_a_mutated_listing_is_read_or_refused_in_words(data: st.DataObject) -> None:
    """No crash; and what is read has, instruction for instruction, the opcodes that the text has."""
    text = data.draw(st.sampled_from(LISTINGS)).read_text()
    at = data.draw(st.integers(0, len(text) - 1))
    cut, added = data.draw(st.integers(0, 3)), data.draw(st.text("RUPX0123456789.,[]-|~;c @!/*\n", max_size=3))
    mutated = text[:at] + added + text[at + cut :]
    try:
        found = isa.parse(mutated, "mutated.sass")
        functions = sass.parse(mutated, "mutated.sass")
    except isa.UserError:
        return
    assert [i.opcode for i in found.instructions] == [raw.opcode for raw in functions[0].instructions]


@pytest.mark.parametrize("name", [name for name in sass_data.LISTINGS if name.endswith(".sass")])
def test_every_function_of_the_test_data_becomes_a_program(name: str) -> None:
    text = sass_data.text(name)
    for function in sass_data.functions(name):
        assert len(disassembly.program(function, resources.of_function(function), source=text)) == len(function)


def test_text_without_a_file_is_read_too() -> None:
    path = CUDA / "saxpy.sm_75.sass"
    assert isa.parse(path.read_text()).registers == isa.load(path).registers


def test_a_number_printed_as_nan_is_what_the_instruction_holds() -> None:
    """+QNAN of FSEL may be half of a float64 infinity; before Volta the instruction does not hold 32 bits."""
    printed = disassembly.operand_of("+QNAN")
    held = RawInstruction(0, "", "FSEL", ("R5", "R5", "+QNAN", "P0"), (), 0x7FF0000005057808 | 0x000FCA0004000000 << 64, 1)
    assert disassembly._as_encoded(printed, held)[:2] == (HEXADECIMAL, 0x7FF00000)
    assert disassembly._as_encoded(printed, held._replace(word=0x7FF00000)) == printed
    assert disassembly._as_encoded(printed, held._replace(opcode="HADD2")) == printed
