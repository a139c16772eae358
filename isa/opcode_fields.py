"""The words in which `opcodes.toml` says what a modifier changes, and where each stands in `isa.opcodes.Modifiers`."""

from isa.vocabulary import (
    AtomicFunction,
    BarrierReduction,
    Cache,
    Combine,
    Compare,
    Dot,
    MatrixShape,
    MatrixType,
    Mbarrier,
    Mufu,
    NumberType,
    Operation,
    Permute,
    Reduction,
    Rounding,
    Shuffle,
    Space,
    Vote,
    XmadAddend,
)

WHOLE, NIBBLE = -1, 15
FIELDS: dict[str, tuple[str, type[int], int, int]] = {  # the table's word -> field of `Modifiers`, type, bits and place of its values
    "operation": ("operation", Operation, WHOLE, 0),
    "compare": ("compare", Compare, WHOLE, 0),
    "combine": ("combine", Combine, WHOLE, 0),
    "rounding": ("rounding", Rounding, WHOLE, 0),
    "mufu": ("function", Mufu, WHOLE, 0),
    "atomic": ("function", AtomicFunction, WHOLE, 0),
    "barrier": ("combine", BarrierReduction, WHOLE, 0),
    "shuffle": ("function", Shuffle, WHOLE, 0),
    "vote": ("function", Vote, WHOLE, 0),
    "reduction": ("function", Reduction, WHOLE, 0),
    "permute": ("function", Permute, WHOLE, 0),
    "function": ("function", int, WHOLE, 0),
    "asked": ("function", Space, WHOLE, 0),
    "from": ("function", NumberType, NIBBLE, 0),
    "to": ("function", NumberType, NIBBLE, 4),
    "addend": ("function", XmadAddend, NIBBLE, 0),
    "shifted": ("function", int, 1, 4),  # XMAD.PSL
    "merged": ("function", int, 1, 5),  # XMAD.MRG
    "signed_a": ("function", int, 1, 6),
    "signed_b": ("function", int, 1, 7),
    "dot": ("function", Dot, NIBBLE, 0),
    "second": ("function", Combine, NIBBLE, 0),
    "first": ("function", Reduction, 7, 0),
    "then": ("function", Reduction, 7, 3),
    "shape": ("function", MatrixShape, NIBBLE, 0),
    "left": ("function", MatrixType, NIBBLE, 4),
    "right": ("function", MatrixType, NIBBLE, 8),
    "sums": ("function", MatrixType, NIBBLE, 12),
    "columns": ("function", int, 63, 16),  # of a product of a warpgroup, eighths
    "mbarrier": ("function", Mbarrier, WHOLE, 0),
    "width": ("width", int, WHOLE, 0),
    "cache": ("cache", Cache, WHOLE, 0),
}
