"""Where the arrays of a launch lie in device memory.

The first array starts at 0x10000000; each further one at the next multiple of 4 KiB that leaves at least 4 KiB of nothing
in between, so that a near miss is seen. All of it is below 4 GiB: the high word of every address is 0 and low words are
distinct, and listings with 32-bit addresses run as well as those with 64-bit ones. Views of one array keep their places
to each other: what overlaps here overlaps there.
"""

import ctypes
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from isa.errors import UserError
from isa.program import Variable
from sim.launch.launch import Launch
from sim.launch.pages import PAGE, page_table
from sim.launch.pointers import BYTES, Pointer, check_order, check_pointer, from_device, reachable, to_device, values_of

BASE = 0x10000000
LIMIT = 1 << 32
GAP = 4096
# A `placement` leaves out fewer pieces of so many bytes, of which cudaMalloc's places are multiples, before the first array and each next
PIECE, FIRST_PIECES, NEXT_PIECES = 512, 8192, 32
VARIABLES = "__device__ variables"
HEAP, HEAP_BYTES = "device heap", 8 << 20  # what malloc() takes from, as large as CUDA makes it by default
ALLOCATORS = {"malloc", "free"}


class Placed(NamedTuple):
    """One array in device memory."""

    name: str
    array: np.ndarray
    address: int

    @property
    def end(self) -> int:
        return self.address + self.array.nbytes


