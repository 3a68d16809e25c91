/* Declarations for tests, with the signatures of ros2_control's own header, which no package of Python or Debian has. */
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rclcpp {
struct Time {};
struct Duration {
    double length;
    double seconds() const { return length; }
};
struct Parameter {
    double number;
    double as_double() const { return number; }
};
struct Node {
    std::map<std::string, double> numbers;
    Parameter get_parameter(const std::string &name) const { return {numbers.at(name)}; }
};
} // namespace rclcpp

namespace rclcpp_lifecycle {
struct State {};
} // namespace rclcpp_lifecycle

namespace hardware_interface {
struct Loaned {
    double *number;
#ifdef OLDER_ROS
    double get_value() const { return *number; }
    void set_value(double value) { *number = value; }
#else
    template <class T = double>
    std::optional<T> get_optional() const { return *number; }
    [[nodiscard]] bool set_value(double value) { *number = value; return true; }
#endif
};
} // namespace hardware_interface

namespace controller_interface {

enum class CallbackReturn { SUCCESS, FAILURE, ERROR };
enum class return_type { OK, ERROR };
enum class interface_configuration_type { ALL, INDIVIDUAL, NONE };

struct InterfaceConfiguration {
    interface_configuration_type type;
    std::vector<std::string> names;
};

class ControllerInterface {
public:
    virtual ~ControllerInterface() = default;
    virtual CallbackReturn on_init() = 0;
    virtual InterfaceConfiguration command_interface_configuration() const = 0;
    virtual InterfaceConfiguration state_interface_configuration() const = 0;
    virtual CallbackReturn on_activate(const rclcpp_lifecycle::State &) { return CallbackReturn::SUCCESS; }
    virtual CallbackReturn on_deactivate(const rclcpp_lifecycle::State &) { return CallbackReturn::SUCCESS; }
    virtual return_type update(const rclcpp::Time &, const rclcpp::Duration &) = 0;
    std::shared_ptr<rclcpp::Node> get_node() const { return node_; }
    std::vector<hardware_interface::Loaned> command_interfaces_, state_interfaces_;

protected:
    template <class T>
    void auto_declare(const std::string &name, T value) { node_->numbers[name] = value; }

private:
    std::shared_ptr<rclcpp::Node> node_ = std::make_shared<rclcpp::Node>();
};

} // namespace controller_interface
