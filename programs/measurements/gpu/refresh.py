"""Which lines of DRAM are refreshed together: `python -m programs.measurements.gpu.refresh refresh.bin > refresh.csv`.

Reads what `refresh.cu` wrote. A line is late where it took over 130 cycles more than in a quarter of its launches; the end of its wait,
less what it takes otherwise, is when its bank came back. The period is the one at which these ends of each line agree best over all
launches; the SM's clock must not change meanwhile. Written: for pieces of memory, how many percent of the pairs of lines in them have
turns that differ by so much of the period.
"""

import sys
from pathlib import Path

import numpy as np

from isa.errors import UserError
from programs.published import ends_with_status

LINES, LATE, MOST, AGREE, BINS = 16384, 130, 460, 0.985, 20  # cycles; AGREE: of a line that counts, of 1; BINS: of half a period
BYTES = 12  # of each line: its number, when it was asked for and how long it took, uint32
WRAP = 1 << 32  # of the clock
GUESS = 3800.0  # cycles: between two refreshes of an H200's bank there are 3,740
PIECES = tuple(1024 << shift for shift in range(12))


def ends(data: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Return float [launches, lines] when each line's bank came back, in cycles since the first launch, and bool whether it was late."""
    size = LINES * BYTES
    took, asked = np.zeros((2, len(data) // size, LINES))
    begin, before = 0, None
    for launch in range(len(took)):
        part = data[launch * size : (launch + 1) * size]
        order = np.frombuffer(part[: 4 * LINES], np.uint32)
        times = np.frombuffer(part[4 * LINES :], np.uint32).reshape(LINES, 2).astype(np.int64)
        clock = int(times[0, 0])
        begin += (clock - (clock if before is None else before)) % WRAP
        before = clock
        asked[launch, order] = begin + (times[:, 0] - clock + WRAP // 2) % WRAP - WRAP // 2  # some were asked for before the first
        took[launch, order] = times[:, 1]
    late = took - np.percentile(took, 25, axis=0)
    return asked + late, (late > LATE) & (late < MOST)


def agreement(ends: np.ndarray, late: np.ndarray, period: float) -> np.ndarray:
    """Return complex [lines] the sum of the phases of each line's ends."""
    phases: np.ndarray = (np.exp(2j * np.pi * ends / period) * late).sum(axis=0)
    return phases


def period_of(ends: np.ndarray, late: np.ndarray) -> float:
    """Return the period at which the ends of each line agree best, cycles."""
    best = GUESS
    for step, reach, launches in ((0.1, 100, 3), (0.01, 0.5, 6), (0.001, 0.05, len(ends))):
        tried = np.arange(best - reach, best + reach, step)
        sums = [(np.abs(agreement(ends[:launches], late[:launches], period)) ** 2).sum() for period in tried]  # as many as pairs agree
        best = float(tried[int(np.argmax(sums))])
    return best


def main() -> None:
    """Print the table. Raises UserError for no file, or one that is not whole launches."""
    if len(sys.argv) != 2:
        raise UserError("a file is needed: what refresh.cu wrote", hint="python -m programs.measurements.gpu.refresh refresh.bin")
    path = Path(sys.argv[1])
    data = path.read_bytes() if path.is_file() else b""
    if not data or len(data) % (LINES * BYTES):
        raise UserError(f"no launches of {LINES:,} lines in it: refresh.cu writes them", path=str(path))
    found, late = ends(data)
    period = period_of(found, late)
    sums, count = agreement(found, late, period), late.sum(axis=0)
    good = (count >= 2) & (np.abs(sums) > AGREE * count)
    turns = np.angle(sums) / (2 * np.pi) % 1
    agree = np.abs(sums).sum() / late.sum()
    sys.stdout.write(f"# period {period:.3f} cycles, agreement {agree:.3f} of 1, {good.sum()} lines, {late.mean():.1%} of loads late\n")
    sys.stdout.write("bytes," + ",".join(f"to_{(place + 1) / 2 / BINS:.3f}" for place in range(BINS)) + "\n")
    for size in PIECES:
        shares = np.zeros(BINS)
        for first in range(0, LINES, size // 128):
            own = turns[first : first + size // 128][good[first : first + size // 128]]
            apart = np.abs(own[:, None] - own[None])[np.triu_indices(len(own), 1)]
            shares += np.histogram(np.minimum(apart, 1 - apart), BINS, (0, 0.5))[0]
        sys.stdout.write(f"{size}," + ",".join(f"{share:.1f}" for share in 100 * shares / shares.sum()) + "\n")


if __name__ == "__main__":
    ends_with_status(main)
