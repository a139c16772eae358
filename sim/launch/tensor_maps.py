"""Tensor maps (CUtensorMap): what a copy of a tile (TMA) takes from where, made without a GPU as the driver makes them.

    a = sim.tensor_map(x, box=(128, 64), swizzle="128B")    # the argument of a `const __grid_constant__ CUtensorMap` parameter

The 128 bytes are not documented. Their fields were found from what `cuTensorMapEncodeTiled` of CUDA 13.0 writes
(`programs/measurements/h100/tensor_maps.csv`: 742 maps, each field by itself and 250 at random, all equal to those made here).

word  0, 1   address, a multiple of 16
word  2      bits 4-6 dimensions - 1; 7-10 type; 11-12 interleave; 13-14 swizzle; 15 fill; 16 round to TF32; 17-18 promotion in L2
word  3-6    bytes from one element of dimension 1 to 4 to the next, / 16; word 7 their bits from 36 on, four of each
word  8-12   elements of dimension 0 to 4, - 1
word 13      three bits of each dimension: steps - 1; bits 24-31 the box's elements of dimension 0, - 1
word 14      a byte each: the box's of dimension 1 to 4, - 1
word 16, 18  bytes of the box; 16, or with a swizzle the bytes after which it repeats: for the driver, they change no result
Dimension 0 is the fastest, as in CUDA; NumPy's last.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from isa.errors import UserError
from sim.launch.pointers import Pointer

MAP = np.dtype([("address", object), ("words", "<u4", 30)])
ALIGNMENT, UNIT, WORDS = 64, 16, 32  # bytes of a map, and of what it moves at least; words of a map
RANK, TYPE, INTERLEAVE, SWIZZLE, FILL, ROUND, PROMOTION = 4, 7, 11, 13, 15, 16, 17  # first bits of word 2
STRIDE, STRIDE_HIGH, SIZE, STEP, BOX_FIRST, BOX = 3, 7, 8, 13, 24, 14  # words; BOX_FIRST: first bit in word STEP
BOX_BYTES, REPEAT = 16, 18
MOST_BOX, MOST_STEP, MOST_SIZE, MOST_STRIDE, MOST_RANK = 256, 8, 1 << 32, 1 << 40, 5
TYPES = {  # names of NumPy, and those it lacks -> number, bytes
    **{"uint8": (0, 1), "uint16": (1, 2), "uint32": (2, 4), "int32": (3, 4), "uint64": (4, 8), "int64": (5, 8)},
    **{"float16": (6, 2), "float32": (7, 4), "float32_ftz": (8, 4), "float64": (9, 8), "bfloat16": (10, 2)},
    **{"tfloat32": (7, 4), "tfloat32_ftz": (8, 4)},
}
LIKE = {"int8": "uint8", "int16": "uint16", "bool": "uint8"}  # moved as these
FIRST_FLOAT, ROUNDED = 6, "tfloat32"
SWIZZLES = {"none": 16, "32B": 32, "64B": 64, "128B": 128}  # bytes of a row
FILLS, PROMOTIONS = ("zeros", "nan"), ("none", "64B", "128B", "256B")


def tensor_map(
    array: np.ndarray | Pointer,
    box: Sequence[int],
    swizzle: str = "none",
    steps: Sequence[int] | None = None,
    fill: str = "zeros",
    dtype: str | None = None,
    promotion: str = "none",
) -> Any:
    """Return a map of tiles of an array, an argument of a launch: 128 bytes, as cuTensorMapEncodeTiled makes them.

    array: 1 to 5 dimensions, the last without gaps, the others apart by multiples of 16 bytes; a view is a part of what it is of.
    box: elements of a tile in each dimension, in the array's order. (Kernels name the last dimension first.) steps: of elements that
    are taken, every how many of each dimension; the last has 1. swizzle: "none", "32B", "64B", "128B". fill: of what lies outside, zeros
    or "nan". dtype: where NumPy lacks it, "bfloat16" (of uint16), "tfloat32" (of float32, rounded by loads). promotion: how much L2
    fetches; no effect here. Raises UserError where the driver refuses, for the same reasons.

    >>> import numpy as np, sim
    >>> sim.tensor_map(np.zeros((1024, 512), np.float16), box=(128, 64), swizzle="128B")["words"][:2]
    array([25360,    64], dtype=uint32)
    """
    whole = array.array if isinstance(array, Pointer) else array
    if not isinstance(whole, np.ndarray) or not whole.ndim:
        raise UserError(f"a map is of an array; {type(whole).__name__} was given", hint="sim.tensor_map(array, box=(rows, columns))")
    if isinstance(array, Pointer) and array.offset % UNIT:
        raise UserError(f"a map's address is a multiple of {UNIT}; the pointer is {array.offset} bytes into its array")
    name = dtype or LIKE.get(whole.dtype.name, whole.dtype.name)
    if name not in TYPES or TYPES[name][1] != whole.itemsize:
        hint = f"types: {', '.join(TYPES)}, of as many bytes as the array's elements"
        raise UserError(f"a map of {whole.dtype} as {name}: there is no such type", hint=hint)
    where = array if isinstance(array, Pointer) else start_of(whole)
    shape, strides = whole.shape[::-1], whole.strides[::-1]
    taken = tuple(steps)[::-1] if steps is not None else (1,) * whole.ndim
    tile = tuple(box)[::-1]
    _check(whole, shape, strides, tile, taken, (name, swizzle, fill, promotion))
    words = encoded(shape, strides[1:], tile, taken, name, swizzle, fill, promotion)
    return np.array((where, words[2:]), MAP)[()]


def is_map(value: Any) -> bool:
    """Return whether an argument is a map, which is aligned to 64 bytes."""
    return getattr(value, "dtype", None) == MAP


def array_of(value: Any) -> Any:
    """Return the array that a map is of; any other argument as it is."""
    where = value["address"] if is_map(value) and not value.ndim else value
    return where.array if where is not value and isinstance(where, Pointer) else where


def type_of(control: int) -> str:
    """Return the name of a map's type, of those above, from its word 2."""
    names = [name for name, (number, _) in TYPES.items() if number == control >> TYPE & 15]
    return names[-(control >> ROUND & 1)]  # TF32 behind the float32 that it is made of


