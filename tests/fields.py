"""Every field of a GPU changed by a factor, or to its other values: which program of a suite takes longer, or less long, as the field's
explanation says it should; or why no run reads it."""

import dataclasses
import re
from typing import Any

import numpy as np

import isa
import sim
from isa.errors import UserError
from sim.causes.sensitivity.steps import _value, variant
from sim.gpus.fields import choices
from sim.gpus.model import Gpu
from sim.launch.copies import copied
from sim.launch.file import load_launch
from sim.lowering.rescheduling import is_known, worded, words_of
from sim.lowering.unread import why_unread_by
from sim.traces.trace import Trace
from tests.differential.aimed import with_addresses
from tests.listings import FOLDER
from tests.unit import cluster_programs, mbarrier_programs, tile_programs

FACTORS = (2, 0.5, 8, 0.125, 64, 1 / 64)
BESIDE = {
    r"pipes\.\w+\.count": lambda name: {name.replace("count", "lanes"): 4},
    r"dram\.channel_depth": lambda name: {"dram.channels": 2},
    r"dram\.channels": lambda name: {"dram.activate_cycles": 200},
    r"l2\.coalesced": lambda name: {"dram.channels": 2, "l2.lookup_cycles": 100},
    r"pipes\.\w+\.within": lambda name: {"core.issue_interval": 1, name.replace("within", "lanes"): 16},
}  # what else a machine is where a field is looked at that another one hides: a pipe as wide as its scheduler
# issues needs no second one, many channels no long queues, many fast slices no loads that share reads; few channels are as fast as many
# in all, and each faster, but for the rows that each must activate
COSTS = (  # last words of fields of which more takes longer
    *("latency", "cycles", "interval", "cost", "first", "jump", "near", "far", "cold", "load", "store", "read", "overhead", "us", "passes"),
    *("refresh", "replay", "header", "mask", "turnaround"),
)
HELPS = (  # less long
    *("bandwidth", "cycle", "mhz", "lanes", "count", "depth", "pending", "efficiency", "width", "cap", "warps", "blocks", "registers"),
    *("bytes", "queue", "sms", "schedulers", "channels"),
)
AGAINST = ("dram.refresh_interval", "dram.access_bytes", "warpgroup.start_registers")  # whose last word says the contrary
LABELS = ("name", "chip", "note", "compute_capability")  # what a GPU is called


def candidates(gpu: Gpu, name: str) -> list[Any]:
    """Return other values of one field: numbers by factors, the other choices, the other truth; a few numbers where it has none."""
    value = _value(gpu, name)
    section, _, last = name.rpartition(".")
    if name == "memory.kind":
        return [{name: "fixed", "memory.global_load": 400}]
    if name == "limits.register_unit_exceptions":
        return [{name: dict.fromkeys((21, 40, 63), 16 * gpu.limits.register_unit)}]
    if name == "clusters.groups":
        return [{name: (1, 1, 1, 1)}]
    if name == "l2.gpcs":
        return [{name: ()}, {name: (1, 1, 1, 1)}]
    if name == "limits.shared_carveouts":
        return [{name: (gpu.limits.shared_bytes,)}]
    if isinstance(value, bool):
        return [not value]
    if last in ("pipe", "within"):
        return [pipe for pipe in gpu.pipes if pipe not in (value, section.removeprefix("pipes."))]
    if isinstance(value, str):
        return [other for other in choices(Gpu, name) if other != value]
    if name == "l2.coalesced" and value > 1:
        return [1]  # programs of few blocks have no more than two loads for a read
    if isinstance(value, int | float):
        scale = value or 4
        factors = [type(scale)(scale * factor) for factor in FACTORS]
        return [
            other
            for other in dict.fromkeys([*factors, *choices(Gpu, name), *((value + 1, value - 1) if isinstance(value, int) else ())])
            if other != value
        ]
    return [1, 16, 400, 8192]


