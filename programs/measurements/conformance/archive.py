"""Archives of limited size, filled one after the other."""

import io
import tarfile
from pathlib import Path

MOST_BYTES = 15 << 20


class Archives:
    """`NAME_0.tar`, `NAME_1.tar`... in a folder, each of at most 15 MiB, at most `most` of them."""

    def __init__(self, folder: Path, name: str, most: int) -> None:
        self.folder, self.name, self.left = folder, name, most
        self.size, self.number = MOST_BYTES, 0
        self.current: tarfile.TarFile | None = None

    def add(self, name: str, data: bytes) -> bool:
        """Add a member; return False, and add nothing, when there is no room."""
        needed = (len(data) + 511) // 512 * 512 + 512
        if self.size + needed > MOST_BYTES:
            if not self.left:
                return False
            self.close()
            self.current = tarfile.open(self.folder / f"{self.name}_{self.number}.tar", "w")  # noqa: SIM115  closed below
            self.left, self.number, self.size = self.left - 1, self.number + 1, 10240
        entry = tarfile.TarInfo(name)
        entry.size = len(data)
        assert self.current is not None
        self.current.addfile(entry, io.BytesIO(data))
        self.size += needed
        return True

    def close(self) -> None:
        if self.current is not None:
            self.current.close()
