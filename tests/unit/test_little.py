"""Little's law: the numbers of Volkov's "Better Performance at Lower Occupancy" (GTC 2010)."""

import pytest

from isa.vocabulary import Unit
from sim.analysis import little
from sim.gpus.loader import load, names


@pytest.mark.parametrize(("gpu", "operations"), [("g80", 24 * 8), ("gt200", 24 * 8), ("gtx480", 18 * 32), ("gtx460", 18 * 48)])
def test_arithmetic_in_flight_per_sm(gpu: str, operations: int) -> None:
    assert little.arithmetic(load(gpu)).operations == operations


def test_ilp_takes_the_place_of_warps() -> None:
    found = little.arithmetic(load("gtx480"))
    assert [found.warps(ilp) for ilp in (1, 2, 3, 4)] == [18, 9, 6, 4.5]
    assert [found.whole_warps(ilp) for ilp in (1, 2, 3, 4)] == [18, 10, 6, 6]  # as many on each of two schedulers


def test_memory_in_flight_on_the_gtx_480() -> None:
    found = little.memory(load("gtx480"), latency=800)
    assert found.bandwidth == 177.4
    assert found.bytes / 1024 == pytest.approx(98.9, abs=0.05)  # "100 KB"
    assert found.bytes / 4 == pytest.approx(25_000, rel=0.02)  # 25,000 floats
    assert found.bytes_per_sm * 15 == pytest.approx(found.bytes)
    assert found.warps(4) == pytest.approx(found.bytes_per_sm / 128)


@pytest.mark.parametrize("name", names())
def test_every_preset_has_both(name: str) -> None:
    gpu = load(name)
    arithmetic, memory = little.arithmetic(gpu, Unit.MUFU), little.memory(gpu)
    assert 0 < arithmetic.warps() <= arithmetic.whole_warps()
    assert memory.bytes == pytest.approx(gpu.dram_bytes_per_cycle * gpu.sms * gpu.latency(Unit.GLOBAL))
