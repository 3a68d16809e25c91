"""Takes the pictures of pages in docs/pictures: make screenshots. Needs Chromium, clang and wasm-ld."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support.browser import browsers, opened  # noqa: E402

import rbdgen  # noqa: E402
from rbdgen import Point  # noqa: E402
from rbdgen.model.robot import Robot  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"


def quadruped() -> Robot:
    feet = [
        Point(f"{end}_{side}", f"{end}_{side}_shank", (0, 0, -0.2), radius=0.02)
        for end in ("front", "hind")
        for side in ("left", "right")
    ]
    return rbdgen.load_robot("quadruped12", base="floating", contacts=feet)


STANDING = {
    f"{end}_{side}_{joint}": angle
    for end in ("front", "hind")
    for side in ("left", "right")
    for joint, angle in (("flexion", 0.7), ("knee", -1.4))
}
BENT = {"joint2": 0.7, "joint4": 1.3, "joint6": 0.9}

HOLD = (
    "rbdgenShow.setMode('hold'); for (let k = 0; k < 600; k++) { rbdgenShow.step(1e-3); rbdgenShow.note(); }"
)


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    arm = rbdgen.load_robot("arm7")
    with TemporaryDirectory() as folder, browsers() as launch:
        chromium = launch()
        pages = {
            "arm": arm.show(pose=BENT).save(Path(folder) / "arm.html"),
            "quadruped": quadruped().show(pose=STANDING).save(Path(folder) / "quadruped.html"),
        }
        for name, page, scheme, script, part in (
            ("quadruped", "quadruped", "light", HOLD, ".stage"),
            ("arm", "arm", "dark", "document.querySelectorAll('#layers button')[4].click()", ".stage"),
            ("matrices", "quadruped", "light", HOLD, "#matrices"),
        ):
            with opened(chromium, pages[page], scheme, width=1280) as seen:
                seen.run(script)
                seen.tab.locator(part).scroll_into_view_if_needed()
                seen.tab.wait_for_timeout(1500)
                seen.tab.locator(part).screenshot(path=PICTURES / f"{name}.png")


if __name__ == "__main__":
    main()
