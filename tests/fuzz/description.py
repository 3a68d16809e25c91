"""Coverage-guided fuzzing of the URDF reader and the model: `make fuzz FUZZ="--seconds 3600 --seed 1"`.

It starts from the corpus beside this file. New inputs go to build/fuzz, and so do those that failed.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from hashlib import sha256
from pathlib import Path
from random import Random

import atheris

with atheris.instrument_imports(include=["rbdgen.description", "rbdgen.model", "rbdgen.spatial"]):
    from support.urdf_judge import judge
from support.urdf_mutation import mutated

CORPUS = Path(__file__).parent / "corpus"


def mutate(data: bytes, most: int, seed: int) -> bytes:
    """Mutates data, mostly by damaging XML, else by libFuzzer, which uses the values that were compared."""
    random = Random(seed)
    if random.random() < 0.2:
        return bytes(atheris.Mutate(data, most))
    return mutated(data, random)[:most]


class Collector:
    """Goes on after failures, and keeps the first input of each kind, which is the place of the error."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.known: set[str] = set()

    def __call__(self, data: bytes) -> None:
        try:
            judge(data)
        except Exception as error:  # every unexpected exception is a failure
            at = " ".join(
                f"{Path(f.filename).name}:{f.lineno}" for f in traceback.extract_tb(error.__traceback__)
            )
            kind = f"{type(error).__name__} {at}"
            if kind not in self.known:
                self.known.add(kind)
                path = self.folder / f"failed-{sha256(kind.encode()).hexdigest()[:12]}"
                path.write_bytes(data)
                print(f"FAILED: {str(error)[:300]!a} ({kind}), input {path}", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--learned", type=Path, default=Path("build/fuzz"), help="the folder of new inputs")
    parser.add_argument("--go-on", action="store_true", help="continue after a failure, to find all failures")
    asked = parser.parse_args()
    asked.learned.mkdir(parents=True, exist_ok=True)
    # The limits are 10 s and 2 GB, while a file of this size takes some ms.
    limits = [f"-max_total_time={asked.seconds}", "-max_len=65536", "-timeout=10", "-rss_limit_mb=2048"]
    where = [f"-artifact_prefix={asked.learned}/failed-", str(asked.learned), str(CORPUS)]
    target = Collector(asked.learned) if asked.go_on else judge
    atheris.Setup([sys.argv[0], f"-seed={asked.seed}", *limits, *where], target, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
