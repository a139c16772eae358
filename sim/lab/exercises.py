"""Exercises: a TOML each, which a lecturer writes. The page shows the question; the answer stays here until one is committed to.

title = "How long is a chain?"
question = "One warp executes ..."          # shown; the answer's unit beside the field
unit = "cycles"
answer = 361                                # what `observe` gives: `check` and the tests compare
tolerance = 0.05                            # share of the answer by which a guess may be off
hints = ["...", "..."]                      # shown one by one on demand
explanation = "..."                         # shown after the guess
free = ["warps", "units.fp32.latency"]      # sliders that may be moved
warps = 1                                   # blocks, registers, shared, too: as in `State`
gpu = "gtx480"
[set]                                       # fields of the GPU that differ
sms = 1
[observe]
metric = "cycles"                           # a counter, stall.CAUSE, slot.CAUSE, blocks_per_sm, lanes
compare = "ratio"                           # or "difference": of a second run, changed as below, and the exercise's own
[observe.against]                           # sliders of the second run
"core.policy" = "lrr"
[observe.replace]                           # texts of its listing
S04 = "S12"
# or: the smallest value of a slider with which the metric reaches a share of its largest value
# smallest = "warps", from = [1, 2, ...], reaches = 0.95
[draw]                                      # may be left out: the student may also draw when warps issue
question = "The first FFMA issues in ..."
cycles = [36, 72]                           # the first and the last that are drawn
warps = [0]                                 # of block 0: a row each
slots = [[36, 54, 72]]                      # of each warp the cycles in which it issues: `check` and the tests compare
explanation = "..."
"""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, NonNegativeInt, ValidationError, model_validator

from isa.errors import UserError, read_toml
from sim.lab import work
from sim.lab.state import DEFAULT_LAUNCH, Machine, State

FOLDER = Path(__file__).parent / "exercises"
MOST_CYCLES = 64  # of a drawing
LAUNCHED = ("warps", "blocks", "registers", "shared")


