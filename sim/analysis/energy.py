"""An estimate of a run's energy: how often things happened, times what a published table says that each takes.

The sum is of dynamic energy of the events that the table has, on the chip and in the technology of the table, whatever GPU is simulated.
It leaves out leakage, clocks, idle lanes and SMs, and every instruction that the table lacks, which are named. So it compares versions of a
kernel by what they move and compute; it is no power meter.
"""

from collections import Counter
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import Field, ValidationError

from isa.errors import UserError, read_toml
from isa.vocabulary import Operation
from sim.gpus.fields import nearest, user_error
from sim.gpus.path import SECTOR
from sim.gpus.section import Section
from sim.lowering.memory import GEOMETRY
from sim.result.result import Result

FOLDER = Path(__file__).parent / "energies"
Picojoules = Annotated[float, Field(ge=0)]


class Moved(Section):
    """What it takes to move a bit. Absent: it is not counted."""

    shared: Picojoules | None = Field(
        default=None, description="between registers and shared memory, whole passes over the banks, pJ per bit"
    )
    l1: Picojoules | None = Field(default=None, description="between registers and L1, sectors looked up, pJ per bit")
    l2: Picojoules | None = Field(default=None, description="between an SM and L2, sectors read and written, pJ per bit")
    dram: Picojoules | None = Field(default=None, description="between L2 and DRAM, pJ per bit")


class Energies(Section):
    """A table of published energies."""

    title: str = Field(description="of what chip or circuit they are")
    node: str = Field(description="its technology")
    source: str = Field(description="where they are published")
    note: str = Field(default="", description="what a reader must know before trusting a number")
    instructions: dict[str, Picojoules] = Field(description="operation -> pJ per thread that executes it")
    alike: dict[str, str] = Field(default_factory=dict, description="operation -> the one of the table that it is counted as")
    moved: Moved = Moved()


class Event(NamedTuple):
    """What happened so often, and took that much."""

    name: str
    times: float
    unit: str  # of what is counted
    picojoules: float  # each

    @property
    def joules(self) -> float:
        """All of them together."""
        return self.times * self.picojoules * 1e-12


class Energy(NamedTuple):
    """The estimate for one run."""

    table: Energies
    events: tuple[Event, ...]
    uncounted: dict[str, int]  # operation -> thread instructions for which the table has no number; not accesses, which count by their bits

    @property
    def joules(self) -> float:
        """The sum over the events."""
        return sum(event.joules for event in self.events)

    @property
    def counted(self) -> float:
        """The share of the thread instructions executed, accesses apart, that the table has, 0 to 1."""
        have = sum(event.times for event in self.events if event.unit == THREADS)
        return have / all_ if (all_ := have + sum(self.uncounted.values())) else 1.0

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as plain values, ready for JSON."""
        events = [event._asdict() | {"joules": event.joules} for event in self.events]
        label = {name: getattr(self.table, name) for name in ("title", "node", "source", "note")}
        return {"estimate_of": label, "joules": self.joules, "events": events, "uncounted_thread_instructions": self.uncounted}


THREADS, BITS = "thread instructions", "bits"
BY_DATA = ("LOAD", "STORE", "ATOM")  # counted by the bits that they move


def names() -> tuple[str, ...]:
    """Return the names of the tables that come with the simulator."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def load(name: str) -> Energies:
    """Return a table by name, or that of a TOML file. Raises UserError for a name, file, field, operation or number that cannot be."""
    path = FOLDER / f"{name}.toml" if name in names() else Path(name)
    if not path.is_file():
        raise UserError(f"no table of energies is called '{name}'", hint=f"there are {', '.join(names())}; or give a .toml file")
    table = read_toml(path)
    try:
        found = Energies.model_validate(table)
    except ValidationError as error:
        raise user_error(error, Energies, table, str(path)) from None
    for operation in (*found.instructions, *found.alike):
        if operation not in Operation.__members__:
            near = nearest(operation, Operation.__members__)
            raise UserError(f"no operation is called {operation}", path=str(path), hint=f"did you mean {near}?" if near else "")
    for operation, other in found.alike.items():
        if other not in found.instructions:
            raise UserError(f"alike.{operation} = '{other}' has no number in [instructions]", path=str(path))
    return found


def energy(result: Result, table: Energies) -> Energy:
    """Return the estimate for a run that has its trace (`sim.run` and `sim.simulate` give it). Raises UserError for one that has not."""
    if result.trace is None:
        raise UserError("this result came without its trace", hint="take one that sim.run or sim.simulate has returned in this process")
    executed: Counter[str] = Counter()
    for operation, threads in zip(result.program.encoded.operation, result.trace.true_lanes, strict=True):
        executed[Operation(operation).name] += int(threads)
    counted: Counter[str] = Counter()
    uncounted: Counter[str] = Counter()
    for name, threads in executed.items():
        alike = table.alike.get(name, name)
        if alike in table.instructions:
            counted[alike] += threads
        elif alike not in BY_DATA:
            uncounted[alike] += threads
    events = [Event(name, threads, THREADS, table.instructions[name]) for name, threads in counted.items() if threads]
    moved = [
        Event(name, bits, BITS, each) for name, bits in _bits(result).items() if bits and (each := getattr(table.moved, name)) is not None
    ]
    order = sorted(events, key=lambda event: -event.joules)
    return Energy(table, (*order, *moved), {name: threads for name, threads in uncounted.most_common() if threads})


def _bits(result: Result) -> dict[str, float]:
    """Return the bits that moved at each level; nothing without a model of memory."""
    gpu, counters = result.gpu, result.counters
    if gpu.memory.kind != "hierarchy":
        return {}
    return {
        "shared": 8 * GEOMETRY[gpu.shared.rule][1] * counters["shared_wavefronts"],
        "l1": 8 * SECTOR * counters["l1_sectors"],
        "l2": 8 * SECTOR * (counters["l2_sectors_read"] + counters["l2_sectors_written"]),
        "dram": 8 * (counters["dram_bytes_read"] + counters["dram_bytes_written"]),
    }
