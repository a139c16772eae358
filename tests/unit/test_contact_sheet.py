"""Every figure that a command can draw, drawn by that command: none is half blank, and all together are one sheet to look at."""

import itertools
import shutil
from collections.abc import Iterator
from typing import Any

import matplotlib.image
import numpy as np
import pytest
import typer
from matplotlib.figure import Figure

from programs.measurements import validation
from sim.cli import app
from tests.unit.captured import DATA
from tests.unit.test_cli import PROGRAMS, simtlab

pytestmark = pytest.mark.slow
COPY, SASS, OVER = "copy/copy_1_float.sass", "programs/", "dram.bandwidth=100:300:100"
COPIES = [f"copy/copy_{name}.sass" for name in ("1_float", "2_float", "8_float4")]
INK = 0.004  # of the pixels of each half
FIGURES = {
    "timeline": ["timeline", "reduce_shared.sass", "--gpu", "gtx480", "--to", "400", "--figure"],
    "memory": ["run", COPY, "--gpu", "gtx480", "--memory-figure"],
    "memory of the textbook": ["run", "volkov/ffma_ilp1.sass", "--gpu", "gtx480", "--warps", "4", "--memory-figure"],
    "shared memory": ["run", "shared/transpose_padded.sass", "--gpu", "gtx480", "--memory-figure"],
    "roofline": ["run", "sgemm/sgemm_4.sass", "--gpu", "gtx480", "--roofline-figure"],
    "tornado": ["sensitivity", COPY, "--gpu", "gtx480", "--figure"],
    "curves": ["sweep", *COPIES, "--gpu", "gtx480", "--over", OVER, "--metric", "cycles", "--figure"],
    "heat": ["sweep", COPY, "--gpu", "gtx480", "--over", OVER, "--over", "dram.latency=200:800:200", "--plot", "heat", "--figure"],
    "in flight": ["sweep", *COPIES, "--gpu", "gtx480", "--over", OVER, "--plot", "in-flight", "--figure"],
    "pareto": ["sweep", *COPIES, "--gpu", "gtx480", "--over", OVER, "--plot", "pareto", "--figure"],
    "coalescing": ["coalesce", "--stride", "2", "--gpu", "h100", "--figure"],
    "banks": ["coalesce", "--stride", "2", "--shared", "--gpu", "gtx480", "--figure"],
    "occupancy": ["occupancy", "--gpu", "gtx480", "--block", "256", "--registers", "41", "--shared", "8192", "--figure"],
    "interval": ["interval", "intervals/add_one.sass", "--gpu", "gtx1080", "--rows", "0", "--warps-per-sm", "1,2,4,8,16,32", "--figure"],
    "experiment": ["reproduce", "volkov-tlp-ilp", "--gpu", "g80", "--figure"],
    "validation": ["validate", "--quick", "--figure"],
    "captures": ["replay", "--all", "CAPTURES", "--figure"],
}


def options() -> Iterator[tuple[str, str]]:
    """Yield each command with an option that draws, and that option."""
    for name, one in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        for parameter in one.params:
            yield from ((name, option) for option in parameter.opts if option.endswith("figure"))


@pytest.fixture(scope="module")
def sheet(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return every figure as an image, float [rows, columns, 4]; contact_sheet.png beside them has all."""
    folder = tmp_path_factory.mktemp("figures")
    captures = folder / "captures"
    captures.mkdir()
    shutil.copy(DATA / "scale_rows.h200.capture", captures)
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        for family in ("_kernels", "_core", "_shared"):  # other tests simulate all of them: a few points are enough for a figure
            points = getattr(validation, family)
            patch.setattr(validation, family, lambda gpu, points=points: itertools.islice(points(gpu), 5))
        for name, words in FIGURES.items():
            file = folder / f"{name.replace(' ', '_')}.png"
            places = [captures if word == "CAPTURES" else PROGRAMS / word if word.endswith(".sass") else word for word in words]
            result = simtlab(*places, file)
            assert file.exists(), f"{name}: {result.output}"
            found[name] = matplotlib.image.imread(file)
    drawing = Figure(figsize=(24, 5 * -(-len(found) // 3)), layout="constrained")
    for axes, (name, image) in zip(drawing.subplots(-(-len(found) // 3), 3).flat, found.items(), strict=False):
        axes.imshow(image)
        axes.set(title=name)
    for axes in drawing.axes:
        axes.set_axis_off()
    drawing.savefig(folder / "contact_sheet.png", dpi=100)
    return found


def test_every_option_that_draws_is_on_the_sheet() -> None:
    drawn = {(words[0], words[-1]) for words in FIGURES.values()}
    assert drawn == set(options())


def test_no_half_of_a_figure_is_blank(sheet: dict[str, Any]) -> None:
    """One test, so that one process draws the sheet."""
    blank = []
    for name, pixels in sheet.items():
        image = pixels[..., :3]
        inked = np.abs(image - image[0, 0]).max(axis=-1) > 0.1
        rows, columns = (size // 2 for size in inked.shape)
        halves = {"left": inked[:, :columns], "right": inked[:, columns:], "upper": inked[:rows], "lower": inked[rows:]}
        blank += [f"{name}, {half}: {part.mean():.2%} of the pixels" for half, part in halves.items() if part.mean() < INK]
    assert blank == []
