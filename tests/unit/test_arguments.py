"""Arguments as programs have them: structures by value, pointers into arrays and in memory, variables by name."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isa
import sim
from isa.errors import UserError
from sim import Pointer
from sim.launch.arrays import Array, make
from sim.launch.composed import composed
from sim.launch.copies import copied
from sim.sweeps.keys import launch_key
from tests.unit.test_cli import simtlab

SOURCE = """
struct View { float* data; int n; float scale; };
struct Node { float value; Node* next; };
__constant__ float coefficients[4] = {1, 2, 3, 4};
__device__ int total = 7;
__device__ float* table[2];
extern "C" __global__ void use(View view, float4 v, float* out, float* middle, Node* head) {
    int i = threadIdx.x;
    if (i < view.n) out[i] = view.data[i] * view.scale + v.z + middle[-2] + coefficients[1] + table[1][0];
    if (i == 0) {
        atomicAdd(&total, 5);
        float sum = 0;
        for (Node* node = head; node; node = node->next) sum += node->value;
        out[31] = sum;
        head->next = head->next->next;
    }
}
"""
VIEW = np.dtype([("data", object), ("n", np.int32), ("scale", np.float32)], align=True)
NODE = np.dtype([("value", np.float32), ("next", object)], align=True)
FLOAT4 = np.dtype([(name, np.float32) for name in "xyzw"])


@pytest.fixture(scope="module", params=["sm_80", "sm_90"])
def program(request: pytest.FixtureRequest) -> isa.Program:
    return isa.compile(SOURCE, request.param)


def use(program: isa.Program) -> sim.Launch:
    data, base, out = np.arange(32, dtype=np.float32), np.full(16, 3, np.float32), np.zeros(40, np.float32)
    nodes = np.zeros(3, NODE)
    for k in range(3):
        nodes[k] = (k + 1, Pointer(nodes, 16 * (k + 1)) if k < 2 else None)
    table = np.array([None, Pointer(base, 4)], object)
    view, v = np.array((data, 31, 2.0), VIEW)[()], np.array((0, 0, 0.5, 0), FLOAT4)[()]
    symbols = {"coefficients": np.array([9, 10, 11, 12], np.float32), "total": np.array([100], np.int32), "table": table}
    return sim.Launch(program, (1,), (32,), (view, v, out[4:], Pointer(base, 8), nodes), symbols=symbols)


def test_structures_pointers_lists_and_symbols(program: isa.Program) -> None:
    launch = use(program)
    sim.execute(launch)
    out, nodes = launch.args[2], launch.args[4]
    assert out[:31].tolist() == (np.arange(31, dtype=np.float32) * 2 + 0.5 + 3 + 10 + 3).tolist()
    assert out[31] == 6
    assert not out[32:].any()
    assert not out.base[:4].any()
    assert launch.symbols["total"].tolist() == [105]
    first = nodes[0]["next"]  # the kernel took the second node out of the list
    assert (first.array is nodes, first.offset, nodes[1]["next"].offset, nodes[2]["next"]) == (True, 32, 32, None)
    assert launch.symbols["table"][0] is None


def test_a_copy_of_a_launch_leaves_the_callers_arrays_alone(program: isa.Program) -> None:
    launch = use(program)
    other = copied(launch)
    assert launch_key(other) == launch_key(launch)
    sim.execute(other)
    assert other.args[2][31] == 6
    assert other.args[4][0]["next"].array is other.args[4]
    assert not launch.args[2].any()
    assert launch.symbols["total"][0] == 100
    assert launch.args[4][0]["next"].offset == 16
    assert launch_key(other) != launch_key(launch)


SHIFT = """
extern "C" __global__ void shift(float* to, const float* from, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}
"""


def test_two_pointers_into_one_array() -> None:
    program, x = isa.compile(SHIFT, "sm_90"), np.arange(100, dtype=np.float32)
    sim.execute(sim.Launch(program, (1,), (32,), (x, x[10:], np.int32(20))))
    assert x[:20].tolist() == list(range(10, 30))
    assert x[20:].tolist() == list(range(20, 100))
    y = np.arange(100, dtype=np.float32)
    sim.execute(sim.Launch(program, (1,), (32,), (y[60:80], y[70:], np.int32(20))))  # neither holds the other
    assert y[60:80].tolist() == list(range(70, 90))
    with pytest.raises(UserError, match=r"outside every array: 0 bytes past the end of array arg0, arg1 \(160 bytes"):
        sim.execute(sim.Launch(program, (1,), (32,), (y[60:80], y[70:], np.int32(31))))


def test_a_null_pointer_is_named() -> None:
    program = isa.compile(SHIFT, "sm_90")
    with pytest.raises(UserError, match="load of 4 bytes at 0x0 is outside every array"):
        sim.execute(sim.Launch(program, (1,), (32,), (np.zeros(4, np.float32), None, np.int32(4))))


def test_mistakes_are_one_message(program: isa.Program) -> None:
    launch = use(program)
    wrong = {**launch.symbols, "totals": np.zeros(1)}
    with pytest.raises(UserError, match="kernel use has no variable totals"):
        sim.execute(sim.Launch(program, (1,), (32,), launch.args, symbols=wrong))
    with pytest.raises(UserError, match="symbol total has 4 bytes; 8 were given"):
        sim.execute(sim.Launch(program, (1,), (32,), launch.args, symbols={"total": np.zeros(2, np.int32)}))
    with pytest.raises(UserError, match="argument 0 has 16 bytes; a structure of 8 was given"):
        sim.Launch(program, (1,), (32,), (np.zeros((), "V8")[()], *launch.args[1:]))
    with pytest.raises(UserError, match="str me is not a pointer"):
        sim.execute(sim.Launch(program, (1,), (32,), (*launch.args[:4], np.array([(1, "me")], NODE))))


READ = """
struct View { float* data; int n; float scale; };
__device__ float* chosen;
extern "C" __global__ void read(View* views, float* out, bool twice) {
    out[threadIdx.x] = (views->data[threadIdx.x] + (chosen ? chosen[threadIdx.x] : 0)) * (twice ? 2 : 1);
}
extern "C" __global__ void change(View* views, float* out, bool twice) { views->n = 1; }
"""


def read(views: Any, twice: Any = False, name: str = "read", **options: Any) -> np.ndarray:
    out = np.zeros(32, np.float32)
    sim.execute(sim.Launch(isa.compile(READ, "sm_90", name), 1, 32, (views, out, twice), **options))
    return out


def test_arrays_of_structures_with_pointers_that_may_not_be_written() -> None:
    x = np.arange(32, dtype=np.float32)
    views = np.array([(x, 3, 1.0)], VIEW)
    views.flags.writeable = False
    assert read(views).tolist() == x.tolist()
    with pytest.raises(UserError, match="array arg0 is read-only"):
        read(views, name="change")
    launch = copied(sim.Launch(isa.compile(READ, "sm_90", "change"), 1, 32, (views, np.zeros(32, np.float32), True)))
    with pytest.raises(UserError, match="array arg0 is read-only"):
        sim.execute(launch)


def test_a_pointer_to_one_structure_and_pointers_as_symbols_and_bool() -> None:
    x = np.arange(32, dtype=np.float32)
    one = np.array((x, 3, 1.0), VIEW)
    assert read(Pointer(one), True, symbols={"chosen": Pointer(x, 0)}).tolist() == (4 * x).tolist()
    assert read(Pointer(one), np.bool_(1), symbols={"chosen": None}).tolist() == (2 * x).tolist()


def test_arguments_that_would_be_taken_for_others_are_refused() -> None:
    x = np.arange(32, dtype=np.float32)
    views = np.array([(x, 3, 1.0), (x, 4, 1.0)], VIEW)
    with pytest.raises(UserError, match="an array of pointers that overlaps with another array"):
        read(views, symbols={"chosen": Pointer(views[1:])})
    with pytest.raises(UserError, match="an array of pointers that overlaps with another array"):
        copied(sim.Launch(isa.compile(READ, "sm_90", "read"), 1, 32, (views, views[1:], True)))
    with pytest.raises(UserError, match=r"symbol chosen is set to list .* whose size nothing says"):
        read(views, symbols={"chosen": [1.0]})
    with pytest.raises(UserError, match=r"Pointer\(list, 0\): an array and a whole number of bytes are needed"):
        Pointer([1.0])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"args": (np.zeros(1, ">f4"),)}, "argument arg0: >f4 has the highest byte first"),
        ({"constants": {3: np.zeros(1, ">i4")}}, "constants of bank 3: >i4 has the highest byte first"),
        ({"block": (32.0,)}, r"block \(32.0,\): one to three whole numbers"),
        ({"grid": "two"}, "one to three whole numbers of at least 1 are needed"),
        ({"shared_dynamic": -4}, "shared memory of -4 bytes"),
    ],
)
def test_sizes_and_arrays_that_cannot_be(options: dict[str, Any], said: str) -> None:
    program = isa.parse(".param ptr x\nEXIT") if "args" not in options else isa.compile("__global__ void k(float* x) {}", "sm_90")
    with pytest.raises(UserError, match=said):
        sim.execute(sim.Launch(program, **{"grid": 1, "block": 32, "args": (np.zeros(1, np.float32),)} | options))


@pytest.mark.parametrize("rule", [{"dtype": "int32", "low": 0.2, "high": 0.8}, {"dtype": "float64", "low": -1e308, "high": 1.7e308}])
def test_random_numbers_between_limits_that_leave_none(rule: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="x draws from low"):
        make(Array(name="x", shape=8, init="random", **rule), Path("k.toml"))


def test_the_number_of_a_constant_bank_is_part_of_a_launch() -> None:
    program, table = isa.parse("EXIT"), np.ones(4, np.float32)
    keys = {launch_key(sim.Launch(program, 1, 32, constants={bank: table})) for bank in (3, 4)}
    assert len(keys) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("&z", "points to z, which is not an array here"),
        ("{&x, f32}", "f32 is not a typed number"),
        ("{f32:1", "does not end with }"),
        ("{}", "is not a structure"),
        ("{f32:1}@3", "is not a structure"),
        ("[&x, f32:1]", "is not an array of pointers"),
        ("i8:300", "300 is not a value of that type"),
        ("f8:1", "f8:1 is not a typed number"),
    ],
)
def test_mistakes_in_text(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        composed(text, {"x": np.zeros(4)}, "--arg")


def test_text_is_laid_out_as_c_does() -> None:
    x = np.zeros(4, np.float32)
    structure = composed("{i8:1, &x-4, f32:2}", {"x": x}, "--arg")
    assert [structure.dtype.fields[name][1] for name in structure.dtype.names] == [0, 8, 16]
    assert structure.dtype.itemsize == 24
    assert structure["field1"].offset == -4
    assert composed("{f32:1,f32:2,f32:3}@16", {}, "--arg").dtype.itemsize == 16
    assert [one and one.offset for one in composed("[&x, null, &x+0x8]", {"x": x}, "--arg")] == [0, None, 8]


LAUNCH = """
grid = 1
block = 32
[[args]]
name = "view"
value = "{&x, s32:31, f32:2.0}"
[[args]]
name = "v"
value = "{f32:0,f32:0,f32:0.5,f32:0}@16"
[[args]]
name = "out"
shape = 36
[[args]]
name = "middle"
value = "&base+8"
[[args]]
name = "head"
value = "&list"
[[arrays]]
name = "x"
shape = 32
init = "arange"
[[arrays]]
name = "base"
shape = 16
init = "ones"
[[arrays]]
name = "list"
dtype = "uint64"
shape = 4
init = "addresses"
start = 2
step = 0
of = "list"
[[symbols]]
name = "total"
dtype = "int32"
shape = 1
init = "arange"
start = 40
[expect]
total = "total + 5"
"""


def test_a_launch_file_and_the_command_line_say_the_same(tmp_path: Path) -> None:
    source = SOURCE.replace("+ table[1][0]", "").replace("head->next = head->next->next;", "").replace("node; node = node->next", "0;")
    (tmp_path / "use.cu").write_text(source)
    (tmp_path / "use.toml").write_text(LAUNCH)
    done = simtlab("run", str(tmp_path / "use.cu"), "--gpu", "h100")
    assert done.exit_code == 0, done.output
    assert "Results equal NumPy's: total" in done.output
    again = simtlab("run", str(tmp_path / "use.cu"), "--gpu", "h100", "--arg", "out=f32[40]=ones", "--arg", "middle=&out+80")
    assert again.exit_code == 0, again.output
    (tmp_path / "use.toml").unlink()
    arguments = ["{&2, s32:8, f32:2}", "{f32:0,f32:0,f32:0.5,f32:0}@16", "f32[36]=ones", "&2+16", "null"]
    last = simtlab(
        "run", str(tmp_path / "use.cu"), "--gpu", "h100", "--block", "32", *(part for one in arguments for part in ("--arg", one))
    )
    assert last.exit_code == 0, last.output


def test_a_number_takes_the_type_that_the_listing_declares(tmp_path: Path) -> None:
    (tmp_path / "k.sass").write_text(
        ".param u32 n\n.param ptr x\nMOV R0, c[0x0][n]\nMOV R2, c[0x0][x]\nMOV R3, c[0x0][x+4]\nST.E [R2], R0\nEXIT"
    )
    (tmp_path / "k.toml").write_text(
        'grid = 1\nblock = 1\n[[args]]\nname = "n"\nvalue = 5\n[[args]]\nname = "x"\ndtype = "uint32"\nshape = 1\n[expect]\nx = "n"\n'
    )
    assert "Results equal NumPy's: x" in simtlab("run", str(tmp_path / "k.sass")).output


def test_a_launch_file_names_the_kernel_of_a_source_with_several(tmp_path: Path) -> None:
    kernels = "".join(f'extern "C" __global__ void {name}(int* x) {{ *x = {k}; }}\n' for k, name in enumerate(("first", "second"), 1))
    (tmp_path / "k.cu").write_text(kernels)
    table = 'function = "second"\ngrid = 1\nblock = 1\n[[args]]\nname = "x"\ndtype = "int32"\nshape = 1\n[expect]\nx = "x + 2"\n'
    (tmp_path / "k.toml").write_text(table)
    assert "Results equal NumPy's: x" in simtlab("run", str(tmp_path / "k.cu"), "--gpu", "h100").output
