"""Cubins that are kept in one archive for several tests."""

import tarfile
from pathlib import Path


def unpacked(archive: Path, folder: Path) -> Path:
    """Write all files of an archive to a folder; return the folder."""
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder
