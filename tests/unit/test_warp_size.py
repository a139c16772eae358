"""Warps of 16: what is executed, both engines, what takes a warp's size, and which programs are refused."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import isa
import sim
from isa.errors import UserError
from sim.launch.copies import copied
from sim.launch.file import load_launch
from sim.traces.trace import Trace
from tests.unit.test_cli import PROGRAMS, refused, simtlab

GTX480, H100 = sim.gpu("gtx480"), sim.gpu("h100")
LOCAL = "S2R R0, SR_TID.X\nSHL R1, R0, 2\nSTL [R1], R0\nSTL.128 [RZ+0x40], R4\nLDL R2, [R1]\nLDL.128 R8, [RZ+0x40]\nFADD R2, R2, R8\nEXIT\n"
PARTS = "BAR.SYNC 0x0\nS2R R0, SR_TID.X\nISETP.GE.AND P0, PT, R0, 32, PT\n@P0 BRA rest\nBAR.SYNC 0x1, 0x20\nrest:\nBAR.SYNC 0x0\nEXIT\n"


def of_16(launch: sim.Launch) -> sim.Launch:
    return dataclasses.replace(copied(launch), warp_size=16)


def warps(trace: Trace) -> list[tuple[object, ...]]:
    """Return of each warp what it executed: instructions, lanes, addresses of those."""
    arrays, found = trace.arrays, []
    for w, path in enumerate(arrays.warp_path):
        start, end = arrays.path_start[path : path + 2]
        access, steps = int(arrays.access_start[w]), []
        for i, mask in zip(arrays.instruction[start:end].tolist(), arrays.mask[start:end].tolist(), strict=True):
            touches = trace.program.encoded.width[i] > 0
            steps.append((i, mask, tuple(trace.addresses(access, mask).items()) if touches else ()))
            access += touches
        found.append(tuple(steps))
    return found


@pytest.mark.parametrize("program", ["collatz", "saxpy", "access/strided", "access/random"])
def test_warps_of_16_do_what_warps_of_blocks_of_16_threads_do(program: str) -> None:
    """A program that uses no more than a thread's number in the grid executes alike in blocks of 16, in warps of 32 that are half empty."""
    launch = load_launch(PROGRAMS / f"{program}.sass").launch
    half = sim.execute(of_16(launch))
    blocks = sim.execute(dataclasses.replace(copied(launch), grid=(launch.blocks * launch.threads_per_block // 16,), block=(16,)))
    assert warps(half) == warps(blocks)
    assert (half.executed == blocks.executed).all()
    assert half.thread_instructions == blocks.thread_instructions


@pytest.mark.parametrize("name", ["gtx480", "h100", "k20c", "gt200"])
@pytest.mark.parametrize("program", ["reduce_shared", "shared/transpose_tile", "atomics/histogram", "access/random"])
def test_both_engines_agree(name: str, program: str) -> None:
    launch = load_launch(PROGRAMS / f"{program}.sass").launch
    trace = sim.execute(dataclasses.replace(of_16(launch), grid=(4,) if len(launch.grid) == 1 else (2, 2)))
    gpu = sim.gpu(name).replace({"core.warp_size": 16, "sms": 2})
    fast, read = (sim.simulate(trace, gpu, engine=engine) for engine in ("numba", "simpy"))
    assert (fast.cycles, fast.counters, fast.stalls) == (read.cycles, read.counters, read.stalls)


@pytest.mark.parametrize(("listing", "block"), [(LOCAL, 1024), (PARTS, 256)])
def test_local_memory_and_barriers_for_some_threads(listing: str, block: int) -> None:
    """A word of local memory of 16 lanes is half a line; a barrier for 32 threads is one of two warps."""
    trace = sim.execute(sim.Launch(isa.parse(listing), (2,), (block,), warp_size=16))
    gpu = H100.replace({"core.warp_size": 16, "sms": 1})
    fast, read = (sim.simulate(trace, gpu, engine=engine) for engine in ("numba", "simpy"))
    assert (fast.cycles, fast.counters) == (read.cycles, read.counters)
    assert fast.counters["warps"] == 2 * block // 16
    if listing is LOCAL:
        whole = sim.run(sim.Launch(isa.parse(LOCAL), (2,), (block,)), H100.replace({"sms": 1}))
        assert fast.counters["local_sectors"] == whole.counters["local_sectors"]  # twice the accesses, each of half as many


def test_a_pipe_of_16_lanes_takes_a_warp_of_16_in_one_cycle() -> None:
    """GTX 480: 16 lanes. Chains of 4 independent FFMAs, enough warps: 32 threads per cycle and SM from either size."""
    launch = load_launch(PROGRAMS / "volkov" / "ffma_ilp4.sass", block=(512,), args={"iterations": 4}).launch
    wide, half = (
        sim.run(copied(launch), GTX480.replace({"sms": 1, "core.warp_size": size, "core.issue_interval": 1})) for size in (32, 16)
    )
    assert GTX480.hold("fp32") == 2
    assert half.gpu.hold("fp32") == 1
    assert half.counters["warp_instructions"] == 2 * wide.counters["warp_instructions"]
    assert half.counters["thread_instructions"] == wide.counters["thread_instructions"]
    assert half.counters["fp32_flops"] == wide.counters["fp32_flops"]


def test_occupancy_counts_warps_of_16() -> None:
    small = H100.replace({"core.warp_size": 16})
    assert sim.occupancy(small, 256, 32).warps == 64
    assert sim.occupancy(small, 256, 32).blocks == 4  # of 16 warps each
    assert sim.occupancy(H100, 256, 32).blocks == 8
    assert sim.best_block(small, 32).occupancy.fraction == 1.0  # type: ignore[union-attr]
    with pytest.raises(UserError, match="at most 768"):
        sim.run(sim.Launch(isa.parse("EXIT"), (1,), (1024,)), GTX480.replace({"core.warp_size": 16}))


@pytest.mark.parametrize(
    ("line", "does"),
    [
        ("SHFL.DOWN PT, R0, R0, 0x10, 0x1f", "exchanges registers among the 32 lanes"),
        ("VOTE.ANY R0, PT, P0", "asks the 32 lanes"),
        ("WARPSYNC 0xffffffff", "waits for a mask"),
        ("S2R R0, SR_LANEID", "reads a number"),
        ("HMMA.16816.F32 R4, R16, R32, R4", "multiplies matrices"),
        ("LDSM.16.M88.4 R4, [R0]", "moves matrices"),
    ],
)
def test_what_was_written_for_32_lanes_is_refused_by_line(line: str, does: str) -> None:
    program = isa.parse(f".target sm_90\n.registers 64\n.shared 1024\nNOP\n{line}\nEXIT\n", "mine.sass")
    launch = sim.Launch(program, (1,), (32,))
    sim.execute(dataclasses.replace(launch, warp_size=32))
    with pytest.raises(UserError, match=rf"mine.sass:5: .*{does}"):
        sim.run(launch, H100.replace({"core.warp_size": 16}))


def test_sizes_that_do_not_meet_are_refused(tmp_path: Path) -> None:
    launch = load_launch(PROGRAMS / "saxpy.sass", grid=(2,), args={"n": 512}).launch
    with pytest.raises(UserError, match="executed with warps of 32"):
        sim.simulate(sim.execute(copied(launch)), H100.replace({"core.warp_size": 16}))
    with pytest.raises(UserError, match="16 or 32"):
        dataclasses.replace(launch, warp_size=64)
    with pytest.raises(UserError, match="the format has warps of 32"):
        sim.write_traces([sim.execute(of_16(launch))], tmp_path)
    with pytest.raises(UserError, match="blocks of at most 512 threads"):
        sim.execute(dataclasses.replace(of_16(launch), block=(1024,)), check=("race",))


def test_from_the_command_line() -> None:
    options = (PROGRAMS / "saxpy.sass", "--gpu", "h100", "--set", "core.warp_size=16")
    printed = simtlab("run", *options).stdout
    assert "65,536 warps" in printed
    assert "16.0 of 16 active" in printed
    assert "masks of lanes have 32 bits" in refused("run", *options[:-1], "core.warp_size=64")


def test_a_sweep_executes_a_program_for_each_size() -> None:
    launch = load_launch(PROGRAMS / "saxpy.sass", grid=(8,), args={"n": 2048}).launch
    found = sim.sweep(launch, GTX480, {"core.warp_size": [16, 32], "dram.latency": [500, 600]}, workers=1)
    assert found["error"].isna().all()
    assert found["warps"].tolist() == [128, 128, 64, 64]
    alone = sim.run(copied(launch), GTX480.replace({"core.warp_size": 16, "dram.latency": 600}))
    assert found["cycles"][1] == alone.cycles
    assert np.array_equal(sim.sweep(launch, alone.gpu, {"dram.latency": [600]}, workers=1)["cycles"], [alone.cycles])


def test_a_program_that_relies_on_warps_of_32_going_in_step_is_found_by_the_check_of_races() -> None:
    """Lane k reads what lane k ^ 16 stored: with warps of 16 another warp's, which no barrier orders."""
    listing = (
        ".shared 128\n.param ptr out\nS2R R0, SR_TID.X\nSHL R1, R0, 2\nSTS [R1], R0\nLOP.XOR R2, R1, 0x40\nLDS R3, [R2]\n"
        "IADD R4, R1, c[0x0][out]\nSTG [R4], R3\nEXIT\n"
    )
    out = np.zeros(32, np.uint32)
    launch = sim.Launch(isa.parse(listing), (1,), (32,), (out,))
    assert sim.execute(launch, check=("race",)).hazards == ()
    assert (out == np.arange(32) ^ 16).all()
    (found,) = sim.execute(launch.in_warps(16), check=("race",)).hazards
    assert found.warps == (0, 1)
    assert (out[:16] == 0).all()  # the second warp had not stored when the first loaded
