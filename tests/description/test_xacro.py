"""Xacro files are expanded as by the xacro package, without ROS and without running code in them."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from xml.dom import minidom

import pytest

import rbdgen
from rbdgen.description import work
from rbdgen.description.source import read_description
from rbdgen.description.urdf import parse_urdf
from rbdgen.errors import DescriptionError

xacro = pytest.importorskip("xacro")

NAMESPACE = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'

SEGMENTS = f"""<robot name="segments" {NAMESPACE}>
  <xacro:arg name="count" default="2"/>
  <xacro:arg name="length" default="0.5"/>
  <xacro:property name="mass" value="${{4 * 0.25}}"/>
  <xacro:include filename="parts.xacro"/>
  <link name="l0"/>
  <xacro:if value="${{int(xacro.arg('count')) > 0}}"><xacro:segment n="1" z="$(arg length)"/></xacro:if>
  <xacro:unless value="$(eval count &lt; 2)">
    <xacro:segment n="2" z="${{0.5 * python.sum([x for x in (1, 2)])}}"/></xacro:unless>
</robot>"""

PARTS = f"""<robot {NAMESPACE}>
  <xacro:macro name="segment" params="n z m:=^|1">
    <link name="l${{n}}"><inertial><mass value="${{mass}}"/>
      <inertia ixx="${{pi / 100}}" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.02"/></inertial></link>
    <joint name="j${{n}}" type="continuous"><parent link="l${{n - 1}}"/><child link="l${{n}}"/>
      <origin xyz="0 0 ${{z}}"/><axis xyz="0 1 0"/></joint>
  </xacro:macro>
</robot>"""

CODE = '$(eval ${"exec(\\"import os; os.mkdir(\\x27stolen\\x27\\x29\\", \\x7b\\x7d\\x29"})'
"""An expression whose value is evaluated as code, as the package's pattern ends at the first bracket."""

