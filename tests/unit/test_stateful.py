"""Policies with state: what hooks are told and when, mistakes, and what each supplied one does."""

import pickle
import re
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import isa
import sim
from isa.errors import UserError
from sim import reference, timing
from sim.compiled.kernel import is_compiled
from sim.policies.stateful import BARRIER, LOAD, RESULT, Hook, StatefulPolicy, hooked
from sim.policies.supplied import SUPPLIED, stateful
from sim.policies.user import of_file
from sim.timing import state
from tests.compare import first_difference
from tests.differential.policies import Witness
from tests.timing.conftest import straight
from tests.unit.test_cli import CHAIN, simtlab

ROOM = Path(sim.__file__).parent / "policies"
LOADING = """.kernel loading
.param ptr data
    S2R R0, SR_TID.X
    S2R R1, SR_CTAID.X
    IMAD R0, R1, 0x80, R0
    SHL R0, R0, 2
    IADD R2, R0, c[0x0][data]
.rept 4
    LDG R3, [R2]
    FADD R4, R3, R4
    FADD R4, R4, R4
    MUFU.RCP R5, R4
    BAR.SYNC 0
.endr
    EXIT
"""
TWO_LINES = """.kernel two_lines
.param ptr data
    MOV R2, c[0x0][data]
    LDG R3, [R2]
    FADD R4, R3, R3
    LDG R5, [R2+128]
    FADD R6, R5, R5
    LDG R7, [R2]
    FADD R6, R7, R7
    EXIT
"""


def loading(blocks: int = 24) -> Any:
    data = np.zeros(128 * blocks, np.float32)
    return sim.execute(sim.Launch(isa.parse(LOADING), (blocks,), (128,), (data,)))


class Logged(StatefulPolicy):
    """Writes down all that it is told, which only plain Python can."""

    told: ClassVar[list[tuple[Any, ...]]] = []

    @staticmethod
    def on_start(slot: int, block: int, work: int, now: int, own: Any, warps: Any) -> None:
        Logged.told.append((now, "start", slot, block, work))

    @staticmethod
    def on_issue(slot: int, instruction: int, now: int, own: Any, warps: Any) -> None:
        Logged.told.append((now, "issue", slot, instruction))

    @staticmethod
    def on_stall(slot: int, cause: int, now: int, own: Any, warps: Any) -> None:
        Logged.told.append((now, "stall", slot, cause))

    @staticmethod
    def on_wake(slot: int, load: int, now: int, own: Any, warps: Any) -> None:
        Logged.told.append((now, "wake", slot, load))

    @staticmethod
    def on_lookup(slot: int, line: int, hit: int, now: int, own: Any, warps: Any) -> None:
        Logged.told.append((now, "lookup", slot, line, hit))

    @staticmethod
    def on_evict(slot: int, line: int, now: int, own: Any, warps: Any) -> None:
        Logged.told.append((now, "evict", slot, line))

    @staticmethod
    def on_end(slot: int, now: int, own: Any, warps: Any) -> None:
        Logged.told.append((now, "end", slot))

    @staticmethod
    def choose(eligible: int, loads: int, last: int, age: Any, now: int, own: Any, warps: Any) -> int:
        Logged.told.append((now, "choose", eligible, loads, last))
        return (eligible & -eligible).bit_length() - 1


def logged(trace: Any, gpu: Any) -> list[tuple[Any, ...]]:
    Logged.told.clear()
    reference.simulate(trace, gpu.replace({"core.policy": Logged}))
    return list(Logged.told)


def test_what_one_warp_s_policy_is_told() -> None:
    listing = "LDG R0, [R4]\nFADD R1, R0, R0\nFADD R2, R1, R1\nBAR.SYNC 0\nEXIT"
    changes = {"sms": 1, "core.schedulers": 1, "memory.global_load": 20, "units.fp32.latency": 6, "core.barrier_latency": 5}
    trace = straight(isa.parse(listing), blocks=1, warps=1)
    assert logged(trace, sim.gpu("textbook").replace(changes)) == [
        *((0, "start", 0, 0, 5), (0, "wake", 0, 0), (0, "choose", 1, 1, ~63), (0, "issue", 0, 0), (0, "stall", 0, LOAD)),
        *((20, "wake", 0, 1), (20, "choose", 1, 0, 0), (20, "issue", 0, 1), (20, "stall", 0, RESULT)),
        *((26, "wake", 0, 0), (26, "choose", 1, 0, 0), (26, "issue", 0, 2)),
        *((27, "wake", 0, 0), (27, "choose", 1, 0, 0), (27, "issue", 0, 3), (27, "stall", 0, BARRIER)),
        *((32, "wake", 0, 0), (32, "choose", 1, 0, 0), (32, "issue", 0, 4), (32, "end", 0)),
    ]


