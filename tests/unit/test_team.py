"""Threads that share a launch's blocks leave what one leaves, to the bit; where the order of blocks counts, one executes them."""

import gc
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import isa
from isa.errors import UserError
from sim.bench import COPY, elementwise
from sim.compiled.cores import LEAST_INSTRUCTIONS
from sim.functional import execute, joined, setup, team
from sim.functional.making import Place
from sim.functional.marks import LOADED, STORED
from sim.functional.state import Memory, Status
from sim.functional.team import Team
from sim.functional.turns import Turns
from sim.launch.file import load_launch
from sim.launch.launch import Launch
from sim.traces.trace import Trace
from tests.listings import FOLDER, PROGRAMS
from tests.unit.mbarrier_programs import PING_PONG
from tests.unit.mbarrier_programs import launch as of_phases

SHARED = [f"cuda/{one}" for one in ("hgemm_tma.sm_90", "hgemm_async.sm_80", "mandelbrot.sm_90", "attention_wgmma.sm_90")]
FEW = ("access/", "fft/", "cuda/copy.sm_90", "cuda/reduce.sm_52", "cuda/scan.sm_90", *SHARED)
TOUCHING = [f"cuda/{one}" for one in ("hgemm_tma.sm_90", "hgemm_async.sm_80", "matvec_bulk.sm_90", "gather.sm_90", "histogram.sm_52")]
PROGRAM = [pytest.param(name, marks=[] if name.startswith(FEW) else pytest.mark.slow) for name in PROGRAMS]
HEAD = ".kernel f\n.param ptr x\n.shared 64\nS2R R0, SR_TID.X\nS2R R1, SR_CTAID.X\nSHL R2, R1, 8\nIADD R3, R0, R2\n"
HEAD += "SHL R3, R3, 2\nIADD R3, R3, c[0x0][x]\n"


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Give what came of each attempt to share blocks: "apart", or "again"."""
    found: list[str] = []
    share = Team._share

    def noted(self: Team, *given: Any) -> None:
        try:
            share(self, *given)
        except joined.NotParallelError:
            found.append("again")
            raise
        found.append("apart")

    monkeypatch.setattr(Team, "_share", noted)
    return found


def differences(one: Trace, other: Trace) -> list[str]:
    """Return what differs of two traces."""
    fields = [name for name in one.arrays._fields if not np.array_equal(getattr(one.arrays, name), getattr(other.arrays, name))]
    fields += [
        name
        for name in ("executed", "active_lanes", "true_lanes", "parted")
        if not np.array_equal(getattr(one, name), getattr(other, name))
    ]
    same = one.spun == other.spun and one.printed == other.printed
    encoded = zip(one.program.encoded, other.program.encoded, strict=True)
    return fields + ([] if same and all(np.array_equal(a, b) for a, b in encoded) else ["launch"])


def compare(made: Callable[[], Launch], threads: int = 3) -> Trace:
    """Execute a launch by one thread and by several; return the trace, which must be the same, as must be all arrays."""
    alone, several = made(), made()
    one, other = execute(alone, threads=1), execute(several, threads=threads)
    assert not differences(one, other)
    for a, b in zip(alone.args, several.args, strict=True):
        assert not isinstance(a, np.ndarray) or a.tobytes() == b.tobytes()
    return other


@pytest.mark.parametrize("name", PROGRAM)
def test_programs(name: str, shared: list[str]) -> None:
    compare(lambda: load_launch(FOLDER / f"{name}.sass").launch)
    if name in SHARED:
        assert shared == ["apart"]


def in_blocks(body: str, blocks: int = 32, block: int = 256) -> Callable[[], Launch]:
    return lambda: Launch(isa.parse(f"{HEAD}{body}EXIT\n"), (blocks,), (block,), (np.arange(256 * (blocks + 1), dtype=np.uint32),))


SPIN = "ISETP.GE.AND P0, PT, R0, 32, PT\n@P0 BRA last\nMOV R5, RZ\nspin:\nLDS R4, [R5]\nISETP.EQ.AND P1, PT, R4, RZ, PT\n@P1 BRA spin\n"
SPIN += "STG [R3], R4\nEXIT\nlast:\nMOV R4, 1\nSTS [RZ], R4\n"
BULK = "".join(f"MOV R{6 + k}, {value}\nR2UR UR{6 + k}, R{6 + k}\n" for k, value in enumerate(("R3", "RZ", "RZ", "RZ", "4")))
CASES = {  # body -> what comes of sharing
    "its own words, loaded and stored to": ("LDG R4, [R3]\nIADD R4, R4, 1\nSTG [R3], R4\n", ["apart"]),
    "a word of the block before": ("LDG R4, [R3]\nIADD R4, R4, 1\nSTG [R3+1024], R4\n", ["again"]),
    "a word of the block behind": ("LDG R4, [R3+1024]\nIADD R4, R4, 1\nSTG [R3], R4\n", ["again"]),
    "all store to one word": ("MOV R5, c[0x0][x]\nSTG [R5], R1\n", ["again"]),
    "parts of one word": ("SHL R5, R1, 1\nIADD R5, R5, c[0x0][x]\nSTG.U16 [R5], R1\n", ["again"]),
    "a word for each block": ("SHL R5, R1, 2\nIADD R5, R5, c[0x0][x]\nSTG [R5], R1\n", ["apart"]),
    "atomics": ("MOV R5, c[0x0][x]\nRED.ADD [R5], R1\n", []),
    "atomics on shared memory": ("MOV R5, RZ\nATOMS.ADD R6, [R5], R1\nSTG [R3], R6\n", ["apart"]),
    "a clock": ("S2R R4, SR_CLOCKLO\nSTG [R3], R4\n", []),
    "a barrier of clusters of one block": ("UCGABAR_ARV\nUCGABAR_WAIT\nSTG [R3], R1\n", ["apart"]),
    # what a block could find of the one before it
    "a warp that spins": (SPIN, ["apart"]),
    "what BAR.RED found": ("B2R.RESULT R5\nSTG [R3], R5\nISETP.GE.AND P0, PT, R1, R0, PT\nMOV R5, 1\nBAR.RED.POPC 0x0, P0\n", ["apart"]),
    "a bulk copy before other accesses": (
        f"ISETP.NE.AND P0, PT, R0, RZ, PT\n{BULK}@!P0 UBLKCP.G.S [UR6], [UR8], UR10\nSTG [R3+128], R1\n",
        ["apart"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_words_that_blocks_tell_each_other(case: str, shared: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    executed, meeting, here = Team._executed, threading.Barrier(3), threading.local()

    def together(self: Team, *given: Any) -> team.Part:
        if not vars(here):  # else one thread may have done all before another begins
            here.came = meeting.wait(60)
        return executed(self, *given)

    monkeypatch.setattr(Team, "_executed", together)
    body, came = CASES[case]
    compare(in_blocks(body, block=64))
    assert shared == came


@pytest.mark.parametrize(("from_block", "came"), [(0, []), (8, ["again"])])
def test_a_wait_for_another_block(from_block: int, came: list[str], shared: list[str]) -> None:
    """Block 31 stores the word that blocks wait for: the first, which runs alone, or only later ones."""
    body = f"MOV R5, c[0x0][x]\nISETP.EQ.AND P0, PT, R1, 31, PT\n@P0 BRA last\nISETP.LT.AND P2, PT, R1, {from_block}, PT\n@P2 EXIT\n"
    body += "spin:\nLDG R4, [R5]\nISETP.EQ.AND P1, PT, R4, RZ, PT\n@P1 BRA spin\nEXIT\nlast:\nMOV R4, 1\nSTG [R5], R4\n"

    def made() -> Launch:
        launch = in_blocks(body)()
        launch.args[0][:] = 0
        return launch

    compare(made)
    assert shared == came


@pytest.mark.parametrize("body", ["@P0 LDG R4, [R3+0x7000]\n", "@P0 BPT.TRAP\n", "again:\n@P0 BRA again\n"])
def test_a_mistake_is_that_of_one_thread(body: str, shared: list[str]) -> None:
    made = in_blocks(f"STG [R3], R1\nISETP.GE.AND P0, PT, R1, 28, PT\n{body}")
    errors, arrays = [], []
    for threads in (1, 3):
        launch = made()
        with pytest.raises(UserError) as caught:
            execute(launch, limit=3000, threads=threads)
        errors.append(str(caught.value))
        arrays.append(launch.args[0])
    assert errors[0] == errors[1]
    assert np.array_equal(*arrays)
    assert shared == ["again"]


@pytest.mark.parametrize("blocks", [[], [3], range(1, 32, 3)])
def test_chosen_blocks(blocks: Sequence[int], shared: list[str]) -> None:
    launch = in_blocks("LDG R4, [R3]\nIADD R4, R4, 1\nSTG [R3], R4\n")()
    before = launch.args[0].copy()
    assert not differences(*(execute(launch, blocks=np.array(blocks, np.int64), threads=threads) for threads in (1, 3)))
    assert np.array_equal(launch.args[0], before)
    assert shared == ["apart"] * (len(blocks) > 1)


def test_no_part_is_left_out(monkeypatch: pytest.MonkeyPatch, shared: list[str]) -> None:
    """A thread that finds nothing left does not stop another that has taken a part and not begun it."""

    class Slow(threading.Event):
        def is_set(self) -> bool:
            time.sleep(0.01)
            return super().is_set()

    monkeypatch.setattr(team, "Event", Slow)
    compare(in_blocks("STG [R3], R1\n"))
    assert shared == ["apart"]


def test_too_little_memory_for_several(monkeypatch: pytest.MonkeyPatch, shared: list[str]) -> None:
    def refuse(memory: Memory) -> np.ndarray:
        raise MemoryError

    monkeypatch.setattr(team, "allocate_marks", refuse)
    compare(in_blocks("STG [R3], R1\n"))
    assert shared == ["again"]


def test_more_scattered_addresses_than_one_thread_keeps(monkeypatch: pytest.MonkeyPatch, shared: list[str]) -> None:
    """The blocks that run alone count, too: of 32 blocks with eight rows each one did."""
    body = "XMAD R4, R0, R0, R3\nLOP3.LUT R4, R4, 0xffc, RZ, 0xc0, !PT\nIADD R4, R4, c[0x0][x]\nLDG R5, [R4]\n"
    monkeypatch.setattr(team, "MOST_ROWS", 31 * 8 + 1)
    compare(in_blocks(body))
    assert shared == ["again"]


def test_nothing_is_left_of_an_attempt_that_another_thread_gave_up(monkeypatch: pytest.MonkeyPatch) -> None:
    executed, begun, first = Team._executed, threading.Event(), threading.get_ident()
    kept: list[weakref.ref[np.ndarray]] = []

    def given_up(self: Team, *given: Any) -> team.Part:
        if threading.get_ident() != first:
            begun.set()
            raise joined.NotParallelError
        assert begun.wait(60)
        return executed(self, *given)

    allocate = setup.allocate_memory

    def noted(*given: Any) -> Memory:
        assert not any(one() is not None for one in kept)
        memory = allocate(*given)
        kept.append(weakref.ref(memory.words))
        return memory

    monkeypatch.setattr(Team, "_executed", given_up)
    monkeypatch.setattr(setup, "allocate_memory", noted)
    gc.disable()
    try:
        execute(in_blocks("STG [R3], R1\n")(), threads=3)
    finally:
        gc.enable()
    assert len(kept) == 2


def test_a_wrong_number_of_threads_is_found_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMTLAB_THREADS", "many")
    launch = in_blocks("STG [R3], R1\n")()
    before = launch.args[0].copy()
    with pytest.raises(UserError, match="many is not a number of threads"):
        execute(launch)
    assert np.array_equal(launch.args[0], before)


# Of Machine, what blocks share, and what is at rest between them
LASTING = {"lanes", "rows", "floats", "initial", "thread", "grid_shape", "chosen", "block_shape", "cluster_shape", "rank", "existing"}
LASTING |= {"predicates", "length", "clock", "families", "ended"}


class Scrambled(Turns):
    """Leaves garbage after the first block wherever that could have left something."""

    def execute(self, place: Place | None, another: Callable[[], Place]) -> None:
        assert place is not None
        every = self.store.warp_path
        self.store = self.store._replace(warp_path=every[: self.launch.warps_per_block])
        status, place = self._run(place)
        assert status == Status.DONE
        self.store = self.store._replace(warp_path=every)
        machine, memory, log, progress = place
        found = [getattr(machine, name) for name in machine._fields if name not in LASTING]
        found += [machine.rows[:10], machine.rows[machine.base :], machine.predicates[:, :7], machine.predicates[:, 8:]]
        found += [memory.shared, memory.local, log.length, log.hash, log.accesses, log.pause, log.instruction, log.mask]
        found += [log.access_base, log.access_stride, progress.report, memory.phases if memory.begun[0] else np.zeros(0)]
        for one in found:
            if isinstance(one, np.ndarray):
                one[...] = np.random.default_rng(0).integers(1, 6, one.shape)
        memory.touched[0], progress.seen[0], progress.timed_out[0] = 1, progress.moves[0], 1 + progress.moves[0]
        memory.latest[0] = len(memory.start) - 1
        super().execute(place, another)


@pytest.mark.parametrize("name", [*FEW[2:], *CASES])
def test_a_block_finds_nothing_of_the_one_before(name: str) -> None:
    body, _ = CASES.get(name, ("", []))
    made = in_blocks(body, block=64) if body else lambda: load_launch(FOLDER / f"{name}.sass").launch
    assert not differences(execute(made(), threads=1), execute(made(), runner=Scrambled))


def test_phases_are_numbered_through(shared: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block's barriers have phases of their own, as one thread numbers them. All blocks store to the same words, hence the patch."""
    monkeypatch.setattr(team, "are_apart", lambda marks, memory: True)

    def made() -> Launch:
        launch, _ = of_phases(PING_PONG)
        return Launch(launch.program, (12,), launch.block, (np.zeros(256, np.uint32),))

    trace = compare(made)
    assert (trace.arrays.access_base >> 32).max() > 12
    assert shared == ["apart"]


