"""Opening a generated folder and calling its functions with NumPy arrays.

A copy of this folder travels in every generated package, next to copies of `errors.py` and `signature.py`:
so it imports those relatively, and beside them NumPy, cffi's runtime and the standard library only.
"""

from .compiled import Bound
from .function import Function
from .library import Library, open_library
from .parameters import Parameters
from .rollout import Step

__all__ = ["Bound", "Function", "Library", "Parameters", "Step", "open_library"]
