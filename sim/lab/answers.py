"""What a worker answers: the result of a job, or its mistake in words, with the text and line where it stands. Never a traceback."""

import re
from typing import Any

from isa.errors import UserError
from sim.lab import work
from sim.lab.state import DEFAULT_LAUNCH, LAUNCH, LISTING, State, machine

PLACE = re.compile(rf"^(?:{LISTING}|{LAUNCH}):(\d+)(?::(\d+))?: (.*)$", re.MULTILINE)


def answer(job: tuple[Any, ...], gpus: dict[str, str]) -> dict[str, Any]:
    """Return {"result": ...} or {"error": {...}} of a job: its name, a state, and what else it takes."""
    name, state, *rest = job
    try:
        match name:
            case "run":
                return {"result": work.run(state, gpus)}
            case "page":
                return {"result": work.whole_page(state, gpus)}
            case "pictures":
                return {"result": work.pictures(state, gpus, *rest)}
            case "registers":
                return {"result": work.registers(state, gpus, *rest)}
            case _:
                return {"result": work.opcodes(machine(state.machines[0], gpus))}
    except UserError as error:
        return {"error": described(error)}
    except MemoryError:
        work.forget()
        return {"error": described(UserError("this needs more memory than the lab gives", hint="make the launch or the caches smaller"))}
    except Exception as error:  # a mistake of ours must not end the worker, nor show its inside
        return {"error": described(UserError(f"the simulator failed ({type(error).__name__}): please report this listing"))}


def described(error: UserError) -> dict[str, Any]:
    """Return a mistake for the page: its text, and each line of the listing or the launch that it names."""
    text = str(error)
    places = [{"line": int(line), "column": int(column or 0), "message": message} for line, column, message in PLACE.findall(text)]
    return {"text": text, "where": error.path if error.path in (LISTING, LAUNCH) else "", "places": places}


def warm(gpus: dict[str, str]) -> None:
    """Do once what every request does, so that the first one need not load it."""
    listing = ".kernel warm\nFADD R0, R0, 1;\nEXIT;"
    work.run(State(listing=listing, launch=DEFAULT_LAUNCH), {**gpus, "gtx480": "gtx480"})