def test_the_owner_of_a_line_is_told_when_another_takes_its_place() -> None:
    """L1 has one line: the second load replaces the first's, the third misses it and replaces the second's."""
    trace = sim.execute(sim.Launch(isa.parse(TWO_LINES), (1,), (32,), (np.zeros(64, np.float32),)))
    gpu = sim.gpu("gtx480").replace({"sms": 1, "l1.bytes": 128, "l1.ways": 1})
    told = [event[1:] for event in logged(trace, gpu) if event[1] in ("lookup", "evict")]
    first = told[0][2]
    assert told == [
        *(("lookup", 0, first, 0), ("lookup", 0, first + 1, 0), ("evict", 0, first)),
        *(("lookup", 0, first, 0), ("evict", 0, first + 1)),
    ]
    wide = [event[1:] for event in logged(trace, gpu.replace({"l1.bytes": 256, "l1.ways": 2})) if event[1] in ("lookup", "evict")]
    assert wide == [("lookup", 0, first, 0), ("lookup", 0, first + 1, 0), ("lookup", 0, first, 1)]


@pytest.mark.slow
def test_more_than_256_warps_of_an_sm_keep_their_lines_apart() -> None:
    """512 warp slots, each of which brings lines to a small L1: numbers of slots do not wrap."""
    changes = {"sms": 1, "core.schedulers": 8, "core.policy": Witness, "l1.bytes": 1024}
    limits = {"limits.warps": 512, "limits.blocks": 128, "limits.registers": 1 << 20}
    gpu, trace = sim.gpu("gtx480").replace(changes | limits), loading(128)
    runs = [engine.simulate(trace, gpu) for engine in (timing, reference)]
    assert first_difference(*runs) is None
    assert runs[0].occupancy.warps == 512
    assert np.iinfo(state.Warp["slot"]).max >= 2047


@pytest.mark.parametrize("name", [*SUPPLIED, Witness])
def test_engines_and_any_number_of_threads_agree(name: Any) -> None:
    trace, gpu = loading(12), sim.gpu("gtx480").replace({"sms": 3, "core.policy": name, "core.group_size": 3, "l1.bytes": 2048})
    run = timing.simulate(trace, gpu)
    assert first_difference(run, reference.simulate(trace, gpu)) is None
    assert first_difference(run, timing.simulate(trace, gpu, threads=3)) is None


def test_random_depends_on_its_seed_only() -> None:
    trace, gpu = loading(), sim.gpu("gtx480").replace({"sms": 2, "core.policy": "random"})
    cycles = [timing.simulate(trace, gpu.replace({"core.policy_seed": seed})).cycles for seed in (0, 0, 1, 2)]
    assert cycles[0] == cycles[1]
    assert len(set(cycles)) > 1
    own, warps = (np.zeros(shape, np.int64) for shape in hooked(SUPPLIED["random"]).shapes)
    policy, seen = hooked(SUPPLIED["random"]), np.zeros(64, int)
    policy.begin(0, gpu.core, own, warps)
    for _ in range(6400):
        seen[policy.tell(0, (-1, 0, ~63), 0, own, warps, np.zeros(64, np.int64))] += 1
    assert seen.min() > 60  # of 100 in the mean; four standard deviations


def test_the_critical_warp_has_most_cycles_left_or_stalled() -> None:
    """At 10 cycles per instruction so far: 5 left are 50; 3 left and 30 stalled are 60; the last to issue is kept to while it is able."""
    policy, own, age = hooked(SUPPLIED["criticality"]), np.zeros(0, np.int64), np.arange(64)
    warps = np.zeros((64, 5), np.int64)
    warps[1], warps[2] = (0, 99, 5, 10, 0), (0, 99, 3, 10, 30)  # start, last issue, left, issued, stalled
    for last, chosen in ((~63, 2), (1, 1), (~1, 2)):
        assert policy.tell(0, (0b110, 0, last), 100, own, warps, age) == chosen
    assert hooked(SUPPLIED["remaining_work"]).tell(0, (0b110, 0, 2), 100, own, warps, age) == 1


