"""Captures: written and read back, replayed against what an H200 left, refused when damaged or forged; launches from raw parts."""

import hashlib
import io
import json
import pickle
import re
import struct
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import isa
import sim
from isa.errors import UserError
from sim import captures
from sim.captures import file as capture_file
from sim.captures import paging
from sim.launch.copies import copied
from sim.launch.placement import BASE, Places
from sim.sweeps.keys import launch_key
from tests.unit.test_cli import refused, simtlab

DATA = Path(__file__).parents[1] / "data" / "captures"
CAPTURE = DATA / "scale_rows.h200.capture"
MUTATIONS = 200
AT, TOTAL = 0x7F0012345600, 0x7F9900000000


def sealed(body: bytes) -> bytes:
    """Return a file whose checksum is right."""
    return body + f"simtlab capture 0001 sha256 {hashlib.sha256(body).hexdigest()}".encode()


def forged(tmp_path: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """Return a capture with changed members and a right checksum."""
    members = dict(_members(CAPTURE.read_bytes()))
    change(members)
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
        file.comment = bytes(capture_file.SEAL_BYTES)
    path = tmp_path / "forged.capture"
    path.write_bytes(sealed(data.getvalue()[: -capture_file.SEAL_BYTES]))
    return path


def _members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def with_table(**changes: object) -> Callable[[dict[str, bytes]], None]:
    """Return what changes entries of `capture.json`."""

    def change(members: dict[str, bytes]) -> None:
        members["capture.json"] = json.dumps(json.loads(members["capture.json"]) | changes).encode()

    return change


def test_an_ordinary_unzip_reads_it() -> None:
    names = {"capture.json", "kernel.cubin", "pages", "before", "after"}
    assert set(_members(CAPTURE.read_bytes())) == names


def test_what_is_written_reads_back_the_same(tmp_path: Path) -> None:
    first = captures.read(CAPTURE)
    captures.write(first, tmp_path / "a.capture")
    again = captures.read(tmp_path / "a.capture")
    assert again.table == first.table
    assert again.cubin == first.cubin
    assert first.after is not None
    assert again.after is not None
    for pieces, others in ((first.before, again.before), (first.after, again.after)):
        assert [one.tobytes() for one in pieces] == [one.tobytes() for one in others]
    captures.write(again, tmp_path / "b.capture")
    assert (tmp_path / "a.capture").read_bytes() == (tmp_path / "b.capture").read_bytes()


def test_zeros_and_repeats_are_kept_once() -> None:
    pages = paging.Pages()
    page = np.arange(paging.PAGE, dtype=np.uint8)
    pieces = [np.concatenate([page, np.zeros(paging.PAGE, np.uint8), page]), np.zeros(5000, np.uint8), page[:100]]
    indices = pages.indices(pieces)
    assert indices.tolist() == [1, 0, 1, 0, 0, 2]
    assert len(pages.data()) == 2 * paging.PAGE
    back = paging.memory(indices, pages.data(), [piece.size for piece in pieces])
    assert all(np.array_equal(a, b) for a, b in zip(pieces, back, strict=True))


def test_replay_leaves_the_memory_that_the_gpu_left(tmp_path: Path) -> None:
    result = simtlab("replay", CAPTURE, "--json", tmp_path / "r.json")
    assert result.exit_code == 0, result.output
    assert "NVIDIA H200" in result.stdout
    assert "Memory equals the GPU's: 8,020 bytes in 5 allocations." in result.stdout
    (row,) = json.loads((tmp_path / "r.json").read_text())["launches"]
    assert row["memory"] == "equal"
    for name in ("warp_instructions", "thread_instructions", "global_load_sectors", "global_store_sectors"):
        assert row["beside"][name]["simulated"] == row["beside"][name]["measured"] > 0
    assert 0.7 < row["beside"]["elapsed_cycles"]["simulated"] / row["beside"]["elapsed_cycles"]["measured"] < 1.3


def test_memory_that_differs_is_told_and_ends_in_1(tmp_path: Path) -> None:
    first = captures.read(CAPTURE)
    assert first.after is not None
    after = [piece.copy() for piece in first.after]
    largest = max(range(len(after)), key=lambda k: after[k].size)
    after[largest].view(np.float32)[7] += 1
    captures.write(replace(first, after=after), tmp_path / "a.capture")
    captures.write(first, tmp_path / "b.capture")
    (tmp_path / "c.capture").write_bytes(b"no capture")
    one = simtlab("replay", tmp_path / "a.capture")
    assert one.exit_code == 1
    assert "1 of 1,000 words, by" in one.stdout
    every = simtlab("replay", "--all", tmp_path, "--figure", tmp_path / "f.png")
    assert every.exit_code == 1
    assert "3 captures: 2 ran, 1 of 2 left the GPU's memory to the bit" in every.stdout
    assert re.search("c refused: not a capture, .*checksum; capture the launch again", every.stdout)
    assert (tmp_path / "f.png").stat().st_size > 5000


def test_another_gpu_and_changed_fields() -> None:
    cycles = {}
    for options in (("--gpu", "a100"), ("--gpu", "h200", "--set", "dram.bandwidth=100")):
        result = simtlab("replay", CAPTURE, *options)
        assert result.exit_code == 0, result.output
        cycles[options] = re.search(r"time\s+([\d,]+) cycles", result.stdout)
        assert cycles[options]
    assert len({found[1] for found in cycles.values() if found}) == 2


@pytest.mark.parametrize("words", ["run", "explain", "coalesce", "interval", "lint", "timeline", "compare --set-b sms=1"])
def test_commands_take_a_capture_for_a_listing(words: str) -> None:
    name, *options = words.split()
    gpu = () if name == "lint" else ("--gpu", "h200")
    result = simtlab(name, CAPTURE, *gpu, *options)
    assert result.exit_code == 0, result.output
    assert "scale_rows" in result.stdout or name == "timeline"
    if name == "run":
        assert "Results equal the GPU's" in result.stdout


def test_a_capture_is_swept(tmp_path: Path) -> None:
    result = simtlab("sweep", CAPTURE, "--gpu", "h200", "--over", "sms=1,4", "--json", tmp_path / "s.json")
    assert result.exit_code == 0, result.output
    cycles = {row["sms"]: row["cycles"] for row in json.loads((tmp_path / "s.json").read_text())}
    assert cycles[1] > cycles[4]


def test_options_that_say_how_to_launch_are_refused() -> None:
    assert "with a capture go --gpu" in refused("run", CAPTURE, "--block", "32")


def test_a_capture_runs_on_its_own_gpu_unless_another_is_named() -> None:
    assert "H200" in simtlab("run", CAPTURE).stdout
    assert "GTX 480" in simtlab("run", CAPTURE, "--gpu", "gtx480").stdout


def mutated(data: bytes, k: int) -> bytes:
    """Return damage number k: cut off, a byte changed, a stretch removed, repeated or overwritten."""
    random = np.random.default_rng(k)
    at, length = int(random.integers(len(data))), int(random.integers(1, 64))
    kinds = (
        data[:at],
        data[:at] + bytes([data[at] ^ (1 << int(random.integers(8)))]) + data[at + 1 :],
        data[:at] + data[at + length :],
        data[:at] + data[at : at + length] + data[at:],
        data[:at] + random.bytes(length) + data[at + length :],
    )
    return kinds[k % len(kinds)]


def test_damage_ends_in_one_message(tmp_path: Path) -> None:
    data, path, seen = CAPTURE.read_bytes(), tmp_path / "damaged.capture", set()
    for k in range(MUTATIONS):
        damaged = mutated(data, k)
        if damaged == data:
            continue
        path.write_bytes(damaged)
        with pytest.raises(UserError, match=r"capture") as found:
            captures.read(path)
        seen.add(found.value.message.partition(":")[0])
    assert len(seen) >= 2
    assert refused("replay", path).startswith(f"error: {path}: ")


@pytest.mark.slow
def test_forged_members_end_in_one_message(tmp_path: Path) -> None:
    """The checksum is right: only what stands inside is not."""
    members = _members(CAPTURE.read_bytes())
    for k in range(MUTATIONS):
        name = sorted(members)[k % len(members)]
        path = forged(tmp_path, lambda found, name=name, k=k: found.update({name: mutated(found[name], k)}))  # type: ignore[misc]
        try:
            capture = captures.read(path)
            launch = captures.launch_of(capture)
            assert launch.parameters is not None
        except UserError as error:
            assert str(path) in str(error), error  # noqa: PT017


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, "version"),
        ({"grid": [0, 1, 1]}, "grid"),
        ({"grid": [1 << 40, 1, 1]}, "grid"),
        ({"parameters": "xyz"}, "parameters"),
        ({"parameters": ""}, "bytes of parameters"),
        ({"kernel": "../../etc/passwd"}, "no function ../../etc/passwd"),
        ({"kernel": "another"}, "another"),
        ({"unknown": 1}, "unknown"),
        ({"allocations": []}, "do not go together"),
        ({"cluster": [3, 1, 1]}, "not a multiple of the cluster"),
        ({"counters": {"cycles": "inf"}}, "counters"),
        ({"shared_dynamic": 1 << 31}, "shared_dynamic"),
    ],
)
def test_forged_tables_are_refused(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    path = forged(tmp_path, with_table(**changes))
    assert message in refused("replay", path)


def test_forged_addresses_are_refused(tmp_path: Path) -> None:
    table = json.loads(_members(CAPTURE.read_bytes())["capture.json"])
    for address, message in ((1 << 47, "allocations"), (0, "allocations"), ((1 << 32) + 16, "windows of shared and local memory")):
        allocations = [one | ({"address": address} if one["size"] == 4000 else {}) for one in table["allocations"]]
        assert message in refused("replay", forged(tmp_path, with_table(allocations=allocations)))
    same = [one | ({"address": 0x7F0000000000} if one["kind"] == "memory" else {}) for one in table["allocations"]]
    for k, one in enumerate(same):
        one["address"] += 8 * k
    assert "overlaps" in refused("replay", forged(tmp_path, with_table(allocations=same)))


def test_members_of_other_names_and_pickles_are_refused(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (open, (str(tmp_path / "executed"), "w"))

    for name in ("../../evil", "/evil", "capture.pkl"):
        path = forged(tmp_path, lambda members, name=name: members.update({name: b"x"}))  # type: ignore[misc]
        assert "its members are" in refused("replay", path)
    for name in ("capture.json", "pages", "before"):
        path = forged(tmp_path, lambda members, name=name: members.update({name: pickle.dumps(Evil())}))  # type: ignore[misc]
        refused("replay", path)
    assert {file.name for file in tmp_path.iterdir()} == {"forged.capture"}


def test_a_zip_that_unpacks_to_too_much_is_refused_unread(tmp_path: Path) -> None:
    data = bytearray(forged(tmp_path, lambda members: None).read_bytes()[: -capture_file.SEAL_BYTES])
    entry = data.index(b"PK\1\2")
    struct.pack_into("<I", data, entry + 24, 0xFFFFFFF0)  # the size that the directory says
    path = tmp_path / "bomb.capture"
    path.write_bytes(sealed(bytes(data)))
    assert "at most" in refused("replay", path)


def test_a_newer_version_says_so(tmp_path: Path) -> None:
    path = tmp_path / "new.capture"
    path.write_bytes(CAPTURE.read_bytes().replace(b"simtlab capture 0001", b"simtlab capture 0002"))
    assert "a capture of version 2; this simtlab reads version 1" in refused("replay", path)


def test_no_preset_is_that_gpu(tmp_path: Path) -> None:
    path = forged(tmp_path, with_table(gpu={"name": "GPU of tomorrow"}))
    assert "no preset is a GPU of tomorrow" in refused("replay", path)
    path = forged(tmp_path, with_table(gpu={"name": "NVIDIA H100 PCIe", "sms": 114}))
    assert "no preset is a NVIDIA H100 PCIe of 114 SMs" in refused("replay", path)


# Launches from raw parts


def test_addresses_of_programs_stay() -> None:
    cubin = isa.load(DATA / "scale_rows.sm_90.cubin")
    data, even, odd, total = np.arange(8, dtype=np.float32), np.zeros(4, np.float32), np.zeros(4, np.float32), np.zeros(1, np.uint32)
    rows = np.array([AT + 0x10000, AT + 0x20000], np.uint64)
    memory = {AT: data, AT + 0x10000: even, AT + 0x20000: odd, AT + 0x30000: rows, TOTAL: total}
    parameters = struct.pack("<QIIQ", AT, 8, 0, AT + 0x30000)
    scale = np.array([1, 10, 100, 1000], np.float32)
    launch = sim.Launch(cubin, grid=1, block=32, parameters=parameters, memory=memory, symbols={"scale": scale, "total": TOTAL})
    sim.execute(copied(launch))
    assert total[0] == 0  # a copy leaves the caller's alone
    sim.execute(launch)
    assert even.tolist() == [0, 200, 4, 600]
    assert odd.tolist() == [10, 3000, 50, 7000]
    assert total[0] == 8
    assert rows.tolist() == [AT + 0x10000, AT + 0x20000]


def test_both_forms_of_a_launch_take_the_same_cycles() -> None:
    """Lines, sectors and sets are those of the program's addresses; here both forms lie alike in a page."""
    cubin, scale = isa.load(DATA / "scale_rows.sm_90.cubin"), {"scale": np.ones(4, np.float32)}
    data, rows = np.arange(64, dtype=np.float32), [np.zeros(32, np.float32) for _ in range(2)]
    view = np.array((data, 64), np.dtype([("data", object), ("n", np.uint32)], align=True))[()]
    pointers = np.empty(2, object)
    pointers[:] = rows
    usual = sim.Launch(cubin, grid=1, block=64, args=(view, pointers), symbols=scale)
    far = 0x7F0000000000 - BASE
    places = {name: address + far for name, _, address in Places(usual).items}
    held = dict(zip(places, (np.zeros(2, np.uint64), data, *rows, np.zeros(1, np.uint32)), strict=True))
    at = dict(zip(("pointers", "data", "even", "odd", "total"), places.values(), strict=True))
    held[next(iter(places))][:] = at["even"], at["odd"]
    parameters = struct.pack("<QIIQ", at["data"], 64, 0, at["pointers"])
    memory = {places[name]: held[name] for name in places}
    raw = sim.Launch(cubin, grid=1, block=64, parameters=parameters, memory=memory, symbols=scale | {"total": at["total"]})
    a, b = sim.run(usual, sim.gpu("h200")), sim.run(raw, sim.gpu("h200"))
    assert a.cycles == b.cycles
    assert a.counters == b.counters
    assert rows[0].tolist() == data[::2].tolist()


def test_mistakes_name_the_programs_own_addresses() -> None:
    cubin = isa.load(DATA / "scale_rows.sm_90.cubin")
    for view, message in (
        (AT + 0x4000, f"at {AT + 0x4000:#x} is outside every array"),
        (AT + 2, f"misaligned load of 4 bytes at {AT + 2:#x}"),
    ):
        memory = {AT: np.zeros(64, np.float32), AT + 0x100000: np.zeros(2, np.uint64)}
        parameters = struct.pack("<QIIQ", view, 8, 0, AT + 0x100000)
        with pytest.raises(UserError, match=message):
            sim.execute(sim.Launch(cubin, grid=1, block=32, parameters=parameters, memory=memory))


def test_what_lies_below_4_gib_is_not_reached_by_numbers_that_nobody_allocated() -> None:
    """A pointer that happens to be a place of ours is as wrong as any other."""
    cubin = isa.load(DATA / "scale_rows.sm_90.cubin")
    parameters = struct.pack("<QIIQ", 0x10000000, 8, 0, AT)
    launch = sim.Launch(cubin, grid=1, block=32, parameters=parameters, memory={AT: np.zeros(64, np.float32)})
    with pytest.raises(UserError, match="at 0x10000000 is outside every array"):
        sim.execute(launch)


def test_an_address_of_a_symbol_may_be_of_numpy() -> None:
    cubin, total = isa.load(DATA / "scale_rows.sm_90.cubin"), np.zeros(1, np.uint32)
    memory = {AT: np.arange(8, dtype=np.float32), AT + 0x10000: np.array([AT, AT], np.uint64), TOTAL: total}
    parameters = struct.pack("<QIIQ", AT, 8, 0, AT + 0x10000)
    sim.execute(sim.Launch(cubin, grid=1, block=32, parameters=parameters, memory=memory, symbols={"total": np.uint64(TOTAL)}))
    assert total[0] == 8


def test_words_and_placements_that_are_none() -> None:
    cubin = isa.load(DATA / "scale_rows.sm_90.cubin")
    with pytest.raises(UserError, match="there are: auto, keep, schedule"):
        sim.Launch(cubin, grid=1, block=32, parameters=bytes(24), control_words="Keep")  # type: ignore[arg-type]
    with pytest.raises(UserError, match="placement = -1"):
        sim.Launch(cubin, grid=1, block=32, parameters=bytes(24), placement=-1)
    with pytest.raises(UserError, match="parameters are bytes"):
        sim.Launch(cubin, grid=1, block=32, parameters="x" * 24)  # type: ignore[arg-type]


def test_names_are_shown_as_they_are_and_no_cycles_are_no_point(tmp_path: Path) -> None:
    found = captures.read(CAPTURE)
    captures.write(found.with_counters({"cycles": 0.0}), tmp_path / "[bold]a.capture")
    done = simtlab("replay", "--all", tmp_path, "--figure", tmp_path / "f.png")
    assert "[bold]a" in done.stdout
    assert "UserWarning" not in done.stderr


def test_a_capture_has_one_kernel() -> None:
    assert "no kernel other in the capture" in refused("lint", CAPTURE, "--kernel", "other")


def test_raw_parts_that_do_not_go_together() -> None:
    cubin = isa.load(DATA / "scale_rows.sm_90.cubin")
    with pytest.raises(UserError, match="24 bytes of parameters; 3 were given"):
        sim.Launch(cubin, grid=1, block=32, parameters=bytes(3))
    with pytest.raises(UserError, match="two ways of saying the same"):
        sim.Launch(cubin, grid=1, block=32, parameters=bytes(24), args=(1,))
    with pytest.raises(UserError, match="goes with parameters"):
        sim.Launch(cubin, grid=1, block=32, memory={AT: np.zeros(4)})


def test_keys_of_sweeps_tell_raw_launches_apart() -> None:
    cubin = isa.load(DATA / "scale_rows.sm_90.cubin")
    keys = set()
    for address in (AT, AT + 0x200000):
        for n in (8, 9):
            parameters = struct.pack("<QIIQ", address, n, 0, address)
            keys.add(launch_key(sim.Launch(cubin, grid=1, block=32, parameters=parameters, memory={address: np.zeros(64, np.float32)})))
    assert len(keys) == 4
