"""`Words`: which control words a run obeyed."""

from typing import NamedTuple


class Words(NamedTuple):
    """kind: "none" where a scoreboard found dependences, "compiler" for the listing's own, "scheduled" where they were rescheduled,
    "kept" where they were not although the machine differs in what they hold. fields: in which it differs. why: what kept them.
    """

    kind: str = "none"
    fields: tuple[str, ...] = ()
    why: str = ""
