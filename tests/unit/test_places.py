"""Which row of the page a warp has: the block's place on its SM, as the block scheduler gives it."""

import itertools

import sim
from sim.report.tracks import tracks
from sim.report.view.places import drawn_rows
from sim.result.result import Result
from tests.unit.report_runs import chain

RETIRE = 40


def run(blocks: int, warps: int) -> Result:
    """Return blocks of dependent FFMA, two at a time, on one SM."""
    gpu = sim.gpu("gtx480").replace({"sms": 1, "limits.blocks": 2, "blocks.retire_latency": RETIRE})
    return sim.simulate(chain(blocks, warps), gpu, timeline=(0, 1 << 60))


def test_blocks_take_turns_in_as_many_rows_as_warps_are_resident() -> None:
    result = run(5, 3)
    found = tracks(result)
    places = drawn_rows(found, RETIRE)
    assert places.names == [f"slot {number}" for number in range(2 * 3)]
    assert places.sm == [0] * 6
    warp, block = found.rows.warp[found.first[:-1]].tolist(), found.rows.block[found.first[:-1]].tolist()
    assert [row % 3 for row in places.row] == warp, "the warps of a block lie in its order"
    begin, end = found.rows.since[found.first[:-1]].tolist(), found.rows.cycle[found.first[1:] - 1].tolist()
    for row in range(6):
        own = sorted((begin[k], end[k]) for k, place in enumerate(places.row) if place == row)
        assert all(stop + RETIRE <= start for (_, stop), (start, _) in itertools.pairwise(own))
    assert {block[k] for k, place in enumerate(places.row) if place == 0} == {0, 2, 4}


def test_warps_that_keep_their_rows_are_named() -> None:
    assert drawn_rows(tracks(run(1, 2)), RETIRE).names == ["warp 0", "warp 1"]
    assert drawn_rows(tracks(run(2, 2)), RETIRE).names == ["b0 w0", "b0 w1", "b1 w0", "b1 w1"]
