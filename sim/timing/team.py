"""Threads that share the SMs of a machine: in a window no unit sees what another does, so any thread may take any of them. A unit is an SM,
or those of a GPC that share caches of code.

Thread 0 leads: it starts blocks and lets requests reach L2, opens the window, and goes on when all units are through it. Each thread
takes the units of its own share first, whose state its processor core still has, then those that another has not got to. What all SMs add
to (sums of the account, logs) and scratch space each thread has for itself, so results are the same with any number of threads.
"""

from typing import Any, NamedTuple

import numpy as np

from sim.compiled.atomics import add_one, give_way, publish, seen, take_turn
from sim.compiled.kernel import inner
from sim.result.causes import Tally
from sim.timing import records
from sim.timing.state import NEVER, Chip, Machine

ROW = records.LINE // 8  # words of a cache line: what one thread writes often has a line for itself
SMALL = 4096  # bytes
WINDOWS, UNTIL, CLOSED = 0, 1, 2  # words of the first row: windows opened so far, the end of the last, 1 when there will be no more
TURNS = 1  # first of the rows with the turns taken of each share, over all windows
SUMS = ("stalls", "slots", "issues")  # what each thread has for itself: these of a Machine and its clock_log,
OF_MEMORY = ("bank_rows", "bank_count", "lane_turn", "tallies")  # and these of its Memory
PEAKS = (int(Tally.MSHR_PEAK), int(Tally.PORT_PEAK))


class Team(NamedTuple):
    """What threads tell each other."""

    words: np.ndarray  # int64 [1 + 2 * threads, ROW]
    first: np.ndarray  # int64 [threads + 1] first unit of each thread's share, and the end of the last
    chips: Any  # Chip [threads]


def form(units: int, chips: Any) -> Team:
    """Return a team for the first units, before its first window."""
    threads = len(chips)
    first = np.array([units * thread // threads for thread in range(threads + 1)], np.int64)
    return Team(records.Room(SMALL).zeros((TURNS + 2 * threads, ROW), np.int64), first, chips)


def set_closed(team: Team, closed: bool) -> None:
    """Say whether there will be no more windows: threads that wait for one end."""
    team.words[0, CLOSED] = closed


def members(sm: Machine, threads: int) -> tuple[list[Machine], Any]:
    """Return the machine as each thread sees it, and all their chips."""
    chips = records.Room(SMALL).records(Chip, threads)
    chips[0] = sm.chip[0]
    chips.log_to[1:] = -1
    chips.next_start[1:] = chips.next_step[1:] = NEVER
    seen_by = [sm._replace(chip=chips[:1])]
    for thread in range(1, threads):
        room = records.Room(2 * sm.clock_log.nbytes)  # which is the largest by far
        memory = sm.memory._replace(**_like(sm.memory, OF_MEMORY, room))
        own = _like(sm, (*SUMS, "clock_log"), room)
        seen_by.append(sm._replace(chip=chips[thread : thread + 1], memory=memory, **own))
    return seen_by, chips


def _like(state: Any, names: tuple[str, ...], room: records.Room) -> dict[str, np.ndarray]:
    return {name: room.zeros(getattr(state, name).shape, getattr(state, name).dtype) for name in names}


def together(machines: list[Machine]) -> Machine:
    """Return the machine with what all threads have added."""
    sm = machines[0]
    for other in machines[1:]:
        for name in SUMS:
            getattr(sm, name)[...] += getattr(other, name)
        peaks = np.maximum(sm.memory.tallies, other.memory.tallies)[list(PEAKS)]
        sm.memory.tallies[...] += other.memory.tallies
        sm.memory.tallies[list(PEAKS)] = peaks
        sm.chip.warp_cycles += other.chip.warp_cycles
        sm.chip.issue_cycles += other.chip.issue_cycles
        sm.chip.end = np.maximum(sm.chip.end, other.chip.end)
    clocks = [member.clock_log[: int(member.chip.clock_rows[0])] for member in machines]
    return sm._replace(clock_log=np.concatenate(clocks))


@inner
def open_window(until: int, team: Team) -> None:
    """Let all threads take units through the cycles before `until`."""
    team.words[0, UNTIL] = until
    publish(team.words, WINDOWS, team.words[0, WINDOWS] + 1)


@inner
def is_closed(team: Team) -> bool:
    """Return whether there will be no more windows; if not, some other thread may want the core."""
    give_way()
    return seen(team.words, CLOSED) != 0


@inner
def next_unit(thread: int, team: Team) -> int:
    """Return a unit that no thread has taken in this window, and which is this one's now; -1 when there is none."""
    threads = team.first.size - 1
    for k in range(threads):
        share = thread + k if thread + k < threads else thread + k - threads
        first, units = team.first[share], team.first[share + 1] - team.first[share]
        word = (TURNS + share) * ROW
        turn = seen(team.words, word)
        while turn < seen(team.words, WINDOWS) * units:
            if take_turn(team.words, word, turn):
                return first + turn % units
            turn = seen(team.words, word)
    return np.int64(-1)


@inner
def end_of_window(team: Team) -> int:
    """Return the cycle before which the unit just taken ends: its window is open until the thread is done with it."""
    return team.words[0, UNTIL]


@inner
def done(thread: int, team: Team) -> None:
    """The thread has brought a unit to the end of the window."""
    add_one(team.words, (TURNS + team.first.size - 1 + thread) * ROW)


@inner
def wait_for_all(team: Team) -> None:
    """Wait until all units are through the window; note when something happens next, on whichever SM."""
    threads = team.first.size - 1
    wanted = team.words[0, WINDOWS] * team.first[threads]
    while through(team) < wanted:
        give_way()
    chip = team.chips[0]
    for thread in range(1, threads):
        other = team.chips[thread]
        chip.next_start = min(chip.next_start, other.next_start)
        chip.next_step = min(chip.next_step, other.next_step)
        other.next_start, other.next_step = NEVER, NEVER


@inner
def through(team: Team) -> int:
    """Return how many times a thread has brought a unit to the end of a window."""
    total, threads = np.int64(0), team.first.size - 1
    for thread in range(threads):
        total += seen(team.words, (TURNS + threads + thread) * ROW)
    return total