class Places:
    """Device memory of a launch.

    items: every array that it reaches; of one that holds pointers, its bytes as the device has them. allocations: the same, what
    overlaps as one piece of memory; the last is that of the program's `__device__` variables, if it has any. seen: of a launch with
    memory at its addresses, the address of each allocation as the program has it; else none.
    """

    def __init__(self, launch: Launch) -> None:
        """Place the launch's arrays. Raises UserError for one that is not C-contiguous or does not fit, and for a symbol that is none."""
        self.program, self.symbols = launch.program, launch.symbols
        self._named = named_symbols(launch)
        self._arrays = reachable(values_of(launch))
        check_views(self._arrays)
        images = [np.zeros(array.nbytes, np.uint8) if array.dtype.hasobject else array for _, array in self._arrays]
        given = [(name, image) for (name, _), image in zip(self._arrays, images, strict=True)]
        if ALLOCATORS & {name for _, name in launch.program.driver_functions}:
            given.append((HEAP, np.zeros(HEAP_BYTES, np.uint8)))
        variables = launch.program.variables
        if variables is not None:
            given.append((VARIABLES, np.frombuffer(variables.image, np.uint8).copy()))
        self.items = place(given, launch.placement) if launch.parameters is None else place_at(launch.memory, given)
        self.allocations = merged(self.items)
        self.seen = [] if launch.parameters is None else seen(self.items, launch.memory)
        self._at = {
            name: int(value)
            for name, value in self.symbols.items()
            if launch.parameters is not None and isinstance(value, int | np.integer)
        }
        self._address = {id(array): item.address for (_, array), item in zip(self._arrays, self.items, strict=False)}
        for (name, array), image in zip(self._arrays, images, strict=True):
            if image is not array:
                image[:] = np.frombuffer(self.bytes_of(array, name), np.uint8)
                image.flags.writeable = array.flags.writeable
        if variables is not None:
            self._set_variables()

    @property
    def heap(self) -> tuple[int, int] | None:
        """The address as the program has it and the bytes of the heap, None for a program that asks for none."""
        addresses = self.seen or [item.address for item in self.items]
        return next(((address, HEAP_BYTES) for address, item in zip(addresses, self.items, strict=True) if item.name == HEAP), None)

    def address(self, value: Any, name: str = "") -> int:
        """Return the address that a pointer is: of an array, of a `Pointer`, 0 of None, an integer as it is. Raises UserError."""
        if isinstance(value, np.ndarray):
            return self._address[id(value)]
        if isinstance(value, Pointer):
            return (self._address[id(value.array)] + value.offset) % (1 << 64)
        check_pointer(value, name)
        return int(value or 0)

    def pointer(self, address: int) -> Any:
        """Return what an address points to: a `Pointer`, None for null, the number where nothing lies."""
        for (_, array), item in zip(self._arrays, self.items, strict=False):
            if item.address <= address < item.end:
                return Pointer(array, address - item.address)
        return address or None

    def bytes_of(self, value: Any, name: str) -> bytes:
        """Return an array or a structure as the device has it. Raises UserError for a pointer that is none, and for swapped bytes."""
        check_order(value.dtype, name)
        if not value.dtype.hasobject:
            return np.asarray(value).tobytes()
        return to_device(value, lambda element: self.address(element, name)).tobytes()

    def variable(self, where: int) -> int:
        """Return the address of a byte of the program's `__device__` variables: that of a symbol which has one of its own, or ours."""
        for one in self._named:
            if one.bank is None and one.name in self._at and one.offset <= where <= one.offset + one.size:
                return self._at[one.name] + where - one.offset
        return (self.seen[-1] if self.seen else self.items[-1].address) + where

    def constant_symbols(self) -> list[tuple[Variable, bytes]]:
        """Return the `__constant__` variables that the launch sets, and to what."""
        given = [one for one in self._named if one.bank is not None and one.name not in self._at]
        return [(variable, self._symbol(variable)) for variable in given]

    def finish(self) -> None:
        """Bring arrays with pointers and the launch's symbols up to date, after device memory has been copied back."""
        for (name, array), item in zip(self._arrays, self.items, strict=False):
            if item.array is not array and array.flags.writeable:
                self._update(array, item.array, name)
        for variable in self._named:
            array = self.symbols[variable.name]
            if variable.bank is None and isinstance(array, np.ndarray) and array.flags.writeable:
                memory = self.items[-1].array
                self._update(array, memory[variable.offset : variable.offset + array.nbytes], variable.name)

    def _update(self, array: np.ndarray, memory: np.ndarray, name: str) -> None:
        from_device(array, memory.copy(), lambda element: self.address(element, name), self.pointer)

    def _set_variables(self) -> None:
        memory, variables = self.items[-1].array, self.program.variables
        assert variables is not None
        for offset, where in variables.pointers:
            memory[offset : offset + BYTES] = np.frombuffer(self.variable(where).to_bytes(BYTES, "little"), np.uint8)
        for variable in self._named:
            if variable.bank is None and variable.name not in self._at:
                data = self._symbol(variable)
                memory[variable.offset : variable.offset + len(data)] = np.frombuffer(data, np.uint8)

    def _symbol(self, variable: Variable) -> bytes:
        value = self.symbols[variable.name]
        if value is not None and not isinstance(value, np.generic | np.ndarray | Pointer):
            message = f"symbol {variable.name} is set to {type(value).__name__} {value}, whose size nothing says"
            raise UserError(
                message, path=self.program.path, hint="give a NumPy array or scalar of the variable's type, sim.Pointer or None"
            )
        data = self.bytes_of(np.asarray(value), variable.name)
        if len(data) > variable.size:
            raise UserError(f"symbol {variable.name} has {variable.size} bytes; {len(data)} were given", path=self.program.path)
        return data


def named_symbols(launch: Launch) -> list[Variable]:
    """Return the variables of the program that `launch.symbols` names. Raises UserError for a name that the program does not have."""
    known = {variable.name: variable for variable in launch.program.symbols}
    unknown = [name for name in launch.symbols if name not in known]
    if unknown:
        hint = f"its variables: {', '.join(known)}" if known else "a listing names none: give the cubin, or the .cu file"
        raise UserError(f"kernel {launch.program.name} has no variable {unknown[0]}", path=launch.program.path, hint=hint)
    return [known[name] for name in launch.symbols]


