"""A random kernel: a seed and a number -> CUDA C++. Each step computes a value from inputs and earlier values and stores it."""

from dataclasses import dataclass, field
from random import Random

from programs.measurements.conformance import memory
from programs.measurements.conformance.operations import C_TYPES, Operation, code, operations

THREADS = 64  # one block of two warps
COLUMNS = {"u": 3, "f": 3, "l": 2, "d": 2, "h": 2, "b": 2}  # inputs of each type
WORDS = {"l": 2, "d": 2, "q": 4}  # all others 1
INPUT_WORDS = sum(count * WORDS.get(kind, 1) for kind, count in COLUMNS.items())
STEPS = 9
SHAPES = (("plain", 62), ("branch", 8), ("loop", 6), ("call", 5), ("switch", 3), ("exit", 3), ("memory", 13))
LITERAL = 0.12  # share of operands that are numbers
EARLIER = 0.35  # share of operands that are earlier results
EDGES = {
    "u": (0, 1, 2, 31, 32, 63, 64, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFF8000, 0x55AA33CC),
    "l": (0, 1, 63, 64, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF, 0xFFFFFFFF),
    "f": (0x3F800000, 0x80000000, 0x7F800000, 0x7FC00000, 1, 0x3F000000, 0xC0200000, 0x4F000000, 0x7F7FFFFF, 0x3E22F983),
    "d": (0x3FF0000000000000, 0x4008CCCCCCCCCCCD, 0x4008CCCC00000000, 0x7FF0000000000000, 0x7FF8000000000000, 1, 0xC1E0000000000000),
    "h": (0x3C003C00, 0x7C00FC00, 0x7E000001, 0x00018000, 0x7BFF4500),
    "b": (0x3F803F80, 0x7F80FF80, 0x7FC00001, 0x00018000, 0x7F7F4120),
}


@dataclass
class Kernel:
    """One random kernel."""

    name: str
    source: str  # its functions
    results: tuple[tuple[str, str], ...]  # type and what it is of, of each row of results
    since: int  # the least architecture
    approximate: frozenset[int]  # results that depend on MUFU

    @property
    def words(self) -> int:
        """Return how many words of results each thread stores."""
        return sum(WORDS.get(kind, 1) for kind, _ in self.results)


@dataclass
class Writer:
    """A kernel as it grows."""

    random: Random
    name: str
    values: dict[str, list[str]] = field(default_factory=dict)  # type -> variables
    lines: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    results: list[tuple[str, str]] = field(default_factory=list)
    since: int = 80
    rare: bool = False  # operations of sections that are rare may be used
    inexact: set[str] = field(default_factory=set)  # variables
    approximate: set[int] = field(default_factory=set)
    parted: bool = False  # some threads have left
    shared: bool = False
    reduced: set[int] = field(default_factory=set)  # words of all threads that a step reduces into
    counted: int = 0
    touched: bool = False  # an operation that is not exact was used
    used: list[str] = field(default_factory=list)  # variables that the current step reads

    def value(self, kind: str) -> str:
        """Return a value of a type: an input, an earlier result or a number."""
        kind = {"x": self.random.choice("uhb"), "p": "u"}.get(kind, kind)
        if kind == "q":
            known = self.values.get("q")
            return self.random.choice(known) if known else f"(((unsigned __int128){self.value('l')} << 64) | {self.value('l')})"
        if self.random.random() < LITERAL:
            return literal(kind, self.random.choice(EDGES[kind]))
        known = self.values.get(kind, [])
        if known and self.random.random() < EARLIER:
            chosen = self.random.choice(known)
            self.used.append(chosen)
            return chosen
        return f"{kind}{self.random.randrange(COLUMNS[kind])}"

    def new(self, kind: str) -> str:
        self.counted += 1
        return f"v{self.counted}{kind}"

    def choose(self, result: str = "", together: bool = False) -> Operation:
        """Return an operation, of a type where one is asked for."""
        table = list(operations().values())
        while True:
            chosen = self.random.choice(self.random.choice(self.random.choice(table)))
            if chosen.form in ("atomic", "reduction") or chosen.rare > self.rare:
                continue
            if (together or not chosen.together) and (not result or C_TYPES[chosen.result] == C_TYPES[result]):
                return chosen

    def compute(self, operation: Operation, target: str) -> str:
        """Return the statement of an operation on chosen values."""
        self.since = max(self.since, operation.since)
        self.touched |= operation.approximate
        sources = [self.value(kind) for kind in operation.sources]
        if sources and all(not source[0].isalpha() or source.startswith("__") for source in sources):
            sources[0] = self.input(operation.sources[0])
        return code(operation, target, sources, self.random)

    def input(self, kind: str) -> str:
        kind = {"x": "u", "p": "u"}.get(kind, kind)
        return "((unsigned __int128)l0 << 64 | l1)" if kind == "q" else f"{kind}0"

    def store(self, kind: str, variable: str, text: str) -> None:
        """Make a variable a result."""
        stored = "u" if kind in "xp" else kind
        where = sum(WORDS.get(each, 1) for each, _ in self.results)
        self.lines += [f"put(out, {where}, t, {variable});"]
        if self.touched or self.inexact & set(self.used):
            self.inexact.add(variable)
            self.approximate.add(len(self.results))
        self.results.append((stored, text))
        self.values.setdefault(stored if kind not in "x" else self.random.choice("uhb"), []).append(variable)
        self.touched, self.used = False, []


