"""Launch files: what they make, what they expect, and what they say of a mistake."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isa
from isa.errors import UserError
from sim.functional import execute
from sim.launch.expectation import check, evaluate, fft, fma
from sim.launch.file import LaunchFile, load_launch
from sim.launch.placement import BASE, place

LISTING = """
.param u32 n
.param ptr x
.param ptr y
    S2R R0, SR_TID.X
    SHL R0, R0, 2
    IADD R1, R0, c[0x0][x]
    IADD R2, R0, c[0x0][y]
    LDG R3, [R1]
    FADD R3, R3, 1.0
    STG [R2], R3
    EXIT
"""
GOOD = """
grid = 1
block = [32, 1]
[[args]]
name = "n"
type = "u32"
value = 32
[[args]]
name = "x"
shape = [4, 8]
init = "arange"
step = 0.5
[[args]]
name = "y"
shape = 32
[expect]
y = "reshape(x, 32) + 1"
"""


def read(folder: Path, text: str, listing: str = LISTING, **overrides: Any) -> LaunchFile:
    (folder / "k.sass").write_text(listing)
    (folder / "k.toml").write_text(text)
    return load_launch(folder / "k.sass", **overrides)


def test_a_launch_file_runs_and_is_checked(tmp_path: Path) -> None:
    launch, expectation = read(tmp_path, GOOD)
    assert (launch.grid, launch.block, launch.name) == ((1,), (32, 1), "k")
    assert launch.args[0] == np.uint32(32)
    assert len(check(launch, expectation)) == 8
    execute(launch)
    assert check(launch, expectation) == []
    launch.args[2][5] = 7
    (mismatch,) = check(launch, expectation)
    assert (mismatch.array, mismatch.index, mismatch.got, mismatch.expected) == ("y", (5,), 7, 3.5)


def test_overrides_replace_what_the_file_says(tmp_path: Path) -> None:
    x = np.full(32, 3, np.float32)
    launch, expectation = read(tmp_path, GOOD, block=[32], grid=None, args={"x": x, "n": 7})
    assert (launch.grid, launch.block) == ((1,), (32,))
    assert launch.args[0] == 7
    assert launch.args[1] is x
    assert (expectation["y"].values == 4).all()


def test_seeds_files_and_addresses(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(6, dtype=np.int16))
    text = """
        grid = 1
        block = 1
        [[args]]
        name = "n"
        type = "u32"
        value = 1
        [[args]]
        name = "x"
        file = "x.npy"
        [[args]]
        name = "y"
        dtype = "uint32"
        shape = 4
        init = "addresses"
        start = 1
    """
    launch = read(tmp_path, text).launch
    assert launch.args[1].dtype == np.int16
    second = place([("x", launch.args[1]), ("y", launch.args[2])])[1].address
    assert launch.args[2].tolist() == [second + 4 * k for k in (1, 2, 3, 0)]
    of_x = read(tmp_path, text.replace("start = 1", 'of = "x"')).launch
    assert of_x.args[2].tolist() == [BASE + 2 * k for k in range(4)]
    random = GOOD.replace('init = "arange"\nstep = 0.5', 'init = "random"\nseed = 4\nlow = 2\nhigh = 3')
    a, b = (read(tmp_path, random).launch.args[1] for _ in range(2))
    assert np.array_equal(a, b)
    assert ((a >= 2) & (a < 3)).all()


def test_a_listing_without_parameters_takes_those_of_the_file(tmp_path: Path) -> None:
    text = GOOD + '\n[preset]\nR2 = "y"\nR4 = 1.5\n[iterations]\nl = 2\n'
    text = text.replace('y = "reshape(x, 32) + 1"', 'y = "where(arange(32) == 0, 1.5, 0)"')
    launch, expectation = read(tmp_path, text, "l:\nST.E [R2], R4\nBRA l")
    assert [(p.name, p.type, p.offset) for p in launch.program.parameters] == [
        ("n", "u32", 0x140),
        ("x", "ptr", 0x148),
        ("y", "ptr", 0x150),
    ]
    assert execute(launch).executed.tolist() == [2, 2]
    assert check(launch, expectation) == []


CONSTANTS = """
[[constants]]
bank = 3
name = "table"
dtype = "float32"
shape = 8
init = "arange"
"""


def test_arrays_lie_in_constant_banks(tmp_path: Path) -> None:
    (tmp_path / "k.sass").write_text(LISTING.replace("FADD R3, R3, 1.0", "FADD R3, R3, c[0x3][0x14]"))
    (tmp_path / "k.toml").write_text(GOOD.split("[expect]", maxsplit=1)[0] + CONSTANTS)
    file = load_launch(tmp_path / "k.toml")
    execute(file.launch)
    assert np.array_equal(file.launch.args[2].ravel(), file.launch.args[1].ravel() + 5)
    for old, new, message in (
        ("bank = 3", "bnak = 3", "did you mean bank"),
        ('"table"', '"x"', "x is there twice"),
        ("[[constants]]", CONSTANTS + "[[constants]]", "bank 3 is there twice"),
        ('"arange"', '"addresses"', "holds addresses"),
    ):
        (tmp_path / "k.toml").write_text(GOOD.split("[expect]", maxsplit=1)[0] + CONSTANTS.replace(old, new))
        with pytest.raises(UserError, match=message):
            load_launch(tmp_path / "k.toml")


def test_tolerances(tmp_path: Path) -> None:
    text = GOOD.replace('y = "reshape(x, 32) + 1"', 'y = { expression = "reshape(x, 32) + 1.01", relative = 0.01 }')
    launch, expectation = read(tmp_path, text)
    execute(launch)
    assert check(launch, expectation) == []
    tight = read(tmp_path, text.replace("0.01 }", "0.001 }")).expectation
    assert check(launch, tight) != []


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("block =", "blok =", ["unknown key blok", "did you mean block?"]),
        ("shape = 32", "shpae = 32", ["unknown key args[2].shpae", "did you mean shape?"]),
        ("value = 32", "value = -1", ["n = -1 is not a u32"]),
        ('"u32"', '"f32"', ["k.toml:5: args: n has type f32; the listing says .param u32 n", "make both u32, or both f32"]),
        ('"u32"', '"u64"', ["n has type u64"]),
        ("reshape(x, 32) + 1", "x + 1", ["values have shape (4, 8), y has (32,)", "shapes: x (4, 8), y (32,)"]),
        ("reshape(x, 32) + 1", "x + y", ["expect.y: operands could not be broadcast", "shapes: x (4, 8), y (32,)"]),
        ('name = "x"', 'name = "z"', ["args are n, z, y", "n, x, y"]),
        ("grid = 1", "grid = [", ["not a TOML file"]),
        ("shape = 32", "", ["y needs a shape"]),
        ("shape = 32", 'shape = 32\ndtype = "float99"', ["float99"]),
        ('y = "res', 'q = "res', ["expect.q: no array argument has that name"]),
        ("reshape(x, 32) + 1", "x.T", ["x.T: only arguments, numbers, operators and functions"]),
        ("reshape(x, 32) + 1", "open(1)", ["open is not a function here"]),
        ("reshape(x, 32) + 1", "nothing", ["nothing is neither an argument"]),
        ("reshape(x, 32) + 1", "x[0:3]", ["expect.y"]),
        ("[expect]", '[preset]\nX1 = "y"\n[expect]', ["X1 is not a register"]),
    ],
)
def test_mistakes_name_the_file_and_the_key(tmp_path: Path, old: str, new: str, parts: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        read(tmp_path, GOOD.replace(old, new, 1))
    for part in [str(tmp_path / "k.toml"), *parts]:
        assert part in str(caught.value)


def test_no_launch_file(tmp_path: Path) -> None:
    (tmp_path / "k.sass").write_text(LISTING)
    with pytest.raises(UserError, match="no such launch file"):
        load_launch(tmp_path / "k.sass")
    with pytest.raises(UserError, match="no argument is called w"):
        read(tmp_path, GOOD, args={"w": 1})


def test_expressions_are_numpys_and_nothing_else() -> None:
    x = np.arange(12.0).reshape(3, 4)
    assert np.array_equal(
        evaluate("where(x[:, 1:3] > 4, -x[:, 1:3], sum(x, axis=0)[1:3])", {"x": x}), np.where(x[:, 1:3] > 4, -x[:, 1:3], [15, 18])
    )
    for text in ("x.__class__", "(lambda: 1)()", "[y for y in x]", "'a'", "x if 1 else 2"):
        with pytest.raises(ValueError, match=r"may be written here|not a function"):
            evaluate(text, {"x": x})


def test_fma_of_expressions_is_that_of_the_instruction_set() -> None:
    rng = np.random.default_rng(5)
    a, b, c = ((rng.integers(1 << 12, 1 << 13, 500) | 1).astype(np.float32) for _ in range(3))
    c *= np.float32(2.0**-45)
    assert [isa.semantics.rounding.fma(*row) for row in zip(a, b, c, strict=True)] == fma(a, b, c).tolist()


def test_fft_of_expressions_takes_and_gives_pairs() -> None:
    """A shifted impulse becomes a wave that turns clockwise."""
    points = np.zeros((2, 8, 2))
    points[1, 1, 0] = 3.0
    angle = 2 * np.pi * np.arange(8) / 8
    assert np.allclose(fft(points)[1], 3 * np.stack((np.cos(angle), -np.sin(angle)), axis=-1), atol=1e-12)
    assert not fft(points)[0].any()


def test_a_mistake_of_an_array_names_its_line(tmp_path: Path) -> None:
    (tmp_path / "f.sass").write_text(".kernel f\n.param ptr x\nMOV R0, c[0x0][x]\nEXIT\n")
    (tmp_path / "f.toml").write_text('grid = 1\nblock = 32\n\n[[args]]\nname = "x"\ndtype = "float33"\nshape = 4\n')
    with pytest.raises(UserError, match=r"f\.toml:5: args: x has dtype 'float33'"):
        load_launch(tmp_path / "f.sass")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("block = [32, 1]", "block = 0", "k.toml: block: input should be greater than or equal to 1"),
        ("block = [32, 1]", "block = [32, 0]", "k.toml: block.1: input should be greater than or equal to 1"),
        ("block = [32, 1]", "block = [1, 1, 1, 1]", "k.toml: block: list should have at most 3 items"),
        ("value = 32", 'value = "two"', "k.toml: args[0].value (n): input should be a valid integer or a valid number"),
    ],
)
def test_a_value_of_several_kinds_is_told_once_and_with_its_argument(tmp_path: Path, old: str, new: str, says: str) -> None:
    with pytest.raises(UserError) as error:
        read(tmp_path, GOOD.replace(old, new))
    assert str(error.value).splitlines()[0].endswith(says)
