"""The timeline, as the lecture notes draw it."""

from collections.abc import Callable
from pathlib import Path

import pytest

import isa
import sim
from isa.errors import UserError
from programs.intervals import loops
from sim.launch.file import load_launch
from sim.report import timeline
from sim.report.tracks import tracks
from sim.result.result import Result
from tests.unit.report_runs import add_one, chain_on

PROGRAMS = Path(__file__).parents[2] / "programs"


def loop(name: str) -> Result:
    """Return one of the notes' loops on the notes' device."""
    return sim.run(load_launch(PROGRAMS / "intervals" / f"{name}.toml").launch, loops.device(), timeline=(0, 450))


@pytest.mark.parametrize("name", ["simple_loop", "actual_loop"])
def test_the_notes_loops(name: str, golden: Callable[[str, str], None]) -> None:
    result = loop(name)
    warp = timeline.warps(result)[0]
    golden(
        f"timeline_{name}", "\n\n".join([timeline.text(result, width=130), timeline.heading(warp), timeline.table(result.program, warp)])
    )


def test_several_warps(golden: Callable[[str, str], None]) -> None:
    golden("timeline_warps", timeline.text(add_one(sim.gpu("textbook"), 6)))


def test_dual_issue_shares_a_cell(golden: Callable[[str, str], None]) -> None:
    golden("timeline_dual_issue", timeline.text(chain_on(sim.gpu("gtx460"), 1, 3, (0, 150))))


def test_the_first_line_is_the_drawing_of_the_notes() -> None:
    """`[I0` holds the port 4 cycles, its result is there 400 later."""
    header, row = timeline.text(loop("simple_loop"), width=60).splitlines()[:2]
    assert header == "# Cycles:  0   1   2   3   ..  400 401 402 403 404 405 406"
    assert row == "wp0:      [I0           ]      I1                     [I2"


def test_each_label_stands_in_the_column_of_its_cycle() -> None:
    result = add_one(sim.gpu("textbook"), 2)
    panels = timeline.text(result, width=100).split("\n\n")
    starts = {}
    for panel in panels:
        header, first, _ = panel.splitlines()
        for column in [i for i, c in enumerate(header) if c != " " and header[i - 1] == " " and i >= len(timeline.NAME)]:
            cell = first[column : column + 4].split()
            if cell and cell[0].startswith("I"):
                starts[cell[0].rstrip("]")] = int(header[column:].split()[0])
    issued = {f"I{issue.instruction}": issue.cycle for issue in timeline.warps(result)[0].issues}
    assert starts == issued


def test_what_an_issue_waited_for_is_named() -> None:
    result = loop("simple_loop")
    issues = timeline.warps(result)[0].issues[:4]
    assert timeline.blocking(result.program, issues) == ["", "R2 of I0", "R7 of I1", ""]


def test_long_windows_are_cut_in_the_table() -> None:
    result = loop("actual_loop")
    warp = timeline.warps(result)[0]
    assert timeline.table(result.program, warp, rows=5).endswith(f"... {len(warp.issues) - 5} more issues in the window")


def test_only_the_warps_asked_for_are_drawn() -> None:
    result = add_one(sim.gpu("textbook"), 6)
    assert [warp.warp for warp in timeline.warps(result, (1, 4, 77))] == [1, 4]
    with pytest.raises(UserError, match="the window has 6 warps"):
        timeline.warps(result, (6,))


def test_a_result_without_timeline_is_refused() -> None:
    with pytest.raises(UserError, match="no timeline"):
        timeline.text(chain_on(sim.gpu("gtx480"), 1, 6))


def test_a_window_in_which_nothing_issues_is_refused() -> None:
    with pytest.raises(UserError, match="nothing issued in these cycles; the run ends at cycle"):
        timeline.text(chain_on(sim.gpu("gtx480"), 1, 1, (10**6, 10**6 + 5)))


def test_a_width_below_one_cell_still_draws() -> None:
    assert timeline.text(loop("simple_loop"), width=1).count("# Cycles:") > 10


def test_where_a_warp_goes_on_when_all_its_results_are_there_the_last_of_them_is_named() -> None:
    """R0 is there before R1, for which a GTX 480 waits as well, and other GPUs do not."""
    program = isa.parse(".kernel f\nMOV R0, 6\nS2R R1, SR_TID.X\nIADD R2, R0, 1\nEXIT")
    for gpu, maker in (("gtx480", 1), ("textbook", 0)):
        found = tracks(sim.run(sim.Launch(program, grid=(1,), block=(32,)), sim.gpu(gpu), timeline=(0, 500)))
        add = found.rows.instruction.tolist().index(2)
        assert found.rows.instruction[found.producer[add]] == maker
        assert found.rows.ready[found.producer[add]] == found.rows.eligible[add]
