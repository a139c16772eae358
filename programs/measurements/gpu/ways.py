"""Which SMs and which slices of L2 lie on one side of the chip: `python -m programs.measurements.gpu.ways ways.bin > ways.csv`.

Reads what `ways.cu` wrote. What SMs and lines have in common is taken away; of the rest the largest part (a product of one number of each
SM and one of each line) divides both in two groups. Written: for each SM its group, that of SM 0 first, and what it takes for the lines of
its own and of the other, in the mean.
"""

import sys
from pathlib import Path

import numpy as np

from isa.errors import UserError
from programs.published import ends_with_status

LINES = 8192


def sides(took: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return bool [SMs] and bool [lines]: which are of the group of SM 0. took: float [SMs, lines], cycles."""
    rest = took - took.mean(axis=1, keepdims=True)
    of_sms, _, of_lines = np.linalg.svd(rest - rest.mean(axis=0), full_matrices=False)
    return of_sms[:, 0] * of_sms[0, 0] > 0, of_lines[0] * of_sms[0, 0] < 0  # those that SM 0 has sooner


def main() -> None:
    """Print the table."""
    if len(sys.argv) != 2:
        raise UserError("one file is read", hint="python -m programs.measurements.gpu.ways ways.bin > ways.csv")
    took = np.fromfile(Path(sys.argv[1]), np.uint16).reshape(-1, LINES).astype(float)
    first, near = sides(took)
    sys.stdout.write("sm,side,own,other\n")
    for sm, (row, is_first) in enumerate(zip(took, first, strict=True)):
        own = near if is_first else ~near
        sys.stdout.write(f"{sm},{int(not is_first)},{row[own].mean():.1f},{row[~own].mean():.1f}\n")


if __name__ == "__main__":
    ends_with_status(main)
