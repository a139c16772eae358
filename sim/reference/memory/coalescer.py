"""Coalescer: the addresses of a warp's lanes -> requests, each some 32-byte sectors of one 128-byte line.

Three rules. Fermi and later: one request per line that the warp touches (CUDA C Programming Guide, compute capability 3.x, global
memory). CC 1.2 and 1.3: per half-warp, segments that shrink to what is used. CC 1.0 and 1.1: per half-warp one segment if its
lanes are in order, else one transaction per lane (Guide 4.2, G.3.2).
"""

from collections import Counter
from dataclasses import dataclass, field

from sim.gpus.path import LINE, SECTOR
from sim.lowering.memory import LOCAL_BASE, local_row

WORD = 4  # bytes
HALF = 16  # lanes of a half-warp
Addresses = dict[int, int]  # byte address by lane; lanes that take no part are absent


@dataclass
class Request:
    """What one access wants of one line."""

    line: int  # address / 128
    sectors: set[int] = field(default_factory=set)  # 0-3
    words: set[int] = field(default_factory=set)  # 0-31, touched by a lane

    def add(self, address: int, width: int) -> None:
        """Add what one lane touches; part of a word counts as the word."""
        offset = address % LINE
        self.sectors.add(offset // SECTOR)
        self.words |= set(range(offset // WORD, offset // WORD + max(width // WORD, 1)))


def coalesce(rule: str, addresses: Addresses, width: int) -> list[Request]:
    """Return the requests of an access to global memory, in the order in which they leave."""
    if rule == "sectors":
        return by_lines(addresses, width)
    halves = [{lane: at for lane, at in addresses.items() if lane // HALF == half} for half in range(2)]
    by_half = by_segments if rule == "cc12" else by_order
    return [request for half in halves if half for request in by_half(half, width)]


def by_lines(addresses: Addresses, width: int) -> list[Request]:
    """Return one request per line, in the order in which the lanes touch them first."""
    requests: dict[int, Request] = {}
    for address in addresses.values():
        requests.setdefault(address // LINE, Request(address // LINE)).add(address, width)
    return list(requests.values())


def by_segments(left: Addresses, width: int) -> list[Request]:
    """Return the segments of a half-warp: that of the lowest lane left, for all lanes in it, until none is left."""
    size = {1: 32, 2: 64}.get(width, 128)
    requests = []
    while left:
        segment = left[min(left)] // size
        request = Request(segment * size // LINE)
        for address in left.values():
            if address // size == segment:
                request.add(address, width)
        first = segment * size % LINE // SECTOR
        request.sectors = shrink(list(range(first, first + size // SECTOR)), request.sectors)
        requests.append(request)
        left = {lane: address for lane, address in left.items() if address // size != segment}
    return requests


def shrink(segment: list[int], used: set[int]) -> set[int]:
    """Return the sectors of the smallest aligned half, or quarter, of a segment that holds the used ones."""
    middle = len(segment) // 2
    for half in (segment[:middle], segment[middle:]):
        if middle and used <= set(half):
            return shrink(half, used)
    return set(segment)


def by_order(addresses: Addresses, width: int) -> list[Request]:
    """Return whole segments if lane k of a half-warp accesses element k of an aligned row, else one request per lane."""
    first = min(addresses)
    start = addresses[first] - first % HALF * width
    in_order = all(address == start + lane % HALF * width for lane, address in addresses.items())
    if width >= WORD and start % (HALF * width) == 0 and in_order:
        return by_lines({lane: start + lane * width for lane in range(HALF)}, width)
    requests = []
    for address in addresses.values():
        requests.append(Request(address // LINE))
        requests[-1].add(address, width)
    return requests


def packets(addresses: Addresses, requests: list[Request]) -> list[int]:
    """Return how many packets each request of an atomic is: of a sector, as many as lanes want its most wanted word."""
    most: Counter[int] = Counter()
    for word, lanes in Counter(address // WORD for address in addresses.values()).items():
        sector = word * WORD // SECTOR
        most[sector] = max(most[sector], lanes)
    sectors = LINE // SECTOR
    return [sum(most[request.line * sectors + sector] for sector in range(sectors)) for request in requests]


def local(addresses: Addresses, width: int, slot: int, lanes: int) -> list[Request]:
    """Return the requests of an access to local memory, where the same word of a warp's lanes is one row: a line where 32 have one.

    addresses: within a thread's local memory. slot: of the warp, numbered over the chip.
    """
    requests: dict[int, Request] = {}
    for lane, address in addresses.items():
        for word in range(max(width // WORD, 1)):
            place = LOCAL_BASE + WORD * (local_row(slot, address // WORD + word) * lanes + lane)
            requests.setdefault(place // LINE, Request(place // LINE)).add(place, WORD)
    return list(requests.values())
