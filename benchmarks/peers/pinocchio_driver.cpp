// Times Pinocchio's algorithms, or prints what they compute; the JSON goes to standard output.
//   pinocchio_driver MODEL STATES time SECONDS     nanoseconds per call of each function, SECONDS spent on each
//   pinocchio_driver MODEL STATES values           each function's outputs for each state, matrices row by row
// The model is the ordinary run-time one over the default joint collection: what a C++ user of Pinocchio writes.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "model_file.hpp"

#include "pinocchio/algorithm/aba-derivatives.hpp"
#include "pinocchio/algorithm/aba.hpp"
#include "pinocchio/algorithm/crba.hpp"
#include "pinocchio/algorithm/rnea-derivatives.hpp"
#include "pinocchio/algorithm/rnea.hpp"

#include "../timing.h"

namespace
{
using peers::State;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix full(const Matrix & upper)
{
  return upper.selfadjointView<Eigen::Upper>();
}

class Report
{
public:
  Report(const std::vector<State> & states, bool timing, double seconds)
  : states_(states), timing_(timing), seconds_(seconds)
  {
    std::printf("{");
  }

  ~Report()
  {
    std::printf("\n}\n");
  }

  // call(state) does the work that is timed; outputs() then lists the results as matrices.
  template<class Call, class Outputs>
  void function(const char * name, Call call, Outputs outputs)
  {
    std::printf("%s\n\"%s\": ", first_ ? "" : ",", name);
    first_ = false;
    if (timing_)
      print_time(call);
    else
      print_values(call, outputs);
    std::fflush(stdout);
  }

private:
  template<class Call>
  void print_time(Call call) const
  {
    bench_result result;
    BENCH(result, states_.size(), seconds_, call(states_[bench_state]));
    std::printf("{\"ns\": %.4f, \"repetitions\": %ld}", result.ns, result.repetitions);
  }

  template<class Call, class Outputs>
  void print_values(Call call, Outputs outputs) const
  {
    const char * before_state = "[";
    for (const State & state : states_)
    {
      call(state);
      const char * before_output = "[";
      std::printf("%s", before_state);
      for (const Matrix & m : outputs())
      {
        const char * before_number = "[";
        std::printf("%s", before_output);
        for (Eigen::Index i = 0; i < m.size(); ++i, before_number = ",")
          std::printf("%s%.17g", before_number, peers::finite(m.data()[i]));
        std::printf("]");
        before_output = ",";
      }
      std::printf("]");
      before_state = ",";
    }
    std::printf("]");
  }

  const std::vector<State> & states_;
  bool timing_;
  double seconds_;
  bool first_ = true;
};

void run(const pinocchio::Model & model, const std::vector<State> & states, bool timing, double seconds)
{
  using pinocchio::Convention;
  using Matrices = std::vector<Matrix>;
  pinocchio::Data data(model);
  Report report(states, timing, seconds);

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
  // crba and computeMinverse fill upper triangles only; the mirror image below is not timed.
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
  const bool timing = argc == 5 && std::strcmp(argv[3], "time") == 0;
  if (!timing && !(argc == 4 && std::strcmp(argv[3], "values") == 0))
  {
    std::fprintf(stderr, "usage: %s MODEL STATES (time SECONDS | values)\n", argv[0]);
    return 2;
  }
  try
  {
    const pinocchio::Model model = peers::read_model(argv[1]);
    const std::vector<State> states = peers::read_states(argv[2], model);
    run(model, states, timing, timing ? std::atof(argv[4]) : 0.0);
  }
  catch (const std::exception & error)
  {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
  return 0;
}