def test_lost_locality_keeps_others_from_loading() -> None:
    """Two warps: warp 1 loses line 7 and misses it. Its score is 1 hit / 2 issues * 8 * 200 = 800, more than the cutoff of 200 leaves for
    warp 0, which may issue what is no load, and loads again when the score has fallen to 100."""
    policy, age = hooked(SUPPLIED["ccws"]), np.arange(64)
    own, warps = (np.zeros(shape, np.int64) for shape in policy.shapes)

    def tell(hook: Hook, *told: int, now: int = 10) -> int:
        return policy.tell(hook, told, now, own, warps, age)

    for slot in (0, 1):
        tell(Hook.START, slot, 0, 9)
        tell(Hook.ISSUE, slot, 0)
    assert tell(Hook.CHOOSE, 0b11, 0b11, ~63) == 0
    tell(Hook.EVICT, 1, 7)
    tell(Hook.LOOKUP, 0, 7, 0)  # not its own
    tell(Hook.LOOKUP, 1, 7, 1)  # no miss
    assert tell(Hook.CHOOSE, 0b11, 0b11, ~63) == 0
    tell(Hook.LOOKUP, 1, 7, 0)
    assert tell(Hook.CHOOSE, 0b11, 0b11, ~63) == 1
    assert tell(Hook.CHOOSE, 0b11, 0b10, ~63) == 0
    assert tell(Hook.CHOOSE, 0b01, 0b01, ~63) == -1
    assert tell(Hook.CHOOSE, 0b01, 0b01, ~63, now=709) == -1
    assert tell(Hook.CHOOSE, 0b01, 0b01, ~63, now=710) == 0
    tell(Hook.END, 1)
    assert tell(Hook.CHOOSE, 0b01, 0b01, ~63) == 0


def test_fields_that_a_policy_reads_are_said_to_be_read() -> None:
    from sim.gpus.unread import why_unread

    def unread(policy: Any) -> tuple[bool, bool]:
        gpu = sim.gpu("h100").replace({"core.policy": policy})
        return bool(why_unread(gpu, "core.group_size")), bool(why_unread(gpu, "core.policy_seed"))

    assert unread("gto") == unread("ccws") == unread(Logged) == (True, True)
    assert unread("two_level") == unread("two_level_active") == (False, True)
    assert unread("random") == (True, False)
    assert unread(Witness) == (False, False)  # its `begin` may


class Sub(Witness):
    """Inherits all hooks but one."""

    @staticmethod
    def on_issue(slot: int, instruction: int, now: int, own: Any, warps: Any) -> None:
        own[0] += slot


def test_a_subclass_has_the_hooks_of_its_base() -> None:
    policy = hooked(Sub)
    assert policy.mask == hooked(Witness).mask == 255
    assert policy.functions[2] is Sub.on_issue
    assert policy.functions[3] is Witness.on_stall


def test_a_policy_travels_without_its_machine_code() -> None:
    policy = hooked(Witness)
    assert policy.address
    assert pickle.loads(pickle.dumps(policy)) is policy


def test_the_page_s_example_runs(tmp_path: Path) -> None:
    code, _ = re.findall(r"```python\n(.*?)```", (ROOM / "README.md").read_text(), re.DOTALL)
    (tmp_path / "fewest.py").write_text(code)
    policy = of_file(tmp_path / "fewest.py", "FewestFirst")
    trace, gpu = loading(), sim.gpu("gtx480").replace({"sms": 2, "core.policy": policy})
    runs = [engine.simulate(trace, gpu, (0, 10**6)) for engine in (timing, reference)]
    assert first_difference(*runs) is None
    assert stateful(runs[0].gpu.core.policy) is policy
    assert runs[0].cycles not in {timing.simulate(trace, gpu.replace({"core.policy": name})).cycles for name in ("gto", "gtr", "oldest")}


