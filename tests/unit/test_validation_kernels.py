"""The ordinary kernels of programs/cuda against the H100 that ran them: nothing is fitted to them."""

import sim
from programs.measurements import validation

MISSES = {"lu"}  # loads of a factorisation that miss L1


def test_ordinary_kernels() -> None:
    points = list(validation._kernels(sim.gpu("h100")))
    assert len(points) == 38
    (family,) = validation.families(points)
    assert family.mean < 10
    assert family.correlation is not None
    assert family.correlation > 0.99
    assert max(abs(point.error) for point in points if point.what not in MISSES) < 25
    same = {name: sum(measured == simulated for measured, simulated in (point.notes[name] for point in points)) for name in points[0].notes}
    assert same["largest stall"] >= 0.8 * len(points)
    assert same["warp_instructions"] >= 37
    assert same["global_load_requests"] == same["global_load_sectors"] == 38
    assert min(same["global_store_requests"], same["global_store_sectors"]) >= 37
