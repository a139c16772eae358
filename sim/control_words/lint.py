"""`lint`: hazards and lost cycles of a listing with control words."""

from isa.architecture import KEPLER, family
from isa.errors import UserError
from isa.program import Program
from sim.control_words.change import UNCHANGED, Change
from sim.control_words.finding import Finding, from_hazards
from sim.control_words.hazards import Analysis
from sim.control_words.slack import slack, unset


def lint(program: Program, change: Change = UNCHANGED) -> list[Finding]:
    """Return what is wrong with the control words of a program, in the order of the listing.

    Findings of level "hazard" may change what the program computes, those of level "information" may cost cycles. Kepler has none: its
    hardware keeps a scoreboard. change: by how much the machine differs from those of its architecture.
    Raises UserError for a listing without control words.
    """
    if program.control is None:
        hint = "print it with `cuobjdump -sass` or `nvdisasm -c -hex`, which show the encoding; or let `simtlab schedule` write them"
        raise UserError("this listing has no control words to check", path=program.path, hint=hint)
    if family(program.architecture) is KEPLER:
        return []
    analysis = Analysis(program, change)
    found = [*from_hazards(program, analysis.hazards()), *unset(program), *slack(program, analysis)]
    return sorted(found, key=lambda finding: finding.index)