class Observation(BaseModel):
    """What is looked at; see above."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)
    metric: str
    scale: FiniteFloat = 1.0  # the metric times this
    against: dict[str, int | float | str] = {}
    replace: dict[str, str] = {}  # in the listing
    compare: Literal["ratio", "difference"] = "ratio"
    smallest: str | None = None
    among: list[int | float] = Field([], alias="from")
    reaches: Annotated[float, Field(gt=0, le=1)] = 0.95


class Drawing(BaseModel):
    """Issue slots that are drawn; see above."""

    model_config = ConfigDict(extra="forbid")
    question: str
    cycles: tuple[NonNegativeInt, NonNegativeInt]
    warps: Annotated[list[NonNegativeInt], Field(min_length=1, max_length=8)]
    slots: list[list[int]]
    explanation: str

    @model_validator(mode="after")
    def _fits(self) -> "Drawing":
        first, last = self.cycles
        if not first <= last < first + MOST_CYCLES:
            raise ValueError(f"cycles: the first and the last of at most {MOST_CYCLES}")
        if len(self.slots) != len(self.warps) or any(not first <= cycle <= last for row in self.slots for cycle in row):
            raise ValueError("slots: for each of the warps those of the cycles in which it issues")
        return self

    def judged(self, drawn: list[list[int]]) -> dict[str, Any]:
        """Return how a drawing differs from the issue slots, which these are, and why. drawn: of each warp the cycles marked."""
        missed = sum(len({*row} - {*mine}) for row, mine in zip(self.slots, drawn, strict=True))
        excess = sum(len({*mine} - {*row}) for row, mine in zip(self.slots, drawn, strict=True))
        right = not missed and not excess
        return {"right": right, "missed": missed, "excess": excess, "slots": self.slots, "explanation": self.explanation}


class Exercise(BaseModel):
    """One exercise; see above."""

    model_config = ConfigDict(extra="forbid")
    title: str
    question: str
    unit: str
    answer: FiniteFloat
    tolerance: Annotated[float, Field(ge=0, le=1)] = 0.05
    hints: list[str] = []
    explanation: str
    free: list[str]
    listing: str
    launch: str = DEFAULT_LAUNCH
    warps: int | None = None
    blocks: int | None = None
    registers: int | None = None
    shared: int | None = None
    gpu: str = "gtx480"
    set: dict[str, int | float | str] = {}
    observe: Observation
    draw: Drawing | None = None

    def state(self, changes: dict[str, Any] | None = None) -> State:
        """Return what the page shows at first, with sliders moved."""
        changes = changes or {}
        sizes = {name: changes.get(name, getattr(self, name)) for name in LAUNCHED}
        fields = self.set | {name: value for name, value in changes.items() if name not in LAUNCHED}
        return State(name="exercise", listing=self.listing, launch=self.launch, machines=[Machine(gpu=self.gpu, set=fields)], **sizes)

    def observed(self, gpus: dict[str, str]) -> float:
        """Return the answer as the simulator gives it now. Raises UserError."""
        seen, metric = self.observe, self.observe.metric
        if seen.smallest:
            if not seen.among:
                raise UserError("observe: smallest needs the values to try", hint=f'smallest = "{seen.smallest}", from = [1, 2, 4]')
            found = {value: work.observe(self.state({seen.smallest: value}), gpus, metric) for value in seen.among}
            return float(min(value for value, reached in found.items() if reached >= seen.reaches * max(found.values())))
        here = work.observe(self.state(), gpus, metric) * seen.scale
        if not seen.against and not seen.replace:
            return here
        other = self.state(seen.against)
        for old, new in seen.replace.items():
            if old not in other.listing:
                raise UserError(f"observe.replace: the listing has no {old}")
            other.listing = other.listing.replace(old, new)
        there = work.observe(other, gpus, metric) * seen.scale
        if seen.compare == "difference":
            return there - here
        if here == 0:
            raise UserError(f"observe: {metric} is 0, so there is no ratio to it", hint='compare = "difference"')
        return there / here

    def drawn(self, gpus: dict[str, str]) -> list[list[int]]:
        """Return the cycles of the drawing in which each of its warps issues, as the simulator gives them now. Raises UserError."""
        return work.issues(self.state(), gpus, self.draw.warps, self.draw.cycles) if self.draw else []

    def judged(self, guess: float) -> dict[str, Any]:
        """Return whether a guess is right, the answer, and why."""
        off = abs(guess - self.answer)
        return {
            "right": off <= self.tolerance * abs(self.answer),
            "answer": self.answer,
            "unit": self.unit,
            "explanation": self.explanation,
        }

    def shown(self, name: str) -> dict[str, Any]:
        """Return what the page may know before a guess."""
        return {
            "name": name,
            "title": self.title,
            "question": self.question,
            "unit": self.unit,
            "hints": self.hints,
            "draw": self.draw.model_dump(include={"question", "cycles", "warps"}) if self.draw else None,
            "free": self.free,
            "state": self.state().model_dump(),
        }


def load(folder: Path | None = None) -> dict[str, Exercise]:
    """Return the exercises of a folder by name, in its order; those that come with simtlab unless one is named. Raises UserError."""
    found = {}
    for file in sorted((folder or FOLDER).glob("*.toml")):
        try:
            found[file.stem] = Exercise.model_validate(read_toml(file, "utf-8-sig"))
            found[file.stem].state()  # has limits of its own
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise UserError(f"{where}: {first['msg'].lower()}", path=str(file)) from None
        except OSError as error:
            raise UserError(f"cannot read the exercise: {error.strerror}", path=str(file)) from None
    if folder and not found:
        raise UserError("no exercises here", path=str(folder), hint="write one: a .toml each; see sim/lab/README.md")
    return found


def agrees(answer: float, observed: float) -> bool:
    """Return whether an answer is what the simulator gives, as far as a TOML shows digits: to a thousandth."""
    return abs(answer - observed) <= 1e-3 * abs(observed)
