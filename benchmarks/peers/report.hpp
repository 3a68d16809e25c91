// The common part of the drivers of Pinocchio's algorithms, which time functions or print their results, as JSON.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <vector>

#include "model_file.hpp"

#include "../timing.h"

namespace peers
{
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Matrices = std::vector<Matrix>;

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
          std::printf("%s%.17g", before_number, finite(m.data()[i]));
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

// The main function of a driver:
//   DRIVER MODEL STATES time SECONDS     prints the nanoseconds per call of each function, timed for SECONDS
//   DRIVER MODEL STATES values           prints the outputs of each function for each state, matrices row by row
// functions(model, report) calls report.function for one function after the other.
template<class Functions>
int drive(int argc, char ** argv, Functions functions)
{
  const bool timing = argc == 5 && std::strcmp(argv[3], "time") == 0;
  if (!timing && !(argc == 4 && std::strcmp(argv[3], "values") == 0))
  {
    std::fprintf(stderr, "usage: %s MODEL STATES (time SECONDS | values)\n", argv[0]);
    return 2;
  }
  try
  {
    const pinocchio::Model model = read_model(argv[1]);
    const std::vector<State> states = read_states(argv[2], model);
    Report report(states, timing, timing ? std::atof(argv[4]) : 0.0);
    functions(model, report);
  }
  catch (const std::exception & error)
  {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
  return 0;
}
} // namespace peers
