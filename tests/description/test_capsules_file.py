"""Files of capsules and of pairs are read back as written, and what is wrong in one is told with its line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rbdgen.description.capsules import Capsule
from rbdgen.description.shapes.covers.capsules_file import read_capsules, written
from rbdgen.description.shapes.covers.pairs_file import read_disabled, read_pairs
from rbdgen.errors import DescriptionError

LINKS = ["link1", "link2", 'a "b" \\', "none"]

GOOD = (
    '[[capsule]]\nlink = "link1"\nfrom = [0, 0, -0.12]\nto = [0, 0, -0.07]\nradius = 0.06\nexcess_mm = 23.9\n'
)


def file(folder: Path, text: str | bytes, name: str = "capsules.toml") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_a_file(tmp_path: Path) -> None:
    text = GOOD + '\n[[capsule]]\nlink = "link2"\nfrom = [1, 2, 3]\nradius = 0\n\n' + GOOD
    found = read_capsules(file(tmp_path, text), LINKS)
    assert list(map(len, found.values())) == [2, 1]
    first, (sphere,) = found["link1"][0], found["link2"]
    np.testing.assert_allclose(first.center, [0, 0, -0.095])
    assert (first.axis.tolist(), first.radius) == ([0, 0, 1], 0.06)
    assert first.excess == pytest.approx(0.0239)
    assert first.half_length == pytest.approx(0.025)
    assert (sphere.center.tolist(), sphere.half_length, sphere.excess) == ([1, 2, 3], 0, None)


NUMBER = st.floats(-10, 10)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.tuples(NUMBER, NUMBER, NUMBER),
    st.tuples(NUMBER, NUMBER, NUMBER),
    st.floats(0, 5),
    st.floats(0, 5),
    st.none() | st.floats(0, 0.2),
    st.sampled_from(LINKS),
)
def test_what_is_written_is_read_back(
    tmp_path: Path,
    center: tuple[float, float, float],
    axis: tuple[float, float, float],
    half_length: float,
    radius: float,
    excess: float | None,
    link: str,
) -> None:
    length = float(np.linalg.norm(axis)) or 1.0
    unit = (axis[0] / length, axis[1] / length, axis[2] / length) if any(axis) else (0.0, 0.0, 1.0)
    capsule = Capsule(f"{link}/0", link, center, unit, half_length, radius, excess)
    ((name, (read,)),) = read_capsules(file(tmp_path, written([capsule])), LINKS).items()
    assert name == link
    for side in (-1, 1):
        end = np.array(center) + side * half_length * np.array(unit)
        np.testing.assert_allclose(read.center + side * read.half_length * read.axis, end, atol=1e-9)
    assert read.radius == pytest.approx(radius, abs=1e-11)
    assert (read.excess is None) == (excess is None)
    if excess is not None and read.excess is not None:
        assert excess - 1e-8 <= read.excess <= excess + 1.001e-4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD.replace("radius = 0.06\n", ""), "capsules.toml:1: radius missing; write radius = 0.06"),
        (GOOD + "\n" + GOOD.replace('link = "link1"\n', ""), "capsules.toml:8: link missing"),
        (GOOD.replace("from", "start"), "'start' is not known; choose from link, from, to, radius"),
        (GOOD.replace('"link1"', '"lnk1"'), "capsules.toml:1: there is no link 'lnk1'; did you mean 'link1'"),
        (GOOD.replace('"link1"', "1"), "link is 1; write the name of a link"),
        (GOOD.replace("0.06", "-0.06"), "radius is -0.06; write a number of 0 or more"),
        (GOOD.replace("0.06", "nan"), "radius is nan; write a number of 0 or more"),
        (GOOD.replace("0.06", "true"), "radius is True; write a number of 0 or more"),
        (GOOD.replace("0.06", "1e7"), "radius is 10000000.0; write a number"),
        (GOOD.replace("23.9", '"a"'), "excess_mm is 'a'; write a number of 0 or more"),
        (GOOD.replace("-0.07]", "inf]"), "to is .0, 0, inf.; write three numbers, in m"),
        (GOOD.replace("-0.12]", "-0.12, 1]"), "from is .0, 0, -0.12, 1.; write three numbers, in m"),
        ("", "has no ..capsule..; write ..capsule.. with link, from, to and radius"),
        ("capsule = 1\n", "has no ..capsule.."),
        ("capsule = [1]\n", "has no ..capsule.."),
        (GOOD + "[other]\n", "'other' is not known"),
        ("[[capsule\n", "is no TOML .Expected "),
        (b"\xff\xfe", "is no text file"),
        (b"#" * 1_000_001, "is larger than 1 MB"),
        ("a" + ".a" * 5000 + " = 1\n", "is no TOML .a key has 5001 parts."),
        ("capsule = " + "[" * 5000, "is no TOML"),
    ],
)
def test_a_wrong_file_is_one_line(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(DescriptionError, match=message) as error:
        read_capsules(file(tmp_path, text), LINKS)
    assert "\n" not in str(error.value)


CAPSULES = [
    Capsule(f"{link}/{k}", link, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.0, 0.1)
    for link, k in (("link1", 0), ("link1", 1), ("link2", 0))
]


def test_pairs(tmp_path: Path) -> None:
    text = "# a comment\nlink1 link2\n\nlink1/1 link2/0 # another one\n"
    first, second = read_pairs(file(tmp_path, text, "pairs.txt"), CAPSULES, LINKS)
    assert first.capsules == ([0, 1], [2])
    assert second.capsules == ([1], [2])
    assert second.where.endswith("pairs.txt:4")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("link1 link2\nlink1 lnk2\n", "pairs.txt:2: there is no link 'lnk2'; did you mean 'link2'"),
        ("link1/7 link2\n", "pairs.txt:1: there is no link 'link1/7'; did you mean 'link1'"),
        ("link1\n", "pairs.txt:1: 'link1' is no pair; write two names"),
        ("link1 link2 link1\n", "is no pair"),
        ("link1 none\n", "pairs.txt:1: link 'none' has no capsule; leave it out"),
        ("# nothing\n", "pairs.txt: has no pairs"),
        (b"\xff", "is no text file"),
    ],
)
def test_wrong_pairs_are_one_line(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(DescriptionError, match=message):
        read_pairs(file(tmp_path, text, "pairs.txt"), CAPSULES, LINKS)


DISABLED = '<disable_collisions link1="{}" link2="{}" reason="{}"/>'


def test_an_srdf(tmp_path: Path) -> None:
    rows = [("link2", "link1", "Never"), ("link1", "other", "Never"), ("more", "other", "Never")]
    inside = "".join(DISABLED.format(*row) for row in rows)
    found = read_disabled(file(tmp_path, f'<robot name="r">{inside}</robot>', "r.srdf"), LINKS)
    assert dict(found.reasons) == {frozenset(("link1", "link2")): "Never"}
    (line,) = found.unknown
    assert line.endswith("r.srdf: the robot has no link 'other' and 1 more; their pairs are ignored")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<robot>", "r.srdf:1: "),
        ("<srdf/>", "r.srdf:1: it begins with <srdf>; give an SRDF file"),
        ('<robot><disable_collisions link1="link1"/></robot>', "link2"),
        ("", "r.srdf"),
    ],
)
def test_a_wrong_srdf_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DescriptionError, match=message):
        read_disabled(file(tmp_path, text, "r.srdf"), LINKS)


@pytest.mark.parametrize("read", [read_capsules, read_disabled])
def test_a_missing_file_is_one_line(tmp_path: Path, read: Callable[[Path, list[str]], object]) -> None:
    with pytest.raises(DescriptionError, match="cannot be read"):
        read(tmp_path / "none", LINKS)
    with pytest.raises(DescriptionError, match="is no text file"):
        read(Path("a\0b"), LINKS)
