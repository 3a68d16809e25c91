"""Names and texts of a description become only identifiers and comments."""

from __future__ import annotations

import ast
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rbdgen.emit.names import (
    RESERVED,
    check_identifier,
    check_robot_name,
    comment_text,
    identifier,
    markdown_text,
    robot_identifier,
    unique_identifiers,
)
from rbdgen.errors import EmitError

HOSTILE = [
    'a"; system("x',
    "a\\\nb",
    "*/ int x; /*",
    "??/",
    "double",
    "class",
    "lambda",
    "",
    "7dof",
    "__x__",
    "ä",
    "関節",
    "a\0b",
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lf_haa_joint", "lf_haa_joint"),
        ('a"; system("x', "a_system_x"),
        ("Käfer", "Kafer"),
        ("double", "double_"),
        ("lambda", "lambda_"),
        ("7dof", "n7dof"),
        ("__init__", "init"),
        ("関節", "n"),
        ("", "n"),
    ],
)
def test_identifiers(text: str, expected: str) -> None:
    assert identifier(text) == expected


@given(st.text())
def test_any_text_becomes_an_identifier(text: str) -> None:
    name = identifier(text)
    assert check_identifier(name) == name
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name)
    assert "__" not in name
    assert name not in RESERVED
    assert check_robot_name(robot_identifier(text))


@given(st.lists(st.sampled_from(["a b", "a_b", "a-b", "a_b_2", "A_b", "a_b_3", "x"]) | st.text(max_size=3)))
def test_names_that_sanitise_alike_stay_apart(texts: list[str]) -> None:
    names = unique_identifiers(texts)
    assert len(names) == len(texts)
    assert len({name.upper() for name in names}) == len(names)
    assert all(check_identifier(name) for name in names)


def test_a_name_that_needs_no_number_keeps_its_own() -> None:
    assert unique_identifiers(["a b", "a_b", "a_b_2"]) == ("a_b", "a_b_3", "a_b_2")


@given(st.text() | st.sampled_from(HOSTILE))
def test_comments_hold_what_is_written_into_them(text: str) -> None:
    shown = comment_text(text)
    assert shown.isascii()
    assert shown.isprintable()
    assert not set('*\\?"') & set(shown)
    assert ast.get_docstring(ast.parse(f'"""{shown}."""')) is not None


@given(st.text())
def test_markdown_keeps_to_its_cell(text: str) -> None:
    shown = markdown_text(text)
    assert not set("|`<>[]*\n\r") & set(shown)


@pytest.mark.parametrize("name", ["double", "class", "None", "a b", "1a", "é", "", "a\n"])
def test_what_is_no_identifier_is_refused(name: str) -> None:
    with pytest.raises(EmitError, match="not usable as a name"):
        check_identifier(name)


@pytest.mark.parametrize(
    "name",
    ["json", "numpy", "cffi", "rbdgen", "_toy", "test", "std"]
    + ["stdint", "stddef", "features", "immintrin", "avx2intrin", "math", "Math", "STDINT", "string"]
    + ["sin", "index", "y1"],
)
def test_packages_shadow_no_other(name: str) -> None:
    with pytest.raises(EmitError, match="cannot name a generated package"):
        check_robot_name(name)
    assert check_robot_name(robot_identifier(name)) != name


@pytest.mark.parametrize("length", [60, 61, 235, 5000])
def test_long_names_are_cut(length: int) -> None:
    name = robot_identifier("a" * length)
    assert name == "a" * 60
    assert check_robot_name(name) == name


@pytest.mark.parametrize("name", ["a" * 61, "a" * 5000, "a " * 5000])
def test_errors_quote_the_beginning(name: str) -> None:
    with pytest.raises(EmitError, match="letters; choose a name of at most 60") as caught:
        check_robot_name(name)
    assert len(str(caught.value)) < 200
