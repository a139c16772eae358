"""Listings with control words, written short."""

FREE = "[B------:R-:W-:-:S01]"
END = f"{FREE} EXIT"


def word(stall: int = 1, wait: str = "------", read: str = "-", write: str = "-", y: str = "-", reuse: str = "----") -> str:
    return f"[B{wait}:R{read}:W{write}:{y}:S{stall:02d}:U{reuse}]"


def listing(*lines: str) -> str:
    return "\n".join([*lines, END])
