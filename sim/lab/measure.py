"""How long the lab takes from a change to the page of its run, and how it serves a class: clients of a server of its own, over HTTP.

A change is a keystroke in the listing, so that nothing of the run before can be used again. Its time is from the request to the last
byte of the page with the new timeline; what the browser then takes to draw it is not in it.
"""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from isa.errors import UserError
from sim.lab.exercises import Exercise, load
from sim.lab.state import State

WORKERS = 2  # what `simtlab lab` starts with
PATIENCE = 300.0  # seconds until an answer is given up: a worker may have to compile first
SAMPLE = 0.25  # seconds between two looks at the memory
BROWSER = 6  # requests that a browser sends to one server at the same time
COMMAND = [sys.executable, "-c", "from sim.cli import main; main()", "lab", "--port", "0", "--workers", str(WORKERS)]


class Students(NamedTuple):
    """A class: sessions in all; at_once: how many of them at any time; seconds that one lasts, with a change every `pause` seconds."""

    sessions: int = 200
    at_once: int = 10
    seconds: float = 3.0
    pause: float = 0.5

    @property
    def changes(self) -> int:
        """Of one session."""
        return max(round(self.seconds / self.pause), 1)


class Times(NamedTuple):
    """Seconds from changes to their pages, sorted."""

    seconds: list[float]

    def share(self, part: float) -> float:
        """Return the seconds within which such a share of the answers came; 0 without any."""
        return self.seconds[min(int(part * len(self.seconds)), len(self.seconds) - 1)] if self.seconds else 0.0


class Memory(NamedTuple):
    """Bytes that were resident at most, in the first half of a test and in the second; 0 where the system cannot tell."""

    server: tuple[int, int]
    workers: tuple[int, int]  # all of them together


class Load(NamedTuple):
    """What a class found.

    sent: changes. overtaken: changes that a later one of the same session made needless, and the server left out. lost: sessions
    that have not seen the page of their last change. wrong: pages of another change than asked for. refused: changes answered by a mistake.
    replaced: workers ended in the middle of a change, for another process to take their place.
    """

    times: Times
    sent: int
    overtaken: int
    lost: int
    wrong: int
    refused: dict[str, int]
    replaced: int
    memory: Memory


