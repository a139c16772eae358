"""One launch of the population, and its data. Needs NumPy only."""

from dataclasses import dataclass

import numpy as np

SEED = 20
MOST_FLOATS = 1 << 23  # of one array


@dataclass(frozen=True)
class Case:
    """One launch. `a`, `b`, `index`: elements of each array. `order`, `below`: how `index` is filled, and under which number."""

    family: str
    body: str  # the template with its parameters
    grid: int
    block: int
    n: int = 0
    p: int = 1
    a: int = 1024
    b: int = 0  # 0: one float per thread
    index: int = 4
    order: str = "random"
    below: int = 4
    shared: int = 0  # bytes of dynamic shared memory
    number: int = 0
    kept: bool = False  # True: not looked at when rules are sought

    @property
    def name(self) -> str:
        return f"{self.family}_{self.number:03}"

    @property
    def threads(self) -> int:
        return self.grid * self.block

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return `a`, `b`, `index`: float32, float32, int32."""
        random = np.random.default_rng([SEED, self.number])
        a = random.random(self.a, np.float32)
        return a, np.zeros(self.b or self.threads, np.float32), _index(self, random)


def _index(case: Case, random: np.random.Generator) -> np.ndarray:
    count, below = case.index, case.below
    if case.order == "ring":  # one cycle through every `below`-th element
        steps = random.permutation(count // below) * below
        ring = np.zeros(count, np.int32)
        ring[steps] = np.roll(steps, -1)
        return ring
    if case.order == "permutation":
        return random.permutation(count).astype(np.int32)
    if case.order == "sorted":
        return np.sort(random.integers(0, below, count)).astype(np.int32)
    if case.order == "runs":  # of eight neighbours
        starts = random.integers(0, max(1, below // 8), -(-count // 8)) * 8
        return (np.repeat(starts, 8)[:count] + np.arange(count) % 8).astype(np.int32)
    if case.order == "skewed":  # half of them among an eighth
        return (random.random(count) ** 4 * below).astype(np.int32)
    return random.integers(0, below, count, np.int32)
