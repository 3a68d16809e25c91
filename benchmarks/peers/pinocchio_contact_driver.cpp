// Times Pinocchio's contact dynamics, or prints the results; see report.hpp. The model's frames are the contacts.
// If Pinocchio has two ways to compute a result, both are timed.
#include "report.hpp"

#include "pinocchio/algorithm/compute-all-terms.hpp"
#include "pinocchio/algorithm/constrained-dynamics-derivatives.hpp"
#include "pinocchio/algorithm/constrained-dynamics.hpp"
#include "pinocchio/algorithm/contact-dynamics.hpp"
#include "pinocchio/algorithm/delassus.hpp"
#include "pinocchio/algorithm/frames.hpp"
#include "pinocchio/algorithm/impulse-dynamics.hpp"
#include "pinocchio/algorithm/jacobian.hpp"
#include "pinocchio/algorithm/kinematics.hpp"

#include <string>

namespace
{
using peers::Matrices;
using peers::Matrix;
using peers::Report;
using peers::State;
using pinocchio::Data;
using pinocchio::FrameIndex;
using pinocchio::Model;

constexpr double MU = 1e-8; // the same as for rbdgen
constexpr auto ALIGNED = pinocchio::LOCAL_WORLD_ALIGNED;

// The contacts. Their rows are stacked, and the linear rows of a contact come before its angular rows.
struct Contacts
{
  using Models = std::vector<pinocchio::RigidConstraintModel, Eigen::aligned_allocator<pinocchio::RigidConstraintModel>>;
  using Datas = std::vector<pinocchio::RigidConstraintData, Eigen::aligned_allocator<pinocchio::RigidConstraintData>>;

  explicit Contacts(const Model & model, pinocchio::ReferenceFrame axes)
  {
    for (FrameIndex k = 1; k < static_cast<FrameIndex>(model.nframes); ++k)
    {
      const pinocchio::Frame & frame = model.frames[k];
      const bool point = frame.type == pinocchio::SENSOR;
      models.emplace_back(
        point ? pinocchio::CONTACT_3D : pinocchio::CONTACT_6D, model, frame.parentJoint, frame.placement, axes);
      datas.emplace_back(models.back().createData());
      rows += models.back().residualSize();
    }
  }

  Eigen::VectorXd forces() const
  {
    Eigen::VectorXd all(rows);
    Eigen::Index first = 0;
    for (std::size_t k = 0; k < models.size(); ++k)
    {
      all.segment(first, models[k].residualSize()) = datas[k].contact_force.toVector().head(models[k].residualSize());
      first += models[k].residualSize();
    }
    return all;
  }

