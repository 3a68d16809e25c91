// Times what analytical derivatives replace, or prints the results; see report.hpp: finite differences of RNEA and ABA, and
// the inverse of the inertia matrix by its Cholesky factorization.
#include "report.hpp"

#include "pinocchio/algorithm/aba.hpp"
#include "pinocchio/algorithm/cholesky.hpp"
#include "pinocchio/algorithm/crba.hpp"
#include "pinocchio/algorithm/joint-configuration.hpp"
#include "pinocchio/algorithm/rnea.hpp"

namespace
{
using peers::Matrices;
using peers::Matrix;
using peers::State;
using pinocchio::Data;
using pinocchio::Model;

constexpr double STEP = 1e-8;

Matrix full(const Matrix & upper)
{
  return upper.selfadjointView<Eigen::Upper>();
}

// Forward differences of a function of (q, v) by both: one call at the state, and one more for each of its 2 nv directions.
class Differences
{
public:
  explicit Differences(const Model & model)
  : by_q(model.nv, model.nv)
  , by_v(model.nv, model.nv)
  , model_(model)
  , step_(Eigen::VectorXd::Zero(model.nv))
  , moved_(model.nq)
  , start_(model.nv)
  {
  }

  template<class Function>
  void evaluate(const Eigen::VectorXd & q, const Eigen::VectorXd & v, Function function)
  {
    start_ = function(q, v);
    for (Eigen::Index k = 0; k < model_.nv; ++k)
    {
      step_[k] = STEP;
      pinocchio::integrate(model_, q, step_, moved_);
      by_q.col(k) = (function(moved_, v) - start_) / STEP;
      step_[k] = 0;
    }
    faster_ = v;
    for (Eigen::Index k = 0; k < model_.nv; ++k)
    {
      faster_[k] += STEP;
      by_v.col(k) = (function(q, faster_) - start_) / STEP;
      faster_[k] = v[k];
    }
  }

  Eigen::MatrixXd by_q, by_v;

private:
  const Model & model_;
  Eigen::VectorXd step_, moved_, start_, faster_;
};

// The derivatives by the third argument, M and its inverse, have functions of their own, which are faster than differences.
void functions(const Model & model, peers::Report & report)
{
  using pinocchio::Convention;
  Data data(model);
  Differences differences(model);

  report.function(
    "rnea_differences",
    [&](const State & s) {
      differences.evaluate(s.q, s.v, [&](const Eigen::VectorXd & q, const Eigen::VectorXd & v) -> const Eigen::VectorXd & {
        return pinocchio::rnea(model, data, q, v, s.a);
      });
      pinocchio::crba(model, data, s.q, Convention::WORLD);
    },
    [&] { return Matrices{differences.by_q, differences.by_v, full(data.M)}; });
  for (const Convention convention : {Convention::LOCAL, Convention::WORLD})
    report.function(
      convention == Convention::LOCAL ? "aba_differences:local" : "aba_differences:world",
      [&](const State & s) {
        differences.evaluate(
          s.q, s.v, [&](const Eigen::VectorXd & q, const Eigen::VectorXd & v) -> const Eigen::VectorXd & {
            return pinocchio::aba(model, data, q, v, s.tau, convention);
          });
        pinocchio::computeMinverse(model, data, s.q);
      },
      [&] { return Matrices{differences.by_q, differences.by_v, full(data.Minv)}; });
  report.function(
    "minv_cholesky",
    [&](const State & s) {
      pinocchio::crba(model, data, s.q, Convention::WORLD);
      pinocchio::cholesky::decompose(model, data);
      pinocchio::cholesky::computeMinv(model, data);
    },
    [&] { return Matrices{data.Minv}; });
}
} // namespace

int main(int argc, char ** argv)
{
  return peers::drive(argc, argv, functions);
}
