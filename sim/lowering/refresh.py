"""When DRAM's banks are away to be refreshed, as seen on an H200 (programs/measurements/h200/turns.csv).

Each line is late at one point of an interval. These points are some eight groups of banks, refreshed one after another; those of 64 KB
are two such groups, spread over an eighth of the interval: its channels do not begin at once.
"""

import numpy as np

# In eighths of the interval, of twelve times 64 KB that follow each other (from the thirteenth of turns.csv on): the point of most of
# their lines, and of the others. The next twelve have the same.
GROUPS = np.array(
    [
        (1.0, 7.4),
        (1.9, 0.1),
        (2.9, 7.3),
        (3.8, 0.1),
        (4.6, 2.9),
        (5.7, 3.7),
        (4.2, 6.1),
        (3.3, 5.2),
        (2.4, 6.1),
        (1.4, 5.2),
        (0.6, 2.4),
        (7.7, 1.7),
    ]
)
# Bits of a line's number left out, and within how many 256ths of the interval lines that have the others in common lie: 2 MB, of which
# nothing says where they begin, 4 KB around their group, 512 bytes around those.
SPREAD = ((14, 256), (5, 27), (2, 10))
# 65536ths of the interval that are over in cycle 0: with so many no refresh meets the first 64 KB of a launch's arrays as it begins,
# where placement 0 has them.
BEGUN = 7168


def away(line: int, at: int, refresh: int, interval: int) -> int:
    """Return the cycles that a 128-byte line's bank is still away to be refreshed in a cycle: `refresh` of each `interval`.

    Of 4 KB one kilobyte belongs to the others, and of half of the pieces every second 256 bytes of another: a third, as seen.
    """
    kilobyte, every_second = (line >> 3 ^ line >> 5 ^ line >> 7) & 3, (line >> 1 ^ line >> 5 ^ line >> 8) & line >> 6 & 1
    others = kilobyte == 0 or (kilobyte == 2 and every_second)
    turn = BEGUN + int(GROUPS[((line >> 9) + (line >> 14) * 7) % len(GROUPS), int(others)] * 8192)  # in 65536ths before the interval's end
    for bits, share in SPREAD:
        place = (line >> bits) * 0x85EBCA6B & 0xFFFFFFFF
        turn += (((place ^ place >> 15) * 0xC2B2AE35 >> 16) & 0xFFFF) * share >> 8
    return max(refresh - (at + (turn % 65536 * interval >> 16)) % interval, 0)
