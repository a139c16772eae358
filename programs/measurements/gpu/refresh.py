"""Which lines of DRAM are refreshed together: `python -m programs.measurements.gpu.refresh refresh.bin > refresh.csv`.

With a second argument, `turns`, it prints `turns.csv`: of each kilobyte of the 2 MB when in the period its lines come back, in thousandths,
those of its first and third 256 bytes and those of the others.

Reads what `refresh.cu` wrote. A line is late where it took 130 to 540 cycles more than in a quarter of its launches; the end of its
wait, less what it takes otherwise, is when its bank came back. A launch's period is the one at which these ends agree best within pieces
of 64 KB. Launches began anywhere in it: each is turned to agree best with the mean turns of the lines, which are then computed again,
and so on. Written: for pieces of memory, how many percent of the pairs of lines in them have turns that differ by so much of the period.
"""

import sys
from pathlib import Path

import numpy as np

from isa.errors import UserError
from programs.published import ends_with_status

LINES, LATE, MOST, BINS = 16384, 130, 540, 20  # LATE, MOST: cycles; BINS: of half a period
LEAST = 2  # launches in which a line that counts was late
PIECE = 512  # lines that come back at much the same time
BYTES = 12  # of each line: its number, when it was asked for and how long it took, uint32
WRAP = 1 << 32  # of the clock
GUESS, ROUNDS = 3800.0, 40  # cycles; how often launches and lines are brought to agree
PIECES = tuple(1024 << shift for shift in range(12))


def ends(data: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Return float [launches, lines] when each line's bank came back, in cycles since the first load, and bool whether it was late."""
    size = LINES * BYTES
    took, asked = np.zeros((2, len(data) // size, LINES))
    for launch in range(len(took)):
        part = data[launch * size : (launch + 1) * size]
        order = np.frombuffer(part[: 4 * LINES], np.uint32)
        times = np.frombuffer(part[4 * LINES :], np.uint32).reshape(LINES, 2).astype(np.int64)
        asked[launch, order] = (times[:, 0] - times[0, 0] + WRAP // 2) % WRAP - WRAP // 2  # some were asked for before the first
        took[launch, order] = times[:, 1]
    late = took - np.percentile(took, 25, axis=0)
    return asked + late, (late > LATE) & (late < MOST)


def periods_of(ends: np.ndarray, late: np.ndarray) -> np.ndarray:
    """Return float [launches] the cycles of the SM, whose clock drifts, at which the ends of each piece's lines agree best."""
    piece = np.arange(LINES) // PIECE
    best = np.full(len(ends), GUESS)
    for step, reach in ((4.0, 100), (0.25, 5)):
        for launch, (end, chosen) in enumerate(zip(ends, late, strict=True)):
            tried = best[launch] + np.arange(-reach, reach, step)
            circle = np.exp(2j * np.pi * end[chosen] / tried[:, None])
            sums = np.add.reduceat(circle, np.flatnonzero(np.diff(piece[chosen], prepend=-1)), axis=1)
            best[launch] = tried[int(np.argmax((np.abs(sums) ** 2).sum(axis=1)))]
    return best


def aligned(circle: np.ndarray) -> np.ndarray:
    """Return complex [lines] the sum of when each line came back, each launch turned by what brings them to agree.

    circle: complex [launches, lines], times as points of the unit circle, 0 for a line that was not late.
    """
    sums = circle[0].reshape(-1, PIECE).sum(axis=1).repeat(PIECE)
    for _ in range(ROUNDS):
        unit = sums / np.maximum(np.abs(sums), 1e-9)
        turn = np.angle((circle * unit.conj()).sum(axis=1))
        sums = (circle * np.exp(-1j * turn)[:, None]).sum(axis=0)
    return sums


def print_turns(sums: np.ndarray) -> None:
    """Print when the lines of each kilobyte come back. sums: complex [lines], as `aligned` returns them."""
    halves = sums.reshape(-1, 2, 2, 2).sum(axis=(1, 3))  # kilobyte, which 512 bytes, which 256 of them, line
    sys.stdout.write("even,odd\n")
    for turns in np.round(1000 * (np.angle(halves) / (2 * np.pi) % 1)).astype(int) % 1000:
        sys.stdout.write(",".join(map(str, turns)) + "\n")


def main() -> None:
    """Print a table. Raises UserError for no file, or one that is not whole launches."""
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["turns"]):
        raise UserError("a file is needed: what refresh.cu wrote", hint="python -m programs.measurements.gpu.refresh refresh.bin [turns]")
    path = Path(sys.argv[1])
    data = path.read_bytes() if path.is_file() else b""
    if not data or len(data) % (LINES * BYTES):
        raise UserError(f"no launches of {LINES:,} lines in it: refresh.cu writes them", path=str(path))
    found, late = ends(data)
    periods = periods_of(found, late)
    sums = aligned(np.exp(2j * np.pi * found / periods[:, None]) * late)
    if sys.argv[2:]:
        print_turns(sums)
        return
    turns = np.angle(sums) / (2 * np.pi) % 1
    agree, met = np.abs(sums).sum() / late.sum(), late.sum(axis=0) >= LEAST
    sys.stdout.write(f"# period {np.median(periods):.0f} cycles ({periods.min():.0f} to {periods.max():.0f}), agreement {agree:.3f} of 1, ")
    sys.stdout.write(f"{len(found)} launches, {late.mean():.1%} of loads late\n")
    sys.stdout.write("bytes," + ",".join(f"to_{(place + 1) / 2 / BINS:.3f}" for place in range(BINS)) + "\n")
    for size in PIECES:
        shares = np.zeros(BINS)
        for first in range(0, LINES, size // 128):
            own = turns[first : first + size // 128][met[first : first + size // 128]]
            for place in range(1, len(own)):
                apart = np.abs(own[place] - own[:place])
                shares += np.histogram(np.minimum(apart, 1 - apart), BINS, (0, 0.5))[0]
        sys.stdout.write(f"{size}," + ",".join(f"{share:.1f}" for share in 100 * shares / shares.sum()) + "\n")


if __name__ == "__main__":
    ends_with_status(main)
