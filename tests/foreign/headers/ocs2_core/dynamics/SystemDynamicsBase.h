/* Declarations for tests, with the signatures of OCS2's own header, which no package of Python or Debian has. */
#pragma once

#include <Eigen/Core>

namespace ocs2 {

using scalar_t = double;
using vector_t = Eigen::VectorXd;
using matrix_t = Eigen::MatrixXd;

struct PreComputation {};

struct VectorFunctionLinearApproximation {
    matrix_t dfdx, dfdu;
    vector_t f;
};

class SystemDynamicsBase {
public:
    virtual ~SystemDynamicsBase() = default;
    virtual SystemDynamicsBase *clone() const = 0;
    virtual vector_t computeFlowMap(scalar_t t, const vector_t &x, const vector_t &u, const PreComputation &pre) = 0;
    virtual VectorFunctionLinearApproximation linearApproximation(
        scalar_t t, const vector_t &x, const vector_t &u, const PreComputation &pre) = 0;
};

} // namespace ocs2