def place_at(memory: dict[int, np.ndarray], others: list[tuple[str, np.ndarray]]) -> list[Placed]:
    """Return memory at its addresses in ascending order, by pages, and other arrays behind it. Raises UserError."""
    places = page_table(memory, BASE, LIMIT)
    found = [Placed(f"memory {address:#x}", memory[address], places[address]) for address in sorted(memory)]
    free = max((-(-item.end // PAGE) * PAGE for item in found), default=BASE)
    for name, array in others:
        found.append(Placed(name, array, free))
        free += -(-(array.nbytes + GAP) // GAP) * GAP
    return found


def seen(items: list[Placed], memory: dict[int, np.ndarray]) -> list[int]:
    """Return each item's address as the program has it: that of memory, and behind it those that nobody gave one."""
    given = sorted(memory)
    behind = (-(-(given[-1] + memory[given[-1]].nbytes) // PAGE) + 1) * PAGE if given else BASE
    return [*given, *(behind + item.address - items[len(given)].address for item in items[len(given) :])]


def place(arrays: list[tuple[str, np.ndarray]], placement: int = 0) -> list[Placed]:
    """Return an address for each array; views that overlap keep their places to each other. placement: of `Launch`.

    Raises UserError for an array that is not C-contiguous, has swapped bytes or does not fit below 4 GiB.
    """
    for name, array in arrays:
        check_order(array.dtype, f"argument {name}")
        if not array.flags.c_contiguous:
            raise UserError(
                f"argument {name}: the array is not C-contiguous", hint="pass np.ascontiguousarray(array) and copy the result back"
            )
    region, addresses, free = host_regions([array for _, array in arrays]), {}, BASE
    most = [FIRST_PIECES, *[NEXT_PIECES] * (len(arrays) - 1)]
    pieces = iter(np.random.default_rng(placement).integers(0, most).tolist() if placement else [0] * len(arrays))
    for (name, _), (start, end) in zip(arrays, region, strict=True):
        if start not in addresses:
            free += PIECE * next(pieces)
            addresses[start] = free
            free = -(-(free + end - start + GAP) // GAP) * GAP
        if free > LIMIT:
            raise UserError(f"argument {name}: the arrays need {free - BASE:,} bytes; device memory here ends at {LIMIT - BASE:,}")
    return [
        Placed(name, array, addresses[start] + (array.ctypes.data - start if array.nbytes else 0))
        for (name, array), (start, _) in zip(arrays, region, strict=True)
    ]


def host_regions(arrays: list[np.ndarray]) -> list[tuple[int, int]]:
    """Return for each array the host's bytes [start, end) of all that overlap with it; of an empty one a place of its own."""
    found: list[tuple[int, int]] = [(-k - 1, -k - 1) for k in range(len(arrays))]
    order = sorted((array.ctypes.data, k) for k, array in enumerate(arrays) if array.nbytes)
    group: list[int] = []
    start = end = 0
    for data, k in order:
        if data >= end:
            group, start, end = [], data, data
        group.append(k)
        end = max(end, data + arrays[k].nbytes)
        for member in group:
            found[member] = (start, end)
    return found


def check_views(arrays: list[tuple[str, np.ndarray]]) -> None:
    """Raise UserError for an array of pointers that overlaps with another: the device would have them apart."""
    regions = host_regions([array for _, array in arrays])
    shared = Counter(regions)
    for (name, array), region in zip(arrays, regions, strict=True):
        if array.dtype.hasobject and shared[region] > 1:
            hint = "pass the whole array once, and sim.Pointer(array, bytes) for places in it"
            raise UserError(f"argument {name}: an array of pointers that overlaps with another array", hint=hint)


def merged(items: list[Placed]) -> list[Placed]:
    """Return one item for those that overlap: its array is the host's bytes from the first to the last, its name the names."""
    found: list[list[Placed]] = []
    for item in sorted(items, key=lambda item: (item.address, -item.end)):
        if found and item.address < max(other.end for other in found[-1]):
            found[-1].append(item)
        else:
            found.append([item])
    return [_whole(group) for group in found]


def _whole(group: list[Placed]) -> Placed:
    """Return items that overlap as one."""
    first, end = group[0], max(item.end for item in group)
    if first.end == end and (len(group) == 1 or first.array.flags.writeable or not any(item.array.flags.writeable for item in group)):
        return first
    size = end - first.address
    array = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(first.array.ctypes.data))
    array.flags.writeable = any(item.array.flags.writeable for item in group)
    return Placed(", ".join(dict.fromkeys(item.name for item in group)), array, first.address)


def lines_of(launch: Launch) -> np.ndarray:
    """Return the 128-byte lines of the launch's arrays, in order, each once (int64)."""
    spans = [np.arange(item.address >> 7, -(-item.end >> 7), dtype=np.int64) for item in Places(launch).allocations]
    return np.unique(np.concatenate(spans)) if spans else np.zeros(0, np.int64)
