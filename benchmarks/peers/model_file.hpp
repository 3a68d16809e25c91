// Reads the robot and its states from text files of plain numbers, which pinocchio_cpp.py writes. The C++ drivers
// cannot use Pinocchio's own URDF reader: it is in the compiled library, which an -march=native program must not link.
#pragma once

#include <cmath>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "pinocchio/multibody.hpp"

namespace peers
{
struct State
{
  Eigen::VectorXd q, v, a, tau;
};

// Returns x, or throws if it is infinite or NaN, which JSON cannot express.
inline double finite(double x)
{
  if (!std::isfinite(x))
    throw std::runtime_error("a result is not a finite number");
  return x;
}

inline std::ifstream open_text(const std::string & path)
{
  std::ifstream file(path);
  if (!file)
    throw std::runtime_error(path + ": cannot be opened");
  return file;
}

inline double read_number(std::istream & in)
{
  double value;
  if (!(in >> value))
    throw std::runtime_error("a number is missing or malformed");
  return value;
}

template<class Matrix>
Matrix read_matrix(std::istream & in)
{
  Matrix m;
  for (Eigen::Index row = 0; row < m.rows(); ++row)
    for (Eigen::Index col = 0; col < m.cols(); ++col)
      m(row, col) = read_number(in);
  return m;
}

inline pinocchio::SE3 read_placement(std::istream & in)
{
  const Eigen::Matrix3d rotation = read_matrix<Eigen::Matrix3d>(in);
  return pinocchio::SE3(rotation, read_matrix<Eigen::Vector3d>(in));
}

// Returns the joint model of a type; the axis is used only for types whose names end in "Unaligned".
inline pinocchio::JointModel make_joint(const std::string & type, const Eigen::Vector3d & axis)
{
  using namespace pinocchio;
  if (type == "JointModelFreeFlyer") return JointModelFreeFlyer();
  if (type == "JointModelRX") return JointModelRX();
  if (type == "JointModelRY") return JointModelRY();
  if (type == "JointModelRZ") return JointModelRZ();
  if (type == "JointModelRevoluteUnaligned") return JointModelRevoluteUnaligned(axis);
  if (type == "JointModelRUBX") return JointModelRUBX();
  if (type == "JointModelRUBY") return JointModelRUBY();
  if (type == "JointModelRUBZ") return JointModelRUBZ();
  if (type == "JointModelRevoluteUnboundedUnaligned") return JointModelRevoluteUnboundedUnaligned(axis);
  if (type == "JointModelPX") return JointModelPX();
  if (type == "JointModelPY") return JointModelPY();
  if (type == "JointModelPZ") return JointModelPZ();
  if (type == "JointModelPrismaticUnaligned") return JointModelPrismaticUnaligned(axis);
  throw std::runtime_error("joint type " + type + " is not known to this driver");
}

// Reads a model. The file holds gravity (3), the number of joints, and one line per joint: the parent (0 is the world),
// the type, the axis (3), the placement in the parent joint's frame, then the mass, the centre of mass (3) and the
// inertia about it (xx xy yy xz yz zz), all in the joint's frame. A placement is a rotation (9, row by row) and a
// translation (3). The file then holds the number of frames, and one line per frame: the joint that carries it, its
// placement in the frame of this joint, and its number of rows as a contact, which is 3 for a point and 6 for a frame.
// In the model, frame 0 is the world, and frame k is the k-th frame of the file.
inline pinocchio::Model read_model(const std::string & path)
{
  std::ifstream in = open_text(path);
  pinocchio::Model model;
  model.name = "robot";
  model.gravity.linear() = read_matrix<Eigen::Vector3d>(in);
  const long count = static_cast<long>(read_number(in));
  for (long joint = 1; joint <= count; ++joint)
  {
    const auto parent = static_cast<pinocchio::JointIndex>(read_number(in));
    std::string type;
    in >> type;
    const Eigen::Vector3d axis = read_matrix<Eigen::Vector3d>(in);
    const pinocchio::SE3 placement = read_placement(in);
    const double mass = read_number(in);
    const Eigen::Vector3d com = read_matrix<Eigen::Vector3d>(in);
    const auto i = read_matrix<Eigen::Matrix<double, 6, 1>>(in);
    const pinocchio::JointIndex index = model.addJoint(
      parent, make_joint(type, axis), placement, "joint" + std::to_string(joint));
    model.appendBodyToJoint(
      index,
      pinocchio::Inertia(mass, com, pinocchio::Symmetric3(i[0], i[1], i[2], i[3], i[4], i[5])),
      pinocchio::SE3::Identity());
  }
  const long frames = static_cast<long>(read_number(in));
  for (long frame = 1; frame <= frames; ++frame)
  {
    const auto joint = static_cast<pinocchio::JointIndex>(read_number(in));
    const pinocchio::SE3 placement = read_placement(in);
    const auto type = read_number(in) == 3 ? pinocchio::SENSOR : pinocchio::OP_FRAME;
    model.addFrame(pinocchio::Frame("frame" + std::to_string(frame), joint, 0, placement, type));
  }
  return model;
}

// Reads states. The file holds the number of states, nq and nv, and one line per state: q, v, a and tau.
inline std::vector<State> read_states(const std::string & path, const pinocchio::Model & model)
{
  std::ifstream in = open_text(path);
  const auto count = static_cast<std::size_t>(read_number(in));
  if (read_number(in) != model.nq || read_number(in) != model.nv)
    throw std::runtime_error(path + ": sizes of q and v are not the model's");
  std::vector<State> states(count);
  for (State & state : states)
  {
    state = {Eigen::VectorXd(model.nq), Eigen::VectorXd(model.nv), Eigen::VectorXd(model.nv), Eigen::VectorXd(model.nv)};
    for (Eigen::VectorXd * part : {&state.q, &state.v, &state.a, &state.tau})
      for (double & x : *part)
        x = read_number(in);
  }
  return states;
}
} // namespace peers