EXPRESSION = "<robot name=\"r\" {namespace}>\n<link name='{expression}'/>\n</robot>"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to run in, without ROS."""
    monkeypatch.chdir(tmp_path)
    for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


def written(name: str, text: str) -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return name


def link_named_by(expression: str) -> str:
    return written("r.xacro", EXPRESSION.format(namespace=NAMESPACE, expression=expression))


def the_link(expression: str) -> str:
    (link,) = read_description(link_named_by(expression)).links
    return link.name


@pytest.fixture
def segments() -> str:
    written("parts.xacro", PARTS)
    return written("segments.urdf", SEGMENTS)


# ---- files that are read


@pytest.mark.parametrize("arguments", [{}, {"count": "1", "length": "0.7"}])
def test_a_xacro_is_what_its_own_package_makes_of_it(segments: str, arguments: dict[str, str]) -> None:
    text = xacro.process_file(segments, mappings=dict(arguments)).toprettyxml(indent="  ")
    expected = parse_urdf(text, "segments.urdf (expanded)")
    found = read_description(segments, arguments)
    assert len(found.joints) == (1 if arguments else 2)
    assert replace(found, sha256=expected.sha256) == expected


def test_arguments_in_python(segments: str) -> None:
    robot = rbdgen.load_robot(segments, xacro_args={"count": 1, "length": 0.25})
    assert robot.joint_names == ("j1",)
    assert tuple(robot.model.bodies[0].placement.translation) == (0, 0, 0.25)
    assert robot.warnings == ()


def test_an_argument_that_nothing_asks_for_is_told(segments: str) -> None:
    robot = rbdgen.load_robot(segments, xacro_args={"lenght": 1})
    assert robot.warnings == (
        f"{segments} (expanded): the file does not use the xacro argument 'lenght'; ignored",
    )


def test_what_xacro_once_wrote_is_a_urdf(monkeypatch: pytest.MonkeyPatch) -> None:
    """The output of xacro declares the prefix, but has no expressions, so xacro need not be installed."""
    monkeypatch.setitem(sys.modules, "xacro", None)
    text = f'<robot name="r" {NAMESPACE}><link name="a"/></robot>'
    assert read_description(written("r.urdf", text)).path == "r.urdf"
    with pytest.raises(DescriptionError, match="this takes no xacro arguments"):
        read_description("r.urdf", {"a": "1"})


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("${2 * pi > 6}", "True"),
        ("${[x * k for x in (1, 2) for k in (3,)][1]}", "6"),
        ('${"a" + str(1 if 2 > 1 else 0)}', "a1"),
        ('${"%.2f" % sqrt(2)}', "1.41"),
        ("${python.max(1, 3)}", "3"),
        ('$(eval "b" + "2")', "b2"),
        ("$(optenv NO_SUCH_VARIABLE c)", "c"),
    ],
)
def test_expressions(expression: str, value: str) -> None:
    assert the_link(expression) == value


def test_names_with_an_underscore() -> None:
    text = (
        f'<robot name="r" {NAMESPACE}><xacro:property name="_n" value="5"/><link name="${{_n + 1}}"/></robot>'
    )
    assert read_description(written("r.xacro", text)).links[0].name == "6"


def test_yaml() -> None:
    written("config/values.yaml", "arm: {length: 3, parts: [x, y]}\n")
    assert the_link('${xacro.load_yaml("config/values.yaml").arm.parts[1]}') == "y"


def test_warnings_of_xacro_are_told() -> None:
    text = f'<robot name="r" {NAMESPACE}><xacro:property name="pi" value="3"/><link name="${{pi}}"/></robot>'
    description = read_description(written("r.xacro", text))
    assert description.warnings == ("r.xacro (expanded): xacro says: redefining global symbol: pi",)


def test_python_is_left_as_it_was(segments: str) -> None:
    write, symbols = dict(vars(minidom.Element)), dict(xacro._global_symbols)
    read_description(segments)
    assert dict(vars(minidom.Element)) == write
    assert dict(xacro._global_symbols) == symbols
    assert {xacro.safe_eval.__module__, xacro.eval_text.__module__, xacro.parse.__module__} == {"xacro"}


# ---- packages without ROS


def package(folder: str, name: str) -> Path:
    written(f"{folder}/package.xml", f"<package><name>{name}</name></package>")
    written(f"{folder}/parts.xacro", f'<robot {NAMESPACE}><link name="of {folder}"/></robot>')
    return Path(folder)


def including(path: str, filename: str) -> str:
    text = f'<robot name="r" {NAMESPACE}><xacro:include filename="{filename}"/></robot>'
    (link,) = read_description(written(path, text)).links
    return link.name


@pytest.mark.parametrize("filename", ["$(find arm)/parts.xacro", "package://arm/parts.xacro"])
def test_a_package_is_found_above_and_beside_the_file(filename: str) -> None:
    package("src/other", "other")
    package("src/arm_description", "arm")
    assert including("src/arm_description/urdf/r.xacro", filename) == "of src/arm_description"
    package("src/arm", "arm")
    assert including("src/other/urdf/r.xacro", filename) == "of src/arm"
    package("far/deep/arm", "arm")
    assert including("far/r.xacro", filename) == "of far/deep/arm"


def test_a_package_is_found_by_the_variables_of_ros(monkeypatch: pytest.MonkeyPatch) -> None:
    package("elsewhere/src/arm", "arm")
    package("elsewhere/install/share/leg", "leg")
    monkeypatch.setenv("ROS_PACKAGE_PATH", "/no/such:elsewhere/src")
    monkeypatch.setenv("AMENT_PREFIX_PATH", "elsewhere/install")
    for name, folder in (("arm", "src/arm"), ("leg", "install/share/leg")):
        assert including("robots/r.xacro", f"$(find {name})/parts.xacro") == f"of elsewhere/{folder}"


# ---- refusals


@pytest.mark.parametrize(
    "expression",
    [
        CODE,
        "${[k for k in [1] if k.__class__.__base__.__subclasses__()]}",
        '${(lambda: xacro.load_yaml.__globals__["open"]("stolen", "w"))()}',
        "${(lambda: 1)()}",
        "${list(c for c in (1, 2))}",
        '${open("stolen", "w")}',
        '${__import__("os").getcwd()}',
        "${math.__loader__}",
        '${python.vars(python.type)["__base__"]}',
        "${[f(math) for f in [python.vars]]}",
        "${python.sorted([math], key=python.vars)}",
        "$(eval __loader__)",
        "${(y := 1)}",
    ],
)
def test_no_expression_runs_code(here: Path, expression: str) -> None:
    with pytest.raises(DescriptionError, match=r"^r\.xacro: xacro says: .*(not allowed|not defined)"):
        the_link(expression)
    assert [path.name for path in here.iterdir()] == ["r.xacro"]


@pytest.mark.parametrize("expression", ["${9**9**9}", "$(eval 9**9**9)", '${"a" * 10**12}'])
def test_an_expression_that_asks_for_too_much_is_one_line(expression: str) -> None:
    with pytest.raises(
        DescriptionError, match=r"^r\.xacro: xacro says: (an integer has more|a value becomes)"
    ):
        the_link(expression)


MULTIPLIED = "".join(
    f'<xacro:macro name="m{k}"><xacro:m{k - 1}/><xacro:m{k - 1}/></xacro:macro>' for k in range(1, 40)
)


@pytest.mark.parametrize(
    "text",
    [
        f'<xacro:macro name="m0"><link name="a"/></xacro:macro>{MULTIPLIED}<xacro:m39/>',
        f'<xacro:macro name="m0"/>{MULTIPLIED}<xacro:m39/>',
        '<xacro:property name="p" value="${1000 * str(1234567890)}"/>'
        + '<xacro:macro name="m0"><link name="${p}${p}${p}"/></xacro:macro>'
        + MULTIPLIED
        + "<xacro:m39/>",
        '<xacro:macro name="m" params="**b"><xacro:insert_block name="b"/><xacro:insert_block name="b"/>'
        + "</xacro:macro>"
        + "<xacro:m><b>" * 40
        + "<link/>"
        + "</b></xacro:m>" * 40,
    ],
    ids=["links", "nothing", "text", "blocks"],
)
def test_macros_that_multiply_are_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "MOST_STEPS", 200_000)
    path = written("r.xacro", f'<robot name="r" {NAMESPACE}>{text}</robot>')
    with pytest.raises(DescriptionError, match="the file takes more than 200,000 steps to evaluate"):
        read_description(path)


def test_yaml_that_multiplies_is_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, 30)]
    written("bomb.yaml", "\n".join(lines))
    with pytest.raises(DescriptionError, match="a value becomes too large"):
        the_link('${str(xacro.load_yaml("bomb.yaml").a29)}')


def test_the_package_itself_runs_code(here: Path) -> None:
    """The package itself runs the code of expressions, so rbdgen evaluates them instead."""
    xacro.process_file(link_named_by(CODE))
    assert (here / "stolen").is_dir()


BAD = {
    "an unknown name": ('<link name="${a}"/>', "r.xacro: xacro says: name 'a' is not defined"),
    "an unknown macro": ("<xacro:arm/>", "r.xacro: xacro says: unknown macro name: xacro:arm"),
    "an argument without a value": ('<link name="$(arg a)"/>', "r.xacro: xacro says: Undefined substitution"),
    "an endless macro": (
        '<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>',
        "r.xacro: xacro says: maximum recursion",
    ),
    "a missing file": ('<xacro:include filename="no.xacro"/>', "r.xacro: xacro says: no file no.xacro"),
    "a file that is no XML": ('<xacro:include filename="bad.xacro"/>', "bad.xacro:2: not XML"),
    "a fault in another file": ('<xacro:include filename="worse.xacro"/>', "worse.xacro: xacro says: "),
    "a missing package": (
        '<xacro:include filename="$(find arm)/a"/>',
        "no package.xml of package 'arm' in this folder or above it; set ROS_PACKAGE_PATH",
    ),
    "a package that is no name": ('<link name="$(find ../x)"/>', "no package.xml of package '../x'"),
    "division by zero": ('<link name="${1 / 0}"/>', "r.xacro: xacro says: division by zero"),
    "a fault of the robot": ('<link name="${1}"/><link name="1"/>', "r.xacro (expanded):8: link '1'"),
    "an entity": ('<!ENTITY a "b"><link name="a"/>', "r.xacro:"),
    "a device for a file": ("<link name=\"${xacro.load_yaml('/dev/zero')}\"/>", "no file /dev/zero to load"),
    "a file that includes itself": (
        '<xacro:include filename="r.xacro"/>',
        "r.xacro: xacro says: maximum recursion",
    ),
    "a missing attribute": ("<xacro:if/>", "r.xacro: xacro says: xacro:if: missing attribute 'value'"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_is_wrong_is_one_line(what: str) -> None:
    text, told = BAD[what]
    written("bad.xacro", f"<robot {NAMESPACE}>\n<link></robot>")
    written("worse.xacro", f'<robot {NAMESPACE}><link name="${{1 +}}"/></robot>')
    path = written("r.xacro", f'<robot name="r" {NAMESPACE}>\n{text}\n</robot>')
    with pytest.raises(DescriptionError) as error:
        read_description(path)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xacro", None)
    with pytest.raises(DescriptionError, match=r"^r\.xacro: .*; pip install 'rbdgen\[xacro\]'"):
        the_link("${1}")