class Suite:
    """Programs executed once, the shortest first, and what they take on a GPU.

    programs: names of listings of `programs`, or launches by name.
    """

    def __init__(self, programs: dict[str, sim.Launch | None]) -> None:
        launches = {name: given or load_launch(FOLDER / f"{name}.sass").launch for name, given in programs.items()}
        self.launches = launches
        traces = {name: sim.execute(copied(launch)) for name, launch in launches.items()}
        self.traces = dict(sorted(traces.items(), key=lambda one: one[1].warp_instructions))  # the shortest that notices a field will do
        self.others: list[Gpu] = []
        self.known: dict[tuple[int, str, str], float | str] = {}

    def notices(self, gpu: Gpu, field: str) -> str:
        """Return what `seen` does, on another machine where another number hides the field on this one."""
        found = self.seen(gpu, field)
        for pattern, changes in BESIDE.items():
            if not found and re.fullmatch(pattern, field):
                self.others.append(gpu.replace(changes(field)))  # kept: `known` goes by identity
                found = self.seen(self.others[-1], field)
        return found

    def seen(self, gpu: Gpu, field: str) -> str:
        """Return `PROGRAM VALUE RATIO` of the first run that changes as it should, or why none does: not read, or refused; "" otherwise."""
        reasons: dict[str, None] = {}
        legal, illegal = False, ""
        for value in candidates(gpu, field):
            try:
                changed = gpu.replace(value) if isinstance(value, dict) else variant(gpu, field, value)
            except UserError as error:
                illegal = illegal or f"refused: {value}: {error}"
                continue
            legal = True
            for name, trace in self.traces.items():
                if reason := why_unread_by(changed, field, words_of(trace.launch, changed)):
                    reasons[reason] = None
                    continue
                before, after = self._seconds(name, trace, gpu, changed)
                if isinstance(before, str):
                    continue  # this GPU lacks what the program needs, changed or not
                if isinstance(after, str):
                    reasons[f"refused: {name} {value}: {after}"] = None
                elif before != after and as_said(field, _value(gpu, field), value, after / before):
                    return f"{name} {value} {after / before:.4f}"
        return next(iter(reasons), "" if legal else illegal)

    def _seconds(self, name: str, trace: Trace, gpu: Gpu, changed: Gpu) -> tuple[float | str, float | str]:
        """Return what a run takes on both machines, by words for both when a compiler would write others."""
        words = "schedule" if is_known(trace, gpu, changed) else "auto"
        key = id(gpu), name, words
        if key not in self.known:
            self.known[key] = seconds(trace, gpu, words)
        return self.known[key], seconds(self._sized(name, trace, changed), changed, words)

    def _sized(self, name: str, trace: Trace, gpu: Gpu) -> Trace:
        """Return a program's trace with warps of the GPU's size; the trace itself where such cannot be: then a run says why."""
        size = gpu.core.warp_size
        if size == trace.launch.warp_size:
            return trace
        try:
            return sim.execute(copied(dataclasses.replace(self.launches[name], warp_size=size)))
        except UserError:
            return trace


def as_said(field: str, before: Any, after: Any, ratio: float) -> bool:
    """Return whether a run may take `ratio` times as long: with more of a cost, less of a help. 0 often says none, or no limit."""
    last = re.split("[._]", field)[-1]
    if not all(isinstance(one, int | float) and one for one in (before, after)) or last not in (*COSTS, *HELPS):
        return True
    return (ratio > 1) == ((after > before) == ((last in COSTS) != (field in AGAINST)))


def seconds(trace: Trace, gpu: Gpu, words: str) -> float | str:
    """Return what a run takes, or the words in which the GPU refuses it."""
    try:
        return sim.simulate(worded(trace, words), gpu, threads=1).seconds  # type: ignore[arg-type]
    except UserError as error:
        return str(error)


