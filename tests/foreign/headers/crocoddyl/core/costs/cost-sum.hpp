#pragma once

#include "../data-collector-base.hpp"
#include "../state-base.hpp"

namespace crocoddyl {

struct CostDataSum {
    double cost = 0.0;
    Eigen::VectorXd *Lu = nullptr;
    template <class Data>
    void shareMemory(Data *data) { Lu = &data->Lu; }
};

/* The effort u^2 / 2, whose gradient is u. */
class CostModelSum {
public:
    CostModelSum(std::shared_ptr<StateAbstract> state, std::size_t nu) : nu(nu) { (void)state; }
    std::size_t get_nr() const { return nu; }
    std::shared_ptr<CostDataSum> createData(DataCollectorAbstract *) const { return std::make_shared<CostDataSum>(); }
    void calc(const std::shared_ptr<CostDataSum> &data, const Eigen::Ref<const Eigen::VectorXd> &, const Eigen::Ref<const Eigen::VectorXd> &u) { data->cost = u.squaredNorm() / 2; }
    void calc(const std::shared_ptr<CostDataSum> &data, const Eigen::Ref<const Eigen::VectorXd> &) { data->cost = 0.0; }
    void calcDiff(const std::shared_ptr<CostDataSum> &data, const Eigen::Ref<const Eigen::VectorXd> &, const Eigen::Ref<const Eigen::VectorXd> &u) { *data->Lu = u; }
    void calcDiff(const std::shared_ptr<CostDataSum> &, const Eigen::Ref<const Eigen::VectorXd> &) {}

private:
    std::size_t nu;
};

} // namespace crocoddyl