  Models models;
  Datas datas;
  Eigen::Index rows = 0;
};

// Calls each(frame, first, rows) for every contact, with its frame, its first row and the number of its rows.
template<class Each>
void each_contact(const Contacts & contacts, Each each)
{
  Eigen::Index first = 0;
  for (std::size_t k = 0; k < contacts.models.size(); ++k)
  {
    const Eigen::Index rows = contacts.models[k].residualSize();
    each(static_cast<FrameIndex>(k + 1), first, rows);
    first += rows;
  }
}

void kinematics(const Model & model, Data & data, Report & report)
{
  const Contacts contacts(model, ALIGNED);
  Matrix J = Matrix::Zero(contacts.rows, model.nv);
  Data::Matrix6x whole = Data::Matrix6x::Zero(6, model.nv);
  report.function(
    "contact_jacobian",
    [&](const State & s) {
      pinocchio::computeJointJacobians(model, data, s.q);
      each_contact(contacts, [&](FrameIndex frame, Eigen::Index first, Eigen::Index rows) {
        whole.setZero();
        pinocchio::getFrameJacobian(model, data, frame, ALIGNED, whole);
        J.middleRows(first, rows) = whole.topRows(rows);
      });
    },
    [&] { return Matrices{J}; });

  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(model.nv);
  Matrix velocity(1, contacts.rows), drift(1, contacts.rows);
  report.function(
    "contact_motion",
    [&](const State & s) {
      pinocchio::forwardKinematics(model, data, s.q, s.v, zero);
      each_contact(contacts, [&](FrameIndex frame, Eigen::Index first, Eigen::Index rows) {
        velocity.row(0).segment(first, rows) =
          pinocchio::getFrameVelocity(model, data, frame, ALIGNED).toVector().head(rows).transpose();
        drift.row(0).segment(first, rows) =
          pinocchio::getFrameClassicalAcceleration(model, data, frame, ALIGNED).toVector().head(rows).transpose();
      });
    },
    [&] { return Matrices{velocity, drift}; });
}

// The linear rows of 6D contacts are spatial accelerations, which differ from rbdgen's rows if the frame moves.
void forward(const Model & model, Data & data, const char * axes_name, pinocchio::ReferenceFrame axes, Report & report)
{
  Contacts contacts(model, axes);
  pinocchio::initConstraintDynamics(model, data, contacts.models, contacts.datas);
  pinocchio::ProximalSettings once(1e-12, MU, 1);
  const auto named = [&](const char * name) { return std::string(name) + ":" + axes_name; };
  report.function(
    named("contact_aba").c_str(),
    [&](const State & s) {
      pinocchio::constraintDynamics(model, data, s.q, s.v, s.tau, contacts.models, contacts.datas, once);
    },
    [&] { return Matrices{data.ddq, contacts.forces()}; });
  report.function(
    named("contact_aba_derivatives").c_str(),
    [&](const State & s) {
      pinocchio::constraintDynamics(model, data, s.q, s.v, s.tau, contacts.models, contacts.datas, once);
      pinocchio::computeConstraintDynamicsDerivatives(model, data, contacts.models, contacts.datas, once);
    },
    [&] {
      return Matrices{data.ddq_dq,     data.ddq_dv,     data.ddq_dtau,
                      data.dlambda_dq, data.dlambda_dv, data.dlambda_dtau};
    });
  report.function(
    named("contact_impulse").c_str(),
    [&](const State & s) {
      pinocchio::impulseDynamics(model, data, s.q, s.v, contacts.models, contacts.datas, 0.0, once);
    },
    [&] { return Matrices{data.dq_after}; });
  Eigen::MatrixXd G(contacts.rows, contacts.rows);
  report.function(
    named("delassus").c_str(),
    [&](const State & s) {
      pinocchio::computeDelassusMatrix(model, data, s.q, contacts.models, contacts.datas, G, 0.0);
    },
    [&] { return Matrices{G}; });
}

// Computes contact forces from the contact Jacobian and its drift.
void forces(const Model & model, Data & data, Report & report)
{
  const Contacts contacts(model, ALIGNED);
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(model.nv);
  Eigen::MatrixXd J = Eigen::MatrixXd::Zero(contacts.rows, model.nv);
  Eigen::VectorXd drift(contacts.rows);
  Data::Matrix6x whole = Data::Matrix6x::Zero(6, model.nv);
  report.function(
    "contact_forces",
    [&](const State & s) {
      pinocchio::forwardKinematics(model, data, s.q, s.v, zero);
      each_contact(contacts, [&](FrameIndex frame, Eigen::Index first, Eigen::Index rows) {
        drift.segment(first, rows) =
          pinocchio::getFrameClassicalAcceleration(model, data, frame, ALIGNED).toVector().head(rows);
      });
      pinocchio::computeAllTerms(model, data, s.q, s.v);
      each_contact(contacts, [&](FrameIndex frame, Eigen::Index first, Eigen::Index rows) {
        whole.setZero();
        pinocchio::getFrameJacobian(model, data, frame, ALIGNED, whole);
        J.middleRows(first, rows) = whole.topRows(rows);
      });
      pinocchio::forwardDynamics(model, data, s.tau, J, drift, MU);
    },
    [&] { return Matrices{data.lambda_c}; });
}

void functions(const Model & model, Report & report)
{
  Data data(model);
  kinematics(model, data, report);
  forward(model, data, "own axes", pinocchio::LOCAL, report);
  forward(model, data, "world axes", ALIGNED, report);
  forces(model, data, report);
}
} // namespace

int main(int argc, char ** argv)
{
  return peers::drive(argc, argv, functions);
}
