"""Listings with barriers in shared memory (SYNCS)."""

import numpy as np

import isa
from sim.launch.launch import Launch

BEGIN = """.kernel phases
.param ptr out
.shared 64
S2R R0, SR_TID.X
SHF.R.U32 R1, R0, 5, RZ
LOP3.LUT R2, R0, 0x1f, RZ, 0xc0, !PT
MOV R20, c[0x0][out]
ISETP.NE P0, PT, R0, RZ, PT
"""


def init(offset: int, count: int) -> str:
    """Return the lines in which thread 0 sets up a barrier for so many arrivals, as nvcc writes them."""
    missing = (1 << 20) - count
    return f"MOV R4, {missing << 1:#x}\nMOV R5, {missing << 11:#x}\n@!P0 SYNCS.EXCH.64 RZ, [RZ+{offset:#x}], R4\n"


def launch(body: str, threads: int = 64) -> tuple[Launch, np.ndarray]:
    out = np.zeros(256, np.uint32)
    return Launch(isa.parse(BEGIN + body + "EXIT\n"), (1,), (threads,), (out,)), out


def wait(label: str, offset: str, parity: str) -> str:
    return f"{label}:\nSYNCS.PHASECHK.TRANS64.TRYWAIT P3, [{offset}], {parity}\n@!P3 BRA `({label})\n"


# Two warps add one to a word in turn: each waits for its own barrier (R8), which the other (R9) arrives at. R10: the word; R7: parity
PING_PONG = (
    init(0, 1)
    + init(8, 1)
    + """BAR.SYNC 0
SHL R8, R1, 3
LOP3.LUT R9, R8, 0x8, RZ, 0x3c, !PT
MOV R11, RZ
ISETP.EQ P1, PT, R1, RZ, PT
ISETP.EQ P2, PT, R2, RZ, PT
round:
SHL R7, R11, 31
@P1 BRA `(mine)
"""
    + wait("other", "R8", "R7")
    + """BRA `(add)
mine:
ISETP.EQ P4, PT, R11, RZ, PT
@P4 BRA `(add)
IADD R7, R11, -1
SHL R7, R7, 31
"""
    + wait("back", "R8", "R7")
    + """add:
LDS R10, [RZ+0x10]
IADD R10, R10, 1
@P2 STS [RZ+0x10], R10
@P2 SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R9], RZ
IADD R11, R11, 1
ISETP.LT P5, PT, R11, 5, PT
@P5 BRA `(round)
SHL R12, R0, 2
IADD R12, R12, R20
STG [R12], R10
"""
)


def bulk_copy(size: int, at: int, to: int = 16) -> Launch:
    """Return a launch of one warp that copies `size` bytes from byte `at` of an array to byte `to` of shared memory, then to another."""
    text = f""".kernel bulk
.param ptr data
.param ptr out
.shared 2048
S2R R0, SR_TID.X
ISETP.NE P0, PT, R0, RZ, PT
{init(0, 1)}MOV R6, c[0x0][data]
IADD R6, R6, {at}
MOV R7, RZ
MOV R8, {to}
MOV R9, RZ
MOV R10, {size}
MOV R11, {size >> 4}
R2UR UR6, R6
R2UR UR7, R7
R2UR UR8, R8
R2UR UR9, R9
R2UR UR10, R11
@P0 BRA `(read)
SYNCS.ARRIVE.TRANS64 RZ, [RZ], R10
UBLKCP.S.G [UR8], [UR6], UR10
read:
{wait("again", "RZ", "RZ")}SHL R12, R0, 2
MOV R13, c[0x0][out]
IADD R13, R13, R12
next:
LDS R14, [R12+{to}]
STG [R13], R14
IADD R12, R12, 128
IADD R13, R13, 128
ISETP.LT P1, PT, R12, {size}, PT
@P1 BRA `(next)
EXIT
"""
    return Launch(isa.parse(text), (1,), (32,), (np.arange(256, dtype=np.uint32), np.zeros(1024, np.uint32)))
