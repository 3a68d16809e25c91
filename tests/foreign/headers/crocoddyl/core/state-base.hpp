/* Declarations for tests, with the signatures of Crocoddyl 3's own headers, whose package of Python cannot be installed beside
   the robots that other tests need. */
#pragma once

#include <Eigen/Core>
#include <memory>
#include <typeinfo>

namespace crocoddyl {

enum AssignmentOp { setto, addto, rmfrom };
enum Jcomponent { both = 0, first = 1, second = 2 };

class StateBase {
public:
    virtual ~StateBase() = default;
    virtual std::shared_ptr<StateBase> cloneAsDouble() const = 0;
    virtual std::shared_ptr<StateBase> cloneAsFloat() const = 0;
};

class StateAbstract : public StateBase {
public:
    using Vector = Eigen::VectorXd;
    using Matrix = Eigen::MatrixXd;
    using In = Eigen::Ref<const Vector>;

    StateAbstract(std::size_t nx, std::size_t ndx) : nx_(nx), ndx_(ndx), nq_(nx - ndx / 2), nv_(ndx / 2) {}
    virtual Vector zero() const = 0;
    virtual Vector rand() const = 0;
    virtual void diff(const In &x0, const In &x1, Eigen::Ref<Vector> dx) const = 0;
    virtual void integrate(const In &x, const In &dx, Eigen::Ref<Vector> next) const = 0;
    virtual void Jdiff(const In &x0, const In &x1, Eigen::Ref<Matrix> first, Eigen::Ref<Matrix> second, const Jcomponent which = both) const = 0;
    virtual void Jintegrate(const In &x, const In &dx, Eigen::Ref<Matrix> first, Eigen::Ref<Matrix> second, const Jcomponent which = both,
        const AssignmentOp op = setto) const = 0;
    virtual void JintegrateTransport(const In &x, const In &dx, Eigen::Ref<Matrix> J, const Jcomponent which) const = 0;
    std::size_t get_nx() const { return nx_; }
    std::size_t get_ndx() const { return ndx_; }
    std::size_t get_nv() const { return nv_; }

protected:
    std::size_t nx_, ndx_, nq_, nv_;
};

} // namespace crocoddyl
