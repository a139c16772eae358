"""Mutations of listings and launch files: what typing errors, bad copies and hostile editors do to text."""

import random
import re

JUNK = ["", "\x00", "é", "[[", "]", "c[0x0][", "@", "@!P9", "R999", "R-1", "0x", "1e999", "-", "~~"]
JUNK += ["{", "}", "/*", '"', "`(", ".rept 3", ".endr"]
NUMBERS = ["0", "-1", "1", "7", "31", "32", "33", "255", "256", "1025", "65536", "4294967296"]
NUMBERS += ["-2147483649", "1e30", "0x7fffffff", "nan", "inf"]


def _lines(text: str, rng: random.Random) -> str:
    """Delete, repeat, swap or move a line."""
    lines = text.split("\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            del lines[i]
        case 1:
            lines.insert(j, lines[i])
        case 2:
            lines[i], lines[j] = lines[j], lines[i]
        case _:
            lines.insert(j, lines.pop(i))
    return "\n".join(lines)


def _tokens(text: str, rng: random.Random) -> str:
    """Put another word of the text, or junk, in the place of a word."""
    words = list(re.finditer(r"[\w.]+|[^\s\w]", text))
    if not words:
        return rng.choice(JUNK)
    target, source = rng.choice(words), rng.choice(words)
    new = source.group() if rng.random() < 0.6 else rng.choice(JUNK)
    return text[: target.start()] + new + text[target.end() :]


def _numbers(text: str, rng: random.Random) -> str:
    """Change a number."""
    numbers = list(re.finditer(r"-?\b(?:0x[0-9a-f]+|\d+(?:\.\d+)?)\b", text))
    if not numbers:
        return text
    target = rng.choice(numbers)
    return text[: target.start()] + rng.choice(NUMBERS) + text[target.end() :]


def _bytes(text: str, rng: random.Random) -> str:
    """Cut, double or overwrite a few characters."""
    i = rng.randrange(len(text) + 1)
    j = min(len(text), i + rng.randrange(1, 12))
    middle = rng.choice([text[i:j] * 2, "", "".join(chr(rng.randrange(1, 300)) for _ in range(j - i)), rng.choice(JUNK)])
    return text[:i] + middle + text[j:]


def _truncate(text: str, rng: random.Random) -> str:
    """End the text early."""
    return text[: rng.randrange(len(text) + 1)]


MUTATIONS = (_lines, _tokens, _tokens, _numbers, _numbers, _bytes, _truncate)


def mutate(text: str, rng: random.Random) -> str:
    """Return `text` after one to four mutations."""
    for _ in range(rng.randint(1, 4)):
        text = rng.choice(MUTATIONS)(text, rng)
    return text
