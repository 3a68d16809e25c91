"""The constants of a robot in its C header, read back by a C program."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

import rbdgen
from rbdgen.emit.c.constants import string
from rbdgen.options import Options
from rbdgen.pipeline.page import generate
from rbdgen.version import __version__

BODY = {"mass": 1.5, "com": (0, 0, 0.1), "inertia": (0.04, 0.04, 0.01, 0, 0, 0)}

ODD = 'a "b" \\ ??= % \u00e9 */'
"""The name of a joint with characters that have a meaning in C."""


def robot() -> rbdgen.Robot:
    builder = rbdgen.RobotBuilder("odd").add_body("base")
    builder.add_body("a", parent="base", joint=ODD, type="revolute", axis=(0, 0, 1), limit=(-1, 2.5), **BODY)
    builder.add_body("b", parent="a", joint="free", type="continuous", axis=(1, 0, 0), **BODY)
    builder.add_body("c", parent="b", joint="ball", type="spherical", **BODY)
    return rbdgen.load_robot(
        builder, frames=["c"], contacts=[rbdgen.Point("tip", "c")], gravity=(0, 0, -1.62)
    )


PROGRAM = r"""
#include "odd.h"
#include <stdio.h>

static void numbers(const char *name, const REAL *x, int n)
{
    int k;
    printf(", \"%s\": [", name);
    for (k = 0; k < n; ++k)
        printf("%s%.17g", k > 0 ? ", " : "", (double)x[k]);
    printf("]");
}

static void strings(const char *name, const char *const *x, int n)
{
    int k;
    printf(", \"%s\": [", name);
    for (k = 0; k < n; ++k) {
        const unsigned char *c = (const unsigned char *)x[k];
        printf("%s\"", k > 0 ? ", " : "");
        for (; *c; ++c)
            printf("%02x", (unsigned)*c);
        printf("\"");
    }
    printf("]");
}

int main(void)
{
    const REAL lower[ODD_NQ] = ODD_LOWER_LIMITS, upper[ODD_NQ] = ODD_UPPER_LIMITS;
    const REAL velocity[ODD_NV] = ODD_VELOCITY_LIMITS, effort[ODD_NV] = ODD_EFFORT_LIMITS;
    const REAL gravity[3] = ODD_GRAVITY;
    const char *const joints[ODD_NJOINTS] = ODD_NAMES_OF_JOINTS;
    const char *const frames[ODD_NFRAMES] = ODD_NAMES_OF_FRAMES;
    const char *const contacts[ODD_NCONTACTS] = ODD_NAMES_OF_CONTACTS;
    printf("{\"version\": \"%s\", \"hash\": \"%s\"", ODD_RBDGEN_VERSION, ODD_DESCRIPTION_SHA256);
    printf(", \"mass\": %.17g", (double)ODD_MASS);
    numbers("lower", lower, ODD_NQ);
    numbers("upper", upper, ODD_NQ);
    numbers("velocity", velocity, ODD_NV);
    numbers("effort", effort, ODD_NV);
    numbers("gravity", gravity, 3);
    strings("joints", joints, ODD_NJOINTS);
    strings("frames", frames, ODD_NFRAMES);
    strings("contacts", contacts, ODD_NCONTACTS);
    printf("}\n");
    return 0;
}
"""


@pytest.mark.parametrize("compiler", [["gcc", "-std=c99"], ["g++", "-std=c++11", "-x", "c++"]])
@pytest.mark.parametrize("real", ["double", "float"])
def test_read_back(real: str, compiler: list[str], tmp_path: Path) -> None:
    options = Options(functions=("gravity",), real=real, target="portable")  # type: ignore[arg-type]
    folder = generate(robot(), options, tmp_path, compiled=False).folder
    (tmp_path / "main.c").write_text(PROGRAM)
    warnings = ["-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror", f"-DREAL={real}"]
    command = [*compiler, *warnings, f"-I{folder}", str(tmp_path / "main.c"), "-o", str(tmp_path / "main")]
    subprocess.run(command, check=True)
    found = json.loads(subprocess.run([str(tmp_path / "main")], check=True, capture_output=True).stdout)
    read = [bytes.fromhex(name).decode() for name in found.pop("joints")]
    assert read == [ODD, "free", "ball"]
    assert [bytes.fromhex(*found.pop(key)).decode() for key in ("frames", "contacts")] == ["c", "tip"]
    kind = np.float32 if real == "float" else np.float64
    most, gravity = float(kind(1e30)), float(kind(-1.62))
    assert found == {
        "version": __version__,
        "hash": json.loads((folder / "manifest.json").read_text())["urdf_sha256"],
        "mass": 4.5,
        "lower": [-1, *[-most] * 5],
        "upper": [2.5, *[most] * 5],
        "velocity": [most] * 5,
        "effort": [most] * 5,
        "gravity": [0, 0, gravity],
    }


def test_no_limits_where_no_joint_has_one(tmp_path: Path) -> None:
    builder = rbdgen.RobotBuilder("spinner").add_body("base")
    builder.add_body("a", parent="base", type="continuous", axis=(0, 0, 1), **BODY)
    options = Options(functions=("gravity",))
    folder = generate(rbdgen.load_robot(builder), options, tmp_path, compiled=False).folder
    header = (folder / "spinner.h").read_text()
    assert "SPINNER_MASS 1.5" in header
    assert "LIMIT" not in header


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("plain", '"plain"'),
        ('"', r'"\042"'),
        ("??=", r'"\077\077="'),
        ("\n", r'"\012"'),
        ("\u00e91", r'"\303\2511"'),
    ],
)
def test_strings(text: str, literal: str) -> None:
    """A character after an octal escape is not read as a part of it, since an escape has three digits."""
    assert string(text) == literal