CHAIN = ".kernel chain\n.param ptr y\n.registers {registers}\n.shared {shared}\n.rept 40\nFFMA R0, R0, R1, R2\n.endr\nEXIT"
UNITS = """.kernel units
.registers 32
.rept 4
MUFU.RCP R0, R0
MUFU.RCP R1, R4
MUFU.RCP R2, R4
F2I R5, R0
I2F R0, R5
I2F R6, R5
DADD R8, R8, R10
DADD R8, R8, R10
DADD R12, R14, R14
IMAD R16, R16, R16, R16
IMAD.WIDE R18, R16, R17, R18
IMAD.WIDE R20, R16, R17, R20
SHL R16, R16, 1
SHL R22, R16, 2
S2R R23, SR_TID.X
IADD R16, R23, R16
DADD R8, R8, R10
FADD R24, R24, 1.0
IADD R25, R25, 1
FADD R26, R26, 1.0
IADD R27, R27, 1
.endr
EXIT"""
BRANCHES = """.kernel branches
MOV R0, 0
again:
{jumps}
IADD R0, R0, 1
ISETP.LT P0, R0, 4
@P0 BRA again
EXIT"""
CONSTANTS = """.kernel constants
.param ptr y
S2R R0, SR_TID.X
SHL R1, R0, 2
.rept 3
{walk}
LDC R2, c[0x3][R1]
LDC R3, c[0x3][R2]
FADD R4, R3, c[0x0][y]
.endr
EXIT"""
STREAM = """.kernel stream
.param ptr x
S2R R0, SR_TID.X
S2R R1, SR_CTAID.X
SHL R2, R1, 14
IMAD R2, R0, 16, R2
IADD R2, R2, c[0x0][x]
.rept 8
LDG.128 R4, [R2]
FADD R4, R4, 1.0
STG.128 [R2], R4
LDG R8, [R2]
FADD R8, R8, 1.0
STG [R2+4], R8
IADD R2, R2, 2048
.endr
EXIT"""
TABLES = """.kernel tables
.shared 4096
S2R R0, SR_TID.X
SHL R1, R0, 7
LDS R2, [R1]
FADD R3, R2, R2
{loads}
FADD R4, R20, R27
EXIT"""
FENCE = ".kernel fence\n.rept 4\nMEMBAR.ALL.GPU\n.endr\nEXIT"
REUSE = """.kernel reuse
.param ptr x
S2R R0, SR_TID.X
IMAD R2, R0, 128, c[0x0][x]
.rept 3
LDG R4, [R2]
LDG R5, [R2+0x4000]
LDG R6, [R2+0x8000]
FADD R4, R4, R5
LDG.128 R8, [R2+0x8000]
FADD R6, R6, R11
STG [R2+4], R4
LDG R7, [R2+4]
FADD R7, R7, R6
STL [R3], R7
LDL R7, [R3]
.endr
EXIT"""
AGAIN = """.kernel again
.param ptr x
S2R R0, SR_TID.X
IMAD R2, R0, 128, c[0x0][x]
{walk}
{back}
{walk}
EXIT"""
UNEQUAL = """.kernel unequal
.param ptr x
S2R R0, SR_CTAID.X
LOP.AND R2, R0, 7
IADD R2, R2, 1
again:
FFMA R3, R3, R4, R5
FFMA R3, R3, R4, R5
IADD R2, R2, -1
ISETP.NE.AND P0, PT, R2, RZ, PT
@P0 BRA again
EXIT"""
CODE = (
    ".kernel code\nMOV R3, 0\nagain:\n.rept {length}\nFFMA R0, R0, R1, R2\n.endr\nIADD R3, R3, 1\nISETP.LT P0, R3, 2\n@P0 BRA again\nEXIT"
)


PRODUCTS = """.kernel products
.target sm_90
.registers 96
.rept 3
{products}
.endr
EXIT"""
MATRICES = (
    *("HMMA.1688.F16 {d}, R16, R32, {d}", "HMMA.1688.F32 {d}, R16, R32, {d}", "HMMA.16816.F16 {d}, R16, R32, {d}"),
    *("HMMA.16816.F32 {d}, R16, R32, {d}", "HMMA.1684.F32.TF32 {d}, R16, R32, {d}", "HMMA.1688.F32.TF32 {d}, R16, R32, {d}"),
    *(f"IMMA.{shape}.S8.S8 {{d}}, R16.ROW, R32.COL, {{d}}" for shape in (8816, 16816, 16832)),
    *(f"DMMA.{shape} {{d}}, R16, R32, {{d}}" for shape in ("8x8x4", "16x8x4", "16x8x8", "16x8x16")),
)

