"""What tables say of a program alone: found once, for all GPUs that it runs on."""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from isa.program import Program
from isa.vocabulary import Operation
from sim.lowering.constant_lines import ConstantLines, constant_lines
from sim.lowering.control_words import counter_table, dense_columns
from sim.lowering.ports import is_uniform, needs_no_pipe
from sim.lowering.register_ports import alike, port_registers
from sim.traces.trace import logged

T = TypeVar("T")
MOST = 128  # programs


class PerProgram(Generic[T]):
    """What is made of a program once, kept for the `most` that were asked for last.

    By identity, so they are kept alive meanwhile, and their arrays are made read-only: what was made would not follow a change.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.making = Lock()  # threads of a sensitivity analysis ask at once
        self.found: dict[Hashable, tuple[Program, T]] = {}

    def get(self, program: Program, more: Hashable, make: Callable[[], T]) -> T:
        """Return what belongs to a program, and to what else it depends on; it is made when first asked for."""
        key = (id(program), more)
        with self.making:
            known = self.found.pop(key, None) or (_frozen(program), make())
            self.found[key] = known  # behind all others: the first is the one to go
            if len(self.found) > self.most:
                self.found.pop(next(iter(self.found)))
            return known[1]


def _frozen(program: Program) -> Program:
    for array in (*program.encoded, *(program.control or ())):
        array.flags.writeable = False
    return program


class Listing(NamedTuple):
    """A program as tables; n instructions. Dependences are renumbered 0..dependences-1."""

    constants: ConstantLines
    logged: np.ndarray  # bool [n] the trace has its addresses
    first: np.ndarray  # int64 [kinds] the first instruction of each kind: of one kind are those that a GPU's numbers cannot tell apart
    kind: np.ndarray  # int64 [n]
    dependences: int
    needs: np.ndarray  # int16 [n, *] those read (RAW), then those written (WAW); -1 padded
    writes: np.ndarray  # int16 [n, *]
    results: np.ndarray  # int64 [n] how many it writes
    counters: np.ndarray  # int16 [n, *] dependence counters that it waits for, -1 padded; none without control words
    sources: np.ndarray  # int16 [n, SOURCES, 2] registers of the word's fields that go through the ports of the banks; -1 = none


_listings = PerProgram[Listing](MOST)


def listing(program: Program) -> Listing:
    """Return what tables say of a program alone."""
    return _listings.get(program, None, lambda: _listing(program))


def _listing(program: Program) -> Listing:
    encoded = program.encoded
    used = np.setdiff1d(np.concatenate([encoded.reads.ravel(), encoded.writes.ravel()]), -1)
    number = np.full(int(used.max(initial=0)) + 1, -1, np.int16)
    number[used] = np.arange(len(used))
    writes = dense_columns(encoded.writes, number)
    results = (writes >= 0).sum(axis=1)
    first, kind = alike(
        *(encoded.operation, encoded.unit, encoded.function, encoded.flags, encoded.combine),
        *(encoded.space, encoded.width, encoded.cache, results),
        np.where(encoded.operation == Operation.BAR, encoded.address_offset, 0),
        encoded.address_register >= 0,
        np.array([(needs_no_pipe(program, i), is_uniform(program, i)) for i in range(len(program))], bool),
    )
    counters = counter_table(program) if program.control is not None else np.full((len(program), 1), -1, np.int16)
    return Listing(
        constants=constant_lines(program),
        logged=logged(program),
        first=first,
        kind=kind,
        dependences=max(1, len(used)),
        needs=dense_columns(np.concatenate([encoded.reads, encoded.writes], axis=1), number),
        writes=writes,
        results=results,
        counters=np.ascontiguousarray(counters[:, : max(1, int((counters >= 0).sum(axis=1).max(initial=0)))]),
        sources=np.ascontiguousarray(port_registers(program)),
    )
