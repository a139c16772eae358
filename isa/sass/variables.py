"""The `__device__` variables of a cubin: what they hold at launch, and where their addresses are kept."""

from isa.program import Variables
from isa.sass.image import Image

INITIAL, ZERO = ".nv.global.init", ".nv.global"
ALIGNMENT = 256  # bytes, of each of the two sections
ADDRESS_BANK = 4  # c[0x4]: addresses of variables


def of_image(image: Image) -> Variables | None:
    """Return the variables of a cubin, None when it has none."""
    start, places = bytearray(), {}
    for name in (INITIAL, ZERO):
        if section := image.sections.get(name):
            start += bytes(-len(start) % ALIGNMENT)
            places[name] = len(start)
            start += section.data or bytes(section.size)
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
        bytes(start),
        tuple((ADDRESS_BANK, offset, place) for offset, place in banks),
        tuple((at + offset, place) for offset, place in pointers),
    )
