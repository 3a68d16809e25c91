// Times Pinocchio's dynamics, or prints their results; see report.hpp. The model is the ordinary run-time model with
// the default joint collection, as in most C++ programs that use Pinocchio.
#include "report.hpp"

#include "pinocchio/algorithm/aba-derivatives.hpp"
#include "pinocchio/algorithm/aba.hpp"
#include "pinocchio/algorithm/crba.hpp"
#include "pinocchio/algorithm/rnea-derivatives.hpp"
#include "pinocchio/algorithm/rnea.hpp"

namespace
{
using peers::Matrices;
using peers::Matrix;
using peers::State;

Matrix full(const Matrix & upper)
{
  return upper.selfadjointView<Eigen::Upper>();
}

void functions(const pinocchio::Model & model, peers::Report & report)
{
  using pinocchio::Convention;
  pinocchio::Data data(model);

  report.function(
    "rnea", [&](const State & s) { pinocchio::rnea(model, data, s.q, s.v, s.a); },
    [&] { return Matrices{data.tau}; });
  report.function(
    "nle", [&](const State & s) { pinocchio::nonLinearEffects(model, data, s.q, s.v); },
    [&] { return Matrices{data.nle}; });
  report.function(
    "gravity", [&](const State & s) { pinocchio::computeGeneralizedGravity(model, data, s.q); },
    [&] { return Matrices{data.g}; });
  report.function(
    "aba:local", [&](const State & s) { pinocchio::aba(model, data, s.q, s.v, s.tau, Convention::LOCAL); },
    [&] { return Matrices{data.ddq}; });
  report.function(
    "aba:world", [&](const State & s) { pinocchio::aba(model, data, s.q, s.v, s.tau, Convention::WORLD); },
    [&] { return Matrices{data.ddq}; });
  // crba and computeMinverse fill upper triangles only; `full` copies them to the lower triangles, which is not timed.
  report.function(
    "crba:local", [&](const State & s) { pinocchio::crba(model, data, s.q, Convention::LOCAL); },
    [&] { return Matrices{full(data.M)}; });
  report.function(
    "crba:world", [&](const State & s) { pinocchio::crba(model, data, s.q, Convention::WORLD); },
    [&] { return Matrices{full(data.M)}; });
  report.function(
    "minv", [&](const State & s) { pinocchio::computeMinverse(model, data, s.q); },
    [&] { return Matrices{full(data.Minv)}; });
  report.function(
    "rnea_derivatives", [&](const State & s) { pinocchio::computeRNEADerivatives(model, data, s.q, s.v, s.a); },
    [&] { return Matrices{data.dtau_dq, data.dtau_dv, full(data.M)}; });
  report.function(
    "aba_derivatives", [&](const State & s) { pinocchio::computeABADerivatives(model, data, s.q, s.v, s.tau); },
    [&] { return Matrices{data.ddq_dq, data.ddq_dv, full(data.Minv)}; });
}
} // namespace

int main(int argc, char ** argv)
{
  return peers::drive(argc, argv, functions);
}
