"""One sentence per reason."""

from isa import dependences
from sim.causes.explain.chain import count
from sim.causes.explain.recording import Recording
from sim.causes.explain.segments import Segment
from sim.reference.moments import Work
from sim.result.causes import StallCause

# By resource: what it did with {who} (an instruction and its warp), of which there may have been several. {note}: which one, how much.
SENTENCES = {
    "issue, one instruction per cycle": "the scheduler issued {who}",
    "core.reissue_distance": "the warp had just issued {who}: {n} to its next instruction",
    "the stall count of the control word": "the warp had just issued {who}, whose control word asks for {n} to its next instruction",
    "core.policy": "the policy let no warp of the scheduler issue",
    "core.issue_interval": "the scheduler had issued {who}; it issues once in {interval} cycles",
    "core.register_banks": "{who} read its registers: a port of their bank was taken for {n}, and the scheduler with it",
    "units.imad.wide_passes": "{who} passed through its pipe again, {n}, and the scheduler stood still",
    "core.branch_latency": "{who} was being decided",
    "lsu.fence_latency": "{who} waited for its warp's accesses to be seen by the whole GPU",
    "the time of a NANOSLEEP": "{who} let its warp sleep",
    "core.exit_latency": "{who} ended its warp",
    "core.indirect_latency": "{who} read from a register where to go on",
    "core.sync_latency": "{who} found out whether its lanes were all there",
    "core.barrier_latency": "the barrier opened after {who} had come to it, or ended, as the last",
    "core.source_read": "{who} read its sources",
    "blocks.start_interval": "{who} had started; the next may start only that long after it",
    "blocks.sm_interval": "{who} had started; the next may start on that SM only that long after it",
    "blocks.retire_interval": "the dispatcher took note of the end of {who}, after others",
    "blocks.start_latency": "{who} was starting",
    "fetch.first": "the first instruction of the SM came from memory, for {who}",
    "fetch.far": "the first instruction of the SM came from the part of L2 that it is not near, for {who}",
    "l2.across": "the first instruction of the SM came from the other side of the chip, for {who}",
    "fetch.jump": "the code that follows {who} was fetched",
    "constants.near": "a line of constants came to the SM's constant cache, for {who}",
    "l2.far": "{who} was copied from the other part of L2",
    "dram.turnaround": "a DRAM channel turned from writing to reading, or back, before it could do that for {who}",
    "l2.lookup_cycles": "{note} looked requests up, one after another, before that of {who}",
    "dram.activate_cycles": "a DRAM channel activated rows, one after another, before that of {who}",
    "dram.refresh": "DRAM refreshed the bank that was read for {who}; it does so at set times, whatever the run does meanwhile",
    "blocks.retire_latency": "{who} had ended; its place on the SM was freed",
    "lsu.latency": "{who} was on its way from the issue port to the load/store unit",
    "lsu.interval": "the load/store unit was busy with {who}",
    "lsu.depth": "the queue behind the issue port was full until the load/store unit took {who}",
    "lsu.replay": "the address unit of the port was busy with {who}, pass by pass",
    "warpgroup.port_cycles": "the product beside {who} had the ports of the registers",
    "lsu.load_read": "{who} read its address registers",
    "lsu.store_read": "{who} read its registers",
    "lsu.shared_store_read": "{who} read its registers",
    "lsu.word_cycles": "the further registers of {who} were written",
    "shared.pass_cycles": "the banks of shared memory served {who}: {note}",
    "shared.pass_latency": "the further passes of {who} over the banks of shared memory took longer ({note})",
    "lsu.store_line_cycles": "a store of its port waited while the lines of {who} were written ({note})",
    "l1.line_cycles": "the load/store unit took the lines of {who} one by one ({note})",
    "l1.tags_per_cycle": "the lines of {who} were looked up in L1 ({note})",
    "l1.pass_latency": "the further passes of {who} over the banks of L1 took longer ({note})",
    "the banks of L1": "the data of {who} were read from the banks of L1 ({note})",
    "l1.bytes_per_cycle": "the data of {who} moved between L1 and the registers",
    "l1.latency": "L1 had the data of {who}",
    "the look-up in L1": "{who} was looked up in L1",
    "interconnect.request_bytes_per_cycle": "the SM's port towards L2 sent the requests of {who}",
    "interconnect.response_bytes_per_cycle": "the SM's port from L2 received the answers for {who}",
    "interconnect.latency": "{who} was on the way between the SM and L2",
    "the way from the SM's port to the registers": "the answer for {who} was put into L1 and the registers",
    "l2.bytes_per_cycle": "{note} served {who}",
    "l2.latency": "L2's own latency, for {who}",
    "dram.bandwidth": "{note} moved data for {who}",
    "dram.latency": "DRAM's own latency, for {who}",
}

