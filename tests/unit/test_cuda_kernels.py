"""Every CUDA kernel is complete, and the .npy files beside them hold what NumPy says."""

from pathlib import Path

import numpy as np
import pytest

from programs.cuda import references
from programs.cuda.heldout import references as heldout

FOLDERS = (references.FOLDER, heldout.FOLDER)
KERNELS = sorted(path for folder in FOLDERS for path in folder.glob("*.cu"))
FILES = [*references.arrays(), *heldout.arrays()]
ARCHITECTURES = ("sm_52", "sm_75", "sm_80", "sm_90")
TENSOR_CORES = {"m16n8k8": ARCHITECTURES[1:], "mma.sync": ARCHITECTURES[2:]}  # products of 8 terms, and of more
HOPPER = ARCHITECTURES[3:]  # which have bulk copies and clusters


@pytest.mark.parametrize(("path", "values"), FILES, ids=[path.stem for path, _ in FILES])
def test_files_hold_what_numpy_says(path: Path, values: np.ndarray) -> None:
    found = np.load(path)
    assert found.dtype == values.dtype
    if found.dtype.kind == "f":  # another NumPy may round a logarithm otherwise
        assert np.allclose(found, values, rtol=1e-6, atol=1e-6)
    else:
        assert np.array_equal(found, values)


def test_no_file_is_left_over() -> None:
    assert {path for path, _ in FILES} == {path for folder in FOLDERS for path in folder.glob("*.npy")}


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_a_kernel_has_a_launch_file_and_a_listing_of_each_architecture(path: Path) -> None:
    assert path.with_suffix(".toml").exists()
    source = path.read_text("utf-8")
    is_hopper = any(word in source for word in ("cp.async.bulk", "wgmma", "__cluster_dims__"))
    products = next((those for shape, those in TENSOR_CORES.items() if shape in source), ARCHITECTURES)
    for architecture in HOPPER if is_hopper else products:
        listing = path.with_suffix(f".{architecture}.sass")
        text = listing.read_text("utf-8")
        assert f"code for {architecture}{'a' * ('wgmma' in source)}\n" in text
        reads_constants = "c[0x2]" in text or "c[0x3]" in text
        assert listing.with_suffix(".cubin").exists() == reads_constants


def test_the_readme_counts_the_kernels() -> None:
    text = (references.FOLDER / "README.md").read_text("utf-8")
    for folder in FOLDERS:
        assert f"{len(list(folder.glob('*.cu')))} kernels" in text
