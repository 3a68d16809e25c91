"""What one benchmark of one function gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Measurement:
    """Time of one call, measured in several links of the same objects, each a process of its own.

    Where code and stack happen to lie changes the speed, sometimes by a factor of two: each link is one draw,
    the least of them the figure, their spread a warning about how much of it is luck.
    """

    link_ns: tuple[float, ...]  # one entry a link: least mean nanoseconds of a call
    compiler: str
    flags: tuple[str, ...]
    variant: str = ""  # which of a peer's own ways to compute the function, where it has several

    @property
    def ns(self) -> float:
        """The figure: nanoseconds a call, least over the links."""
        return min(self.link_ns)

    @property
    def spread(self) -> float:
        """Slowest link over fastest, at least 1."""
        return max(self.link_ns) / self.ns

    def to_json(self) -> dict[str, object]:
        """The fields and the figure, ready for `json.dump`."""
        return {
            "ns": self.ns,
            "spread": self.spread,
            "link_ns": list(self.link_ns),
            "compiler": self.compiler,
            "flags": list(self.flags),
            "variant": self.variant,
        }


def best(measurements: Sequence[Measurement]) -> Measurement:
    """The fastest of several ways to compute the same thing."""
    return min(measurements, key=lambda m: m.ns)


def best_of_each(tables: Sequence[Mapping[str, Measurement]]) -> dict[str, Measurement]:
    """Function by function the fastest entry of several tables, for peers built with several compilers."""
    names = dict.fromkeys(name for table in tables for name in table)
    return {name: best([table[name] for table in tables if name in table]) for name in names}
