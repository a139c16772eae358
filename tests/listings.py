"""The programs of the repository: each listing under programs/ that a launch file goes with."""

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "programs"
MEASURED = FOLDER / "measurements"  # listings of what was measured: validation launches them, from the plans' kernels
PROGRAMS = sorted(str(path.relative_to(FOLDER).with_suffix("")) for path in FOLDER.rglob("*.sass") if MEASURED not in path.parents)
