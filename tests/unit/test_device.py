"""The packages that compile kernels of numba-cuda: all of them, or none is said to be there."""

import importlib.util
from typing import Any

import pytest

from sim.compiled import device


@pytest.mark.parametrize("absent", ["numba_cuda", "cuda", "cuda.bindings"])
def test_a_missing_package_is_seen(absent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def find(name: str) -> Any:
        if absent == "cuda" and name == "cuda.bindings":
            raise ModuleNotFoundError(name)  # as importlib does where the parent is absent
        return None if name == absent else object()

    monkeypatch.setattr(importlib.util, "find_spec", find)
    assert not device.is_installed()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    assert device.is_installed()
