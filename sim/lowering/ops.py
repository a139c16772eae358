"""`Op`: the fields of one instruction as the timing engine sees it."""

import numpy as np

Op = np.dtype(
    [
        ("latency", "i8"),  # issue to dependent issue
        ("distance", "i8"),  # smallest distance to the warp's next issue
        ("sync", "i8"),  # cycles more to it, after distance or branch: of a BSYNC
        ("indirect", "i8"),  # the same of a branch that is taken to where a register says
        ("source_read", "i8"),  # until its sources have been read: from its issue, of a memory access from its take
        ("hold", "i8"),  # cycles it holds its port
        ("pipe", "u4"),  # the last pipe has no limit (NOP)
        ("shared", "u4"),  # 1 = the SM owns the pipe
        ("result_cause", "u4"),  # StallCause of waiting for its result
        ("port_cause", "u4"),  # StallCause of waiting for its port
        ("flow", "u4"),
        ("barrier", "u4"),  # column of Machine.arrived: number of a BAR, above BARRIERS of one that says for how many warps
        ("expected", "u4"),  # for how many warps, 0 = all of the block
        ("passes", "u4"),  # 1 = BAR.ARV, at which nobody waits
        ("store", "u4"),  # 1 = writes memory, returns nothing
        ("results", "u4"),  # dependences it writes
        ("arithmetic", "u4"),  # 1 = has results and is no memory instruction: they count for the wake rule and the cap
        ("memory", "u4"),  # NOWHERE, GLOBAL, SHARED, LOCAL
        ("access", "u4"),  # LOAD, STORE, ATOMIC, REDUCTION, BULK_REDUCTION; bulk copies load and store, too
        ("width", "u4"),  # bytes per lane
        ("cached", "u4"),  # 1 = goes through L1
        ("address", "i8"),  # cycles of its port's address unit
        ("landing", "i8"),  # cycles from where its data would be ready until LDGSTS has them in shared memory
        ("write_counter", "i4"),  # dependence counter that is released with its result, -1 = none
        ("read_counter", "i4"),  # that is released when its sources have been read, -1 = none
        ("pairs", "u4"),  # 1 = the next instruction may issue together with it, on a scheduler of issue width over 1
        ("reads", "i4"),  # cycles from its begin to the next one's that reads through the ports of the banks; 0 = not through them
        ("joins", "u4"),  # 1 = LDGSTS: belongs to the next increment of its write counter
        ("waits", "i4"),  # counter that a DEPBAR waits for in part, -1 = none
        ("most", "i4"),  # increments that it leaves
        ("further", "u4"),  # cycles of its further passes through its pipe, in which its scheduler stands still: products of 64 bits
        ("yields", "u4"),  # 1 = lets other warps go first, as its control word says, or because it has none
        ("reuse", "u4"),  # mask of the source slots whose registers are kept
        ("collector", "u4"),  # which reuse cache keeps them: 0, or 1 of FP64 and the tensor cores
        ("constant", "i4"),  # line of constants that it names, -1 = none
        ("late", "u4"),  # 1 = its result waits for it, 0 = its issue
        ("lanes", "u4"),  # 1 = with an address from a register, from that line's first byte on
        ("skips", "u4"),  # 1 = the trace has its addresses, and no load/store unit takes them
        ("loads", "u4"),  # 1 = its result comes from beyond shared memory
        ("ported", "u4"),  # 1 = reads registers, and so waits for what products of warpgroups take of their ports
        ("phase", "u4"),  # of a barrier in shared memory: sim.lowering.phases
        ("turn", "i4"),  # cycles that the tensor core takes for it, a product of a warpgroup: from source_read on at the earliest; 0 = none
        ("copies", "u4"),  # a bulk copy: sim.lowering.phases
        ("far", "u4"),  # 1 = may access shared memory of another block of the cluster
        ("pause", "i4"),  # cycles that it holds its warp: a fence of the whole GPU, NANOSLEEP
        ("pause_cause", "i4"),  # StallCause
    ],
    align=True,
)