CHOOSE = "    def choose(eligible, loads, last, age, now, own, warps):\n        return "
CLASS = "from sim.policies.stateful import StatefulPolicy\nclass Mine(StatefulPolicy):\n"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("    pass\n", r"the policy Mine chooses no warp\n  write: def choose\(eligible, loads"),
        (CHOOSE + "0\n    def on_isue(slot): pass\n", r"has no hook to be called on_isue\n  there are choose, on_start"),
        (
            CHOOSE + "0\n    def on_end(slot): pass\n",
            r"on_end of the policy Mine takes \(slot\)\n  write: def on_end\(slot, now, own, warps\)",
        ),
        (
            "    def choose(eligible, loads, last, age, now, own, *warps): return 0\n",
            r"takes \(eligible, .*, own, \*warps\)",
        ),
        (CHOOSE + "0\n    def on_end(slot, now, own, *, warps): pass\n", r"takes \(slot, now, own, \*, warps\)"),
        ("    warp_words = -1\n" + CHOOSE + "0\n", r"warp_words of the policy Mine is -1"),
        ("    scheduler_words = 1.5\n" + CHOOSE + "0\n", r"scheduler_words of the policy Mine is 1.5"),
        ("    scheduler_words = True\n" + CHOOSE + "0\n", r"scheduler_words of the policy Mine is True"),
        ("    patience = None\n" + CHOOSE + "0\n", r"patience of the policy Mine is None"),
        ("    patience = 10**30\n" + CHOOSE + "0\n", r"patience of the policy Mine is 10{30}\n  write a whole number from 0 to 1,099"),
    ],
)
def test_classes_that_are_no_policy(body: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CLASS + body)
    with pytest.raises(UserError, match=message):
        of_file(tmp_path / "mine.py", "Mine")


LOWEST = CHOOSE + "(eligible & -eligible).bit_length() - 1\n"
FIRST = """    def choose(eligible, loads, last, age, now, own, warps):
        for slot in range(64):
            if eligible >> slot & 1:
                return slot
        return -1
"""


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            FIRST + "    def on_issue(slot, instruction, now, own, warps):\n        warps[slot, 1] = 1\n",
            "the policy Mine fails in on_issue: ",
        ),
        (FIRST + "    def on_wake(slot, load, now, own, warps):\n        own[0] = 1 // load\n", "the policy Mine fails in on_wake: "),
        (FIRST + "    def on_stall(slot, cause, now, own, warps):\n        own[slot + 1] = 1\n", "the policy Mine fails in on_stall: "),
        (FIRST + "    def on_lookup(slot, line, hit, now, own, warps):\n        own[line] = 1\n", "the policy Mine fails in on_lookup: "),
        (CHOOSE + "own[1]\n", "the policy Mine fails in choose: "),
        (CHOOSE + "64\n", "the policy Mine chose a warp that cannot issue\n  return a slot whose bit"),
        (CHOOSE + "12\n", "the policy Mine chose a warp that cannot issue"),
        (CHOOSE + "-1\n", "the policy Mine issued nothing for 50 cycles although warps could\n  let choose return"),
        (CHOOSE + "-1 if now > 90 else 0 if eligible & 1 else -1\n", "the policy Mine issued nothing for 50 cycles although warps could"),
    ],
)
@pytest.mark.parametrize("engine", [timing, reference], ids=["numba", "simpy"])
def test_a_policy_that_fails_is_named(body: str, message: str, engine: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CLASS + "    scheduler_words, warp_words, patience = 1, 1, 50\n" + body)
    gpu = sim.gpu("gtx480").replace({"sms": 2, "core.policy": of_file(tmp_path / "mine.py", "Mine")})
    with pytest.raises(UserError, match=message):
        engine.simulate(loading(4), gpu)


def test_a_policy_that_fails_on_one_of_several_threads_ends_all(tmp_path: Path) -> None:
    body = FIRST + "    def on_start(slot, block, work, now, own, warps):\n        own[block // 17] = 1\n"
    (tmp_path / "mine.py").write_text(CLASS + "    scheduler_words = 1\n" + body)
    gpu = sim.gpu("gtx480").replace({"sms": 6, "core.policy": of_file(tmp_path / "mine.py", "Mine")})
    with pytest.raises(UserError, match="the policy Mine fails in on_start"):
        timing.simulate(loading(30), gpu, threads=3)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (LOWEST, r"Unknown attribute 'bit_length' of type int64 \(mine.py, line 4\)"),
        (CHOOSE + "0 if eligible & 1 else None\n", "choose does not always return a number: end it with return -1"),
        (FIRST + "    def on_end(slot, now, own, warps):\n        own[0] = missing\n", "NameError: name 'missing' is not defined"),
    ],
)
def test_what_numba_cannot_compile_is_said(body: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CLASS + body)
    policy = of_file(tmp_path / "mine.py", "Mine")
    with pytest.raises(UserError, match=rf"Numba cannot compile the policy Mine: {message}(?s:.*)engine='simpy'"):
        _ = policy.address


