#pragma once

#include "state-base.hpp"

namespace crocoddyl {

class DifferentialActionModelBase {
public:
    virtual ~DifferentialActionModelBase() = default;
    virtual std::shared_ptr<DifferentialActionModelBase> cloneAsDouble() const = 0;
    virtual std::shared_ptr<DifferentialActionModelBase> cloneAsFloat() const = 0;
};

struct DifferentialActionDataAbstract;

class DifferentialActionModelAbstract : public DifferentialActionModelBase {
public:
    using Vector = Eigen::VectorXd;
    using In = Eigen::Ref<const Vector>;
    using Data = std::shared_ptr<DifferentialActionDataAbstract>;

    DifferentialActionModelAbstract(std::shared_ptr<StateAbstract> state, std::size_t nu, std::size_t nr) : nu_(nu), nr_(nr), state_(state) {}
    virtual void calc(const Data &data, const In &x, const In &u) = 0;
    virtual void calc(const Data &, const In &) {}
    virtual void calcDiff(const Data &data, const In &x, const In &u) = 0;
    virtual void calcDiff(const Data &, const In &) {}
    virtual Data createData() { return nullptr; }
    virtual bool checkData(const Data &) { return false; }
    std::size_t get_nu() const { return nu_; }
    const std::shared_ptr<StateAbstract> &get_state() const { return state_; }

protected:
    std::size_t nu_, nr_;
    std::shared_ptr<StateAbstract> state_;
};

struct DifferentialActionDataAbstract {
    template <class Model>
    explicit DifferentialActionDataAbstract(Model *const model)
        : xout(model->get_state()->get_nv()), Fx(model->get_state()->get_nv(), model->get_state()->get_ndx()),
          Fu(model->get_state()->get_nv(), model->get_nu()), Lu(model->get_nu())
    {
    }
    virtual ~DifferentialActionDataAbstract() = default;
    double cost = 0.0;
    Eigen::VectorXd xout;
    Eigen::MatrixXd Fx, Fu;
    Eigen::VectorXd Lu;
};

} // namespace crocoddyl
