// Generates C for a robot by Pinocchio with CppADCodeGen, compiles it with Pinocchio's default flags, and times it.
//   cppadcg_driver MODEL STATES SECONDS FUNCTION...
// prints JSON on standard output: for each function the nanoseconds per call, the seconds that generation and
// compilation took, and its raw outputs for the first states. It writes libraries into the current folder, which should
// be empty at first. If it is started again in this folder, it times the libraries that it finds there.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include <cppad/cg.hpp>

// cppadcodegen 2.4.3 does not define max_digits10, which a later release of CppAD requires of every base type.
namespace CppAD
{
template<>
class numeric_limits<AD<cg::CG<double>>>
{
  using Base = numeric_limits<cg::CG<double>>;
  using Scalar = AD<cg::CG<double>>;

public:
  static Scalar epsilon() { return Scalar(Base::epsilon()); }
  static Scalar min() { return Scalar((Base::min)()); }
  static Scalar max() { return Scalar((Base::max)()); }
  static Scalar quiet_NaN() { return Scalar(Base::quiet_NaN()); }
  static Scalar infinity() { return Scalar(cg::CG<double>(std::numeric_limits<double>::infinity())); }
  static const int digits10 = std::numeric_limits<double>::digits10;
  static const int max_digits10 = std::numeric_limits<double>::max_digits10;
};
} // namespace CppAD

#include "pinocchio/codegen/cppadcg-algo.hpp"

#include "model_file.hpp"

#include "../timing.h"

namespace
{
constexpr std::size_t printed_states = 4;

using Inputs = std::vector<Eigen::VectorXd>;

double seconds_since(std::chrono::steady_clock::time_point start)
{
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A generator whose results can be read. It generates either the function or its Jacobian, which CppAD finds by automatic
// differentiation.
template<class Generator, bool Jacobian>
struct Opened : Generator
{
  Opened(const pinocchio::Model & model, const std::string & name)
  : Generator(model, name, "cg_" + name)
  {
    this->build_forward = !Jacobian;
    this->build_jacobian = Jacobian;
  }

  void evaluate(const Eigen::VectorXd & x)
  {
    pinocchio::CodeGenBase<double> & base = *this;
    if constexpr (Jacobian)
      base.evalJacobian(x);
    else
      base.evalFunction(x);
  }

  // The results of the last evaluation; a Jacobian is row-major.
  Eigen::Map<const Eigen::VectorXd> results() const
  {
    if constexpr (Jacobian)
      return {this->jac.data(), this->jac.size()};
    else
      return {this->y.data(), this->y.size()};
  }
};

// Times the generated function itself, each of whose inputs is one vector. Pinocchio's own wrappers, which gather q, v
// and a and copy the resulting matrices, would only add to the time.
template<class Generator, bool Jacobian = false>
void report(const std::string & name, const pinocchio::Model & model, const Inputs & inputs, double seconds)
{
  Opened<Generator, Jacobian> generator(model, name);
  pinocchio::CodeGenBase<double> & function = generator;
  auto start = std::chrono::steady_clock::now();
  function.initLib();
  if (!function.existLib())
    function.compileLib();
  const double generation = seconds_since(start);
  function.loadLib(false);
  bench_result result;
  BENCH(result, inputs.size(), seconds, generator.evaluate(inputs[bench_state]));
  std::printf("{\"ns\": %.4f, \"repetitions\": %ld, ", result.ns, result.repetitions);
  std::printf("\"generation_seconds\": %.3f, \"values\": ", generation);
  for (std::size_t k = 0; k < std::min(printed_states, inputs.size()); ++k)
  {
    generator.evaluate(inputs[k]);
    const Eigen::VectorXd values = generator.results();
    for (Eigen::Index i = 0; i < values.size(); ++i)
      std::printf("%s%.17g", i ? "," : k ? ",[" : "[[", peers::finite(values[i]));
    std::printf("]");
  }
  std::printf("]}");
}

Inputs stacked(const std::vector<peers::State> & states, bool with_velocity, Eigen::VectorXd peers::State::*last)
{
  Inputs inputs;
  for (const peers::State & state : states)
  {
    if (!with_velocity)
    {
      inputs.push_back(state.q);
      continue;
    }
    Eigen::VectorXd x(state.q.size() + 2 * state.v.size());
    x << state.q, state.v, state.*last;
    inputs.push_back(x);
  }
  return inputs;
}

void run(
  const std::string & name, const pinocchio::Model & model, const std::vector<peers::State> & states, double seconds)
{
  using namespace pinocchio;
  const Inputs q = stacked(states, false, nullptr);
  const Inputs inverse = stacked(states, true, &peers::State::a);
  const Inputs forward = stacked(states, true, &peers::State::tau);
  if (name == "rnea")
    report<CodeGenRNEA<double>>(name, model, inverse, seconds);
  else if (name == "aba")
    report<CodeGenABA<double>>(name, model, forward, seconds);
  else if (name == "crba")
    report<CodeGenCRBA<double>>(name, model, q, seconds);
  else if (name == "minv")
    report<CodeGenMinv<double>>(name, model, q, seconds);
  else if (name == "rnea_derivatives")
    report<CodeGenRNEADerivatives<double>>(name, model, inverse, seconds);
  else if (name == "aba_derivatives")
    report<CodeGenABADerivatives<double>>(name, model, forward, seconds);
  else if (name == "rnea_jacobian")
    report<CodeGenRNEA<double>, true>(name, model, inverse, seconds);
  else if (name == "aba_jacobian")
    report<CodeGenABA<double>, true>(name, model, forward, seconds);
  else
    throw std::runtime_error(name + ": no such function here");
}
} // namespace

int main(int argc, char ** argv)
{
  if (argc < 5)
  {
    std::fprintf(stderr, "usage: %s MODEL STATES SECONDS FUNCTION...\n", argv[0]);
    return 2;
  }
  try
  {
    const pinocchio::Model model = peers::read_model(argv[1]);
    const std::vector<peers::State> states = peers::read_states(argv[2], model);
    for (int k = 4; k < argc; ++k)
    {
      std::printf("%s\"%s\": ", k == 4 ? "{" : ",\n", argv[k]);
      run(argv[k], model, states, std::atof(argv[3]));
      std::fflush(stdout);
    }
    std::printf("}\n");
  }
  catch (const std::exception & error)
  {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
  return 0;
}
