"""Opens a generated folder and calls its functions with NumPy arrays.

Every generated package contains a copy of this folder, next to copies of `errors.py` and `signature.py`. It
therefore imports those relatively, and otherwise only NumPy, cffi's runtime and the standard library.
"""

from .compiled import Bound
from .function import Function
from .library import Library, open_library
from .parameters import Parameters
from .rollout import Step

__all__ = ["Bound", "Function", "Library", "Parameters", "Step", "open_library"]
