"""CUDA sources through NVIDIA's packages: what comes out runs, lints clean, and mistakes are shown in the compiler's words."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

import isa
import sim
from isa import compiler, cuda_names, sass
from isa.errors import UserError
from tests.unit.control_words import ROOT
from tests.unit.test_cli import refused, simtlab

SOURCES = sorted((ROOT / "programs" / "cuda").glob("*.cu"))
needs_compiler = pytest.mark.skipif(not compiler.is_installed(), reason="the extra `cuda` is not installed")
SCALE = """
#include <cuda_fp16.h>
template <int N> __device__ float power(float x) { float y = 1; for (int i = 0; i < N; i++) y *= x; return y; }
__constant__ float factor[2] = {2.0f, 3.0f};
extern "C" __global__ void scale(float *x) { x[threadIdx.x] = power<FACTORS>(x[threadIdx.x]) * factor[1]; }
__global__ void half_sum(__half *x) { x[threadIdx.x] = x[threadIdx.x] + x[threadIdx.x]; }
"""


@needs_compiler
@pytest.mark.parametrize(
    "architecture",
    [pytest.param(one, marks=pytest.mark.slow) for one in ("sm_75", "sm_80")] + ["sm_90"],
)
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_the_kernels_of_the_repository_compile(source: Path, architecture: str) -> None:
    listing = source.with_name(f"{source.stem}.{architecture}.sass")
    if not listing.exists():
        pytest.skip("matrix products of these shapes begin with sm_80")
    program, listed = isa.compile(source, architecture), isa.load(listing)
    said = architecture + "a" * ("wgmma" in source.read_text("utf-8"))  # of which no other architecture knows
    assert (program.name, program.architecture, program.path) == (listed.name, said, f"{source} (SASS for {architecture})")
    assert program.shared_bytes == listed.shared_bytes
    assert [finding for finding in sim.lint(program) if finding.level == "hazard"] == []


@needs_compiler
def test_a_kernel_of_a_text_runs_with_its_constants_and_options() -> None:
    program = isa.compile(SCALE, "sm_80", "scale", options=["-DFACTORS=3"])
    x = np.arange(32, dtype=np.float32)
    sim.execute(sim.Launch(program, grid=(1,), block=(32,), args=(x,)))
    np.testing.assert_array_equal(x, np.arange(32, dtype=np.float32) ** 3 * 3)


@needs_compiler
def test_a_kernel_is_chosen_by_its_name_in_the_source() -> None:
    assert isa.compile(SCALE, "sm_75", "half_sum", options=["-DFACTORS=1"]).name == "_Z8half_sumP6__half"
    with pytest.raises(UserError, match="2 functions"):
        isa.compile(SCALE, "sm_75", options=["-DFACTORS=1"])


@needs_compiler
def test_kernels_taken_from_the_same_bytes_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cubin, read, parse = compiler.compiled(SCALE, "sm_90", options=["-DFACTORS=4"]).cubin, [], sass.parse
    monkeypatch.setattr(sass, "parse", lambda *given: read.append(given) or parse(*given))
    assert [isa.load_cubin(cubin, name).name for name in ("scale", "half_sum")] == ["scale", "_Z8half_sumP6__half"]
    assert len(read) == 1


@needs_compiler
def test_errors_are_the_compilers_with_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "wrong.cu"
    file.write_text("__global__ void k(float *x)\n{\n    x[0] = y;\n}\n")
    with pytest.raises(UserError, match='identifier "y" is undefined') as caught:
        isa.compile(file, "sm_90")
    assert (caught.value.path, caught.value.line) == (str(file), 3)
    with pytest.raises(UserError, match="__CUDACC_RTC__"):
        isa.compile("#include <vector>\n__global__ void k() {}\n", "sm_90")
    said = '#include <cstdio>\n#include <cassert>\n__global__ void k(int n) { assert(n); printf("%d", n); }\n'
    assert isa.compile(said, "sm_90").driver_functions
    with pytest.raises(UserError, match="__CUDACC_RTC__"):
        isa.compile("__global__ void k() {}\nint main() { return 0; }\n", "sm_90")
    with pytest.raises(UserError, match=r"no installed CUDA compiler knows architecture sm_20\n  installed is one for sm_75"):
        isa.compile("__global__ void k() {}", "sm_20")


def test_without_the_compiler_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "_libraries", list)
    assert not compiler.is_installed()
    message = refused("run", SOURCES[0], "--gpu", "h100")
    assert "NVRTC, which is not installed" in message
    assert "pip install 'simtlab[cuda]'" in message


def test_a_source_that_is_not_there_is_one_message(tmp_path: Path) -> None:
    assert "cannot read the source" in refused("compile", tmp_path / "none.cu", "--arch", "sm_90")


@needs_compiler
def test_run_compiles_for_the_gpu_and_checks_what_the_launch_file_expects() -> None:
    result = simtlab("run", ROOT / "programs" / "cuda" / "saxpy.cu", "--gpu", "a100")
    assert result.exit_code == 0, result.output
    assert "Results equal NumPy's: y." in result.stdout


@needs_compiler
def test_run_takes_typed_arguments_in_order(tmp_path: Path) -> None:
    file = tmp_path / "k.cu"
    file.write_text("__global__ void twice(int n, float *x) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }\n")
    shape = ["--grid", "1", "--block", "64"]
    arguments = ["--arch", "sm_90", "--kernel", "twice", *shape, "--arg", "i32:50", "--arg", "f32[64]=ones"]
    result = simtlab("run", file, "--gpu", "h100", *arguments)
    assert result.exit_code == 0, result.output
    assert "1 block of 64 threads" in result.stdout


@needs_compiler
def test_run_takes_arguments_by_the_names_in_the_source(tmp_path: Path) -> None:
    file = tmp_path / "k.cu"
    file.write_text("__global__ void twice(const int n, float a, float *__restrict__ x) { if (threadIdx.x < n) x[threadIdx.x] *= a; }\n")
    common = ["run", file, "--gpu", "h100", "--block", "64"]
    named = ["--arg", "x=f32[64]=ones", "--arg", "n=50", "--arg", "a=2"]
    by_name = simtlab(*common, *named)
    assert by_name.exit_code == 0, by_name.output
    assert by_name.stdout.startswith("twice on NVIDIA H100")
    assert by_name.stdout == simtlab(*common, "--arg", "i32:50", "--arg", "f32:2", "--arg", "f32[64]=ones").stdout
    assert "give --arg 'a=VALUE' --arg 'x=f32[1024]=random'" in refused(*common, "--arg", "n=50")
    assert "no argument is called m" in refused(*common, *named, "--arg", "m=1")
    assert "--arg n=1.5: 1.5 is not a value of that type" in refused(*common, *named[:2], "--arg", "n=1.5", "--arg", "a=2")
    assert "x is an array\n  write x=f32[1024]=random" in refused(*common, "--arg", "x=3", *named[2:])
    assert "by name or in order, not both" in refused(*common, *named, "--arg", "i32:1")


@pytest.mark.parametrize("source", sorted(ROOT.glob("programs/cuda/**/*.cu")), ids=lambda path: path.stem)
def test_names_are_read_out_of_every_source_of_the_repository(source: Path) -> None:
    listing = min(path for path in source.parent.glob(f"{source.stem}.sm_*.sass"))
    found = cuda_names.parameters(source.read_text("utf-8"), isa.load(listing).name)
    launch = tomllib.loads(source.with_suffix(".toml").read_text("utf-8"))
    assert found is not None
    assert len(found) == len(launch["args"])
    arrays = [("shape" in one or "file" in one) and "box" not in one for one in launch["args"]]
    assert [one.is_pointer for one in found] == arrays


@pytest.mark.parametrize(
    ("declared", "parameter"),
    [
        ("unsigned long long n", ("n", "u64", False)),
        ("std::uint16_t *const words", ("words", "u16", True)),
        ("const __grid_constant__ Map map", ("map", "", False)),
        ("float x[]", ("x", "f32", True)),
        ("unsigned n /* , int m */", ("n", "u32", False)),
        ("Pair<int, float> pair", ("pair", "", False)),
        ("short int n = 3", ("n", "i16", False)),
    ],
)
def test_declarations_are_read_as_a_person_reads_them(declared: str, parameter: tuple[str, str, bool]) -> None:
    source = f"template <int N> __global__ void __launch_bounds__(256, 2) other(int a);\n__global__ void k({declared}) {{}}"
    assert cuda_names.parameters(source, "_Z1kv") == (parameter,)
    assert cuda_names.parameters(source, "none") is None
    assert cuda_names.parameters(source, "_Z11k_of_others1kv") is None  # its name only ends as that of k does
    assert cuda_names.parameters(f"{source}\n__global__ void k(int other) {{}}", "k") is None  # which of them was compiled?


@needs_compiler
def test_compile_writes_a_listing_or_a_cubin(tmp_path: Path) -> None:
    listing, code = tmp_path / "saxpy.sass", tmp_path / "saxpy.cubin"
    for output in (code, listing):  # the cubin beside the listing says what it needs
        result = simtlab("compile", ROOT / "programs" / "cuda" / "saxpy.cu", "--arch", "sm_86", "--output", output)
        assert result.exit_code == 0, result.output
    assert isa.load(listing).listing() == isa.load(code).listing()
    assert simtlab("lint", listing).exit_code == 0
