"""A C++ header whose results are matrices of Eigen in its own column-major order, as Pinocchio has them."""
