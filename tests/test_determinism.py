"""The same inputs give the same Result in any process, on any machine, from either engine: hashes in a golden file."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import isa
import sim

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "golden" / "results.json"
GPUS = ("textbook", "g80", "gtx460", "gtx480", "k20c", "v100", "h100")
LISTING = """
.kernel mixed
.shared 512
.param ptr data
.param u32 n
        S2R R0, SR_TID.X
        S2R R1, SR_CTAID.X
        IMAD R2, R1, 0x60, R0
        SHL R3, R2, 2
        IADD R4, R3, c[0x0][data]
        LDG R5, [R4]
        SHL R6, R0, 2
        STS [R6], R5
        LOP.AND R7, R0, 0x7
        BAR.SYNC 0x0
.Loop:  IADD32I R7, R7, -1
        MUFU.RCP R8, R5
        FFMA R5, R8, 0.5, R5
        ISETP.GT.AND P0, PT, R7, RZ, PT
   @P0  BRA .Loop
        LDS R9, [R6]
        FADD R5, R5, R9
        STG [R4], R5
        EXIT
"""


def digest(gpu: str, engine: str) -> str:
    """Return the hash of everything a run says, its timeline included."""
    data = np.linspace(1, 2, 6 * 96, dtype=np.float32)
    launch = sim.Launch(isa.parse(LISTING), grid=(6,), block=(96,), args=(data, np.uint32(0)))
    result = sim.run(launch, sim.gpu(gpu).replace({"sms": 2}), engine, timeline=(0, 10**6))
    said = result.as_dict() | {"engine": "", "data": data.view(np.uint32).tolist(), "timeline": [row.tolist() for row in result.timeline]}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


@pytest.mark.parametrize("engine", ["numba", "simpy"])
def test_results_are_those_of_the_golden_file(engine: str, pytestconfig: pytest.Config) -> None:
    got = {gpu: digest(gpu, engine) for gpu in GPUS}
    if pytestconfig.getoption("--update-golden"):
        GOLDEN.write_text(json.dumps(got, indent=1) + "\n")
    assert got == json.loads(GOLDEN.read_text())


def test_another_process_with_another_hash_seed_gives_the_same() -> None:
    code = "from tests.test_determinism import digest; print(digest('gtx480', 'numba'))"
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == digest("gtx480", "numba")