ARITHMETIC = """.kernel arithmetic
.registers 96
.rept 4
DMMA.16x8x16 R0, R16, R32, R0
STL [R63], R62
.rept 40
FFMA R70, R71, R72, R70
FFMA R73, R74, R75, R73
.endr
.endr
EXIT"""


def launch(listing: str, grid: int, block: int, *args: Any, **more: Any) -> sim.Launch:
    """Return a launch of a listing."""
    return sim.Launch(isa.parse(listing), (grid,), (block,), args, **more)


def scheduled(listing: str, grid: int, block: int, *args: Any) -> sim.Launch:
    """Return a launch of a listing with control words of Hopper."""
    return sim.Launch(sim.schedule(isa.parse(f".target sm_90\n{listing}"), "sm_90"), (grid,), (block,), args)


def products() -> str:
    """Return the lines of all products, chains and others."""
    return "\n".join(text.format(d=register) for text in MATRICES for register in ("R0", "R0", "R40", "R48"))


def with_words() -> dict[str, sim.Launch | None]:
    """Return launches with control words, of which arithmetic goes through the ports of register banks."""
    beside = products().replace("\n", "\nDFMA R64, R66, R68, R64\nFFMA R70, R71, R72, R70\nIADD3 R73, R73, R74, R75\n")
    return {
        "products with words": scheduled(PRODUCTS.format(products=beside).replace(".target sm_90\n", ""), 8, 256),
        "products of warpgroups with words": scheduled(group_products().replace(".target sm_90\n", ""), 2, 128),
        "arithmetic beside products of warpgroups": scheduled(SHARED_PORTS, 1, 384),
        "units with words": scheduled(UNITS, 8, 256),
        "arithmetic with words": scheduled(ARITHMETIC, 8, 256),
    }


def beside(products: str, others: str) -> str:
    """Return a listing of which the first four warps execute products of a warpgroup, all further ones something else."""
    first = f"S2R R0, SR_TID.X\nISETP.GE.AND P0, PT, R0, 128, PT\n@P0 BRA others\n{products}\nWARPGROUP.DEPBAR.LE gsb0, 0x0\nEXIT"
    return f".kernel beside\n.shared 65536\n{first}\nothers:\n{others}\nEXIT\n"


PRODUCT = "HGMMA.64x128x16.F32 R24, gdesc[UR4], R24"
SHARED_PORTS = beside(
    f".rept 12\nWARPGROUP.ARRIVE\n{PRODUCT}\n{PRODUCT}, gsb0\nWARPGROUP.DEPBAR.LE gsb0, 0x0\n.endr",
    ".rept 12\n"
    + "".join(f"FADD R{register}, R{register}, R20\n" for register in (4, 5, 6, 7))
    + "FMNMX R8, R8, R20, PT\nMUFU.EX2 R9, R9\n.rept 40\nFADD R10, R11, R12\n.endr\n.endr",
)  # one warp of those that add reads on and on


def group_products() -> str:
    """Return products of a warpgroup, few and more than its queue holds, left factor in shared memory and in registers."""
    kinds = ("HGMMA.64x64x16.F32 R8, gdesc[UR4], R8", "HGMMA.64x8x16.F32 R8, R4, gdesc[UR4], R8")
    sums = ".rept 100\nIADD3 R1, R1, R2, RZ\n.endr\nWARPGROUP.DEPBAR.LE gsb0, 0x0"
    lines = "\n".join(f"WARPGROUP.ARRIVE\n.rept {count}\n{kind}\n.endr\n{kind}, gsb0\n{sums}" for kind in kinds for count in (4, 12))
    return f".kernel products\n.target sm_90\n.shared 8192\n{lines}\nEXIT\n"


REWRITES = """.kernel rewrites
.param ptr data
S2R R7, SR_TID.X
SHL R7, R7, 6
MOV R2, c[0x0][data]
IADD R2, R2, R7
.rept 8
LDG R4, [R2+8]
FADD R5, R4, R4
STG [R2], R6
.rept 18
FADD R8, R8, R6
.endr
STG [R2+4], R8
.rept 60
FADD R8, R8, R6
.endr
LDG R4, [R2+8]
FADD R5, R4, R4
IADD R2, R2, 4096
.endr
EXIT
"""


