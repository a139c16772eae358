"""A class on one server: whose turn it is, that no last change is lost, and what `simtlab bench --lab` measures and says."""

import asyncio
import json
import threading
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from isa.errors import UserError
from sim.cli import app
from sim.lab import exercises, measure, workers
from sim.lab.workers import Limits, OvertakenError, Pool

pytest.importorskip("uvicorn", reason="the lab's server is not installed: pip install 'simtlab[lab]'")


class Held:
    """In place of a worker: answers a job with itself once it is let go, and notes the order. The job "ends it" ends its process."""

    def __init__(self, *_: Any) -> None:
        self.go, self.next, self.done = threading.Semaphore(0), threading.Semaphore(0), []
        self.is_warm = True

    def warm(self) -> None:
        assert self.next.acquire(timeout=60)
        self.is_warm = True

    def ask(self, job: tuple[Any, ...], is_overtaken: Callable[[], bool]) -> dict[str, Any]:
        assert self.is_warm
        assert self.go.acquire(timeout=60)
        self.done.append(job[0])
        if job[0] == "ends it":
            self.is_warm = False
            raise UserError("the process that simulated ended")
        return {"result": job[0]}

    def close(self) -> None:
        self.go.release(100)
        self.next.release(100)


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Pool:
    """Return a pool of one held worker."""
    monkeypatch.setattr(workers, "Worker", Held)
    return Pool({}, Limits(processes=1))


def held(pool: Pool) -> Held:
    (one,) = pool.workers
    assert isinstance(one, Held)
    return one


async def begun(pool: Pool, *asked: tuple[str, str, int]) -> list[asyncio.Task[dict[str, Any]]]:
    """Return the tasks of requests that came one after the other: (job, client, number) each."""
    tasks = []
    for job, client, number in asked:
        tasks.append(asyncio.create_task(pool.ask((job,), client, number)))
        for _ in range(3):
            await asyncio.sleep(0)
    return tasks


def test_a_later_change_takes_the_turn_of_the_one_that_waits(pool: Pool) -> None:
    async def play() -> None:
        first, a1, b1, a2, b0 = await begun(pool, ("x", "x", 1), ("a1", "a", 1), ("b1", "b", 1), ("a2", "a", 2), ("b0", "b", 0))
        for late in (a1, b0):  # told at once, not when a worker is free
            with pytest.raises(OvertakenError):
                await late
        held(pool).go.release(3)
        assert [one["result"] for one in await asyncio.gather(first, a2, b1)] == ["x", "a2", "b1"]

    asyncio.run(play())
    assert held(pool).done == ["x", "a2", "b1"]  # whoever types does not go to the end of the queue
    assert not pool.waiting
    assert pool.idle == pool.workers


def test_clients_beyond_those_that_may_wait_are_refused_but_not_their_later_changes(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "MOST_WAITING", 2)

    async def play() -> None:
        tasks = await begun(pool, ("x", "x", 1), ("a1", "a", 1), ("b1", "b", 1), ("c1", "c", 1), ("a2", "a", 2))
        with pytest.raises(UserError, match="too many requests wait"):
            await tasks[3]
        held(pool).go.release(3)
        assert (await tasks[4])["result"] == "a2"
        await tasks[2]

    asyncio.run(play())


def test_a_request_whose_client_has_gone_gives_its_worker_back(pool: Pool) -> None:
    async def play() -> None:
        first, gone, other = await begun(pool, ("x", "x", 1), ("a", "a", 1), ("b", "b", 1))
        gone.cancel()
        held(pool).go.release(2)
        await asyncio.gather(first, other)
        (holding, late) = await begun(pool, ("y", "y", 1), ("c", "c", 1))
        worker = pool.workers[0]
        pool.waiting.popitem()[1].set_result(worker)  # its turn has come, and at the same moment it goes
        late.cancel()
        with pytest.raises(asyncio.CancelledError):
            await late
        assert pool.idle == [worker]
        held(pool).go.release()
        await holding

    asyncio.run(play())
    assert held(pool).done == ["x", "b", "y"]


def test_nobody_waits_for_a_process_to_start_while_another_serves(pool: Pool) -> None:
    """One worker's process is ended in the middle of a change: two changes that come then are answered by the other."""
    two = Pool({}, Limits(processes=2))
    slow, good = (one for one in two.workers if isinstance(one, Held))
    two.idle = [good, slow]  # the last one is taken first

    async def play() -> None:
        (ended,) = await begun(two, ("ends it", "x", 1))
        slow.go.release()
        with pytest.raises(UserError, match="ended"):
            await ended
        good.go.release(2)
        tasks = await begun(two, ("a", "a", 1), ("b", "b", 1))
        assert [one["result"] for one in await asyncio.wait_for(asyncio.gather(*tasks), 60)] == ["a", "b"]
        assert two.idle == [good]
        slow.next.release()
        while two.replacing:
            await asyncio.sleep(0.01)

    asyncio.run(play())
    assert (good.done, slow.done) == (["a", "b"], ["ends it"])
    assert two.idle == [good, slow]


