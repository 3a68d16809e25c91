"""On request, a library warns of configurations that look like a mistake, once for each kind."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rbdgen
from rbdgen import StateWarning
from rbdgen.checks.check import check
from rbdgen.runtime import Library
from rbdgen.runtime.plausible import Plausible

FUNCTIONS = ["gravity", "step", "difference"]


def robot() -> rbdgen.RobotBuilder:
    """A floating body with a hinge and a slide with limits, and with a hinge without limits."""
    builder = rbdgen.RobotBuilder("checked").add_body("root", mass=1, inertia=(1, 1, 1))
    for k, (kind, limit) in enumerate((("revolute", (-1, 2)), ("prismatic", (0, 0.5)), ("continuous", None))):
        builder.add_body(
            f"body{k}",
            parent=f"body{k - 1}" if k else "root",
            type=kind,  # type: ignore[arg-type]
            axis=(0, 1, 0),
            limit=limit,  # type: ignore[arg-type]
            mass=1,
            com=(0.1, 0, 0),
            inertia=(1, 1, 1),
        )
    return builder


@pytest.fixture
def lib() -> Library:
    """A new library for each test, as each library gives every warning once."""
    return rbdgen.build(rbdgen.load_robot(robot(), base="floating"), FUNCTIONS, checks=True)


def turned(lib: Library, **changed: Any) -> np.ndarray[Any, Any]:
    q = lib.neutral()
    for name, value in changed.items():
        q[{"quaternion": slice(3, 7), "hinge": 7, "slide": 8, "wheel": 9}[name]] = value
    return q


MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "zeros": ({"quaternion": 0}, r"has the norm 0 and must have 1; lib\.neutral\(\) has \(0, 0, 0, 1\)$"),
    "norm": ({"quaternion": [0, 0, 0, 2]}, r"has the norm 2 and must have 1; lib\.normalize\(q\) scales it$"),
    "order": (
        {"quaternion": [1, 0, 0, 0]},
        r"quaternion of 'root_joint', is about \(1, 0, 0, 0\), half a turn",
    ),
    "degrees": (
        {"hinge": 90},
        r"q\[7\], the position of 'body0_joint', is 90 and looks like degrees; pass rad$",
    ),
    "minus": ({"hinge": -45}, "is -45 and looks like degrees"),
    "wheel": ({"wheel": 90}, "'body2_joint', is 90 and looks like degrees"),
    "above": ({"hinge": 2.5}, r"is 2\.5, above its upper limit 2; functions do not enforce it$"),
    "below": ({"slide": -0.1}, r"'body1_joint', is -0\.1, below its lower limit 0;"),
}


@pytest.mark.parametrize(("changed", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_once(lib: Library, changed: dict[str, Any], message: str) -> None:
    q = turned(lib, **changed)
    with pytest.warns(StateWarning, match=message) as caught:
        lib.gravity(q)
    assert len(caught) == 1
    assert str(caught[0].message).startswith("gravity: q[")
    assert "\n" not in str(caught[0].message)
    assert caught[0].filename == __file__
    lib.gravity(q)  # warnings are errors in tests


def test_what_is_right_is_not_told(lib: Library) -> None:
    for changed in (
        {},
        {"hinge": 2.0, "slide": 0.5},
        {"hinge": -1, "wheel": -20},
        {"quaternion": [0, 0, 0, -1]},
    ):
        lib.gravity(turned(lib, **changed))
    lib.gravity(turned(lib).astype(np.float32) * np.ones((3, 1)))
    lib.gravity(np.full(10, np.nan))
    q = lib.random(0, (100,))
    q[:, 7:9] = 0.1
    lib.gravity(q)


@pytest.mark.parametrize("q", [np.zeros(3), None, "q", np.zeros(10, complex), [[1.0], [1.0, 2.0]]])
def test_what_is_refused_is_not_looked_at(lib: Library, q: Any) -> None:
    with pytest.raises(rbdgen.RbdgenError, match=r"^gravity: q "):
        lib.gravity(q)


def test_kinds_are_told_apart_and_libraries_too(lib: Library) -> None:
    q = turned(lib, quaternion=0, hinge=90)
    with pytest.warns(StateWarning) as caught:
        lib.gravity(np.stack([turned(lib), q]))
    assert [("norm" in str(x.message), "degrees" in str(x.message)) for x in caught] == [
        (True, False),
        (False, True),
    ]
    other = rbdgen.build(rbdgen.load_robot(robot(), base="floating"), FUNCTIONS)
    other.gravity(q)
    other.check_states()
    other.check_states()
    with pytest.warns(StateWarning) as again:
        other.gravity(q=q)
    assert len(again) == 2


def test_bound_calls_rollouts_and_second_configurations(lib: Library) -> None:
    q, v = turned(lib, quaternion=0), np.zeros(lib.nv)
    with pytest.warns(StateWarning, match=r"^gravity: q\[3:7\].* norm 0") as caught:
        lib.gravity.bind(q)
    assert caught[0].filename == __file__
    with pytest.warns(StateWarning, match=r"^step\.rollout: q\[8\].* above its upper limit"):
        lib.rollout(turned(lib, slide=0.6), v, np.zeros((2, lib.nv)), 0.01)
    with pytest.warns(StateWarning, match=r"^difference: q1\[9\].* degrees"):
        lib.difference(turned(lib), turned(lib, wheel=400))


def test_casadi_always_looks_at_numbers() -> None:
    """Numbers are checked by place and by name, in all columns, with one warning a kind; symbols pass."""
    casadi = pytest.importorskip("casadi")
    lib = rbdgen.build(rbdgen.load_robot(robot(), base="floating"), FUNCTIONS)
    gravity, several = lib.casadi("gravity"), lib.casadi("gravity", knots=3)
    q = turned(lib)
    assert isinstance(gravity, casadi.Function)
    np.testing.assert_array_equal(gravity(q).full().ravel(), lib.gravity(q))
    gravity(casadi.MX.sym("q", 10))
    wrong = np.tile(q, (3, 1))
    wrong[1] = turned(lib, quaternion=0, hinge=90)
    with pytest.warns(StateWarning) as caught:
        several(wrong.T)
    assert [str(x.message).partition(",")[0] for x in caught] == ["gravity: q[3:7]", "gravity: q[7]"]
    assert caught[0].filename == __file__
    gravity(turned(lib, hinge=90))
    with pytest.warns(StateWarning, match="above its upper limit"):
        gravity(q=casadi.DM(turned(lib, slide=2)))
    with pytest.warns(StateWarning, match=r"is about \(1, 0, 0, 0\)"):
        gravity(turned(lib, quaternion=[1, 0, 0, 0]).tolist())
    for refused in (np.zeros(3), "q", [None]):
        with pytest.raises(Exception, match=r"gravity|NotImplemented|argument"):
            gravity(refused)
    copy = pickle.loads(pickle.dumps(gravity))
    np.testing.assert_array_equal(copy(q).full().ravel(), lib.gravity(q))
    assert gravity.jacobian().size_in(0) == (10, 1)


def test_check_tells_of_zeros_outside_limits(tmp_path: Path) -> None:
    builder = rbdgen.RobotBuilder("raised").add_body("root")
    builder.add_body(
        "arm", parent="root", type="revolute", axis=(0, 1, 0), limit=(0.5, 2), mass=1, inertia=(1, 1, 1)
    )
    folder = rbdgen.generate(builder, tmp_path, ["gravity"])
    with pytest.warns(StateWarning, match=r"^lib\.neutral\(\)\[0\], .* is 0, below its lower limit 0\.5"):
        assert not [finding for finding in check(folder) if finding.passed is False]


def test_results_are_the_same(lib: Library) -> None:
    plain = rbdgen.build(rbdgen.load_robot(robot(), base="floating"), FUNCTIONS)
    q = turned(lib, hinge=0.3).tolist()
    np.testing.assert_array_equal(lib.gravity(q), plain.gravity(q))
    out = np.empty((2, lib.nv))
    assert lib.gravity(q=[q, q], out=out, threads=2) is out
    assert plain.gravity._look is None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StateWarning)
        wrong = turned(lib, quaternion=[0, 0, 0, 2])
        np.testing.assert_array_equal(lib.gravity(wrong), plain.gravity(wrong))


def test_the_quick_look_passes_nothing_over() -> None:
    """Configurations that pass the quick check give no warning in the careful one."""
    manifold = rbdgen.build(rbdgen.load_robot(robot(), base="floating"), FUNCTIONS).manifold
    joints = [{"name": "body0_joint", "lower": -1.0, "upper": None}, {"name": "body1_joint", "upper": 0.5}]
    subject, random = Plausible(manifold, joints), np.random.default_rng(0)
    q = random.normal(size=(3000, 10)) * [1, 1, 1, 1, 1, 1, 1, 4, 1, 12]
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None] * random.uniform(0.998, 1.002, (3000, 1))
    q[::50, 3:7] = [1, 0, 0, 0]
    plain = np.array([subject._is_plain(row) for row in q[:, None]])
    told = np.array([any(True for _ in subject._mistakes(row, "q")) for row in q[:, None]])
    assert not (plain & told).any()
    assert plain.sum() > 100
    assert told.sum() > 100
