"""Examples in docstrings as code: the site's reader of docstrings takes them for text."""

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"(?:^>>> .*\n?(?:^.+\n?)*)+", re.MULTILINE)


class Examples(griffe.Extension):
    """Fences every example of every docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of an object that has been read."""
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", obj.docstring.value)