def test_a_worker_whose_client_has_gone_is_free_when_it_has_answered_and_not_before(pool: Pool) -> None:
    async def play() -> None:
        (gone,) = await begun(pool, ("x", "x", 1))
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        assert pool.idle == []
        (late,) = await begun(pool, ("a", "a", 1))
        held(pool).go.release(2)
        assert (await late)["result"] == "a"

    asyncio.run(play())
    assert held(pool).done == ["x", "a"]


def test_what_another_has_asked_meanwhile_is_not_simulated_again(pool: Pool) -> None:
    known: dict[str, Any] = {}

    async def play() -> None:
        first, late = [asyncio.create_task(pool.ask(("x",), client, 1, lambda: known or None)) for client in "ab"]
        await asyncio.sleep(0)
        known["result"] = "known"
        held(pool).go.release()
        assert [one["result"] for one in await asyncio.gather(first, late)] == ["x", "known"]

    asyncio.run(play())
    assert held(pool).done == ["x"]
    assert pool.idle == pool.workers


@pytest.mark.slow
def test_a_class_on_a_real_server_loses_nothing() -> None:
    """More changes come than two workers can simulate, several of each session at a time."""
    found = measure.load_test(measure.Students(sessions=12, at_once=12, seconds=1.0, pause=0.02))
    assert (found.lost, found.wrong, found.refused) == (0, 0, {})
    assert found.sent == 12 * 50 == found.overtaken + len(found.times.seconds)
    assert found.overtaken > 0
    if Path("/proc/self/status").exists():
        assert all(0 < part < 2 << 30 for halves in found.memory for part in halves)


def test_every_keystroke_is_another_program() -> None:
    states = [measure.keystroke(exercises.load()["01_latency"], number) for number in range(3)]
    assert len({state["listing"] for state in states}) == 3


def test_what_a_class_lost_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    class Bad:
        """Answers the changes of a session by its page, by the page of another session, by a mistake, and not at all."""

        def run(self, state: dict[str, Any], client: str, number: int) -> dict[str, Any]:
            page = {"result": {}, "html": "<h1>student-0.0 on a GPU"}
            return [page, page | {"html": "<h1>student-9.1 on a GPU"}, {"error": {"text": "no"}}, {"overtaken": True}][number]

        process, looks = 5, 0

        def resident(self) -> dict[int, int]:
            self.looks += 1
            return {5: 1, 6: 2} | ({7: 30} if self.looks > 1 else {})

    monkeypatch.setattr(measure, "server", lambda: nullcontext(Bad()))
    found = measure.load_test(measure.Students(sessions=1, at_once=1, seconds=0.4, pause=0.1))
    assert (found.sent, found.overtaken, found.lost, found.wrong, found.refused) == (4, 1, 1, 1, {"no": 1})
    assert found.replaced == 1
    assert found.memory == ((1, 1), (2, 32))


def test_the_command_prints_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    times = measure.Times([0.01 * k for k in range(1, 101)])
    load = measure.Load(times, 110, 8, 1, 0, {"too many requests wait": 2}, 3, measure.Memory((1 << 20, 2 << 20), (3 << 20, 4 << 20)))
    monkeypatch.setattr(measure, "answers", lambda repeats: {"01_latency": times})
    asked: list[measure.Students] = []
    monkeypatch.setattr(measure, "load_test", lambda students: asked.append(students) or load)
    done = CliRunner().invoke(app, ["bench", "--lab", "--sessions", "7", "--pause", "2", "--json", str(tmp_path / "l.json")])
    assert done.exit_code == 0, done.output
    assert asked == [measure.Students()._replace(sessions=7, pause=2.0)]
    assert "01_latency" in done.stdout
    assert "7 sessions of 3 s, 10 at once, a keystroke every 2 s in each: 110 sent, 100 answered, 8 overtaken" in done.stdout
    assert "median 510 ms, 95 % within 960 ms, longest 1000 ms" in done.stdout
    assert "never came): 1;" in done.stdout
    assert "workers replaced: 3" in done.stdout
    assert "memory of the workers: 3 MiB at most in the first half of the test, 4 MiB in the second" in done.stdout
    assert json.loads((tmp_path / "l.json").read_text())["load"]["lost"] == 1
    wrong = CliRunner().invoke(app, ["bench", "--sessions", "7"])
    assert (wrong.exit_code, "go with --lab" in wrong.stderr) == (2, True)
