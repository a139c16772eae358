"""A population of launches, drawn from a seed: which kernel, how many blocks and threads, over which data. Needs NumPy only.

Every launch has the same five parameters: `a` (floats to read), `b` (floats to write), `index` (int32), `n`, `p`.
"""

from dataclasses import dataclass

import numpy as np

from programs.measurements.population.case import SEED, Case
from programs.measurements.population.draws import FAMILIES


@dataclass(frozen=True)
class Sample:
    """Launches drawn together: from which seed, how many, the number of the first."""

    seed: int
    launches: int
    first: int


SAMPLES = {"h200": Sample(SEED, 320, 0), "h100": Sample(2020, 240, 1000)}  # by the GPU that they were measured on


def population(sample: str = "h200") -> list[Case]:
    """Return the launches of a sample; every second one of a shuffle is kept."""
    chosen = SAMPLES[sample]
    random = np.random.default_rng(chosen.seed)
    draws = list(FAMILIES)
    weights = np.array(list(FAMILIES.values())) / sum(FAMILIES.values())
    cases: dict[tuple, Case] = {}
    while len(cases) < chosen.launches:
        case = draws[int(random.choice(len(draws), p=weights))](random)
        cases.setdefault((case.body, case.grid, case.block, case.n, case.p), case)
    kept = set(random.permutation(chosen.launches)[: chosen.launches // 2].tolist())
    return [Case(**{**vars(case), "number": chosen.first + k, "kept": k in kept}) for k, case in enumerate(cases.values())]


def sample_of(case: Case) -> str:
    """Return which sample a launch is of."""
    return max((first.first, name) for name, first in SAMPLES.items() if first.first <= case.number)[1]


def micro() -> list[Case]:
    """Return the launches that tell clocks apart: rings that one thread follows, reading from L2 and DRAM, storing."""
    cases = [
        Case("ring_l1", "ring<4, 1>", 1, 1, 128, index=1 << 12, b=2, order="ring", below=32),
        Case("ring_l2", "ring<4, 0>", 1, 1, 8192, index=1 << 18, b=2, order="ring", below=32),
        Case("ring_dram", "ring<1, 0>", 1, 1, 8192, index=1 << 23, b=2, order="ring", below=1024),
        Case("ring_steps", "ring_steps", 1, 1, 8192, index=1 << 23, b=8192, order="ring", below=1024, shared=32768),
        Case("read_l2_one", "read_l2<1>", 1, 1024, 1 << 16, 16, a=1 << 16),
        Case("read_l2_all", "read_l2<1>", 132, 1024, 1 << 18, 6, a=1 << 18),
        Case("read_dram", "stream<4, 8, 0>", 2112, 512, a=1 << 25 | 1 << 22),
        Case("copy_dram", "stream<4, 4, 1>", 2048, 512, a=1 << 24, b=1 << 24),
        Case("fill_one", "fill<4, 4>", 1, 1024, b=1 << 14),
        Case("fill_all", "fill<4, 4>", 1024, 512, b=1 << 23),
        Case("empty", "line<4>", 132, 32, p=0, a=1 << 13),
    ]
    return [Case(**{**vars(case), "number": 900 + k}) for k, case in enumerate(cases)]


def kernels(cases: list[Case]) -> dict[str, str]:
    """Return the name of the kernel of each distinct body: one kernel serves all launches of it."""
    return {body: f"k{number:03}_{template(body)}" for number, body in enumerate(dict.fromkeys(case.body for case in cases))}


def sources(sample: str = "h200") -> dict[str, str]:
    """Return the CUDA source of the kernels of a sample, a file per template."""
    lines: dict[str, list[str]] = {}
    for body, name in kernels(everything(sample)).items():
        line = f'extern "C" __global__ void {name}(ARGUMENTS) {{ {body}(a, b, index, n, p); }}'
        lines.setdefault(template(body), ['#include "kernels.cuh"']).append(line)
    return {name: "\n".join([*own, ""]) for name, own in lines.items()}


def template(body: str) -> str:
    """Return the name of the template of a body."""
    return body.split("<", maxsplit=1)[0]


def everything(sample: str = "h200") -> list[Case]:
    """Return the launches of a sample, with the H200's the micro-benchmarks."""
    return population(sample) + (micro() if sample == "h200" else [])
