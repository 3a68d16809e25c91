#pragma once

#include "../state-base.hpp"

namespace crocoddyl {

class StateVector : public StateAbstract {
public:
    explicit StateVector(std::size_t nx) : StateAbstract(nx, nx) {}
    std::shared_ptr<StateBase> cloneAsDouble() const override { return std::make_shared<StateVector>(*this); }
    std::shared_ptr<StateBase> cloneAsFloat() const override { return nullptr; }
    Vector zero() const override { return Vector::Zero(nx_); }
    Vector rand() const override { return Vector::Random(nx_); }
    void diff(const In &x0, const In &x1, Eigen::Ref<Vector> dx) const override { dx = x1 - x0; }
    void integrate(const In &x, const In &dx, Eigen::Ref<Vector> next) const override { next = x + dx; }
    void Jdiff(const In &, const In &, Eigen::Ref<Matrix>, Eigen::Ref<Matrix>, const Jcomponent) const override {}
    void Jintegrate(const In &, const In &, Eigen::Ref<Matrix>, Eigen::Ref<Matrix>, const Jcomponent, const AssignmentOp) const override {}
    void JintegrateTransport(const In &, const In &, Eigen::Ref<Matrix>, const Jcomponent) const override {}
};

} // namespace crocoddyl
