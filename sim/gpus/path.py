"""The way of one load through an unloaded memory system: which stages the end-to-end latencies of a preset contain."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sim.gpus.model import Gpu

TICKS = 256  # per cycle
LINE, SECTOR = 128, 32  # bytes
L1_LOOKUP = 1  # assumed, no measurement at hand: cycles from the take of an instruction to its first request's place at the port
FILL = 2  # assumed, no measurement at hand: cycles from the end of the last transfer to the dependent's issue


def ticks(bytes_per_cycle: float, count: float) -> int:
    """Return the ticks that so many bytes take, at least one."""
    return max(1, round(TICKS * count / bytes_per_cycle))


def cycles(ticks: int) -> int:
    """Return the first whole cycle not before a number of ticks."""
    return -(-ticks // TICKS)


class Path(NamedTuple):
    """Cycles of an unloaded one-sector load beyond which nothing is left to model: what is left is the array's own latency."""

    l2: int  # from L2 to the network
    dram: int  # from the channel, beyond that
    far: int  # from the other part of L2


def path(gpu: Gpu) -> Path:
    """Return the latencies of the arrays themselves: the preset's end-to-end ones less every stage that is modelled apart."""
    net = gpu.interconnect
    stages = gpu.lsu.latency + L1_LOOKUP + FILL + 2 * net.latency
    stages += cycles(ticks(net.request_bytes_per_cycle, net.header)) if net.header else 0
    stages += cycles(ticks(net.response_bytes_per_cycle, SECTOR))
    at_l2 = max(l2_ticks(gpu), lookup_ticks(gpu))
    served = cycles(at_l2 + dram_ticks(gpu) * fetched_sectors(gpu)) - cycles(at_l2)  # the channel starts when the slice has done
    if gpu.l2 is None:
        return Path(0, gpu.dram.latency - stages - served, 0)
    stages += cycles(at_l2)
    served += cycles(l2_ticks(gpu) * fetched_sectors(gpu)) if gpu.l2.write_port else 0
    far = max(gpu.l2.far - cycles(l2_ticks(gpu)), 1) if gpu.l2.far else 0
    return Path(gpu.l2.latency - stages, gpu.dram.latency - gpu.l2.latency - served, far)


def fetched_sectors(gpu: Gpu) -> int:
    """Return the sectors of 32 bytes that DRAM sends for a miss."""
    return max(gpu.dram.access_bytes, gpu.l2.sector if gpu.l2 else 0) // SECTOR


def l2_ticks(gpu: Gpu) -> int:
    """Return the ticks of one sector on one L2 slice."""
    return ticks(gpu.l2.bytes_per_cycle * gpu.sms / gpu.dram.channels, SECTOR) if gpu.l2 else 0


def lookup_ticks(gpu: Gpu) -> int:
    """Return the ticks of a request on one L2 slice, at least."""
    return round(TICKS * gpu.l2.lookup_cycles) if gpu.l2 else 0


def dram_ticks(gpu: Gpu) -> int:
    """Return the ticks of one sector on one channel."""
    return ticks(gpu.dram.bandwidth * gpu.dram.efficiency * 1e3 / gpu.clock.core_mhz / gpu.dram.channels, SECTOR)


def too_short(gpu: Gpu) -> str:
    """Return a sentence when a latency leaves no time for the stages it contains, "" when all is well."""
    lsu, left = gpu.lsu.latency, path(gpu)
    if gpu.memory.shared_load <= lsu:
        return f"memory.shared_load = {gpu.memory.shared_load} must exceed lsu.latency = {lsu}, which it contains"
    if gpu.l1 and gpu.l1.latency <= lsu:
        return f"l1.latency = {gpu.l1.latency} must exceed lsu.latency = {lsu}, which it contains"
    if gpu.l2 and left.l2 < 1:
        least = gpu.l2.latency + 1 - left.l2
        return (
            f"l2.latency = {gpu.l2.latency} must be at least {least}: it contains lsu.latency, interconnect.latency twice and the transfers"
        )
    if gpu.l2 and left.l2 <= gpu.l2.across:
        most = left.l2 - 1
        return f"l2.across = {gpu.l2.across} must be at most {most}: what l2.latency leaves beside the network and the transfers"
    if left.dram < 1:
        least = gpu.dram.latency + 1 - left.dram
        way = f"l2.latency = {gpu.l2.latency}" if gpu.l2 else "lsu.latency, interconnect.latency twice"
        return f"dram.latency = {gpu.dram.latency} must be at least {least}: it contains the way to DRAM and back ({way}) and the transfer"
    return ""
