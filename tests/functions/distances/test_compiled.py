"""Distances of a floating quadruped and of an arm in compiled C, with their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import rbdgen
from rbdgen.errors import ArrayTypeError, ArrayValueError
from rbdgen.pipeline.robot import load_robot

Array = NDArray[np.float64]

STEP = 1e-6

FUNCTIONS = [
    "distances",
    "distance_jacobian",
    "distance_witness",
    "distance_softmin",
    "distance_softmin_gradient",
    "distances_vjp",
    "distances_jvp",
    "distances_hvp",
    "distance_softmin_vjp",
    "distance_softmin_hvp",
]

GROUPS = {"legs": ["*shank/0~*shank/0"], "ground": ["halfspace[0]~*"]}


@pytest.fixture(scope="module")
def library() -> Any:
    robot = load_robot(
        "quadruped12",
        "floating",
        pairs="auto",
        obstacles="spheres=2,capsules=1,boxes=1,halfspaces=1",
        groups=GROUPS,
    )
    both = {"pairs_measured": ["distances", "distance_jacobian"]}
    variants = dict.fromkeys((*both, *both["pairs_measured"]), "pairs")
    return rbdgen.build(robot, functions=FUNCTIONS, together=both, variants=variants)


def obstacles() -> dict[str, Array]:
    rng = np.random.default_rng(1)
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    R *= np.linalg.det(R)
    return {
        "spheres": np.array([[1, 0, 0, 0.1], [0, -1, 0.2, 0.05]]),
        "capsules": np.array([[1, 1, 1, 1.3, 0.8, 0.5, 0.1]]),
        "boxes": np.array([[0.9, -0.4, -1, *R.ravel(), 0.2, 0.3, 0.1]]),
        "halfspaces": np.array([[0, 0, 1, -0.5]]),
    }


def configuration(library: Any, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    q = np.array(library.neutral())
    q[:3], q[3:7], q[7:] = rng.uniform(-0.2, 0.2, 3), rng.normal(size=4), rng.uniform(-1, 1, len(q) - 7)
    return np.array(library.normalize(q))


def by_differences(library: Any, function: Any, q: Array, step: float = STEP, **given: Any) -> Array:
    nv = library.nv
    moved = [
        (
            function(library.integrate(q, step * e), **given),
            function(library.integrate(q, -step * e), **given),
        )
        for e in np.eye(nv)
    ]
    return np.stack([(ahead - behind) / (2 * step) for ahead, behind in moved], axis=-1)


@pytest.mark.parametrize("seed", range(5))
def test_gradients_are_those_of_differences(library: Any, seed: int) -> None:
    q, given = configuration(library, seed), obstacles()
    J = library.distance_jacobian(q, **given)
    np.testing.assert_allclose(J, by_differences(library, library.distances, q, **given), atol=2e-9)
    G = library.distance_softmin_gradient(q, **given)
    np.testing.assert_allclose(G, by_differences(library, library.distance_softmin, q, **given), atol=2e-9)


def test_values_and_gradients_in_one_call(library: Any) -> None:
    """Pairs with spheres are lanes, and are placed and measured once for both."""
    q, given = configuration(library), obstacles()
    d, J = library.pairs_measured(q, **given)
    np.testing.assert_allclose(d, library.distances(q, **given), rtol=0, atol=1e-14)
    np.testing.assert_allclose(J, library.distance_jacobian(q, **given), rtol=0, atol=1e-14)
    facts = [library.manifest["functions"][name] for name in ("pairs_measured", "distance_jacobian")]
    both, alone = (own["operations"]["total"] for own in facts)
    assert both - alone < 3 * len(d)


def test_products_are_those_with_the_jacobian(library: Any) -> None:
    q, given = configuration(library), obstacles()
    rng = np.random.default_rng(2)
    J, v = library.distance_jacobian(q, **given), rng.normal(size=library.nv)
    w = rng.normal(size=len(J))
    np.testing.assert_allclose(library.distances_vjp(q, distance_bar=w, **given), w @ J, atol=1e-13)
    np.testing.assert_allclose(library.distances_jvp(q, q_dot=v, **given), J @ v, atol=1e-13)


@pytest.mark.parametrize("name", ["distances", "distance_softmin"])
def test_hessians_are_symmetric_and_those_of_differences(library: Any, name: str) -> None:
    q, given, rng = configuration(library, 3), obstacles(), np.random.default_rng(3)
    rows = len(library.distances(q, **given)) if name == "distances" else len(GROUPS)
    bar = {"distance_bar" if name == "distances" else "s_bar": rng.normal(size=rows)}
    hvp, vjp = getattr(library, f"{name}_hvp"), getattr(library, f"{name}_vjp")
    H = np.stack([hvp(q, **bar, q_dot=e, **given) for e in np.eye(library.nv)], axis=-1)
    N = by_differences(library, vjp, q, 1e-5, **bar, **given)
    np.testing.assert_allclose(H, N, atol=1e-6 * (1 + np.abs(H).max()))
    joints = H[6:, 6:]  # the rotations of a base do not commute, so only second derivatives by joints do
    np.testing.assert_allclose(joints, joints.T, atol=1e-12 * (1 + np.abs(H).max()))


def test_the_smooth_minimum_is_just_below_the_minimum(library: Any) -> None:
    q, given = configuration(library), obstacles()
    d, s = library.distances(q, **given), library.distance_softmin(q, **given)
    legs, ground = d[:6], d[-5:]
    for soft, group in zip(s, (legs, ground), strict=True):
        assert group.min() - np.log(len(group)) / 100 <= soft <= group.min()


def test_witnesses_are_on_the_surfaces(library: Any) -> None:
    q, given = configuration(library), obstacles()
    d = library.distances(q, **given)
    points, normal = library.distance_witness(q, **given)
    np.testing.assert_allclose(((points[:, 0] - points[:, 1]) * normal).sum(1), d, atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1, atol=1e-14)
    sphere = points[6:11, 0]  # the trunk and the four shanks with the first sphere
    np.testing.assert_allclose(np.linalg.norm(sphere - given["spheres"][0, :3], axis=1), 0.1, atol=1e-14)
    np.testing.assert_allclose(points[-5:, 0, 2], -0.5, atol=1e-14)


def test_self_distances_do_not_depend_on_the_base(library: Any) -> None:
    q, given = configuration(library), obstacles()
    assert not library.distance_jacobian(q, **given)[:6, :6].any()
    assert not library.distance_jacobian.sparsity[:6, :6].any()
    moved = q.copy()
    moved[:7] = [3, 2, 1, 0.5, 0.5, 0.5, 0.5]
    np.testing.assert_array_equal(library.distances(q, **given)[:6], library.distances(moved, **given)[:6])


def test_batches_and_arrays_with_fewer_obstacles(library: Any) -> None:
    q, given = np.stack([configuration(library, k) for k in range(9)]), obstacles()
    alone = np.stack([library.distances(one, **given) for one in q])
    together = library.distances(q, **given)
    np.testing.assert_array_equal(together, alone)
    fewer = given | {"spheres": given["spheres"][:1], "boxes": []}
    found = library.distances(q, **fewer)
    np.testing.assert_array_equal(found[:, :11], together[:, :11])
    assert (found[:, 11:16] > 9e5).all()  # the second sphere
    assert (found[:, 21:26] > 9e5).all()  # the box
    left_out = {name: array for name, array in given.items() if name not in ("spheres", "boxes")}
    assert (library.distances(q, **left_out)[:, 6:16] > 9e5).all()


@pytest.mark.parametrize(
    ("name", "rows", "told"),
    [
        ("spheres", [[0, 0, 0, -0.1]], "spheres[0] has the negative size -0.1; pass a radius"),
        ("spheres", [[0, 0, 0, 0.1]] * 3, "has 3 rows, and the function was generated for 2; pass fewer"),
        ("spheres", [[0, np.nan, 0, 0.1]], "spheres[0, 1] is nan; pass a finite number"),
        ("capsules", [[0, 0, 0, 0, 0, np.inf, 0.1]], "capsules[0, 5] is inf; pass a finite number"),
        ("boxes", [[0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, -2, 1]], "has the negative size -2"),
        ("halfspaces", [[0, 0, 2, 0]], "halfspaces[0] has a normal of length 2; scale normals"),
    ],
)
def test_obstacles_without_a_meaning_are_refused(library: Any, name: str, rows: Any, told: str) -> None:
    given: dict[str, Any] = obstacles() | {name: rows}
    with pytest.raises(ArrayValueError) as error:
        library.distances(configuration(library), **given)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_arrays_of_a_wrong_shape_are_refused(library: Any) -> None:
    q, given = configuration(library), obstacles()
    with pytest.raises(ArrayValueError, match="spheres has shape"):
        library.distances(q, **given | {"spheres": np.zeros((2, 5))})
    with pytest.raises(ArrayTypeError):
        library.distances(q, **given | {"spheres": "near"})


def test_a_bound_call_reads_all_obstacles(library: Any) -> None:
    q, given = configuration(library), obstacles()
    bound = library.distances.bind(q, **given)
    np.testing.assert_array_equal(bound(), library.distances(q, **given))
    given["spheres"][0, 0] = 2.0
    np.testing.assert_array_equal(bound(), library.distances(q, **given))
    with pytest.raises(ArrayValueError, match="negative size"):
        library.distances.bind(q, **given | {"spheres": np.full((2, 4), -1.0)})


def test_the_manifest_lists_capsules_and_pairs(library: Any) -> None:
    told = library.manifest["distance_pairs"]
    assert len(told["capsules"]) == 5
    assert told["pairs"][0] == "front_left_shank/0~front_right_shank/0"
    assert told["pairs"][6] == "sphere[0]~trunk/0"
    assert told["obstacles"] == {"spheres": 2, "capsules": 1, "boxes": 1, "halfspaces": 1}
    assert told["groups"]["ground"] == [26, 27, 28, 29, 30]


def test_own_functions_call_distances() -> None:
    """The barrier function of a user, and its gradient by reverse differentiation of the whole."""
    robot = load_robot("quadruped12", "floating", obstacles="spheres=1")

    @rbdgen.function(inputs={"balls": ("m", 1, 4)}, outputs={"h": ("m", ())})
    def barrier(robot: Any, q: Any, balls: Any) -> Any:
        return robot.distance_softmin(q, balls)[0] - 0.02

    names = ["distance_softmin", "distance_softmin_gradient"]
    library = rbdgen.build(robot, functions=[*names, barrier, "barrier_gradient"])
    q, given = configuration(library), np.array([[0.5, 0.1, -0.2, 0.1]])
    h, dq, _ = library.barrier_gradient(q, given)
    assert h == pytest.approx(library.barrier(q, given), abs=1e-15)
    assert h == pytest.approx(library.distance_softmin(q, given)[0] - 0.02, abs=1e-15)
    np.testing.assert_allclose(dq, library.distance_softmin_gradient(q, given)[0], atol=1e-12)


def test_own_functions_call_several_functions_of_distances() -> None:
    """The robot has one kind of obstacles, so the functions lack the inputs of all others."""
    robot = load_robot("quadruped12", "floating", obstacles="spheres=1")

    @rbdgen.function(inputs={"ball": ("m", 1, 4)}, outputs={"rate": ("m/s", ()), "h": ("m", ())})
    def closing(robot: Any, q: Any, v: Any, ball: Any) -> Any:
        return robot.distance_softmin_gradient(q, ball)[0] @ v, robot.distance_softmin(q, ball)[0]

    library = rbdgen.build(robot, functions=[closing, "distance_softmin", "distance_softmin_gradient"])
    q, given = configuration(library), np.array([[0.5, 0.1, -0.2, 0.1]])
    v = np.linspace(-1, 1, library.nv)
    rate, h = library.closing(q, v, given)
    assert h == pytest.approx(library.distance_softmin(q, given)[0], abs=1e-14)
    assert rate == pytest.approx(library.distance_softmin_gradient(q, given)[0] @ v, abs=1e-13)