MOST_NAMED = 6  # warps


def sentence(recording: Recording, run: list[Segment]) -> str:
    """Return what happened during neighbouring segments, the latest first, of one resource."""
    last = run[0]
    cycles = count(last.end - run[-1].begin, "cycle")
    who, note, resource = several(recording, run), last.note, last.resource
    if resource in SENTENCES:
        return SENTENCES[resource].format(who=who, n=cycles, note=note, interval=recording.gpu.core.issue_interval)
    if resource.endswith(".lanes"):
        return f"the port of the {resource.split('.')[1]} pipe was held by {who}"
    if last.cause is StallCause.DRAIN:
        return f"the warp's last result came from {who}: {resource}, {cycles}"
    registers = needed(recording, last)
    if not registers and recording.gpu.core.wake_rule == "all_outstanding" and last.work[:2] == last.waiter[:2]:
        return f"a result that it does not read came from {who}: {resource}, {cycles}; core.wake_rule waits for all that are under way"
    return f"{registers or 'the result'} came from {who}: {resource}, {cycles}"


def several(recording: Recording, run: list[Segment]) -> str:
    """Return whose work it was: one instruction, or how many, of which warps, and the first of them."""
    whose = list(dict.fromkeys(segment.work for segment in reversed(run)))
    first = described(recording, whose[0], run[0].waiter)
    if len(whose) == 1:
        return first
    lines = sorted({found.line for work in whose if (found := recording.instruction(work))})
    if not lines:
        return f"blocks {whose[0].block} to {whose[-1].block}, one after another,"
    place = f"line {lines[0]}" if len(lines) == 1 else f"lines {lines[0]} to {lines[-1]}"
    return f"{len(whose)} instructions, one after another, {warps(whose)} ({place}), first {first}"


def warps(whose: list[Work]) -> str:
    """Return the warps, or how many there are."""
    found = list(dict.fromkeys(work[:2] for work in whose))
    blocks = {block for block, _ in found}
    if len(found) == 1:
        return f"of warp {found[0][1]}"
    if len(found) > MOST_NAMED:
        return f"of {len(found)} warps"
    names = (str(warp) if len(blocks) == 1 else f"{block}:{warp}" for block, warp in sorted(found))
    return f"of warps {', '.join(names)}"


def described(recording: Recording, work: Work, waiter: Work) -> str:
    """Return an instruction, its line, and whose it is unless it is the waiting warp's own."""
    instruction = recording.instruction(work)
    if instruction is None:
        return f"block {work.block}"
    text = f"{instruction.text.rstrip(';')} (line {instruction.line})"
    if work[:2] == waiter[:2]:
        apart = waiter.step >= 0 and not recording.mask(work) & recording.mask(waiter) and recording.parted_at(waiter)
        return f"{text} of the other half of the warp" if apart else text
    return f"{text} of warp {work.warp}" + ("" if work.block == waiter.block else f" of block {work.block}")


def needed(recording: Recording, segment: Segment) -> str:
    """Return the registers and predicates that the waiting instruction needs and the other one writes, as "R1 and P0"."""
    waiter, producer = recording.instruction(segment.waiter), recording.instruction(segment.work)
    if waiter is None or producer is None or waiter == producer:
        return ""
    encoded = recording.program.encoded
    needs = [*encoded.reads[waiter.index].tolist(), *encoded.writes[waiter.index].tolist()]
    found = [name for name in encoded.writes[producer.index].tolist() if name >= 0 and name in needs]
    return " and ".join(dependences.name(name) for name in found)
