/* Declarations for tests, with the signatures of ROS 2's own header, which no package of Python or Debian has. */
#pragma once

#include <Eigen/Core>
#include <memory>
#include <string>

namespace rclcpp {
namespace node_interfaces {
struct NodeParametersInterface {
    using ConstSharedPtr = std::shared_ptr<const NodeParametersInterface>;
};
} // namespace node_interfaces
} // namespace rclcpp

namespace inverse_dynamics_solver {

class InverseDynamicsSolver {
public:
    virtual ~InverseDynamicsSolver() = default;
    virtual void initialize(rclcpp::node_interfaces::NodeParametersInterface::ConstSharedPtr parameters = nullptr, const std::string &space = "",
        const std::string &description = "") = 0;
    virtual Eigen::MatrixXd getInertiaMatrix(const Eigen::VectorXd &q) const = 0;
    virtual Eigen::VectorXd getCoriolisVector(const Eigen::VectorXd &q, const Eigen::VectorXd &v) const = 0;
    virtual Eigen::VectorXd getGravityVector(const Eigen::VectorXd &q) const = 0;
    virtual Eigen::VectorXd getFrictionVector(const Eigen::VectorXd &v) const = 0;
    virtual Eigen::VectorXd getTorques(const Eigen::VectorXd &q, const Eigen::VectorXd &v, const Eigen::VectorXd &a) const = 0;
};

} // namespace inverse_dynamics_solver
