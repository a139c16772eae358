"""How a launch of each family is drawn: which template of `kernels.cuh` with which parameters, over how much data."""

from collections.abc import Callable

import numpy as np

from programs.measurements.population.case import MOST_FLOATS, Case

Draw = np.random.Generator


def _pick(random: Draw, *choices: int) -> int:
    return int(random.choice(choices))


def _blocks(random: Draw, threads: int, most_threads: int = 1 << 19) -> int:
    """Return a number of blocks, from one to thousands, evenly in its logarithm."""
    most = min(4224, most_threads // threads)
    return (
        _pick(random, 1, 2, 8, 33, 66, 132, 132, 264, 264, 528, 528, 1056, 1056, 2112, 4224)
        if most >= 4224
        else max(1, min(most, _pick(random, 1, 4, 33, 132, 132, 200, 264, 528, 1056, 2112)))
    )


def _stream(random: Draw) -> Case:
    width, each, kind = _pick(random, 1, 1, 2, 4), _pick(random, 1, 1, 2, 4, 8), _pick(random, 0, 1, 2, 3)
    block = _pick(random, 64, 128, 256, 512, 1024)
    arrays = 2 if kind == 3 else 1
    grid = min(_blocks(random, block), MOST_FLOATS // (block * width * each * arrays))
    floats = grid * block * width * each
    return Case("stream", f"stream<{width}, {each}, {kind}>", grid, block, floats * arrays, 3, a=floats * arrays, b=floats)


def _grid_stride(random: Draw) -> Case:
    width, block = _pick(random, 1, 2, 4), _pick(random, 128, 256, 512)
    n = _pick(random, 1 << 16, 1 << 18, 1 << 20, 3 << 20)
    return Case("grid_stride", f"grid_stride<{width}>", _pick(random, 66, 132, 264, 528), block, n, 3, a=n, b=n)


def _gather(random: Draw) -> Case:
    each, block = _pick(random, 1, 2, 4, 8), _pick(random, 64, 128, 256, 512)
    grid = _blocks(random, block * each)
    below = _pick(random, 1 << 10, 1 << 14, 1 << 18, 1 << 21, 1 << 23)
    order = str(random.choice(["random", "random", "sorted", "runs", "skewed"]))
    count = grid * block * each
    return Case("gather", f"gather<{each}>", grid, block, a=below, b=count, index=count, order=order, below=below)


def _scatter(random: Draw) -> Case:
    block = _pick(random, 64, 256, 1024)
    grid = _blocks(random, block, 1 << 18)
    count = grid * block
    return Case(
        "scatter", "scatter", grid, block, a=count, b=count, index=count, order=str(random.choice(["permutation", "sorted"])), below=count
    )


def _taps(random: Draw) -> Case:
    taps, step, offset = _pick(random, 2, 3, 5, 9, 17, 33), _pick(random, 1, 1, 1, 2, 7, 32, 37), _pick(random, 0, 0, 1, 5, 8, 31)
    block = _pick(random, 64, 128, 256, 512)
    grid = _blocks(random, block, 1 << 18)
    return Case("taps", f"taps<{taps}, {step}, {offset}>", grid, block, a=grid * block + taps * step + offset)


def _strided(random: Draw) -> Case:
    each, stride, block = _pick(random, 1, 2, 4), _pick(random, 2, 3, 4, 7, 8, 16, 32, 33), _pick(random, 64, 128, 256)
    grid = max(1, min(_blocks(random, block, 1 << 17), MOST_FLOATS // (block * each * stride)))
    threads = grid * block
    return Case("strided", f"strided<{each}>", grid, block, p=stride, a=threads * each * stride, b=threads * each)


def _transpose(random: Draw) -> Case:
    side, rows = _pick(random, 64, 256, 512, 1024), _pick(random, 4, 8, 16, 32)
    body = str(
        random.choice(
            [f"transpose_naive<{rows}, 0>", f"transpose_naive<{rows}, 1>", f"transpose_tile<{rows}, 0>", f"transpose_tile<{rows}, 1>"]
        )
    )
    return Case("transpose", body, (side // 32) ** 2, 32 * rows, side, a=side * side, b=side * side)


def _stencil(random: Draw) -> Case:
    kind, block = _pick(random, 0, 1, 2, 3), _pick(random, 64, 128, 256, 512)
    grid, row = _blocks(random, block, 1 << 18), _pick(random, 128, 500, 1000, 1024)
    floats = grid * block + (4 * row + 8) * (64 if kind == 3 else 1)
    return Case("stencil", f"stencil<{kind}>", grid, block, p=row, a=floats, b=floats)


def _reduce(random: Draw) -> Case:
    each, kind, block = _pick(random, 1, 4, 8, 16), _pick(random, 0, 1, 2), _pick(random, 64, 128, 256, 512, 1024)
    grid = _blocks(random, block * each, 1 << 21)
    return Case("reduce", f"reduce<{each}, {kind}>", grid, block, a=grid * block * each)


def _rows(random: Draw) -> Case:
    block, row = _pick(random, 32, 128, 256), _pick(random, 32, 100, 256, 1000)
    grid = max(1, min(_blocks(random, block, 1 << 16), (1 << 21) // (block // 32 * row)))
    return Case("rows", "rows", grid, block, p=row, a=grid * block // 32 * row, b=grid * block // 32 * row)


def _scan(random: Draw) -> Case:
    block = _pick(random, 64, 128, 256, 512, 1024)
    grid = _blocks(random, block, 1 << 17)
    return Case("scan", "scan", grid, block, a=grid * block)


def _shared(random: Draw) -> Case:
    width, stride, rounds, kind = (
        _pick(random, 1, 2, 4),
        _pick(random, 1, 1, 2, 4, 5, 8, 32),
        _pick(random, 16, 64),
        _pick(random, 0, 0, 1, 2),
    )
    block = _pick(random, 32, 128, 256, 512)
    return Case("shared", f"shared<{width}, {stride}, {rounds}, {kind}>", _blocks(random, block, 1 << 16), block)


def _atomics(random: Draw) -> Case:
    rounds, kind, block = _pick(random, 1, 4, 8), _pick(random, 0, 1, 1, 2, 3, 4, 5), _pick(random, 64, 128, 256)
    grid, below = _blocks(random, block * rounds, 1 << 17), _pick(random, 16, 1024, 1 << 16, 1 << 20)
    count = grid * block * rounds
    return Case("atomics", f"atomics<{rounds}, {kind}>", grid, block, p=below, b=max(below, count, 1024), index=count, below=1 << 30)


def _constants(random: Draw) -> Case:
    rounds, kind, block = _pick(random, 8, 32, 64), _pick(random, 0, 0, 1, 2), _pick(random, 64, 256)
    grid, places = _blocks(random, block, 1 << 15), _pick(random, 64, 512, 2048, 8192)
    return Case("constants", f"constants<{rounds}, {kind}>", grid, block, p=places, index=grid * block, below=places)


def _line(random: Draw) -> Case:
    length, block = _pick(random, 64, 256, 1024, 3000, 6000), _pick(random, 32, 128, 256)
    grid = _pick(random, 1, 33, 132, 264)
    return Case("line", f"line<{length}>", grid, block, p=_pick(random, 1, 2, 4), a=grid * block)


def _functions(random: Draw) -> Case:
    length, chosen, block = _pick(random, 16, 100, 400, 1000), _pick(random, 0, 1), _pick(random, 32, 128)
    grid, rounds = _pick(random, 1, 33, 132), _pick(random, 2, 4, 8)
    return Case("functions", f"functions<{length}, {chosen}>", grid, block, p=rounds, a=grid * block, index=1024, below=1 << 20)


def _diverge(random: Draw) -> Case:
    if random.random() < 0.3:
        block = _pick(random, 64, 128, 256)
        grid, most = _blocks(random, block, 1 << 16), _pick(random, 8, 40, 100)
        return Case("trips", "trips", grid, block, p=most, a=grid * block, index=grid * block, below=1 << 20)
    ways, work, block = _pick(random, 2, 4, 8, 32), _pick(random, 1, 4, 16), _pick(random, 32, 128, 256)
    grid = _blocks(random, block, 1 << 15)
    return Case("diverge", f"diverge<{ways}, {work}>", grid, block, p=_pick(random, 1, 4, 10), a=grid * block)


def _arithmetic(random: Draw) -> Case:
    kind, chains = int(random.integers(14)), _pick(random, 1, 2, 4)
    unrolled = 4 if kind in (6, 7, 10) else _pick(random, 8, 16)
    block = _pick(random, 32, 128, 256, 512, 1024)
    grid = _pick(random, 1, 66, 132, 264)
    return Case("arithmetic", f"arithmetic<{kind}, {chains}, {unrolled}>", grid, block, p=_pick(random, 1, 4, 12))


def _mix(random: Draw) -> Case:
    loads, math, stores, turn = _pick(random, 1, 2, 4, 8), _pick(random, 1, 4, 16, 40), _pick(random, 0, 1, 1, 2), _pick(random, 0, 1)
    block, rounds = _pick(random, 64, 128, 256, 512), _pick(random, 1, 2, 8)
    grid = _blocks(random, block * loads * rounds, 1 << 20)
    count = grid * block * rounds
    return Case("mix", f"mix<{loads}, {math}, {stores}, {turn}>", grid, block, p=rounds, a=count * loads, b=count * max(stores, 1))


def _product(random: Draw) -> Case:
    tile, each, wide = [(16, 1, 0), (32, 2, 0), (64, 4, 1), (64, 4, 0), (128, 8, 1), (64, 8, 1)][int(random.integers(6))]
    side = _pick(random, 128, 256, 384)
    return Case(
        "product",
        f"product<{tile}, {each}, {wide}>",
        (side // tile) ** 2,
        (tile // each) ** 2,
        side,
        _pick(random, 64, 128),
        a=side * side,
        b=side * side,
    )


def _fill(random: Draw) -> Case:
    width, each, apart, block = _pick(random, 1, 2, 4), _pick(random, 1, 2, 4), _pick(random, 1, 1, 2, 3, 8), _pick(random, 64, 128, 256)
    grid = max(1, min(_blocks(random, block), MOST_FLOATS // (block * each * width * apart)))
    return Case("fill", f"fill<{width}, {each}>", grid, block, p=apart, b=grid * block * each * width * apart)


def _chase(random: Draw) -> Case:
    chains, block = _pick(random, 1, 2, 4), _pick(random, 32, 64, 256)
    grid, places = _blocks(random, block, 1 << 14), _pick(random, 1 << 12, 1 << 17, 1 << 21)
    return Case("chase", f"chase<{chains}>", grid, block, places, _pick(random, 4, 16, 32), index=places, order="permutation")


def _local(random: Draw) -> Case:
    kept, block = _pick(random, 16, 64, 200), _pick(random, 32, 128, 256)
    grid = _blocks(random, block, 1 << 15)
    return Case("local", f"local<{kept}>", grid, block, p=_pick(random, 4, 16), a=grid * block, index=grid * block, below=kept)


def _saxpy(random: Draw) -> Case:
    block = _pick(random, 32, 48, 64, 96, 128)
    grid = _pick(random, 1, 132, 1056, 2112, 4224, 8448)
    n = grid * block - _pick(random, 0, 0, 17)
    return Case("saxpy", "saxpy", grid, block, n, 3, a=grid * block)


FAMILIES: dict[Callable[[Draw], Case], int] = {  # weights
    _stream: 30,
    _grid_stride: 10,
    _gather: 24,
    _scatter: 6,
    _taps: 24,
    _strided: 14,
    _transpose: 14,
    _stencil: 18,
    _reduce: 18,
    _rows: 10,
    _scan: 6,
    _shared: 20,
    _atomics: 18,
    _constants: 14,
    _line: 16,
    _functions: 14,
    _diverge: 12,
    _arithmetic: 26,
    _mix: 30,
    _product: 10,
    _fill: 18,
    _chase: 10,
    _local: 8,
    _saxpy: 12,
}
