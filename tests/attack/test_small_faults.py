"""A small part of the campaigns against calls, files, caches, surroundings and emitted C."""

from __future__ import annotations

import importlib

import pytest

SEED = 21

CAMPAIGNS = ("arrays", "names", "numbers", "filesystem", "caches", "environments", "sanitizers")


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_campaign(name: str) -> None:
    module = importlib.import_module(f"attack.{name}")
    tally = module.run(SEED, module.SMALL)
    assert tally.tried >= module.SMALL
    assert not tally.wrong, "\n".join(tally.notes)
    assert not tally.crashed, "\n".join(tally.notes)
