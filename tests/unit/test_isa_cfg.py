"""Basic blocks and post-dominators, against a brute-force oracle."""

from hypothesis import given
from hypothesis import strategies as st

import isa
from isa.cfg import graph, post_dominators, reconvergence, with_exits

IF_ELSE = """
    @P0 BRA other
    MOV R0, RZ
    BRA meet
other:
    MOV R0, 1
meet:
    EXIT
"""
NESTED = """
outer:
    @P0 BRA skip        // 0: an if inside a loop, with an if inside
    @P1 BRA inner_skip  // 1
    NOP                 // 2
inner_skip:
    NOP                 // 3
skip:
    @P2 BRA outer       // 4
    EXIT                // 5
"""


def reach(successors: list[list[int]], start: int, without: int) -> set[int]:
    """Return the blocks reached from `start` when block `without` is taken out."""
    seen: set[int] = set()
    stack = [start] if start != without else []
    while stack:
        block = stack.pop()
        if block not in seen:
            seen.add(block)
            stack += [following for following in successors[block] if following != without]
    return seen


def oracle(successors: list[list[int]]) -> list[int]:
    """Return immediate post-dominators by definition: d is one when every path to the exit meets it; the nearest has the most itself."""
    end = len(successors) - 1
    strict = [{d for d in range(end + 1) if d != block and end not in reach(successors, block, d)} for block in range(end + 1)]
    return [max(strict[block], key=lambda d: len(strict[d])) if block != end else end for block in range(end + 1)]


def meeting_points(listing: str) -> list[int]:
    return isa.parse(listing).encoded.reconverge.tolist()


@st.composite
def branchy(draw: st.DrawFn) -> str:
    """Draw a listing of NOPs, guarded and unguarded branches to any line, and exits."""
    count = draw(st.integers(1, 12))
    lines = []
    for n in range(count):
        target = draw(st.integers(0, count))
        body = draw(st.sampled_from(["NOP", "NOP", f"@P0 BRA l{target}", f"@!P1 BRA l{target}", f"BRA l{target}", "EXIT", "@P2 EXIT"]))
        lines.append(f"l{n}: {body}")
    return "\n".join([*lines, f"l{count}: EXIT"])


@given(branchy())
def test_post_dominators_equal_the_oracle(listing: str) -> None:
    encoded = isa.parse(listing).encoded
    cfg = graph(encoded)
    successors = with_exits(cfg)
    immediate = post_dominators(successors)
    assert immediate == oracle(successors)
    end = len(cfg.start) - 1
    assert all(end in reach(successors, block, -1) for block in range(end + 1))
    for i, point in enumerate(reconvergence(encoded).tolist()):
        conditional = isa.parse(listing).instructions[i].text.startswith(("@P0 BRA", "@!P1 BRA"))
        assert (point != -1) == conditional


@given(branchy())
def test_blocks_partition_the_listing(listing: str) -> None:
    encoded = isa.parse(listing).encoded
    cfg = graph(encoded)
    assert cfg.start[0] == 0
    assert cfg.start[-1] == len(encoded.operation)
    assert cfg.start == sorted(set(cfg.start))
    assert all(target in cfg.start for target in encoded.target.tolist() if target >= 0)


def test_if_else_meets_behind_both_sides() -> None:
    assert meeting_points(IF_ELSE) == [4, -1, -1, -1, -1]


def test_nested_ifs_in_a_loop() -> None:
    assert meeting_points(NESTED) == [4, 3, -1, -1, 5, -1]


def test_a_guarded_exit_does_not_move_the_meeting_point() -> None:
    assert meeting_points("@P0 BRA over\n@P1 EXIT\nover: NOP\nEXIT")[0] == 2


def test_sides_that_both_end_meet_at_the_exit() -> None:
    assert meeting_points("@P0 BRA over\nEXIT\nover: EXIT") == [3, -1, -1]


def test_branches_inside_an_endless_loop_meet_inside_it() -> None:
    assert meeting_points("loop: @P0 BRA over\nNOP\nover: NOP\nBRA loop") == [2, -1, -1, -1]


def test_a_loop_left_by_a_guarded_branch_at_the_end_meets_at_the_exit() -> None:
    assert meeting_points("loop: NOP\n@P0 BRA loop") == [-1, 2]
