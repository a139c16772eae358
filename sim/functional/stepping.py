"""What every warp's registers and predicates, and its block's shared memory, hold after each instruction: for small programs, to be
looked at step by step.

The kernel knows nothing of it. It returns when a warp's log is full; here the log is full after one instruction, and is emptied
each time, so that the kernel executes one instruction per call. That costs some 70 us each, hence the limit. The trace of such an
execution is not one to be timed: paths are lost with the log.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from isa.dependences import name
from isa.errors import UserError
from isa.vocabulary import PREDICATE_BASE, UNIFORM_BASE, UNIFORM_PREDICATE_BASE, UP0
from sim.functional.code import first_uniform
from sim.functional.execute import execute
from sim.functional.growth import ROOM
from sim.functional.making import Place
from sim.functional.state import Status
from sim.functional.turns import Turns
from sim.launch.launch import Launch

MOST_STEPS = 20_000  # warp instructions of a launch: about a second
PREDICATES = (*range(7), *range(8, 15))  # columns of Machine.predicates; 7 is PT


class Step(NamedTuple):
    """What one instruction of a warp changed.

    issued: how many instructions the warp has executed with this one. registers: name -> uint32 [32], a word per lane. predicates:
    name -> mask of the lanes in which it is true. active: the lanes that go on together afterwards. shared: word of the block's shared
    memory -> uint32 now there. order: the instructions that its block had executed with this one.
    """

    issued: int
    registers: dict[str, np.ndarray]
    predicates: dict[str, int]
    active: int
    shared: dict[int, int]
    order: int


def steps(launch: Launch, most: int = MOST_STEPS) -> dict[tuple[int, int], list[Step]]:
    """Execute a launch instruction by instruction; return the steps of each warp by (block, warp).

    The first step of a warp holds all that it starts with, and `issued` 0; the others what changed. Words of shared memory, zero at
    first, are there when something else comes to stand in them; a copy into it counts where its instruction begins it. What a warp's last
    instruction changes is not recorded: it is an EXIT. The caller's arrays stay as they are. Raises UserError for mistakes of the
    program, and for one of more than `most` warp instructions.
    """

    found: dict[tuple[int, int], list[Step]] = {}
    arrays = {id(one): one.copy() for one in launch.args if isinstance(one, np.ndarray)}
    copied = replace(launch, args=tuple(arrays.get(id(one), one) for one in launch.args))
    execute(copied, runner=lambda *given: _Recorder(*given, most=most, found=found))
    return found


class _Recorder(Turns):
    """Lets the kernel execute one instruction at a time, and looks at the warp each time."""

    def __init__(self, *given: Any, most: int, found: dict[tuple[int, int], list[Step]]) -> None:
        super().__init__(*given)
        self.left, self.found = most, found
        self.before: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}  # rows and predicates after the latest step
        self.shared: dict[int, np.ndarray] = {}  # by block, after the latest step
        self.order: dict[int, int] = {}

    def _run(self, place: Place) -> tuple[int, Place]:
        rows = place.log.instruction.shape[0]
        narrow = {field: np.zeros((rows, ROOM + 1), getattr(place.log, field).dtype) for field in ("instruction", "mask")}
        return super()._run(place._replace(log=place.log._replace(**narrow)))

    def _with_room(self, status: int, place: Place) -> Place:
        if status != Status.LOG_FULL:
            return super()._with_room(status, place)
        self._note(place)
        return place

    def _note(self, place: Place) -> None:
        """Note what the warp that runs has changed, and empty its log; the clock goes on as if it had not been."""
        block, w = int(place.progress.block[0]), int(place.progress.warp[0])
        machine, log = place.machine, place.log
        executed, log.length[w], log.accesses[w] = int(log.length[w]), 0, 0
        place.progress.clock[0] += executed
        self.left -= executed
        if self.left < 0:
            raise UserError(
                "the program is too long to be followed register by register",
                hint="launch fewer blocks or warps, or let its loops run fewer times",
            )
        first = machine.base + w * self.code.registers
        rows, predicates = machine.rows[first : first + self.code.registers].copy(), machine.predicates[w].copy()
        mine, nothing = self.found.setdefault((block, w), []), np.zeros_like(predicates)
        if not mine:
            mine.append(Step(0, *self._changes(machine.initial, nothing, None), int(machine.existing[w]), {}, 0))
        old = self.before.get((block, w), (machine.initial, nothing))
        self.before[block, w] = rows, predicates
        self.order[block] = self.order.get(block, 0) + executed
        changes, shared = self._changes(rows, predicates, old), self._stored(block, place.memory.shared)
        mine.append(Step(mine[-1].issued + executed, *changes, int(machine.active[w]), shared, self.order[block]))

    def _stored(self, block: int, now: np.ndarray) -> dict[int, int]:
        """Return the words of a block's shared memory that differ from those after the step before."""
        before = self.shared.setdefault(block, np.zeros_like(now))
        words = np.flatnonzero(now != before)
        before[words] = now[words]
        return dict(zip(words.tolist(), now[words].tolist(), strict=True))

    def _changes(
        self, rows: np.ndarray, predicates: np.ndarray, old: tuple[np.ndarray, np.ndarray] | None
    ) -> tuple[dict[str, np.ndarray], dict[str, int]]:
        """Return the registers and predicates that differ from old ones, all without them, by name."""
        uniform = first_uniform(self.launch)
        differ = range(len(rows)) if old is None else np.flatnonzero((rows != old[0]).any(axis=1)).tolist()
        registers = {name(row if row < uniform else row - uniform + UNIFORM_BASE): rows[row].copy() for row in differ}
        masks = {
            name(column + PREDICATE_BASE if column < UP0 else column - UP0 + UNIFORM_PREDICATE_BASE): int(predicates[column])
            for column in PREDICATES
            if old is None or predicates[column] != old[1][column]
        }
        return registers, masks