def test_two_paths_of_one_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    store = setup.allocate_store(1, 2)
    stores = []
    for instruction in range(2):
        one = store._replace(instruction=np.full(4, instruction, np.int32), path_start=np.array([0, 1]), paths=np.ones(1, np.int64))
        stores.append(one)
    launch = Launch(isa.parse(".kernel f\nEXIT"), (2,), (32,))
    with pytest.raises(joined.NotParallelError):
        joined.joined(list(stores), [0, 0], launch)
    stores[1] = stores[0]
    assert joined.joined(list(stores), [0, 0], launch).paths[0] == 1


def test_by_default_launches_of_some_length_are_shared(shared: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SIMTLAB_THREADS", raising=False)
    monkeypatch.setattr("sim.compiled.cores.cores", lambda: 2)
    length = execute(elementwise(COPY, 64), threads=1).warp_instructions // 64
    for blocks in (LEAST_INSTRUCTIONS // length // 2, 2 * LEAST_INSTRUCTIONS // length):
        execute(elementwise(COPY, blocks))
    assert shared == ["apart"]


@pytest.mark.parametrize("name", TOUCHING)
def test_all_that_a_launch_touches_is_marked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words that are not marked may hold anything: with others there the launch does the same, and they are what they were."""
    allocate, memories = setup.allocate_memory, []

    def executed(unmarked: np.ndarray | None) -> Trace:
        def marking(*given: Any) -> Memory:
            memory = allocate(*given)
            memory = memory._replace(marks=np.zeros(memory.words.size, np.uint8))
            if unmarked is not None:
                memory.words[unmarked] ^= 0x5A5A5A5A
            memories.append(memory)
            return memory

        monkeypatch.setattr(setup, "allocate_memory", marking)
        return execute(load_launch(FOLDER / f"{name}.sass").launch, threads=1)

    one = executed(None)
    marks, words = memories[0].marks, memories[0].words
    assert {LOADED, STORED} <= set(np.unique(marks).tolist())
    other = executed(marks == 0)
    assert not differences(one, other)
    assert np.array_equal(marks, memories[1].marks)
    assert np.array_equal(np.where(marks == 0, words ^ np.uint32(0x5A5A5A5A), words), memories[1].words)
