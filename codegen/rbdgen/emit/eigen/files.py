"""The header whose results are matrices of Eigen in column-major order."""

from __future__ import annotations

from rbdgen.emit.folder import Folder
from rbdgen.emit.foreign import ForeignArgument, foreign_functions
from rbdgen.emit.text import filled


def files(folder: Folder) -> dict[str, str]:
    """The header, by path."""
    text = filled(
        "eigen/ROBOT_eigen.hpp.jinja",
        robot=folder.robot,
        functions=foreign_functions(folder, ()),
        matrix=is_matrix,
        type=type_of,
    )
    return {f"eigen/{folder.name}_eigen.hpp": text}


def is_matrix(argument: ForeignArgument) -> bool:
    """Whether the order of an argument's elements differs between the C and Eigen."""
    return len(argument.shape) == 2 and min(argument.shape) > 1


def type_of(argument: ForeignArgument, order: str = "") -> str:
    """The type of Eigen of an argument. Arrays with more than two axes are vectors in the order of the C."""
    if is_matrix(argument):
        rows, columns = argument.shape
        return f"Eigen::Matrix<real, {rows}, {columns}{order}>"
    return f"Eigen::Matrix<real, {argument.size}, 1>"
