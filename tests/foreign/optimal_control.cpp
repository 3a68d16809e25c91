/* Compares the models for OCS2 and Crocoddyl with differences, and the header of Eigen with the C. Prints the largest errors. */
#include "cart_crocoddyl.hpp"
#include "cart_eigen.hpp"
#include "double_pendulum_crocoddyl.hpp"
#include "double_pendulum_ocs2.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using Eigen::MatrixXd;
using Eigen::VectorXd;

static double crocoddyl_error(const std::shared_ptr<crocoddyl::StateAbstract> &state, crocoddyl::DifferentialActionModelAbstract &model)
{
    const int n = int(state->get_ndx()), nu = int(model.get_nu());
    const VectorXd x = state->rand(), u = VectorXd::Random(nu);
    const auto data = model.createData(), other = model.createData();
    model.calc(data, x, u);
    model.calcDiff(data, x, u);
    double worst = (data->Lu - u).norm() + std::abs(data->cost - u.squaredNorm() / 2);
    for (int k = 0; k < n + nu; ++k) {
        VectorXd sides[2];
        for (int side = 0; side < 2; ++side) {
            const double step = side ? -1e-6 : 1e-6;
            VectorXd next(x.size()), moved = u;
            state->integrate(x, k < n ? VectorXd(step * VectorXd::Unit(n, k)) : VectorXd(VectorXd::Zero(n)), next);
            if (k >= n)
                moved[k - n] += step;
            model.calc(other, next, moved);
            sides[side] = other->xout;
        }
        const VectorXd slope = k < n ? data->Fx.col(k) : data->Fu.col(k - n);
        worst = std::max(worst, ((sides[0] - sides[1]) / 2e-6 - slope).cwiseAbs().maxCoeff() / (1 + slope.cwiseAbs().maxCoeff()));
    }
    return worst;
}

/* The derivatives of the state's own moves. */
static double state_error(const crocoddyl::StateAbstract &state)
{
    const int n = int(state.get_ndx());
    const VectorXd x = state.rand(), y = state.rand(), dx = 0.3 * VectorXd::Random(n);
    MatrixXd first(n, n), second(n, n), from(n, n), to(n, n);
    state.Jintegrate(x, dx, first, second);
    state.Jdiff(x, y, from, to);
    VectorXd end(x.size()), moved(x.size()), there(n), sides[2];
    double worst = 0.0;
    for (int k = 0; k < n; ++k) {
        MatrixXd slopes(n, 4), exact(n, 4);
        exact << first.col(k), second.col(k), from.col(k), to.col(k);
        for (int kind = 0; kind < 4; ++kind) {
            for (int side = 0; side < 2; ++side) {
                const VectorXd step = (side ? -1e-6 : 1e-6) * VectorXd::Unit(n, k);
                VectorXd result(x.size());
                sides[side].resize(n);
                if (kind == 1) {
                    state.integrate(x, dx + step, result);
                } else {
                    state.integrate(kind == 3 ? y : x, step, moved);
                    if (kind == 0)
                        state.integrate(moved, dx, result);
                }
                if (kind < 2) {
                    state.integrate(x, dx, end);
                    state.diff(end, result, sides[side]);
                } else if (kind == 2) {
                    state.diff(moved, y, sides[side]);
                } else {
                    state.diff(x, moved, sides[side]);
                }
            }
            slopes.col(kind) = (sides[0] - sides[1]) / 2e-6;
        }
        worst = std::max(worst, (slopes - exact).cwiseAbs().maxCoeff());
    }
    MatrixXd identity = MatrixXd::Identity(n, n), sum = first;
    state.JintegrateTransport(x, dx, identity, crocoddyl::second);
    worst = std::max(worst, (identity - second).cwiseAbs().maxCoeff());
    state.Jintegrate(x, dx, sum, sum, crocoddyl::first, crocoddyl::addto);
    return std::max(worst, (sum - 2 * first).cwiseAbs().maxCoeff());
}

static double ocs2_error()
{
    double_pendulum::ocs2::aba model;
    const std::unique_ptr<ocs2::SystemDynamicsBase> copy(model.clone());
    const ocs2::PreComputation pre;
    const VectorXd x = VectorXd::Random(4), u = VectorXd::Random(2);
    const auto found = copy->linearApproximation(0.0, x, u, pre);
    MatrixXd slopes(4, 6), exact(4, 6);
    exact << found.dfdx, found.dfdu;
    for (int k = 0; k < 6; ++k) {
        VectorXd sides[2];
        for (int side = 0; side < 2; ++side) {
            VectorXd at = x, with = u;
            (k < 4 ? at[k] : with[k - 4]) += side ? -1e-6 : 1e-6;
            sides[side] = copy->computeFlowMap(0.0, at, with, pre);
        }
        slopes.col(k) = (sides[0] - sides[1]) / 2e-6;
    }
    return (slopes - exact).cwiseAbs().maxCoeff() / (1 + exact.cwiseAbs().maxCoeff()) + (found.f - copy->computeFlowMap(0.0, x, u, pre)).norm();
}

/* Column-major results hold the elements of the row-major ones. */
static double eigen_error()
{
    namespace own = cart::column_major;
    const VectorXd x = cart::crocoddyl::state().rand(), tau = VectorXd::Random(CART_NV);
    const Eigen::Matrix<double, CART_NQ, 1> q = x.head(CART_NQ);
    const Eigen::Matrix<double, CART_NV, 1> v = x.tail(CART_NV), torque = tau;
    const own::aba_derivatives_result found = own::aba_derivatives(q, v, torque);
    static double by_q[CART_NV * CART_NV], by_v[CART_NV * CART_NV], by_tau[CART_NV * CART_NV];
    cart_aba_derivatives(q.data(), v.data(), torque.data(), by_q, by_v, by_tau);
    double a[CART_NV], worst = 0.0;
    cart_aba(q.data(), v.data(), torque.data(), a);
    worst = (own::aba(q, v, torque) - Eigen::Map<const Eigen::Matrix<double, CART_NV, 1>>(a)).norm();
    for (int i = 0; i < CART_NV; ++i)
        for (int j = 0; j < CART_NV; ++j) {
            worst = std::max(worst, std::abs(found.da_dq(i, j) - by_q[CART_NV * i + j]));
            worst = std::max(worst, std::abs(found.da_dv.data()[CART_NV * j + i] - by_v[CART_NV * i + j]));
        }
    return worst;
}

int main()
{
    std::srand(1);
    const auto flat = std::make_shared<double_pendulum::crocoddyl::state>();
    const auto curved = std::make_shared<cart::crocoddyl::state>();
    double_pendulum::crocoddyl::aba arm(std::make_shared<crocoddyl::CostModelSum>(flat, 2));
    cart::crocoddyl::aba cart_model(std::make_shared<crocoddyl::CostModelSum>(curved, CART_NV));
    std::printf("%.1e %.1e %.1e %.1e %.1e\n", crocoddyl_error(flat, arm), crocoddyl_error(curved, cart_model), state_error(*curved), ocs2_error(),
        eigen_error());
    return 0;
}