def test_what_numba_cannot_compile_runs_in_simpy(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CLASS + LOWEST)
    policy = of_file(tmp_path / "mine.py", "Mine")
    gpu = sim.gpu("gtx480").replace({"sms": 1, "core.policy": policy})
    assert reference.simulate(loading(2), gpu).cycles > 0


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            FIRST + "    def on_issue(slot, instruction, now, own, warps):\n        warps[slot, 0] = 1\n",
            "fails in on_issue: an error, or an index",
        ),
        (FIRST + "    def on_start(slot, block, work, now, own, warps):\n        own[99999] = 1 // 0\n", "fails in on_start: an error, or"),
        (CHOOSE + "-1\n", "issued nothing for 100000 cycles although warps could"),
        ("    pass\n", "chooses no warp\n  write: def choose"),
        (FIRST + "    oops\n", "mine.py:8: the file of the policy fails: NameError"),
    ],
)
def test_the_command_line_says_what_is_wrong_with_a_class(body: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CLASS + body)
    done = simtlab("run", CHAIN, "--warps", "2", "--policy", f"{tmp_path / 'mine.py'}:Mine", "--arg", "iterations=1")
    assert (done.exit_code, message in done.stderr) == (2, True), done.stderr


def test_the_command_line_takes_a_class_and_a_name(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CLASS + FIRST)
    for asked in (("--policy", f"{tmp_path / 'mine.py'}:Mine"), ("--set", "core.policy=ccws"), ("--policy", "two-level-active")):
        done = simtlab("run", CHAIN, "--warps", "2", *asked, "--arg", "iterations=1")
        assert done.exit_code == 0, done.stderr
        assert "issued" in done.stdout


def test_a_sweep_takes_no_class() -> None:
    with pytest.raises(UserError, match="a sweep takes policies by name"):
        sim.sweep(loading(1).launch, sim.gpu("gtx480"), {"policy": [Witness]})


@pytest.mark.parametrize(("engine", "message"), [(timing, "readonly array"), (reference, "fails in choose: ValueError: assignment")])
def test_ages_are_not_to_be_written(engine: Any, message: str, tmp_path: Path) -> None:
    body = "    def choose(eligible, loads, last, age, now, own, warps):\n        age[0] = 1\n        return -1\n"
    (tmp_path / "mine.py").write_text(CLASS + body)
    gpu = sim.gpu("gtx480").replace({"sms": 1, "core.policy": of_file(tmp_path / "mine.py", "Mine")})
    if engine is timing and not is_compiled():
        message = "fails in choose"
    with pytest.raises(UserError, match=message):
        engine.simulate(loading(), gpu)


@pytest.mark.parametrize("engine", [timing, reference], ids=["numba", "simpy"])
def test_of_several_failures_the_earliest_is_told(engine: Any, tmp_path: Path) -> None:
    body = FIRST + "    def begin(number, core, own, warps):\n        own[0] = number\n"
    body += "    def on_issue(slot, instruction, now, own, warps):\n        own[99 if own[0] == 0 and now > 20 else 1] = 1\n"
    body += "    def on_wake(slot, load, now, own, warps):\n        own[99 if own[0] == 1 and now > 21 else 1] = 1\n"
    (tmp_path / "mine.py").write_text(CLASS + "    scheduler_words = 2\n" + body)
    gpu = sim.gpu("gtx480").replace({"sms": 2, "core.schedulers": 1, "core.policy": of_file(tmp_path / "mine.py", "Mine")})
    with pytest.raises(UserError, match="fails in on_issue"):
        engine.simulate(loading(2), gpu)


@pytest.mark.skipif(not is_compiled(), reason="nothing is compiled")
def test_what_numba_says_is_not_cut(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CLASS + CHOOSE + "open('x').read()\n")
    gpu = sim.gpu("gtx480").replace({"sms": 1, "core.policy": of_file(tmp_path / "mine.py", "Mine")})
    with pytest.raises(UserError) as error:
        timing.simulate(loading(), gpu)
    said = str(error.value).split("\n")[0].removesuffix(")")
    assert "mine.py, line 4" in said
    assert not re.search(r"[:,] \(mine", said)