def encoded(
    sizes: Sequence[int],
    strides: Sequence[int],
    box: Sequence[int],
    steps: Sequence[int],
    name: str,
    swizzle: str = "none",
    fill: str = "zeros",
    promotion: str = "none",
) -> np.ndarray:
    """Return the 32 words of a map without its address, dimension 0 first; strides in bytes from dimension 1 on."""
    number, size = TYPES[name]
    words = [0] * WORDS
    words[2] = (len(sizes) - 1) << RANK | number << TYPE | list(SWIZZLES).index(swizzle) << SWIZZLE | FILLS.index(fill) << FILL
    words[2] |= int(name.startswith(ROUNDED)) << ROUND | PROMOTIONS.index(promotion) << PROMOTION
    for k, stride in enumerate(strides):
        words[STRIDE + k] = stride // UNIT & 0xFFFFFFFF
        words[STRIDE_HIGH] |= stride // UNIT >> 32 << 4 * k
    for k, (elements, step) in enumerate(zip(sizes, steps, strict=True)):
        words[SIZE + k] = elements - 1
        words[STEP] |= (step - 1) << 3 * k
    words[STEP] |= (box[0] - 1) << BOX_FIRST
    for k, elements in enumerate(box[1:]):
        words[BOX] |= (elements - 1) << 8 * k
    words[BOX_BYTES] = size * int(np.prod([elements // step for elements, step in zip(box, steps, strict=True)], dtype=np.int64))
    words[REPEAT] = UNIT if swizzle == "none" else 8 * SWIZZLES[swizzle]
    return np.array(words, np.uint32)


def start_of(array: np.ndarray) -> np.ndarray | Pointer:
    """Return an array that can be placed as it is; of a view with gaps, where it begins in the array that it is of."""
    root = array
    while isinstance(root.base, np.ndarray) and not root.flags.c_contiguous:
        root = root.base
    return array if root is array else Pointer(root, array.ctypes.data - root.ctypes.data)


def _check(
    whole: np.ndarray,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    box: tuple[int, ...],
    steps: tuple[int, ...],
    names: tuple[str, ...],
) -> None:
    """Raise UserError for what cuTensorMapEncodeTiled refuses. Dimension 0 first; names: type, swizzle, fill, promotion."""
    name, swizzle, fill, promotion = names
    for value, known, what in ((swizzle, SWIZZLES, "swizzle"), (fill, FILLS, "fill"), (promotion, PROMOTIONS, "promotion")):
        if value not in known:
            raise UserError(f"{what} = {value!r}", hint=f"there are: {', '.join(known)}")
    if len(shape) > MOST_RANK or not len(shape) == len(box) == len(steps):
        message = f"a map of {len(shape)} dimensions with a box of {len(box)} and {len(steps)} steps"
        raise UserError(message, hint=f"1 to {MOST_RANK} dimensions, as many sizes of the box")
    limits = ((box, MOST_BOX, "box"), (steps, MOST_STEP, "steps"), (shape, MOST_SIZE, "array"))
    for values, most, what in limits:
        if not all(isinstance(value, int | np.integer) and 1 <= value <= most for value in values):
            raise UserError(f"a map's {what} {tuple(values)[::-1]}: each is a whole number from 1 to {most}")
    if steps[0] != 1:
        raise UserError(f"steps {tuple(steps)[::-1]}: the last is 1", hint="TMA leaves out elements of other dimensions only")
    if strides[0] != whole.itemsize or any(stride % UNIT or not 0 <= stride < MOST_STRIDE for stride in strides[1:]):
        message = f"a map of an array of strides {whole.strides}: rows without gaps, {UNIT} bytes or a multiple apart, are needed"
        raise UserError(message, hint="pad rows to a multiple of 16 bytes and pass the view: padded[:, :columns]")
    span, row = SWIZZLES[swizzle], box[0] * whole.itemsize
    if row % UNIT or (span > UNIT and row > span):
        least = f", at most {span}" if span > UNIT else ""
        raise UserError(f"a box of {box[0]} elements in a row has {row} bytes: a multiple of {UNIT}{least} is needed")
    if fill == "nan" and TYPES[name][0] < FIRST_FLOAT:
        raise UserError(f"fill = 'nan' of {name}, which is not a float", hint='fill = "zeros"')
