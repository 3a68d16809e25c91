"""URDFs with one fault, which a comment marks."""

from __future__ import annotations

from typing import NamedTuple

HERE = "<!--here-->"
"""This comment marks the line that the message must name."""


class Bad(NamedTuple):
    """A URDF with HERE on the faulty line, and the words of the message.

    Without HERE, the message names no line.
    """

    name: str
    text: str
    what: str
    what_to_do: str


def robot(body: str) -> str:
    return f'<?xml version="1.0"?>\n<robot name="r">\n{body}\n</robot>\n'


def two_links(joint: str = "", link: str = "") -> str:
    """A URDF of links a and b and a joint j, with these elements of j and, from line 4 on, of b."""
    joint = joint or '<joint name="j" type="revolute"><parent link="a"/><child link="b"/></joint>'
    return robot(f'<link name="a"/>\n<link name="b">\n{link}\n</link>\n{joint}')


def revolute(inside: str) -> str:
    edges = '<parent link="a"/><child link="b"/>'
    return two_links(f'<joint name="j" type="revolute">\n{edges}\n{inside}\n</joint>')


def of_type(joint_type: str) -> str:
    edges = '<parent link="a"/><child link="b"/>'
    return two_links(f'<joint name="j" type="{joint_type}">{HERE}{edges}</joint>')


def inertial(inside: str) -> str:
    return two_links(link=f"<inertial>\n{inside}\n</inertial>")


def edge(name: str, parent: str, child: str) -> str:
    return f'<joint name="{name}" type="fixed"><parent link="{parent}"/><child link="{child}"/></joint>'


MOMENTS = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
LAUGHS = "\n".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
BILLION = (
    f'<?xml version="1.0"?>\n<!DOCTYPE robot [{HERE}\n<!ENTITY l0 "ha">\n{LAUGHS}\n]>\n'
    '<robot name="&l9;"><link name="a"/></robot>'
)
EXTERNAL = (
    f'<!DOCTYPE robot [<!ENTITY x SYSTEM "file:///etc/passwd">]>{HERE}\n'
    '<robot name="r"><link name="&x;"/></robot>'
)
