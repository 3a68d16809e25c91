"""A gripper whose second finger mimics the first, so that it has one degree of freedom, with inertia of
both."""

from __future__ import annotations

import tempfile
from pathlib import Path

import rbdgen

FINGER = """
<link name="{side}"><inertial><origin xyz="0.02 0 0"/><mass value="0.1"/>
  <inertia ixx="1e-5" ixy="0" ixz="0" iyy="2e-5" iyz="0" izz="2e-5"/></inertial></link>
<joint name="{side}_finger" type="prismatic"><parent link="wrist"/><child link="{side}"/>
  <origin xyz="0.1 0 0"/><axis xyz="0 {axis} 0"/>{mimic}</joint>"""

URDF = f"""<robot name="gripper"><link name="base"/>
<link name="wrist"><inertial><mass value="0.5"/>
  <inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial></link>
<joint name="turn" type="revolute"><parent link="base"/><child link="wrist"/><axis xyz="1 0 0"/></joint>
{FINGER.format(side="left", axis=1, mimic="")}
{FINGER.format(side="right", axis=-1, mimic='<mimic joint="left_finger"/>')}
</robot>"""


def main() -> None:
    """Prints the inertia matrix with a second finger that follows, and with two independent fingers."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gripper.urdf"
        path.write_text(URDF)
        for mimic in ("eliminate", "independent"):
            robot = rbdgen.load_robot(path, mimic=mimic)  # type: ignore[arg-type]
            library = rbdgen.build(robot, ["crba"])
            print(f"mimic joints: {mimic}; q: {', '.join(library.joint_names)}")
            print(library.crba([0.0, 0.03] if mimic == "eliminate" else [0.0, 0.03, 0.03]))
            positions = library.full_configuration(library.neutral() + 0.03)
            print("all joints:", ", ".join(f"{name} {float(x):g}" for name, x in positions.items()))


if __name__ == "__main__":
    main()
