"""How times of a launch become its row: each place by the median of its launches, then the median of the places."""

from pathlib import Path

from programs.measurements.gpu.counters import write
from programs.measurements.population.measure import join, joined
from programs.published import rows

CLOCKS = {"elapsed_cycles": 1980, "l2_cycles": 1710, "nanoseconds": 1000}


def launches(cycles: dict[int, list[int]], warm: int = 0) -> list[dict[str, int | str]]:
    return [{"launch": "fill_000", "place": place, "warm": warm, "cycles": one, **CLOCKS} for place, ones in cycles.items() for one in ones]


def test_each_place_counts_once_however_late_one_launch_was() -> None:
    columns = joined(launches({1: [400, 390, 900], 2: [530, 520, 525], 3: [410, 410, 410]}))["fill_000"]
    assert columns == {"cycles": 410, "cycles_least": 390, "cycles_most": 900, "elapsed_cycles": 1980, "core_mhz": 1980, "l2_mhz": 1710}


def test_files_of_several_gpus_and_warm_ones_are_joined_to_the_table(tmp_path: Path) -> None:
    write([{"launch": "fill_000", "kept": 0, "cycles": 1, "warm_cycles": 2, "issue_active": 5}], tmp_path / "population.csv")
    files = [write(launches({1: [400]}), tmp_path / "a.csv"), write(launches({7: [420]}), tmp_path / "b.csv")]
    join(tmp_path, [*files, write(launches({1: [300]}, warm=60), tmp_path / "c.csv")])
    (row,) = rows(tmp_path / "population.csv")
    assert (row["cycles"], row["warm_cycles"], row["warm_core_mhz"], row["issue_active"]) == ("410", "300", "1980", "5")
