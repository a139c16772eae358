"""How long the lab takes from a change to the page of its run, for each exercise, and many clients at once; without the browser's part."""

import asyncio
import statistics
import time
from collections.abc import Iterator
from typing import NamedTuple

from isa.errors import UserError
from sim.gpus.loader import names
from sim.lab.exercises import Exercise, load
from sim.lab.state import State
from sim.lab.workers import Limits, OvertakenError, Pool

CLIENTS, SECONDS, PAUSE = 10, 20.0, 0.5  # of the load test; a change of each client per PAUSE seconds


class Load(NamedTuple):
    """seconds: of each answer that a client got, sorted. sent: changes. lost: clients whose last change was not answered."""

    seconds: list[float]
    sent: int
    lost: int

    def share(self, part: float) -> float:
        """Return the seconds within which such a share of the answers came."""
        return self.seconds[min(int(part * len(self.seconds)), len(self.seconds) - 1)]


def changes(exercise: Exercise) -> Iterator[State]:
    """Yield states of an exercise that differ in launch and machine, so that nothing of the one before can be used again."""
    number = 0
    while True:
        number += 1
        yield exercise.state({"blocks": 1 + number % 8, "units.fp32.latency": 5 + number % 30})


def answers(repeats: int = 10) -> dict[str, float]:
    """Return the median seconds from a change to its page, by exercise, with one client on one warm worker."""
    return asyncio.run(_answers(repeats))


async def _answers(repeats: int) -> dict[str, float]:
    pool = Pool({name: name for name in names()}, Limits(processes=1))
    found = {}
    try:
        for name, exercise in load().items():
            states, times = changes(exercise), []
            for number in range(repeats + 2):
                began = time.perf_counter()
                await _page(pool, next(states), name, number)
                times.append(time.perf_counter() - began)
            found[name] = statistics.median(times[2:])
    finally:
        pool.close()
    return found


async def _page(pool: Pool, state: State, client: str, number: int) -> None:
    """Ask for a page. Raises UserError when there is none: a mistake is answered faster than a run."""
    answer = await pool.ask(("run", state), client, number)
    if "error" in answer:
        raise UserError(answer["error"]["text"])


def load_test(clients: int = CLIENTS, seconds: float = SECONDS) -> Load:
    """Return what so many clients found that change an exercise each, every half second, on one server."""
    return asyncio.run(_load(clients, seconds))


async def _load(clients: int, seconds: float) -> Load:
    pool, exercises = Pool({name: name for name in names()}, Limits()), list(load().values())
    times: list[float] = []
    sent = lost = 0

    async def client(number: int) -> None:
        nonlocal sent, lost
        states, end, latest = changes(exercises[number % len(exercises)]), time.perf_counter() + seconds, 0
        answered, tasks = set(), []

        async def ask(count: int) -> None:
            began = time.perf_counter()
            try:
                await _page(pool, next(states), str(number), count)
            except OvertakenError:
                return
            answered.add(count)
            times.append(time.perf_counter() - began)

        await asyncio.sleep(PAUSE * number / clients)
        while time.perf_counter() < end:
            latest += 1
            sent += 1
            tasks.append(asyncio.create_task(ask(latest)))
            await asyncio.sleep(PAUSE)
        await asyncio.gather(*tasks)
        lost += latest not in answered

    try:
        await asyncio.gather(*(pool.ask(("run", next(changes(exercises[0]))), f"warm {k}", 0) for k in range(2)))
        await asyncio.gather(*map(client, range(clients)))
    finally:
        pool.close()
    return Load(sorted(times), sent, lost)
