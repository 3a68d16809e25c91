"""Calls the functions that `make demo` generated: inverse dynamics, and forward dynamics with its result."""

from __future__ import annotations

import importlib
import sys

import numpy as np


def main(folder: str) -> None:
    """Imports the generated package of the arm from `folder` and prints a few numbers."""
    sys.path.insert(0, folder)
    arm7 = importlib.import_module("arm7")
    q = np.array([0.1, -0.4, 0.3, 1.2, -0.2, 0.7, 0.0])
    v = np.array([0.5, 0.1, -0.3, 0.2, 0.0, -0.1, 0.4])
    a = np.zeros(7)
    tau = arm7.rnea(q, v, a)
    print("joint    torque N m   acceleration rad/s^2 without it")
    for name, torque, fall in zip(arm7.joint_names, tau, arm7.aba(q, v, np.zeros(7)), strict=True):
        print(f"{name:8s} {torque:10.4f} {fall:12.4f}")
    back = arm7.aba(q, v, tau)
    print(f"ABA gives the accelerations for these torques within {np.abs(back - a).max():.1e} rad/s^2")
    print(f"M Minv = 1 within {np.abs(arm7.crba(q) @ arm7.minv(q) - np.eye(7)).max():.1e}")


if __name__ == "__main__":
    main(sys.argv[1])
