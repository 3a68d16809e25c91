"""Paths from which no description can be read are refused in one line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rbdgen.description.urdf import read_urdf
from rbdgen.errors import DescriptionError


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "missing.urdf"
    with pytest.raises(DescriptionError, match="no such file; give the path") as caught:
        read_urdf(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match="is a directory; give the URDF file in it"):
        read_urdf(tmp_path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "secret.urdf"
    path.write_text("<robot/>")
    path.chmod(0)
    with pytest.raises(DescriptionError, match="may not be read; check the file's permissions"):
        read_urdf(path)


def test_paths_that_no_file_can_have_are_refused() -> None:
    with pytest.raises(DescriptionError, match="cannot be read"):
        read_urdf("a\0b")
    with pytest.raises(DescriptionError, match="cannot be read"):
        read_urdf("a" * 5000)


def test_a_file_of_50_MB_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "huge.urdf"
    with path.open("wb") as file:
        file.truncate(50_000_000)  # a sparse file, which takes no disk space
    with pytest.raises(DescriptionError, match=r"is 50\.0 MB, more than the 20 MB a description may have"):
        read_urdf(path)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no such device here")
def test_an_endless_device_is_refused() -> None:
    with pytest.raises(DescriptionError, match="is larger, more than the 20 MB"):
        read_urdf("/dev/zero")
