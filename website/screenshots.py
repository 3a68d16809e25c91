"""Takes the pictures of pages in docs/pictures: make screenshots. Needs Chromium, clang and wasm-ld."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support.browser import browsers, opened  # noqa: E402
from support.standing import STANDING, quadruped  # noqa: E402

import rbdgen  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"


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