OWN = 16  # warps that have code of their own


def own_code() -> str:
    """Return a listing of which each warp of a block goes to straight code of its own, more than the TPC's cache holds together."""
    goes = "".join(f"ISETP.LT.AND P0, PT, R0, {32 * (w + 1)}, PT\n@P0 BRA own{w}\n" for w in range(OWN))
    return f".kernel own\nS2R R0, SR_TID.X\n{goes}" + "".join(f"own{w}:\n.rept 700\nFADD R4, R1, R2\n.endr\nEXIT\n" for w in range(OWN))


def small() -> dict[str, sim.Launch | None]:
    """Return launches that ask for one part of a machine each."""
    jumps = "\n".join(f"BSSY B0, to{k}\nBRA by{k}\nby{k}:\nBSYNC B0\nto{k}:" for k in range(8))
    far = "\n".join(f"FFMA R1, R1, R2, R3\nBRA far{k}\n.rept 14\nNOP\n.endr\nfar{k}:" for k in range(140))
    walk = "\n".join(f"FADD R4, R4, c[0x3][{at:#x}]" for at in range(0, 0x2000, 0x100))
    loads = "\n".join(f"LDC R{20 + k}, c[0x3][{at:#x}]" for k, at in enumerate(range(0, 0x800, 0x100)))  # 256 bytes each
    lines, back = (f".rept 100\nLDG R4, [R2]\nIADD R2, R2, {apart}\n.endr" for apart in (4096, -4096))  # more than L1 holds
    constants = {3: (np.arange(4096) * 196 % 8192).astype(np.uint32)}
    chains = {
        f"{registers} registers, {shared} bytes, {threads} threads": launch(
            CHAIN.format(registers=registers, shared=shared), 48, threads, np.zeros(1, np.float32)
        )
        for registers, shared, threads in ((21, 0, 480), (32, 8200, 96), (63, 0, 224), (16, 13000, 64), (12, 0, 32), (40, 3000, 320))
    }
    return chains | {
        "products": launch(PRODUCTS.format(products=products()), 8, 256),
        "units": launch(UNITS, 8, 256),
        "constants": launch(CONSTANTS.format(walk=walk), 132, 128, np.zeros(1, np.float32), constants=constants),
        "stream": launch(STREAM, 256, 128, np.zeros(1 << 20, np.float32)),
        "hits": launch(REUSE, 4, 32, np.zeros(1 << 14, np.float32)),
        "reuse": launch(REUSE, 8, 128, np.zeros(1 << 14, np.float32), shared_dynamic=40000),
        "rewrites": launch(REWRITES, 1, 32, np.zeros(1 << 14, np.float32)),
        "again": launch(AGAIN.format(walk=lines, back=back), 1, 32, np.zeros(1 << 17, np.float32)),
        "unequal": launch(UNEQUAL, 203, 256, np.zeros(1, np.float32)),
        "barriers": mbarrier_programs.launch(mbarrier_programs.PING_PONG)[0],
        "uniform": launch(".kernel uniform\n.target sm_90\n.rept 40\nUIADD3 UR4, UR4, UR5, URZ\nFADD R1, R1, R2\n.endr\nEXIT", 4, 256),
        "products of warpgroups": launch(group_products(), 2, 128),
        "bulk copies": mbarrier_programs.bulk_copy(size=1024, at=0),
        "tiles": tile_programs.two_rows_of_blocks()[0],
        **cluster_programs.small(),
        "branches": launch(BRANCHES.format(jumps=jumps), 4, 512),
        "fence": launch(FENCE, 4, 32),
        "tables": launch(TABLES.format(loads=loads), 4, 32, constants=constants),
        "code": launch(CODE.format(length=9000), 4, 32),
        "jumps": launch(BRANCHES.format(jumps=far), 4, 32),
        "own code": launch(own_code(), 4, 32 * OWN),
        "by register": sim.Launch(with_addresses("BRX R4 0x0\n" * 8), (4,), (32,)),
    }