def literal(kind: str, bits: int) -> str:
    if kind == "f":
        return f"__uint_as_float({bits:#x}u)"
    if kind == "d":
        return f"__longlong_as_double({bits:#x}ll)"
    return f"{bits:#x}{'ull' if kind == 'l' else 'u'}"


def kernel(seed: int, number: int) -> Kernel:
    """Return a random kernel; the same for the same seed and number everywhere."""
    random = Random(seed * 1_000_003 + number)
    writer = Writer(random, f"k{seed}_{number}", rare=number % 8 == 7)
    names, weights = zip(*SHAPES, strict=True)
    for _ in range(STEPS):
        STEPS_OF[random.choices(names, weights)[0]](writer)
    body = "\n    ".join(writer.lines)
    functions = "\n".join(writer.functions)
    source = f"""{functions}
extern "C" __global__ void __launch_bounds__({THREADS}) {writer.name}(unsigned* out, const unsigned* in, unsigned* mem) {{
    {prologue()}
    {body}
}}
"""
    return Kernel(writer.name, source, tuple(writer.results), writer.since, frozenset(writer.approximate))


def prologue() -> str:
    """Return the statements that load a thread's inputs; what is not used the compiler drops."""
    lines, column = ["const unsigned t = threadIdx.x; float scratch_f; (void)scratch_f;"], 0
    for kind, count in COLUMNS.items():
        for k in range(count):
            words = [f"in[{THREADS * (column + w)} + t]" for w in range(WORDS.get(kind, 1))]
            lines.append(f"{C_TYPES[kind]} {kind}{k} = {made(kind, words)};")
            column += len(words)
    return "\n    ".join(lines)


def made(kind: str, words: list[str]) -> str:
    if kind == "l":
        return f"{words[0]} | (unsigned long long){words[1]} << 32"
    if kind == "d":
        return f"__hiloint2double({words[1]}, {words[0]})"
    return f"__uint_as_float({words[0]})" if kind == "f" else words[0]


def plain(writer: Writer) -> None:
    operation = writer.choose(together=not writer.parted)
    target = writer.new(operation.result)
    writer.lines += [f"{C_TYPES[operation.result]} {target}; {writer.compute(operation, target)}"]
    writer.store(operation.result, target, operation.text)


def condition(writer: Writer) -> str:
    kind = writer.random.choice("uuf")
    relation = writer.random.choice(("<", ">=", "!="))
    if writer.random.random() < 0.4:
        return f"({writer.value('u')} >> {writer.random.randrange(8)} & 1)"
    return f"({writer.value(kind)} {relation} {writer.input(kind)[0]}{writer.random.randrange(3)})"


