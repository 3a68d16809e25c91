/* Runs the plug-ins for ROS 2 of a double pendulum, and the controller of a user. Prints what they compute. */
#include "double_pendulum_ros2/inverse_dynamics.hpp"
#include "user.cpp"

#include <cstdio>
#include <stdexcept>

static void show(const Eigen::VectorXd &x)
{
    for (const double number : x)
        std::printf("%.17g ", number);
}

int main()
{
    const double_pendulum_ros2::InverseDynamics solver;
    const Eigen::VectorXd q = Eigen::Vector2d(0.3, -0.7), v = Eigen::Vector2d(0.1, 0.2), a = Eigen::Vector2d(-1.0, 0.5);
    const Eigen::MatrixXd M = solver.getInertiaMatrix(q);
    show(solver.getTorques(q, v, a));
    show(M * a + solver.getCoriolisVector(q, v) + solver.getGravityVector(q) + solver.getFrictionVector(v));
    try {
        (void)solver.getGravityVector(Eigen::VectorXd::Zero(3));
    } catch (const std::invalid_argument &error) {
        std::printf("\n%s\n", error.what());
    }

    Swinging controller;
    double state[4] = {0.3, 0.1, -0.7, 0.2}, effort[2] = {9.0, 9.0};
    bool good = controller.on_init() == controller_interface::CallbackReturn::SUCCESS;
    good = good && controller.on_activate({}) == controller_interface::CallbackReturn::ERROR; /* there are no interfaces yet */
    for (double &number : state)
        controller.state_interfaces_.push_back({&number});
    for (double &number : effort)
        controller.command_interfaces_.push_back({&number});
    good = good && controller.on_activate({}) == controller_interface::CallbackReturn::SUCCESS;
    good = good && controller.update({}, {0.1}) == controller_interface::return_type::OK;
    for (const auto &names : {controller.state_interface_configuration().names, controller.command_interface_configuration().names})
        for (const std::string &name : names)
            std::printf("%s ", name.c_str());
    std::printf("\n%.17g %.17g\n", effort[0], effort[1]);
    state[0] = std::nan("");
    good = good && controller.update({}, {0.1}) == controller_interface::return_type::ERROR;
    good = good && controller.on_deactivate({}) == controller_interface::CallbackReturn::SUCCESS && effort[0] == 0.0;
    return good ? 0 : 1;
}
