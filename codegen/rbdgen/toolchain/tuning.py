"""Optimisation flags of straight lines and of their batch functions, by compiler.

Measured on an x86 core with AVX-512 (gcc 12, clang 14; RNEA, ABA, M^-1 and both derivatives of an arm, a
quadruped and a humanoid). From a few thousand operations on, such code runs as fast as its instructions
stream from the second-level cache: what makes fewer bytes makes less time, and that is fewer spills.
- gcc: allocating registers by priority instead of colouring leaves out 5 to 25 per cent of the bytes, 0 to 27
  per cent of the time, and compiles no slower. Tried without gain, or with loss: -O1 (once functions are
  printed in parts it saves no compilation time and costs up to 30 per cent), -O3, -fno-trapping-math,
  -fno-tree-vectorize, -fschedule-insns with -fsched-pressure (up to 19 per cent slower),
  -fno-schedule-insns2, -fno-tree-ter, -mno-avx512f (half as many registers: up to 40 per cent slower), -Os.
- gcc, batch functions: vectors have 32 registers. Where results are vectors and the statements one piece,
  scheduling before registers are allocated takes 5 to 10 per cent off RNEA and ABA, a third off sines four
  at a time; copies of what transposes arguments, one for every number of them, its loops peeled, another
  10 per cent off an arm's RNEA. Matrices leave between short parts, and by priority these are 2 to 6 per
  cent faster than scheduled (M^-1; dID the same).
- clang: -O1, -O2, -O3 and -Os differ by less than runs do; so do -fno-slp-vectorize and -mno-avx512f.
"""

from __future__ import annotations

from typing import Final

TUNING: Final[dict[str, tuple[str, ...]]] = {"gcc": ("-fira-algorithm=priority",), "clang": ()}
"""Flags to stand after the target's own; none changes a result."""

BATCH_TUNING: Final[dict[str, tuple[str, ...]]] = {
    "gcc": ("-fschedule-insns", "-fsched-pressure", "-fpeel-loops", "-fipa-cp-clone"),
    "clang": (),
}
"""The same for batch functions whose results are vectors; the others are compiled as functions are."""
