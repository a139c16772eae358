"""Cache operators of loads: what -dlcm gives those that name none, and which go through L1."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import isa
import sim
from isa.errors import UserError
from isa.load_cache import LOAD_CACHES
from isa.program import Program
from sim.launch.file import load_launch
from sim.result.result import Result
from tests.unit.test_cli import PROGRAMS, refused, simtlab
from tests.unit.test_compiler import needs_compiler

STRUCTURES = PROGRAMS / "access" / "array_of_structures.sass"  # three loads of the same sectors
LOADS = """
.kernel loads
.param ptr p
MOV R2, c[0x0][p];
MOV R3, c[0x0][p+4];
LDG{} R4, [R2];
@PT LDG.CV R5, [R2];
LDG.CI R6, [R2];
LDS R7, [RZ];
STG [R2], R4;
EXIT;
"""
CONSTANT = 'extern "C" __global__ void k(float* out, const float* in, int n)\n{ out[threadIdx.x] = __ldg(&in[n]) + in[n + 1]; }'


@pytest.mark.parametrize("operator", LOAD_CACHES)
def test_loads_that_name_no_operator_get_one_and_nothing_else_changes(operator: str) -> None:
    found = isa.with_load_cache(isa.parse(LOADS.format("")), operator)
    wanted = isa.parse(LOADS.format("." + operator.upper()))
    assert found.listing() == wanted.listing()
    for name, got, column in zip(found.encoded._fields, found.encoded, wanted.encoded, strict=True):
        assert np.array_equal(got, column), name


def test_an_unknown_operator_says_which_there_are() -> None:
    with pytest.raises(UserError, match="no cache operator of loads is called 'l1'"):
        isa.with_load_cache(isa.parse(LOADS.format("")), "l1")


@cache
def compiled(source: Path, architecture: str) -> Program:
    """Return a kernel without operators, which is the same for each of them."""
    return isa.compile(source, architecture)


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_90"])
@pytest.mark.parametrize("operator", LOAD_CACHES)
def test_compiled_code_becomes_what_the_compiler_writes_with_dlcm(architecture: str, operator: str) -> None:
    for name in ("gather", "stencil", "transpose"):
        source = PROGRAMS / "cuda" / f"{name}.cu"
        found = isa.with_load_cache(compiled(source, architecture), operator)
        wanted = isa.compile(source, architecture, options=["-Xptxas", f"-dlcm={operator}"])
        assert [one.text for one in found.instructions] == [one.text for one in wanted.instructions]
        assert np.array_equal(found.encoded.cache, wanted.encoded.cache)


@needs_compiler
def test_the_compiler_leaves_read_only_loads_to_l1() -> None:
    texts = [one.opcode for one in isa.compile(CONSTANT, "sm_90", options=["-Xptxas", "-dlcm=cg"]).instructions if one.opcode[:3] == "LDG"]
    assert sorted(texts) == ["LDG.E.CONSTANT", "LDG.E.STRONG.GPU"]


def structures(gpu: str, operator: str | None, **fields: object) -> Result:
    launch = load_launch(STRUCTURES, grid=[4]).launch
    program = isa.with_load_cache(launch.program, operator) if operator else launch.program
    machine = sim.gpu(gpu).replace({"sms": 1, "l2.coalesced": 1} | fields)
    return sim.run(replace(launch, program=program), machine)


@pytest.mark.parametrize("gpu", ["gtx480", "k20c", "gtx980", "h100"])
def test_the_operator_is_stronger_than_what_the_gpu_does_by_default(gpu: str) -> None:
    traffic = []
    for operator, on in (("ca", True), ("cg", False)):
        plain = structures(gpu, None, **{"l1.global_loads": on})
        traffic.append(plain.counters["l2_sectors_read"])
        for default in (True, False):
            found = structures(gpu, operator, **{"l1.global_loads": default})
            assert found.counters["l2_sectors_read"] == plain.counters["l2_sectors_read"], (gpu, operator, default)
    assert traffic[0] < traffic[1] / 2


def test_a_load_that_is_strong_for_its_sm_goes_through_l1_which_ld_ca_becomes() -> None:
    """It went as the GPU's default: past L1 with l1.global_loads = false, where ld.ca, compiled so since Volta, does not."""
    text = ".kernel k\n.target sm_90\n.param ptr p\nMOV R2, c[0x0][p];\nMOV R3, c[0x0][p+4];\nLDG.E{} R4, [R2];\nLDG.E{} R5, [R2];\nEXIT;"
    gpu = sim.gpu("h100").replace({"sms": 1, "l1.global_loads": False})
    hits = []
    for scope in ("", ".STRONG.SM", ".STRONG.CTA", ".STRONG.GPU"):
        launch = sim.Launch(isa.parse(text.format(scope, scope)), (1,), (32,), (np.zeros(32, np.float32),))
        runs = [sim.run(launch, gpu, engine) for engine in sim.ENGINES]
        assert runs[0].counters == runs[1].counters
        hits.append(runs[0].counters["l1_hit_rate"] > 0)
    assert hits == [False, True, True, False]


def test_run_takes_it_as_an_option(tmp_path: Path) -> None:
    def cycles(*options: str) -> tuple[int, float]:
        file = tmp_path / "run.json"
        done = simtlab("run", STRUCTURES, "--gpu", "k20c", "--grid", "8", "--json", file, *options)
        assert done.exit_code == 0, done.output
        found = json.loads(file.read_text())
        return found["cycles"], found["counters"]["l2_sectors_read"]

    assert cycles("--dlcm", "ca") == cycles("--set", "l1.global_loads=true") != cycles() == cycles("--dlcm", "cg")
    assert "there are: ca, cg, cs, cv" in refused("run", STRUCTURES, "--dlcm", "l2")
