"""What the cache of compiled kernels survives: files and folders as accidents leave them. The kernel is a small one."""

import errno
import os
import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import sim
from sim import warming
from sim.compiled import cache
from sim.compiled.kernel import is_compiled, kernel
from tests.unit.test_cli import refused, simtlab

pytestmark = pytest.mark.skipif(not is_compiled(), reason="Numba is switched off")


def function(x: int) -> int:
    return x + 41


def fresh() -> Any:
    """Return the kernel as a process finds it that has just begun."""
    cache._once.cache_clear()
    return kernel(function)


def compiled(one: Any) -> bool:
    """Run a kernel; return whether it was compiled for that, and not loaded."""
    assert one(1) == 42
    assert sum(one.stats.cache_hits.values()) + sum(one.stats.cache_misses.values()) == 1
    return not one.stats.cache_hits


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the folder of an empty cache."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def file(place: Path) -> Path:
    """Return the file of a kernel that is kept."""
    assert compiled(fresh())
    (found,) = place.glob("*/*")
    return found


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a function after which whatever is written fails with that error, also for a superuser, whom permissions do not stop."""

    def fail(error: int) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise OSError(error, os.strerror(error))

        monkeypatch.setattr(Path, "write_bytes", refuse)
        if error == errno.EROFS:
            monkeypatch.setattr(Path, "mkdir", lambda self, **_: None if self.is_dir() else refuse())
            monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)

    return fail


def test_what_is_kept_is_used_without_a_word(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert not compiled(fresh())
    assert capfd.readouterr().err == ""


def test_a_read_only_cache_that_is_complete_is_used_without_a_word(file: Path, failing: Any, capfd: pytest.CaptureFixture[str]) -> None:
    failing(errno.EROFS)
    assert not compiled(fresh())
    assert capfd.readouterr().err == ""


def test_a_read_only_cache_that_is_incomplete_is_named_once(place: Path, failing: Any, capfd: pytest.CaptureFixture[str]) -> None:
    place.mkdir()
    failing(errno.EROFS)
    first, second = fresh(), kernel(lambda x: x + 41)
    assert compiled(first)
    assert compiled(second)
    assert capfd.readouterr().err.count(f"cannot be kept in {place} (Read-only file system)") == 1


@pytest.mark.parametrize(
    "damage",
    [lambda data: data[:-1], lambda data: data[:20], lambda data: b"", lambda data: b"\x80\x04N." + data, lambda data: data[:-1] + b"?"],
    ids=["truncated", "only its head", "empty", "of another program", "one byte wrong"],
)
def test_a_damaged_file_is_named_and_replaced(file: Path, damage: Any, capfd: pytest.CaptureFixture[str]) -> None:
    file.write_bytes(damage(file.read_bytes()))
    assert compiled(fresh())
    assert capfd.readouterr().err == f"{file} is damaged; the kernel is compiled again\n"
    assert not compiled(fresh())


def test_a_file_that_cannot_be_read_is_compiled_again(file: Path) -> None:
    file.unlink()
    file.mkdir()  # reading it fails whoever reads
    one = fresh()
    assert compiled(one)


def test_a_full_disk_costs_the_file_and_nothing_else(place: Path, failing: Any, capfd: pytest.CaptureFixture[str]) -> None:
    failing(errno.ENOSPC)
    assert compiled(fresh())
    assert "No space left on device" in capfd.readouterr().err
    assert not list(place.glob("*/*"))


def test_an_interrupt_while_writing_leaves_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Path.write_bytes

    def half(self: Path, data: bytes) -> int:
        whole(self, data[: len(data) // 2])
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(KeyboardInterrupt):
        fresh()(1)
    assert not list(place.glob("*/*"))


def test_a_cache_that_is_no_folder_is_named(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    place.write_text("a file")
    assert compiled(fresh())
    words = capfd.readouterr().err
    assert f"cannot be kept in {place}" in words
    assert f"unless {cache.VARIABLE} names a folder that can be written" in words


def test_a_cache_that_is_deleted_meanwhile_is_made_again(file: Path) -> None:
    one = fresh()
    assert one._cache.is_kept()
    file.unlink()
    file.parent.rmdir()
    assert compiled(one)
    assert file.exists()


def test_one_process_compiles_and_the_others_wait_and_say_so(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    data = file.read_bytes()
    file.unlink()
    other = fresh()._cache  # holds the lock as another process would: locks belong to open files
    other._lock(file)
    waiting = fresh()
    thread = threading.Thread(target=waiting, args=(1,))
    thread.start()
    time.sleep(0.5)
    assert thread.is_alive()
    file.write_bytes(data)
    other.release()
    thread.join(60)
    assert not compiled_already(waiting)
    assert "waiting for another process, which compiles the same kernel" in capfd.readouterr().err


def compiled_already(one: Any) -> bool:
    return bool(one.stats.cache_misses)


def test_when_the_process_that_compiles_dies_another_one_does(file: Path) -> None:
    file.unlink()
    other = fresh()._cache
    other._lock(file)
    other.release()  # what the system does at its end
    assert compiled(fresh())
    assert file.exists()


def test_threads_that_need_a_kernel_at_once_compile_it_once(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, close, closed = fresh(), os.close, []

    def slowly(descriptor: int) -> None:
        closed.append(descriptor)
        time.sleep(0.2)  # another thread comes meanwhile
        close(descriptor)

    monkeypatch.setattr(os, "close", slowly)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(one, range(4))) == [41, 42, 43, 44]
    assert len(closed) == 1
    assert sum(one.stats.cache_misses.values()) == 1


def test_what_takes_long_to_compile_is_said_unless_somebody_watches(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cache, "MANY", 1)
    assert compiled(fresh())
    assert re.match(r"compiling the simulator's kernels, once: .*function \(1 functions, some seconds\)", capfd.readouterr().err)
    assert not compiled(fresh())
    watched = kernel(lambda x: x + 41)
    with watched._cache.watched(lambda *_: None):
        assert compiled(watched)
    assert capfd.readouterr().err == ""


def test_an_error_while_compiling_lets_others_go_on(place: Path) -> None:
    broken = kernel(lambda x: x.no_such_attribute)
    with pytest.raises(Exception, match="no_such_attribute"):
        broken(1)
    assert broken._cache.held is None


def test_the_cache_is_shown_and_cleared(file: Path) -> None:
    shown = simtlab("cache").stdout
    assert shown.startswith(f"{file.parents[1]}\n")
    assert file.parent.name in shown
    assert "not compiled yet: timing engine, executor" in shown
    assert file.parent.name not in simtlab("cache", "--clear").stdout
    assert not file.exists()


def test_what_cannot_be_deleted_is_said(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("shutil.rmtree", refuse)
    assert "cannot delete: Permission denied" in refused("cache", "--clear")


def test_the_engine_is_compiled_for_the_trace_that_the_executor_makes() -> None:
    """In two processes at once: the one that compiles the engine has no executor yet."""
    made, expected = sim.execute(warming._nothing()), warming._trace()
    for name, array in made.arrays._asdict().items():
        other = getattr(expected.arrays, name)
        assert (array.dtype, array.tolist(), array.flags.c_contiguous) == (other.dtype, other.tolist(), other.flags.c_contiguous)
    assert (made.executed.tolist(), made.true_lanes.tolist()) == (expected.executed.tolist(), expected.true_lanes.tolist())
