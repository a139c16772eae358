"""Steps of a random kernel through memory: shared, local, constant, a thread's own words of global memory, atomics.

`mem`: four words of each thread, which only it touches, then words that all threads reduce into, a pair for each step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from programs.measurements.conformance.operations import C_TYPES, CONSTRAINTS, Operation, operations

if TYPE_CHECKING:
    from programs.measurements.conformance.kernels import Writer

OWN = 4  # words of each thread
COMMON = 32  # words of all
SIZES = {"unsigned char": 1, "signed char": 1, "unsigned short": 2, "short": 2, "unsigned": 4, "unsigned long long": 8}
TABLE = 64  # words of the constant array


def prelude() -> str:
    """Return what stands once in front of the kernels of a source: how results are stored, and a constant array."""
    numbers = ", ".join(f"{(k * 2654435761 + 12345) & 0xFFFFFFFF:#x}u" for k in range(TABLE))
    return f"""#define PUT(T) __device__ __forceinline__ void put(unsigned* out, int w, unsigned t, T v)
PUT(unsigned) {{ out[64 * w + t] = v; }}
PUT(float) {{ out[64 * w + t] = __float_as_uint(v); }}
PUT(unsigned long long) {{ out[64 * w + t] = (unsigned)v; out[64 * w + 64 + t] = (unsigned)(v >> 32); }}
PUT(double) {{ put(out, w, t, (unsigned long long)__double_as_longlong(v)); }}
PUT(unsigned __int128) {{ put(out, w, t, (unsigned long long)v); put(out, w + 2, t, (unsigned long long)(v >> 64)); }}
__constant__ unsigned table[{TABLE}] = {{{numbers}}};
"""


def step(writer: Writer) -> None:
    """Add one step through memory."""
    steps = [local, constant, own, atomic, atomic, reduction]
    if not writer.parted:
        steps += [shared, shared, exchange]
    writer.random.choice(steps)(writer)


def shared(writer: Writer) -> None:
    """All words of shared memory are written, then pieces of any size read at places that the inputs give."""
    kind = writer.random.choice(list(SIZES))
    _shared_array(writer)
    values = ", ".join(writer.value("u") for _ in range(4))
    target = writer.new("l")
    index = f"{writer.value('u')} % {256 * 4 // SIZES[kind]}"
    writer.lines += [
        f"__syncthreads(); *(uint4*)(sh + 4 * t) = make_uint4({values}); __syncthreads();",
        f"unsigned long long {target} = (({kind}*)sh)[{index}];",
    ]
    writer.store("l", target, f"shared {kind}")


def exchange(writer: Writer) -> None:
    """Every thread writes a piece of its own and reads that of another."""
    kind = writer.random.choice(list(SIZES))
    _shared_array(writer)
    target, distance = writer.new("l"), writer.random.randrange(64)
    value = writer.value("l" if SIZES[kind] == 8 else "u")
    writer.lines += [
        f"__syncthreads(); (({kind}*)sh)[t] = ({kind}){value}; __syncthreads();",
        f"unsigned long long {target} = (({kind}*)sh)[(t {writer.random.choice('+^')} {distance}) & 63];",
    ]
    writer.store("l", target, f"exchange {kind}")


def local(writer: Writer) -> None:
    """An array of the thread's own that registers cannot hold."""
    kind = writer.random.choice(list(SIZES))
    target = writer.new("l")
    array = f"a{writer.counted}"
    first = ", ".join(f"({kind}){writer.value('u')}" for _ in range(8))
    value = writer.value("l" if SIZES[kind] == 8 else "u")
    writer.lines += [
        f"{kind} {array}[8] = {{{first}}}; {array}[{writer.value('u')} & 7] = ({kind}){value};",
        f"unsigned long long {target} = {array}[{writer.value('u')} & 7];",
    ]
    writer.store("l", target, f"local {kind}")


def constant(writer: Writer) -> None:
    kind = writer.random.choice(list(SIZES))
    target = writer.new("l")
    writer.lines += [f"unsigned long long {target} = ((const {kind}*)table)[{writer.value('u')} % {TABLE * 4 // SIZES[kind]}];"]
    writer.store("l", target, f"constant {kind}")


