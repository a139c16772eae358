"""More of a resource slows no run's median by more than its noise; what does stands in sim/timing/README.md, with its mechanism."""

import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

import sim
from tests import monotone

ROW = re.compile(r"^\| (\w+) \| `([\w.]+)` \| `([\w/]+)` \| (\d+) % \| (.+) \|$", re.MULTILINE)
KNOWN = {row[:3]: row[3:] for row in ROW.findall((Path(sim.__file__).parent / "timing" / "README.md").read_text())}
EACH = 2  # programs for each field of a preset


@pytest.mark.slow
@pytest.mark.parametrize("name", sim.gpus())
def test_more_is_not_slower(name: str) -> None:
    assert [one for one in monotone.slower(name, EACH) if one[:3] not in KNOWN] == []


@pytest.mark.slow
@pytest.mark.parametrize("known", KNOWN)
def test_what_is_known_to_be_slower_still_is(known: tuple[str, str, str]) -> None:
    name, field, program = known
    found = monotone.grown(program, name, dict(monotone.richer(sim.gpu(name)))[field])
    assert found == pytest.approx(float(KNOWN[known][0]) / 100, abs=0.006)


def test_all_programs_are_tried_and_no_field_of_every_preset_with_few() -> None:
    met = defaultdict[str, set[str]](set)
    for name in sim.gpus():
        for field, _, program in monotone.pairs(name, EACH):
            met[field].add(program)
    assert set.union(*met.values()) == set(monotone.PROGRAMS)
    assert len(monotone.PROGRAMS) >= 20
    assert min(len(met[field]) for field in monotone.MORE) >= 15
    assert KNOWN


def test_what_grows_beyond_noise_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    fields = [("sms", "more"), ("dram.depth", "noisy"), ("l2.bytes", "little")]
    times = {"before": [100, 101, 99], "more": [110, 111, 109], "noisy": [130, 100, 105], "little": [100, 101, 101]}
    monotone.before.cache_clear()
    monkeypatch.setattr(monotone, "richer", lambda gpu: fields)
    monkeypatch.setattr(monotone, "cycles", lambda program, gpu: np.array(times[gpu if isinstance(gpu, str) else "before"]))
    assert [(one.field, one.share) for one in monotone.slower("gtx480", 1)] == [("sms", 0.1)]
    monotone.before.cache_clear()
