"""Products of warpgroups (HGMMA, QGMMA, IGMMA): results and times of an H100, what is refused, and what never ends."""

import dataclasses
import zlib

import numpy as np
import pytest

import isa
import sim
from isa.errors import UserError
from programs.measurements import tensor, warpgroups
from programs.published import rows
from sim.causes.explain import Recording
from sim.launch.expectation import check
from sim.launch.file import load_launch
from sim.launch.launch import Launch
from sim.report.text import summary
from tests.compare import first_difference
from tests.differential.cases import EVERYTHING, check_chains
from tests.listings import FOLDER

CONFORMANCE = warpgroups.HERE / "conformance" / "h100"
PACKED, SWIZZLED = (FOLDER / "cuda" / f"{name}.sm_90.sass" for name in ("hgemm_packed", "hgemm_wgmma"))
GROUP = """.kernel product
.target sm_90
.param ptr out
{}
EXIT
"""


def test_every_type_and_layout_is_equal_to_an_h100_to_the_bit() -> None:
    kernels = {program.name: program for program in isa.load_all(CONFORMANCE / "warpgroups.sm_90.cubin")}
    seen = 0
    for row in rows(CONFORMANCE / "warpgroups.csv"):
        given = np.array([int(word, 16) for word in row["given"].split()], np.uint64)
        columns = [row[f"{side}_{what}"] for side in ("left", "right", "sums") for what in ("ones", "set")]
        numbers = [np.uint32(row["seed"]), *(np.uint32(int(word, 16)) for word in columns), np.uint32(row["special"])]
        registers = 2 if row["kernel"].startswith("f16") else 4
        sums = np.zeros(len(given) // 2 * 128 * registers, np.uint32)
        sim.execute(Launch(kernels[row["kernel"]], grid=(len(given) // 2,), block=(128,), args=(sums, given, *numbers)))
        assert zlib.crc32(sums.tobytes()) == int(row["crc32"], 16), row["kernel"]
        seen += 1
    assert seen == 138


def test_chains_take_as_long_as_on_an_h100() -> None:
    scores = list(warpgroups.chains())
    assert len(scores) == 36
    assert np.mean([abs(score.error) for score in scores]) < 0.015
    assert max(abs(score.error) for score in scores) < 0.06


def test_small_products_take_as_long_as_on_an_h100() -> None:
    scores = list(warpgroups.products(most=1 << 24))
    assert len(scores) == 7
    assert np.mean([abs(score.error) for score in scores]) < 0.07  # two and three buffers: D33, D38
    assert max(abs(score.error) for score in scores) < 0.12


@pytest.mark.slow
def test_products_take_as_long_as_on_an_h100() -> None:
    scores = list(warpgroups.products(most=1 << 30))
    errors = [abs(score.error) for score in scores]
    assert np.mean(errors) < 0.05
    assert max(errors) < 0.12
    assert max(abs(100 * tensor.tensor_share(score) - float(score.row["tensor_percent"])) for score in scores) < 6


@pytest.mark.parametrize("listing", [PACKED, SWIZZLED])
def test_a_launch_file_gives_the_right_product(listing) -> None:
    file = load_launch(listing)
    sim.execute(file.launch)
    assert not check(file.launch, file.expectation)


@pytest.mark.parametrize(
    "changes", [{}, {"core.kind": "scoreboard", "warpgroup.queue": 2}, {"core.policy": "two_level_active", "core.group_size": 1}]
)
def test_engines_agree(changes: dict) -> None:
    launch = dataclasses.replace(load_launch(PACKED).launch, grid=(1, 1))
    gpu = sim.gpu("h100").replace({"sms": 1, **changes})
    trace = sim.execute(launch)
    recording = Recording(trace, gpu, EVERYTHING)
    assert first_difference(sim.timing.simulate(trace, gpu, EVERYTHING), recording.result) is None
    check_chains(recording)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_engines_agree_on_random_machines(seed: int) -> None:
    rng = np.random.default_rng(seed)
    changes = {
        "sms": int(rng.integers(1, 3)),
        "core.kind": str(rng.choice(["control", "scoreboard"])),
        "core.schedulers": int(rng.choice([1, 2, 4])),
        "warpgroup.queue": int(rng.integers(1, 9)),
        "warpgroup.start_shared": int(rng.integers(0, 60)),
        "warpgroup.column_cycles": float(rng.choice([0.125, 0.5, 1.3, 4])),
        "units.wgmma.latency": int(rng.integers(1, 50)),
        "shared.pass_cycles": int(rng.integers(1, 3)),
        "l2.start": str(rng.choice(["cold", "warm"])),
    }
    stages, listing = int(rng.integers(2, 5)), (PACKED, SWIZZLED)[seed % 2]
    launch = load_launch(listing, args={"stages": stages} if listing == PACKED else {}, grid=(int(rng.integers(1, 3)), 1)).launch
    trace, gpu = sim.execute(launch), sim.gpu("h100").replace(changes)
    recording = Recording(trace, gpu, EVERYTHING)
    assert first_difference(sim.timing.simulate(trace, gpu, EVERYTHING), recording.result) is None
    check_chains(recording)


def test_a_slower_tensor_core_takes_longer_by_as_many_columns() -> None:
    program = warpgroups.kernels()["f32_f16_f16_n128_ss_x12"]
    trace = sim.execute(Launch(program, (1,), (128,), (np.zeros(1, np.int32), np.zeros(128, np.float32)), shared_dynamic=163840))
    gpu = sim.gpu("h100")
    cycles = [sim.simulate(trace, gpu.replace({"warpgroup.column_cycles": rate})).cycles for rate in (0.5, 1.0)]
    assert cycles[1] - cycles[0] == 3 * 12 * 64  # three rounds of twelve products, 64 cycles more each


def test_a_report_says_how_busy_the_tensor_cores_are_and_what_binds() -> None:
    given = warpgroups.kernels()["f32_f16_f16_n256_ss_x12"]
    result = sim.run(
        Launch(given, (1,), (128,), (np.zeros(1, np.int32), np.zeros(128, np.float32)), shared_dynamic=163840), sim.gpu("h100")
    )
    used = next(line for line in summary(result).splitlines() if line.startswith("wgmma pipe"))
    assert used.split() == ["wgmma", "pipe", f"{3 * 12 * 128 / result.counters['sm_active_cycles']:.1%}", "used"]


def test_one_buffer_that_is_given_back_only_behind_the_next_never_ends() -> None:
    launch = load_launch(PACKED, args={"stages": 1}).launch
    with pytest.raises(UserError, match=r"no progress: .* wait"):
        sim.execute(launch)


def test_sums_that_nobody_reads_have_registers_of_their_own() -> None:
    lines = ["S2R R2, SR_TID.X;", "HGMMA.64x256x16.F32 R8, gdesc[UR4], RZ, !UPT, gsb0;", "WARPGROUP.DEPBAR.LE gsb0, 0x0;"]
    lines += ["LDC.64 R4, c[0x0][out];", "IMAD.WIDE.U32 R4, R2, 0x4, R4;", "STG.E [R4.64], R2;"]
    program = isa.parse(GROUP.format("\n".join(lines)).replace(".target", ".shared 32768\n.target"))
    assert program.registers == 8 + 128
    found = np.zeros(256, np.uint32)
    sim.execute(Launch(program, (2,), (256,), (found,)))
    assert found.tolist() == list(range(256))


COMMIT = "HGMMA.64x8x16.F16 RZ, gdesc[URZ], RZ, !UPT, gsb0;"  # what nvcc makes of a commit with no product before it


def test_a_commit_without_products_reads_nothing_and_counts_as_a_group() -> None:
    lines = ["S2R R2, SR_TID.X;", "LDC.64 R4, c[0x0][out];", "IMAD.WIDE.U32 R4, R2, 0x4, R4;", "WARPGROUP.ARRIVE;", COMMIT]
    program = isa.parse(GROUP.format("\n".join([*lines, "WARPGROUP.DEPBAR.LE gsb0, 0x0;", "STG.E [R4.64], R2;"])))
    found = np.zeros(128, np.uint32)
    trace = sim.execute(Launch(program, (1,), (128,), (found,)))  # no shared memory, which a product would read
    assert found.tolist() == [*range(128)]
    assert first_difference(sim.simulate(trace, sim.gpu("h100")), sim.simulate(trace, sim.gpu("h100"), engine="simpy")) is None


@pytest.mark.parametrize("product", ["R24, gdesc[URZ], R24", "R24, R4, gdesc[URZ], R24"])
def test_a_product_has_matrices(product: str) -> None:
    with pytest.raises(UserError, match="describes no matrices: it stands only in a commit without a product"):
        isa.parse(GROUP.format(f"HGMMA.64x8x16.F32 {product}, gsb0;"))


@pytest.mark.parametrize(("groups", "waits"), [(0, True), (1, True), (2, False)])
def test_a_wait_counts_the_empty_group_among_those_under_way(groups: int, waits: bool) -> None:
    """Behind a product and an empty group, to leave one under way is to wait for the product, to leave two is not."""
    product = "HGMMA.64x256x16.F32 R8, gdesc[UR4], RZ, !UPT, gsb0;"
    lines = ["WARPGROUP.ARRIVE;", product, COMMIT, f"WARPGROUP.DEPBAR.LE gsb0, {groups:#x};"]
    launch = Launch(isa.parse(GROUP.format("\n".join(lines))), (1,), (128,), (np.zeros(1, np.float32),), shared_dynamic=16384)
    result = sim.run(launch, sim.gpu("h100"))
    assert (result.stalls.get("barrier", 0) > 4 * 100) == waits


def test_a_group_lacks_no_warp() -> None:
    program = isa.parse(GROUP.format("HGMMA.64x8x16.F32 R4, gdesc[UR4], RZ, !UPT, gsb0;"))
    with pytest.raises(UserError, match="does not have all") as error:
        sim.execute(Launch(program, (1,), (64,), (np.zeros(1, np.float32),), shared_dynamic=8192))
    assert "multiple of 128 threads" in str(error.value)


def test_matrices_lie_inside_shared_memory() -> None:
    program = isa.parse(GROUP.format("UMOV UR4, 0x3fff;\nUMOV UR5, 0x0;\nHGMMA.64x8x16.F32 R4, gdesc[UR4], RZ, !UPT, gsb0;"))
    with pytest.raises(UserError, match="6: matrix at 0x3fff0 is outside shared memory"):
        sim.execute(Launch(program, (1,), (128,), (np.zeros(1, np.float32),), shared_dynamic=8192))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("HGMMA.64x8x16.F32 R4, gdesc[R4], RZ", "matrices in shared memory are described by uniform registers"),
        ("HGMMA.64x8x16.F32 R4, gdesc[UR4], R4, UPT, gsb1", "gsb1 is not gsb0"),
        ("HGMMA.64x12x16.F32 R4, gdesc[UR4], R4", "has no modifier .64x12x16"),
        ("HGMMA.64x256x16.F32 R128, gdesc[UR4], R128", "R128 to R255: the highest register is R254"),
        ("HGMMA.64x8x16.F32 R4, R8, gdesc[UR4], -R4", "the addend of a wgmma takes no sign"),
        ("HGMMA.SP.64x8x16.F32 R4, gdesc[UR4], R4", "sparse products are not modelled"),
        ("UTCHMMA gdesc[UR4], gdesc[UR6], tmem[UR8], tmem[UR10], idesc[UR11], UP0", "UTCHMMA: tensor memory and tcgen05 are not modelled"),
        ("IGMMA.64x16x32.S8.S8 R4, gdesc[UR4].tnspB, R4", "only matrices of numbers of 16 bits are transposed"),
        ("WARPGROUP.WAIT", "has no modifier .WAIT"),
    ],
)
def test_what_is_wrong_is_said(line: str, message: str) -> None:
    with pytest.raises(UserError, match=message.replace(".", r"\.")):
        isa.parse(GROUP.format(f"{line};"))


def test_another_gpu_says_what_it_lacks() -> None:
    launch = load_launch(PACKED).launch
    with pytest.raises(UserError, match=r"lacks units\.wgmma"):
        sim.run(launch, sim.gpu("rtx4090"))
