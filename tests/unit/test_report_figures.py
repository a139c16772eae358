"""The figure of a timeline: files of the right kind, every cause in the legend, colours that differ in grey."""

import sys
from pathlib import Path

import pytest
from matplotlib.text import Annotation

import sim
from isa.errors import UserError
from sim.launch.file import load_launch
from sim.report import figures, timeline
from sim.report.timeline import first_and_others
from tests.unit.report_runs import add_one

CUDA = Path(__file__).parents[2] / "programs" / "cuda"

PACKED = sim.run(load_launch(CUDA / "hgemm_packed.sm_90.sass").launch, sim.gpu("h100"), timeline=(1000, 3000))
RESULT = add_one(sim.gpu("textbook"), 6)


@pytest.mark.parametrize(("name", "magic"), [("t.png", b"\x89PNG"), ("t.svg", b"<?xml"), ("t.PDF", b"%PDF")])
def test_files_are_of_the_kind_their_ending_says(tmp_path: Path, name: str, magic: bytes) -> None:
    figures.save(RESULT, tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(magic)


def test_another_ending_is_refused_before_anything_is_drawn(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"\.png, \.svg, \.pdf"):
        figures.save(RESULT, tmp_path / "t.jpg")


def test_a_folder_that_is_not_there_is_one_message(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot write the figure"):
        figures.save(RESULT, tmp_path / "no" / "t.png")


def test_without_matplotlib_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UserError, match=r"pip install 'simtlab\[figures\]'"):
        figures.figure(RESULT)


def test_the_legend_names_what_occurs_and_nothing_else() -> None:
    labels = [text.get_text() for text in figures.figure(RESULT).legends[0].get_texts()]
    causes = [label.split(":")[0] for label in labels if ":" in label]
    assert causes == ["wait", "long_scoreboard", "short_scoreboard", "barrier"]


def test_the_legend_is_not_cut_off_and_phases_of_mbarriers_are_rows() -> None:
    drawing = figures.figure(PACKED, first_and_others(PACKED))
    drawing.draw_without_rendering()
    box = drawing.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= drawing.bbox.x1
    names = [tick.get_text() for tick in drawing.axes[0].get_yticklabels()]
    assert names[8:10] == ["wp8", "mbarrier 0x400"]


def test_one_row_per_warp_shown() -> None:
    axes = figures.figure(RESULT, show=(0, 2, 5)).axes[0]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["wp0", "wp2", "wp5"]


def test_a_number_stands_before_its_issue_at_the_end_of_its_wait() -> None:
    """As on the page: the wait before a number is that of its instruction."""
    issues = {(row, issue.cycle): issue.instruction for row, warp in enumerate(timeline.warps(RESULT)) for issue in warp.issues}
    notes = [note for note in figures.figure(RESULT).axes[0].texts if isinstance(note, Annotation)]
    assert len(notes) >= 6
    for note in notes:
        cycle, row = note.xy
        assert (note.get_text(), note.get_ha()) == (f"I{issues[row, cycle]}", "right")
        assert note.get_position()[0] < 0


def test_styles_are_told_apart_in_grey() -> None:
    """Causes with the same hatch differ in lightness by at least 20 of 100."""

    def lightness(colour: str) -> float:
        red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (red, green, blue)]
        return 116 * (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]) ** (1 / 3) - 16

    by_hatch: dict[str, list[float]] = {}
    for colour, hatch in figures.STYLES.values():
        by_hatch.setdefault(hatch, []).append(lightness(colour))
    gaps = [b - a for found in by_hatch.values() for a, b in zip(sorted(found), sorted(found)[1:], strict=False)]
    assert min(gaps) >= 20
