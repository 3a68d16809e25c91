// Times Pinocchio's functions of frames and momentum, its Coriolis matrix, regressor and second derivatives, or prints
// their results; see report.hpp. If Pinocchio has two ways to compute a result, both are timed.
#include "report.hpp"

#include "pinocchio/algorithm/center-of-mass.hpp"
#include "pinocchio/algorithm/centroidal.hpp"
#include "pinocchio/algorithm/frames.hpp"
#include "pinocchio/algorithm/jacobian.hpp"
#include "pinocchio/algorithm/kinematics.hpp"
#include "pinocchio/algorithm/regressor.hpp"
#include "pinocchio/algorithm/rnea-second-order-derivatives.hpp"
#include "pinocchio/algorithm/rnea.hpp"

namespace
{
using peers::Matrices;
using peers::Matrix;
using peers::Report;
using peers::State;
using pinocchio::Data;
using pinocchio::FrameIndex;
using pinocchio::Model;

// Frame 0 is the world.
constexpr FrameIndex FIRST = 1;

void placements(const Model & model, Data & data, Report & report)
{
  const auto outputs = [&] {
    Matrix rotations(3 * (model.nframes - 1), 3), origins(model.nframes - 1, 3);
    for (int k = FIRST; k < model.nframes; ++k)
    {
      rotations.middleRows<3>(3 * (k - 1)) = data.oMf[k].rotation();
      origins.row(k - 1) = data.oMf[k].translation().transpose();
    }
    return Matrices{rotations, origins};
  };
  report.function(
    "frame_placement", [&](const State & s) { pinocchio::framesForwardKinematics(model, data, s.q); }, outputs);
}

void jacobians(const Model & model, Data & data, Report & report)
{
  const auto aligned = pinocchio::LOCAL_WORLD_ALIGNED;
  // Pinocchio does not write the columns of joints that do not move a frame, so these columns stay zero.
  std::vector<Data::Matrix6x> J(model.nframes, Data::Matrix6x::Zero(6, model.nv));
  const auto outputs = [&] {
    Matrix stacked(6 * (model.nframes - 1), model.nv);
    for (int k = FIRST; k < model.nframes; ++k)
      stacked.middleRows<6>(6 * (k - 1)) = J[k];
    return Matrices{stacked};
  };
  report.function(
    "frame_jacobian_aligned:frame by frame",
    [&](const State & s) {
      for (FrameIndex k = FIRST; k < J.size(); ++k)
        pinocchio::computeFrameJacobian(model, data, s.q, k, aligned, J[k]);
    },
    outputs);
  report.function(
    "frame_jacobian_aligned:joints first",
    [&](const State & s) {
      pinocchio::computeJointJacobians(model, data, s.q);
      for (FrameIndex k = FIRST; k < J.size(); ++k)
        pinocchio::getFrameJacobian(model, data, k, aligned, J[k]);
    },
    outputs);
}

void momentum(const Model & model, Data & data, Report & report)
{
  report.function(
    "centroidal_matrix", [&](const State & s) { pinocchio::computeCentroidalMap(model, data, s.q); },
    [&] { return Matrices{data.Ag}; });
  // The centres of mass of subtrees are not computed.
  report.function(
    "com_jacobian", [&](const State & s) { pinocchio::jacobianCenterOfMass(model, data, s.q, false); },
    [&] { return Matrices{data.Jcom}; });
}

// The elements [i, j, k] of a tensor in row-major order: the last index changes fastest.
Matrix row_major(const Data::Tensor3x & tensor)
{
  const Eigen::Index n = tensor.dimension(0);
  Matrix m(n * n, n);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j)
      for (Eigen::Index k = 0; k < n; ++k)
        m(i * n + j, k) = tensor(i, j, k);
  return m;
}

void dynamics(const Model & model, Data & data, Report & report)
{
  report.function(
    "coriolis", [&](const State & s) { pinocchio::computeCoriolisMatrix(model, data, s.q, s.v); },
    [&] { return Matrices{data.C}; });
  report.function(
    "regressor", [&](const State & s) { pinocchio::computeJointTorqueRegressor(model, data, s.q, s.v, s.a); },
    [&] { return Matrices{data.jointTorqueRegressor}; });
  report.function(
    "rnea_second",
    [&](const State & s) { pinocchio::ComputeRNEASecondOrderDerivatives(model, data, s.q, s.v, s.a); },
    [&] {
      return Matrices{
        row_major(data.d2tau_dqdq), row_major(data.d2tau_dqdv), row_major(data.d2tau_dvdv),
        row_major(data.d2tau_dadq)};
    });
}

void functions(const Model & model, Report & report)
{
  Data data(model);
  if (model.nframes > 1) // the robot has chosen frames beside the world
  {
    placements(model, data, report);
    jacobians(model, data, report);
  }
  momentum(model, data, report);
  dynamics(model, data, report);
}
} // namespace

int main(int argc, char ** argv)
{
  return peers::drive(argc, argv, functions);
}
