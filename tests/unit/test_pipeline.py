"""The product by depth of its pipeline and size of its tiles (programs/pipeline): right, and as lesson 17 says."""

import numpy as np
import pytest

import sim
from isa.errors import UserError
from programs.pipeline import pipeline


def unpacked(packed: np.ndarray, rows: int, terms: int) -> np.ndarray:
    """Return a factor as a matrix. rows: of it that lie together."""
    return packed.astype(np.float64).reshape(-1, terms // 8, rows, 8).transpose(0, 2, 1, 3).reshape(-1, terms)


@pytest.mark.parametrize("tile", pipeline.TILES)
@pytest.mark.parametrize("stages", [1, 2, 3])
def test_products_are_right_with_any_number_of_buffers(tile: int, stages: int) -> None:
    terms = 192
    launch = pipeline.launch(tile, stages, lines=128, terms=terms)
    sim.execute(launch)
    a, b, c = launch.args[:3]
    assert np.allclose(c, unpacked(a, 128, terms) @ unpacked(b, tile, terms).T, atol=1e-5)


@pytest.mark.slow
def test_what_the_lesson_says_of_the_curves_holds() -> None:
    runs = pipeline.measured(sim.gpu("h100"), lines=128, terms=768)
    assert {tile: max(runs[tile, pipeline.AS_IT_IS]) for tile in pipeline.TILES} == {64: 6, 128: 6, 256: 4}  # what shared memory holds
    assert not [check for check in pipeline.claims(runs) if not check.passed]
    assert all(0 < one.taken <= 100 for by_stages in runs.values() for one in by_stages.values())


def test_a_gpu_without_warpgroups_is_refused() -> None:
    with pytest.raises(UserError, match="no products of warpgroups"):
        pipeline.machines(sim.gpu("a100"))
