"""Control words -> `Control`: what the compiler wrote about when each instruction may issue.

Layouts: Kepler after the envytools ISA documentation; the 21 bits from Maxwell on after maxas, Jia et al. (arXiv:1804.06826,
section 2) and Mesa's NAK encoders.
"""

import numpy as np

from isa.architecture import KEPLER, VOLTA
from isa.program import Control
from isa.sass.function import RawFunction

NONE = 7  # barrier field without a barrier
KEPLER_DUAL = 0x04


def decode(function: RawFunction) -> Control | None:
    """Return the control fields of a function; None when its listing shows no encoding."""
    if not function.has_words:
        return None
    records = fields(function)
    return _kepler(records) if function.family is KEPLER else _maxwell(records, function.family is not VOLTA)


def fields(function: RawFunction) -> np.ndarray:
    """Return the undecoded control bits of each instruction, int64 [n]: 8 on Kepler, 21 from Maxwell on."""
    family = function.family
    if family is VOLTA:
        high = np.array([(instruction.word or 0) >> 64 for instruction in function.instructions], dtype=np.uint64)
        return ((high >> np.uint64(41)) & np.uint64(0x1FFFFF)).astype(np.int64)
    first = 2 if family is KEPLER else 0
    mask = (1 << family.control_bits) - 1
    records = []
    for address in function.addresses:
        place = address % family.group_bytes
        word = function.control_words.get(address - place)  # none: Kepler's last padding
        shift = first + family.control_bits * (place // family.instruction_bytes - 1)
        records.append(0 if word is None else word >> shift & mask)
    return np.array(records, dtype=np.int64)


def _maxwell(records: np.ndarray, can_pair: bool) -> Control:
    """Decode the 21 bits used from Maxwell on. Before Volta, no stall without the offer to yield issues the next one too."""
    stall, stays = records & 15, records >> 4 & 1
    write, read = records >> 5 & 7, records >> 8 & 7
    return Control(
        stall=stall.astype(np.int8),
        yield_=(1 - stays).astype(np.uint8),
        write_barrier=np.where(write == NONE, -1, write).astype(np.int8),
        read_barrier=np.where(read == NONE, -1, read).astype(np.int8),
        wait_mask=(records >> 11 & 63).astype(np.uint8),
        reuse=(records >> 17 & 15).astype(np.uint8),
        dual=((stall == 0) & (stays == 1) & can_pair).astype(np.uint8),
    )


def _kepler(records: np.ndarray) -> Control:
    """Decode the 8 bits of Kepler: 0x20 | n waits n more cycles, 0x04 issues the next one too. Its scoreboard does the rest."""
    zeros = np.zeros(len(records), dtype=np.uint8)
    none = np.full(len(records), -1, dtype=np.int8)
    return Control(
        stall=np.where(records & 0x20, records & 0x1F, 0).astype(np.int8),
        yield_=zeros,
        write_barrier=none,
        read_barrier=none,
        wait_mask=zeros,
        reuse=zeros,
        dual=(records == KEPLER_DUAL).astype(np.uint8),
    )
