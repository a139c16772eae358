"""`Change`: by how much a machine differs from the one that compilers of its architecture write for, in what control words hold."""

from typing import NamedTuple

from isa.vocabulary import Unit


class Change(NamedTuple):
    """What control words for a machine must heed beside the latencies of its family."""

    later: tuple[tuple[Unit, int], ...] = ()  # cycles by which a unit's results of fixed latency come later; negative: sooner
    slower: tuple[tuple[Unit, int], ...] = ()  # cycles more for which an instruction of a unit holds its pipe
    least: int = 1  # cycles between two issues of a warp
    pairs: frozenset[tuple[Unit, Unit]] = frozenset()  # units whose instructions may issue together, the first of them first
    width: int = 1  # instructions that may


UNCHANGED = Change()
