"""Functions that a driver brings and compiled code calls by `CALL.ABS`: printf, assert, malloc and free.

The kernel stops at the call (`Status.CALLS`), the function is done here for each lane, lane after lane, and the kernel goes on behind it.
The convention, as compilers for sm_75 to sm_121 follow it: arguments from R4 on, pairs at even registers, the result in R4 and R5;
`vprintf` gets the format and the address of its arguments, which stand in local memory, each at a multiple of its size.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from isa.errors import UserError
from sim.functional.checks import lanes, where
from sim.functional.heap import Heap
from sim.functional.printf import formatted
from sim.functional.state import (
    CONSTANT_WINDOW,
    DRIVER_WINDOW,
    FULL,
    LANES,
    LOCAL_BYTES,
    LOCAL_WINDOW,
    SHARED_WINDOW,
    WINDOW_BITS,
    Code,
    Memory,
    Report,
)
from sim.functional.translation import as_seen
from sim.launch.launch import Launch
from sim.launch.placement import Places

if TYPE_CHECKING:
    from sim.functional.making import Place

ARGUMENT = 4  # the first register of arguments
MOST_PRINTED = 1 << 20  # bytes, as CUDA's buffer has by default; here the first ones are kept
MOST_TEXT = 1 << 16  # bytes of one string
MOST_LINES = 20  # of what was printed before a mistake
USER_BANK = 3  # of __constant__ variables
NULL_FORMAT = -1  # what vprintf returns for no format


class Driver:
    """What a launch's calls have done so far. printed: the first MOST_PRINTED bytes of `printf`; left_out: how many more there were."""

    def __init__(self, launch: Launch, places: Places, code: Code) -> None:
        self.launch, self.places, self.code = launch, places, code
        self.names = [name for _, name in launch.program.driver_functions]
        self.printed, self.left_out = bytearray(), 0
        self.heap = Heap(*places.heap) if places.heap else None
        self.known: dict[str, Callable[[_Call], None]] = {
            "vprintf": self._print,
            "malloc": self._malloc,
            "free": self._free,
            "__assertfail": self._assert,
        }

    def call(self, place: "Place") -> None:
        """Make the call at which the running warp stands. Raises UserError for an assertion that fails, and for a function not known."""
        call = _Call(self.code, place)
        for lane in call.lanes:
            call.lane = lane
            place.progress.report[Report.LANE] = lane
            address = call.pair(int(self.code.operand[call.i, 0]))
            k = address & FULL
            if address >> WINDOW_BITS != DRIVER_WINDOW or k >= len(self.names):
                hint = "which function it is says a cubin's relocations: give the cubin, or the .cu file"
                raise self._mistake(call, f"call of a function at {address:#x}, which the listing does not hold", hint)
            if self.names[k] not in self.known:
                hint = f"of the functions that a driver brings, {', '.join(self.known)} are known"
                raise self._mistake(call, f"call of {self.names[k]}, which the driver brings and which is not modelled", hint)
            self.known[self.names[k]](call)
        place.progress.called[0] = 1

    def text(self) -> str:
        """Return what was printed, and how much of it is left out."""
        more = f"\n[{self.left_out:,} more bytes of printf are left out]\n" if self.left_out else ""
        return self.printed.decode("utf-8", "replace") + more

    def with_printed(self, error: UserError) -> UserError:
        """Return a mistake that ended a run with what was printed last."""
        if self.printed:
            latest = self.text().splitlines()[-MOST_LINES:]
            error.hint = "\n  ".join([error.hint, "printed before:", *(f"  {line}" for line in latest)])
        return error

    def _print(self, call: "_Call") -> None:
        template, at = call.pair(ARGUMENT), call.pair(ARGUMENT + 2)
        if template == 0:
            call.set(ARGUMENT, NULL_FORMAT)
            return

        def take(size: int) -> bytes:
            nonlocal at
            at = -(-at // size) * size + size
            found = call.bytes_at(at - size, size)
            if len(found) < size:
                message = f"an argument of printf() is at {at - size:#x}, where no memory is"
                raise self._mistake(call, message, "the format has more conversions than the call has arguments")
            return found

        def text(address: int) -> bytes:
            return self._text(call, address, "a string of printf()")

        written, count = formatted(self._text(call, template, "the format of printf()"), take, text)
        kept = written[: MOST_PRINTED - len(self.printed)]
        self.printed += kept
        self.left_out += len(written) - len(kept)
        call.set(ARGUMENT, count)

    def _malloc(self, call: "_Call") -> None:
        assert self.heap is not None
        address = self.heap.take(call.pair(ARGUMENT))
        call.set(ARGUMENT, address)
        call.set(ARGUMENT + 1, address >> 32)

    def _free(self, call: "_Call") -> None:
        assert self.heap is not None
        address = call.pair(ARGUMENT)
        if wrong := self.heap.give(address):
            raise self._mistake(call, f"free() of {address:#x}, which {wrong}", "free once what malloc() returned")

    def _assert(self, call: "_Call") -> None:
        what, file, function = (self._text(call, call.pair(k), "a text of assert()").decode("utf-8", "replace") for k in (4, 6, 10))
        others = call.mask & ~(1 << call.lane)
        also = f", with {lanes(others)} of its warp" if others else ""
        message = f"assertion failed: {what}\n  {file}:{call.word(8)}, {function}"
        raise self._mistake(call, message, f"the first thread that comes here{also}")

    def _mistake(self, call: "_Call", message: str, hint: str) -> UserError:
        program = self.launch.program
        here = where(self.launch, call.place.machine, call.place.progress)
        return UserError(f"{message}\n  {here}", path=program.path, line=program.instructions[call.i].line, hint=hint)

    def _text(self, call: "_Call", address: int, what: str) -> bytes:
        """Return the string at an address, of MOST_TEXT bytes at most."""
        found = bytearray()
        while b"\0" not in found and len(found) < MOST_TEXT:
            found += self._bytes(call, address + len(found), 64, what)
        return bytes(found.partition(b"\0")[0])

    def _bytes(self, call: "_Call", address: int, count: int, what: str) -> bytes:
        """Return up to `count` bytes at a generic address: fewer where the memory ends. Raises UserError where nothing lies."""
        found = call.bytes_at(address, count)
        if not found:
            raise self._mistake(call, f"{what} is at {address:#x}, where no memory is", "pass a string that ends with a zero byte")
        return found


class _Call:
    """One call of a warp; lane: the lane whose turn it is."""

    def __init__(self, code: Code, place: "Place") -> None:
        machine, w = place.machine, int(place.progress.warp[0])
        self.place, self.w, self.i = place, w, int(machine.pc[w])
        self.mask = int(machine.active[w] & (machine.predicates[w, code.guard[self.i]] ^ code.guard_flip[self.i]))
        self.lanes = [lane for lane in range(LANES) if self.mask >> lane & 1]
        self.lane = -1
        self.rows = machine.rows[machine.base + w * code.registers :][: code.registers]
        place.progress.report[Report.WARP], place.progress.report[Report.INSTRUCTION] = w, self.i

    def word(self, register: int) -> int:
        """Return a register of the lane."""
        return int(self.rows[register, self.lane])

    def pair(self, register: int) -> int:
        """Return two registers of the lane, 64 bits."""
        return self.word(register) | self.word(register + 1) << 32

    def set(self, register: int, value: int) -> None:
        """Write a register of the lane."""
        self.rows[register, self.lane] = value & FULL

    def bytes_at(self, address: int, count: int) -> bytes:
        """Return up to `count` bytes at a generic address of the lane."""
        memory, (window, offset) = self.place.memory, (address >> WINDOW_BITS, address & FULL)
        if window == SHARED_WINDOW:
            return memory.shared.view(np.uint8)[: memory.shared_bytes][offset : offset + count].tobytes()
        if window == LOCAL_WINDOW and memory.local.size:
            at = np.arange(offset, min(offset + count, LOCAL_BYTES))
            word = (self.w * (LOCAL_BYTES // 4) + (at >> 2)) * LANES + self.lane
            return memory.local.view(np.uint8)[4 * word + (at & 3)].tobytes()
        if window == CONSTANT_WINDOW and memory.bank_bytes.size > USER_BANK:
            first = 4 * int(memory.bank_start[USER_BANK])
            end = first + int(memory.bank_bytes[USER_BANK])
            return memory.constants.view(np.uint8)[first + offset : min(first + offset + count, end)].tobytes()
        return global_bytes(memory, address, count)


def global_bytes(memory: Memory, address: int, count: int) -> bytes:
    """Return up to `count` bytes of an array at an address as the program has it; none where no array lies."""
    for start, end in zip(memory.start.tolist(), memory.end.tolist(), strict=True):
        seen = as_seen(start, memory) if memory.seen.size else start
        if seen <= address < seen + end - start:
            first = start + address - seen - memory.base
            return memory.words.view(np.uint8)[first : min(first + count, end - memory.base)].tobytes()
    return b""
