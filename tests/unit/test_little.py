"""Little's law: the numbers of Volkov's "Better Performance at Lower Occupancy" (GTC 2010)."""

import pytest

import isa
from isa.vocabulary import Unit
from sim.analysis import interval, little
from sim.analysis.locality import Traffic
from sim.analysis.resources import DRAM, FROM_SMS, L2, TO_SMS, capacities
from sim.analysis.roofline import roofline
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


@pytest.mark.parametrize("name", names())
def test_closed_forms_take_capacities_from_the_table_of_resources(name: str) -> None:
    gpu, program = load(name), isa.parse("FFMA R1, R1, R2, R3\nEXIT")
    can = capacities(gpu)
    assert little.streams(gpu).bytes == pytest.approx(can[DRAM].of_chip(gpu) * gpu.latency(Unit.GLOBAL))
    assert roofline(gpu, 1.0, 1.0).bandwidth == can[DRAM].per_second(gpu)
    found = interval.resources(gpu, program, (0,), Traffic(asked=12.0, loaded=8.0, stored=4.0, dram=12.0))
    rates = {one.name: one.bandwidth for one in found}
    used = (DRAM, L2, TO_SMS, FROM_SMS) if gpu.l2 else (DRAM,)
    assert {interval.DATA[one]: can[one].of_chip(gpu) for one in used}.items() <= rates.items()
