"""The `__device__` variables of a cubin: what they hold at launch, and where their addresses are kept."""

from isa.program import Variable, Variables
from isa.sass.image import Image

INITIAL, ZERO = ".nv.global.init", ".nv.global"
ALIGNMENT = 256  # bytes, of each of the two sections
ADDRESS_BANK = 4  # c[0x4]: addresses of variables
CONSTANT_BANK = 3  # c[0x3]: __constant__ variables


def of_image(image: Image) -> Variables | None:
    """Return the variables of a cubin, None when it has none."""
    start, places = _memory(image)
    if not start:
        return None
    banks: list[tuple[int, int]] = []
    pointers: list[tuple[int, int]] = []
    for section_name, found in ((f".nv.constant{ADDRESS_BANK}", banks), (INITIAL, pointers)):
        for relocation in image.relocations.get(section_name, ()):
            symbol = image.symbols[relocation.symbol]
            if symbol.section in places:
                found.append((relocation.offset, places[symbol.section] + symbol.offset + relocation.addend))
    at = places.get(INITIAL, 0)
    return Variables(
        start,
        tuple((ADDRESS_BANK, offset, place) for offset, place in banks),
        tuple((at + offset, place) for offset, place in pointers),
    )


def driver_functions(image: Image) -> tuple[tuple[int, str], ...]:
    """Return the functions that a driver brings (vprintf, malloc, ...): the byte offset in c[0x4] of the address, and the name."""
    relocations = image.relocations.get(f".nv.constant{ADDRESS_BANK}", ())
    symbols = [(relocation.offset, image.symbols[relocation.symbol]) for relocation in relocations]
    return tuple(sorted((offset, symbol.name) for offset, symbol in symbols if not symbol.section and symbol.name))


def named(image: Image) -> tuple[Variable, ...]:
    """Return the `__constant__` and `__device__` variables of a cubin by name, in the order of its symbols."""
    places: dict[str, tuple[int | None, int]] = {name: (None, place) for name, place in _memory(image)[1].items()}
    places[f".nv.constant{CONSTANT_BANK}"] = (CONSTANT_BANK, 0)
    found = []
    for symbol in image.symbols:
        if symbol.section in places and symbol.size:
            bank, place = places[symbol.section]
            found.append(Variable(symbol.name, bank, place + symbol.offset, symbol.size))
    return tuple(found)


def _memory(image: Image) -> tuple[bytes, dict[str, int]]:
    """Return what the `__device__` variables hold at launch, and where each of the sections begins."""
    start, places = bytearray(), {}
    for name in (INITIAL, ZERO):
        if section := image.sections.get(name):
            start += bytes(-len(start) % ALIGNMENT)
            places[name] = len(start)
            start += section.data or bytes(section.size)
    return bytes(start), places
