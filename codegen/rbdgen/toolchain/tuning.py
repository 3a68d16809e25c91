"""Optimisation flags for straight lines and for their batch functions, by compiler, and the faster compiler.

They were measured on an x86 processor with AVX-512 (gcc 12, clang 14; RNEA, ABA, M^-1 and both derivatives of
an arm, a quadruped and a humanoid). From a few thousand operations on, such code runs as fast as its
instructions are fetched from the second-level cache, so code with fewer spills and fewer bytes takes less
time.

- gcc: register allocation by priority instead of colouring saves 5 to 25 per cent of the bytes and 0 to 27
  per cent of the time, and compiles no slower. Tried without gain or with a loss: -O1 (it costs up to 30 per
  cent, and saves no compilation time if functions are printed in parts), -O3, -fno-trapping-math,
  -fno-tree-vectorize, -fschedule-insns with -fsched-pressure (up to 19 per cent slower),
  -fno-schedule-insns2, -fno-tree-ter, -mno-avx512f (half as many registers: up to 40 per cent slower), -Os.
- gcc, batch functions: vectors have 32 registers. If results are vectors and the statements are in one piece,
  scheduling before register allocation saves 5 to 10 per cent of RNEA and ABA, and a third of sines four at
  a time. Copies of the functions that transpose arguments, one for every size and with peeled loops, save
  another 10 per cent of an arm's RNEA. Matrices are written between short parts, which are 2 to 6 per cent
  faster by priority than with scheduling (M^-1; dID is the same).
- clang: -O1, -O2, -O3 and -Os differ by less than repeated runs do; so do -fno-slp-vectorize and
  -mno-avx512f.

The faster compiler was measured on an Intel Xeon with AVX-512 (gcc 12.2, clang 14; the same functions, in
double and for some robots in float). gcc's batches take 0.42 to 0.88 times the time of clang's, which halves
vectors of 64 bytes. gcc's single calls take 0.86 to 0.99 times the time of clang's with limbs as lanes, and
0.96 to 1.06 times in other forms. With limbs as lanes for AVX2, gcc takes 1.05 to 1.63 times the time of
clang's, and for SSE 1.2 to 2.9 times.
"""

from __future__ import annotations

from typing import Final

from rbdgen.functions.form import LIMBS

TUNING: Final[dict[str, tuple[str, ...]]] = {"gcc": ("-fira-algorithm=priority",), "clang": ()}
"""Flags that follow those of the target; none changes a result."""

BATCH_TUNING: Final[dict[str, tuple[str, ...]]] = {
    "gcc": ("-fschedule-insns", "-fsched-pressure", "-fpeel-loops", "-fipa-cp-clone"),
    "clang": (),
}
"""Flags that follow those of the target for batch functions whose results are vectors. Other batch functions
have the flags of `TUNING`.
"""

FASTER_BATCHES: Final = "gcc"
"""The family of compilers whose code is faster in batches."""


def faster_for_calls(form: str, *, long_registers: bool) -> str:
    """The family of compilers whose code is faster in single calls of a function of this form.
    `long_registers` says whether there are 32 registers for vectors, as AVX-512 has them.
    """
    return "gcc" if form == LIMBS and long_registers else "clang"
