"""What the server keeps for a while: pages of runs, for browsers to fetch, and answers, for those who ask the same again."""

import secrets
from collections import OrderedDict
from typing import Any

MOST_PAGES = 400  # of runs: as many as answers may be under way to a class
MOST_PAGE_BYTES = 64 << 20  # of all these together
MOST_ANSWERS = 64


class Pages:
    """Pages of runs by a name that nobody can guess; those not asked for longest are forgotten."""

    def __init__(self) -> None:
        self.kept: OrderedDict[str, bytes] = OrderedDict()
        self.bytes = 0

    def keep(self, html: str) -> str:
        name, data = secrets.token_urlsafe(16), html.encode("utf-8")
        self.kept[name] = data
        self.bytes += len(data)
        while len(self.kept) > MOST_PAGES or (self.bytes > MOST_PAGE_BYTES and len(self.kept) > 1):
            self.bytes -= len(self.kept.popitem(last=False)[1])
        return name

    def renew(self, name: str) -> bool:
        """Return whether a page is kept, and keep it as long as one that has just come."""
        if name in self.kept:
            self.kept.move_to_end(name)
        return name in self.kept


class Answers:
    """Answers of workers by what was asked: a class that opens an exercise asks the same, and nothing in an answer is by chance."""

    def __init__(self, pages: Pages) -> None:
        self.pages = pages
        self.kept: OrderedDict[str, dict[str, Any]] = OrderedDict()

    def get(self, asked: str) -> dict[str, Any] | None:
        """Return the answer where it is known, and its page still kept."""
        answer = self.kept.get(asked)
        if answer is None or not self.pages.renew(answer["result"].get("page", "")):
            return None
        self.kept.move_to_end(asked)
        return answer

    def put(self, asked: str, answer: dict[str, Any]) -> None:
        self.kept[asked] = answer
        if len(self.kept) > MOST_ANSWERS:
            self.kept.popitem(last=False)
