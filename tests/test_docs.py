"""The examples of the pages in docs/ run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import rbdgen
from rbdgen.description.schema import JointType

DOCS = Path(__file__).resolve().parents[1] / "docs"


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def example(name: str) -> str:
    (code,) = re.findall(r"```python\n(.*?)```", page(name), re.DOTALL)
    return str(code)


def test_a_robot_body_by_body() -> None:
    names: dict[str, Any] = {"rbdgen": rbdgen}
    exec(example("descriptions.md"), names)
    assert names["robot"].model.nv == 1
    assert f"`type` is one of {', '.join(get_args(JointType))}." in page("descriptions.md").replace("\n", " ")


def test_parameters_that_stay_inputs() -> None:
    names: dict[str, Any] = {"rbdgen": rbdgen, **dict.fromkeys("qva", np.full(7, 0.3))}
    exec(example("functions.md"), names)
    light, heavy = (names["lib"].rnea(*(names[x] for x in "qva"), *rest) for rest in ((), (names["table"],)))
    assert not np.allclose(light, heavy)
    np.testing.assert_array_equal(names["tau"], heavy)


def test_an_arm_that_leans_on_a_table() -> None:
    names: dict[str, Any] = {}
    exec(example("contacts.md"), names)
    np.testing.assert_allclose(names["idle"], 0, atol=1e-9)
    assert np.abs(names["force"]).max() > 1
    np.testing.assert_allclose(names["lib"].contact_jacobian(names["q"]) @ names["a"], 0, atol=1e-9)
    assert (names["none"] == 0).all()
    assert not np.allclose(names["falling"], names["a"])


@pytest.mark.parametrize(
    "name", ["contacts.md", "descriptions.md", "functions.md", "inertia.md", "robots.md"]
)
def test_the_readme_leads_to_every_page(name: str) -> None:
    assert f"](docs/{name})" in (DOCS.parent / "README.md").read_text(encoding="utf-8")


def test_second_derivatives_take_as_many_operations_as_are_pinned() -> None:
    pinned = (DOCS.parent / "tests/golden/chosen_counts/second_derivatives_arm7.txt").read_text(
        encoding="utf-8"
    )
    (total,) = re.findall(r"^rnea_second: .*?: (\d+) = ", pinned, re.MULTILINE)
    assert f"names them: {total} operations for the arm." in page("functions.md").replace("\n", " ")
