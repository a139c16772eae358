"""Why a warp waited, and what the run as a whole waited for. See README.md beside this file."""

from sim.explain.chain import Chain, Link

__all__ = ["Chain", "Link"]
