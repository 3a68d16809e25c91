"""The result of one benchmark of one function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Measurement:
    """The time of one call, measured in several links of the same objects, each in its own process.

    The addresses of code and stack change the speed, sometimes by a factor of two. The smallest time of all
    links is reported, and their spread shows how much it depends on the addresses.
    """

    link_ns: tuple[float, ...]  # for each link, the smallest mean time of a call in ns
    compiler: str
    flags: tuple[str, ...]
    variant: str = ""  # the way in which a competitor computes the function, if it has several

    @property
    def ns(self) -> float:
        """The reported time of a call in ns: the smallest of all links."""
        return min(self.link_ns)

    @property
    def spread(self) -> float:
        """The time of the slowest link divided by that of the fastest, at least 1."""
        return max(self.link_ns) / self.ns

    def to_json(self) -> dict[str, object]:
        """The fields and the reported time, for `json.dump`."""
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
    """The fastest entry of several tables for each function, for competitors built with several compilers."""
    names = dict.fromkeys(name for table in tables for name in table)
    return {name: best([table[name] for table in tables if name in table]) for name in names}