def branch(writer: Writer) -> None:
    """Two operations on the two sides of a branch, nested now and then."""
    first = writer.choose()
    second = writer.choose(first.result)
    target, kind = writer.new(first.result), C_TYPES[first.result]
    test = condition(writer)
    left, right = writer.compute(first, target), writer.compute(second, target)
    if writer.random.random() < 0.3:
        third = writer.choose(first.result)
        right = f"if {condition(writer)} {{ {right} }} else {{ {writer.compute(third, target)} }}"
    writer.lines += [f"{kind} {target}; if {test} {{ {left} }} else {{ {right} }}"]
    writer.store(first.result, target, f"branch {first.text} | {second.text}")


def loop(writer: Writer) -> None:
    """An operation applied again and again, each thread as often as its input says; with a way out now and then."""
    operation = writer.choose(writer.random.choice("uuflduh"))
    result = operation.result
    target, kind = writer.new(result), C_TYPES[result]
    start = writer.value(result)
    held = {name: list(values) for name, values in writer.values.items()}
    writer.values.setdefault("u" if result in "xp" else result, []).append(target)
    inner = writer.new(result)
    body = f"{kind} {inner}; {writer.compute(operation, inner)} {target} = {inner};"
    writer.values = held
    leave = f"if {condition(writer)} break;" if writer.random.random() < 0.3 else ""
    unroll = "#pragma unroll 1\n    " if writer.random.random() < 0.5 else ""
    count = f"({writer.value('u')} & {writer.random.choice((3, 7))})"
    writer.lines += [f"{kind} {target} = {start};\n    {unroll}for (unsigned n = 0; n < {count}; n++) {{ {body} {leave} }}"]
    writer.store(result, target, f"loop {operation.text}")


def call(writer: Writer) -> None:
    """A function that is not put in line, called in a branch now and then."""
    operation = writer.choose()
    result, name = C_TYPES[operation.result], f"{writer.name}_f{writer.counted}"
    kinds = [{"x": "u", "p": "u"}.get(kind, kind) for kind in operation.sources]
    writer.since, writer.touched = max(writer.since, operation.since), writer.touched | operation.approximate
    parameters = ", ".join(f"{C_TYPES[kind]} a{k}" for k, kind in enumerate(kinds)) or "int"
    inside = code(operation, "r", [f"a{k}" for k in range(len(kinds))], writer.random)
    scratch = "float scratch_f; (void)scratch_f; " if "scratch" in inside else ""
    writer.functions += [f"__device__ __noinline__ {result} {name}({parameters}) {{ {result} r; {scratch}{inside} return r; }}"]
    target = writer.new(operation.result)
    sources = ", ".join(writer.value(kind) for kind in kinds) or "0"
    test = f"if {condition(writer)} " if writer.random.random() < 0.4 else ""
    writer.lines += [f"{result} {target} = {writer.value(operation.result)}; {test}{target} = {name}({sources});"]
    writer.store(operation.result, target, f"call {operation.text}")


def switch(writer: Writer) -> None:
    """Eight ways, which compilers jump to through a table."""
    result = writer.random.choice("ufd")
    target = writer.new(result)
    cases = []
    for k in range(8):
        cases.append(f"case {k}: {{ {writer.compute(writer.choose(result), target)} break; }}")
    text = "\n        ".join(cases)
    writer.lines += [f"{C_TYPES[result]} {target}; switch ({writer.value('u')} & 7) {{\n        {text}\n        default: {target} = 0; }}"]
    writer.store(result, target, "switch")


def leave(writer: Writer) -> None:
    """Some threads end; what the others do needs no one else."""
    if len(writer.results) > STEPS // 2:
        writer.lines += [f"if {condition(writer)} return;"]
        writer.parted = True
    else:
        plain(writer)


STEPS_OF = {"plain": plain, "branch": branch, "loop": loop, "call": call, "switch": switch, "exit": leave, "memory": memory.step}