def own(writer: Writer) -> None:
    """A piece of any size of the thread's four words of global memory is written, another read."""
    kind, read = writer.random.choice(list(SIZES)), writer.random.choice(list(SIZES))
    target, pieces = writer.new("l"), OWN * 4 // SIZES[kind]
    value, place = writer.value("l" if SIZES[kind] == 8 else "u"), writer.random.randrange(16 // SIZES[read]) * SIZES[read]
    writer.lines += [
        f"(({kind}*)(mem + {OWN} * t))[{writer.value('u')} % {pieces}] = ({kind}){value};",
        f"unsigned long long {target} = *(volatile {read}*)((char*)(mem + {OWN} * t) + {place});",
    ]
    writer.store("l", target, f"own {kind} {read}")


def atomic(writer: Writer) -> None:
    """An atomic on words that no other thread touches gives back what was there."""
    operation = _chosen(writer, "rare_atomics" if writer.rare and writer.random.random() < 0.3 else "atomics")
    target = writer.new(operation.result)
    size = 2 if operation.result in "ld" else 1
    word = size * writer.random.randrange(OWN // size)
    spaces = ["", "global"] if writer.parted or operation.text[-4:] in ("16x2", ".f16", "bf16") else ["", "global", "shared"]
    space = writer.random.choice(spaces)
    if space == "shared":
        _shared_array(writer)
        first = ", ".join(writer.value("u") for _ in range(4))
        writer.lines += [f"__syncthreads(); *(uint4*)(sh + 4 * t) = make_uint4({first});"]
        address = f'"r"((unsigned)__cvta_generic_to_shared(sh + {OWN} * t + {word}))'
    else:
        address = f'"l"(mem + {OWN} * t + {word})'
    writer.lines += [f"{C_TYPES[operation.result]} {target}; {_statement(writer, operation, target, space, address)}"]
    writer.store(operation.result, target, f"atom.{space or 'generic'}.{operation.text}")
    if space == "shared":
        left = writer.new("l")
        writer.lines += [f"unsigned long long {left} = *(volatile unsigned long long*)(sh + {OWN} * t + {word & ~1});"]
        writer.store("l", left, f"left by atom.{space}.{operation.text}")


def reduction(writer: Writer) -> None:
    """All threads reduce into one word, which is read when the kernel has ended."""
    operation = _chosen(writer, "reductions")
    word = 2 * (writer.counted % (COMMON // 2))
    if word in writer.reduced:
        return
    writer.reduced.add(word)
    counts = operation.text.startswith(("inc", "dec"))  # up to one and the same number, or the order would matter
    value = str(writer.random.randrange(5, 100)) if counts else writer.value(operation.result)
    address = f"mem + {64 * OWN + word}"
    test = f"if {writer.random.choice(('(t & 5)', '(u0 & 1)', '(1)'))} "
    space = writer.random.choice(("", ".global"))
    constraint = CONSTRAINTS.get(operation.result, "r")
    writer.lines += [f'{test}asm volatile("red{space}.{operation.text} [%0], %1;" :: "l"({address}), "{constraint}"({value}) : "memory");']


def _chosen(writer: Writer, section: str) -> Operation:
    operation = writer.random.choice(writer.random.choice(operations()[section]))
    writer.since = max(writer.since, operation.since)
    return operation


def _statement(writer: Writer, operation: Operation, target: str, space: str, address: str) -> str:
    """Return an atomic as inline PTX; 16-bit operands come out of words."""
    before, names, inputs = [], [], [address]
    for number, kind in enumerate(operation.operands):
        inputs.append(f'"{CONSTRAINTS.get(kind, "r")}"({writer.value(kind)})')
        names.append(f"x{number}" if kind == "x" else f"%{number + 2}")
        if kind == "x":
            before.append(f".reg .b16 x{number}; cvt.u16.u32 x{number}, %{number + 2};")
    dotted = f".{space}" if space else ""
    if operation.result == "x":
        body = f".reg .b16 xd; atom{dotted}.{operation.text} xd, [%1], {', '.join(names)}; cvt.u32.u16 %0, xd;"
    else:
        body = f"atom{dotted}.{operation.text} %0, [%1], {', '.join(names)};"
    constraint = CONSTRAINTS.get(operation.result, "r")
    return f'asm volatile("{{{" ".join([*before, body])}}}" : "={constraint}"({target}) : {", ".join(inputs)} : "memory");'


def _shared_array(writer: Writer) -> None:
    if not writer.shared:
        writer.shared = True
        writer.lines.insert(0, "__shared__ __align__(16) unsigned sh[256];")
