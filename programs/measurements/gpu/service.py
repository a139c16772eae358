"""The loops of `service.cu`: 16 instructions of one operation, or of two to four in turn, in the place of its S2R.

`python -m programs.measurements.gpu.service service.cubin FOLDER` writes one cubin for each, to be launched with 4,096 bytes of
shared memory.
"""

import sys
from pathlib import Path

S2R = 0x919  # low 12 bits of its word
OPERATIONS = {  # words without control and target
    "s2r": 0x21 << 72 | 0x7919,  # SR_TID.X
    "ctaid": 0x25 << 72 | 0x7919,
    "smid": 0x43 << 72 | 0x7919,
    "lane": 0x7919,
    "virtid": 0x03 << 72 | 0x7919,
    "s2ur": 0x25 << 72 | 0x79C3,  # SR_CTAID.X
    "ldc": 0x80000000300FF007B82,  # c[0x0][0xc]
    "lds": 0x80008000004003FFF007984,  # [RZ+0x400]
    "shfl": 0xE00000C201F0006007F89,  # BFLY 1
    "mufu": 0x8000000000800007308,  # EX2
    "popc": 0x700007309,
}
TURNS = (
    *(
        ("s2r",),
        ("ldc",),
        ("s2ur",),
        ("lds",),
        ("shfl",),
        ("mufu",),
        ("popc",),
        ("s2r", "ldc"),
        ("s2ur", "ldc"),
        ("s2r", "s2ur"),
        ("s2r", "lds"),
    ),
    *(
        ("ldc", "lds"),
        ("s2r", "shfl"),
        ("ldc", "shfl"),
        ("s2r", "mufu"),
        ("ldc", "mufu"),
        ("s2r", "popc"),
        ("ldc", "popc"),
        ("lds", "shfl"),
    ),
    *(
        ("lds", "mufu"),
        ("mufu", "popc"),
        ("shfl", "popc"),
        ("s2r", "ctaid"),
        ("ctaid", "ldc"),
        ("ctaid", "s2ur"),
        ("ctaid", "lds"),
        ("smid", "ldc"),
    ),
    *(("smid", "s2r"), ("smid", "lds"), ("lane", "lds"), ("lane", "ldc"), ("virtid", "lds"), ("virtid", "ldc"), ("s2ur", "lds")),
    *(("s2r", "s2r", "ldc", "s2ur"), ("s2r", "ldc", "lds", "shfl"), ("ldc", "ldc", "lds", "shfl")),
)
KEPT = ((1 << 21) - 1) << 105 | 0xFF << 16  # control and target
VIRTUAL_SMID = 0x43


def places(cubin: bytes) -> list[int]:
    """Return where the S2R of SR_VIRTUALSMID are."""
    words = range(0, len(cubin) - 15, 16)
    found = [(at, int.from_bytes(cubin[at : at + 16], "little")) for at in words]
    return [at for at, word in found if word & 0xFFF == S2R and word >> 72 & 0xFF == VIRTUAL_SMID]


def replaced(cubin: bytes, turn: tuple[str, ...]) -> bytes:
    """Return the cubin with other operations in turn. Raises SystemExit where there is nothing to replace."""
    if not (found := places(cubin)):
        sys.exit("no S2R of SR_VIRTUALSMID in the cubin: is it that of service.cu, for sm_90?")
    made = bytearray(cubin)
    for number, at in enumerate(found):
        kept = int.from_bytes(cubin[at : at + 16], "little") & KEPT
        made[at : at + 16] = (kept | OPERATIONS[turn[number % len(turn)]]).to_bytes(16, "little")
    return bytes(made)


def main(cubin: str, folder: str) -> None:
    """Write the cubins."""
    for turn in TURNS:
        Path(folder, f"{'-'.join(turn)}.cubin").write_bytes(replaced(Path(cubin).read_bytes(), turn))


if __name__ == "__main__":
    main(*sys.argv[1:])
