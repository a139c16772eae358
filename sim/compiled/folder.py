"""Where compiled code is kept."""

import os
from pathlib import Path

import platformdirs

VARIABLE = "SIMTLAB_CACHE"


def folder() -> Path:
    """Return the folder of all that is compiled: what SIMTLAB_CACHE says, or the user's cache."""
    return Path(os.environ.get(VARIABLE) or platformdirs.user_cache_dir("simtlab"))