class Server(NamedTuple):
    """A lab in a process of its own."""

    host: str
    port: int
    process: int

    def post(self, address: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request."""
        answer: dict[str, Any] = json.loads(self._ask("POST", address, json.dumps(body)))
        return answer

    def run(self, state: dict[str, Any], client: str, number: int) -> dict[str, Any]:
        """Return the answer to a change; with "html", its page, when there is one."""
        answer = self.post("/run", {"state": state, "client": client, "number": number})
        if "result" in answer:
            answer["html"] = self._ask("GET", f"/page/{answer['result']['page']}", None).decode("utf-8")
        return answer

    def _ask(self, method: str, address: str, body: str | None) -> bytes:
        connection = HTTPConnection(self.host, self.port, timeout=PATIENCE)
        try:
            connection.request(method, address, body, {"Content-Type": "application/json"})
            return connection.getresponse().read()
        finally:
            connection.close()

    def resident(self) -> dict[int, int]:
        """Return the bytes resident of the server and of each process that it has started, by number; {} where the system cannot tell."""
        try:
            started = {child for task in Path(f"/proc/{self.process}/task").iterdir() for child in (task / "children").read_text().split()}
        except OSError:
            return {}
        return {process: _resident(process) for process in (self.process, *map(int, started))}


@contextmanager
def server() -> Iterator[Server]:
    """Start a lab on a free port of this computer, with its workers warm; end it afterwards. Raises UserError."""
    with subprocess.Popen(COMMAND, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            if not said.startswith("lab: "):
                raise UserError("the lab did not start", hint="simtlab lab says why")
            address = urlsplit(said.split()[1])
            found = Server(address.hostname or "", address.port or 0, process.pid)
            states = [keystroke(exercise, 0) for exercise in load().values()]
            with ThreadPoolExecutor(WORKERS) as pool:  # both workers have every exercise behind them
                for _ in range(2):
                    list(pool.map(lambda k: _page(found, states[k // WORKERS], f"warm {k}", 0), range(WORKERS * len(states))))
            yield found
        finally:
            process.terminate()


def keystroke(exercise: Exercise, number: int, name: str = "exercise") -> dict[str, Any]:
    """Return an exercise after a keystroke: another comment at its end. name: what its page is called."""
    state: State = exercise.state()
    return state.model_copy(update={"name": name, "listing": f"{state.listing}# {number}\n"}).model_dump()


def answers(repeats: int = 20) -> dict[str, Times]:
    """Return how long changes take, by exercise, with one client."""
    with server() as found:
        return {
            name: Times(sorted(_timed(found, keystroke(one, number), name, number) for number in range(1, repeats + 1)))
            for name, one in load().items()
        }


def _timed(found: Server, state: dict[str, Any], client: str, number: int) -> float:
    began = time.perf_counter()
    _page(found, state, client, number)
    return time.perf_counter() - began


def _page(found: Server, state: dict[str, Any], client: str, number: int) -> None:
    """Ask for a page. Raises UserError when there is none: a mistake is answered faster than a run."""
    answer = found.run(state, client, number)
    if "result" not in answer:
        raise UserError(answer.get("error", {}).get("text", "a lone change was taken for overtaken"))


def load_test(students: Students) -> Load:
    """Return what a class found on one server."""
    with server() as found:
        return _Class(found, students).run()


class _Class:
    """A load test that runs, and what it has found so far."""

    def __init__(self, found: Server, students: Students) -> None:
        self.server, self.students = found, students
        self.exercises = list(load().values())
        self.lock = threading.Lock()
        self.times: list[float] = []
        self.sent = self.overtaken = self.lost = self.wrong = 0
        self.refused: dict[str, int] = {}
        self.samples: list[dict[int, int]] = []

    def run(self) -> Load:
        students, ended = self.students, threading.Event()
        watch = threading.Thread(target=self._watch, args=(ended,))
        watch.start()
        try:
            with ThreadPoolExecutor(students.at_once) as pool:
                list(pool.map(self._session, range(students.sessions)))
        finally:
            ended.set()
            watch.join()
        replaced = len({process for sample in self.samples for process in sample} - self.samples[0].keys())
        counts = self.sent, self.overtaken, self.lost, self.wrong, self.refused, replaced
        return Load(Times(sorted(self.times)), *counts, _memory(self.samples, self.server.process))

    def _session(self, number: int) -> None:
        """A student's session: changes one after the other, whether the one before is answered or not."""
        if number < self.students.at_once:  # they do not all begin at the same moment
            time.sleep(self.students.pause * number / self.students.at_once)
        exercise = self.exercises[number % len(self.exercises)]
        seen = []
        with ThreadPoolExecutor(BROWSER) as browser:
            for sent in range(self.students.changes):
                seen.append(browser.submit(self._change, exercise, f"student-{number}", sent))
                time.sleep(self.students.pause)
        with self.lock:
            self.sent += len(seen)
            self.lost += not seen[-1].result()

    def _change(self, exercise: Exercise, client: str, number: int) -> bool:
        """Send a change, and return whether its page came."""
        name, began = f"{client}.{number}", time.perf_counter()
        try:
            answer = self.server.run(keystroke(exercise, number, name), client, number)
        except (OSError, ValueError) as error:
            answer = {"error": {"text": str(error)}}
        taken = time.perf_counter() - began
        with self.lock:
            if "result" in answer:
                self.times.append(taken)
                self.wrong += f"<h1>{name} on " not in answer["html"]
            elif answer.get("overtaken"):
                self.overtaken += 1
            else:
                text = str(answer["error"]["text"])
                self.refused[text] = self.refused.get(text, 0) + 1
        return "result" in answer

    def _watch(self, ended: threading.Event) -> None:
        while True:
            self.samples.append(self.server.resident())
            if ended.wait(SAMPLE):
                return


def _memory(samples: list[dict[int, int]], process: int) -> Memory:
    """Return the largest of samples of resident bytes. process: of the server; the others are its workers."""
    half = len(samples) // 2
    halves = samples[: half or 1], samples[half:]
    server = [max(sample.get(process, 0) for sample in part) for part in halves]
    workers = [max(sum(sample.values()) - sample.get(process, 0) for sample in part) for part in halves]
    return Memory((server[0], server[1]), (workers[0], workers[1]))


def _resident(process: int) -> int:
    """Return the bytes of a process that are in memory; 0 when it has ended."""
    try:
        text = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in text.splitlines() if line.startswith("VmRSS:")), 0)
