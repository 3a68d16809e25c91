// Times the distances of Pinocchio with coal, and their gradients, or prints them; see report.hpp.
//   DRIVER SHAPES MODEL STATES (time SECONDS | values)
// The gradient of a pair comes from coal's nearest points and Pinocchio's Jacobians of joints, on the path between both
// bodies alone, as a C++ program would write it. coal is a compiled library, so this file must be compiled with the
// alignment of Eigen's matrices that the library has.
#define PINOCCHIO_WITH_HPP_FCL
#define PINOCCHIO_WITH_COLLISION

#include "report.hpp"

#include "pinocchio/algorithm/geometry.hpp"
#include "pinocchio/algorithm/jacobian.hpp"
#include "pinocchio/collision/distance.hpp"

#include <coal/shape/geometric_shapes.h>

#include <memory>

namespace
{
using peers::Matrices;
using peers::Matrix;
using peers::State;

// Reads the shapes, which distances.py writes: their number; for each the joint, the radius, half the length of the
// axis, which is 0 for a sphere, and the placement in the joint; then the number of pairs, and two shapes for each.
pinocchio::GeometryModel read_shapes(const std::string & path)
{
  std::ifstream in = peers::open_text(path);
  pinocchio::GeometryModel shapes;
  const long count = static_cast<long>(peers::read_number(in));
  for (long k = 0; k < count; ++k)
  {
    const auto joint = static_cast<pinocchio::JointIndex>(peers::read_number(in));
    const double radius = peers::read_number(in);
    const double half = peers::read_number(in);
    std::shared_ptr<coal::CollisionGeometry> shape;
    if (half > 0)
      shape = std::make_shared<coal::Capsule>(radius, 2 * half);
    else
      shape = std::make_shared<coal::Sphere>(radius);
    const pinocchio::SE3 placement = peers::read_placement(in);
    shapes.addGeometryObject(pinocchio::GeometryObject("shape" + std::to_string(k), joint, 0, placement, shape));
  }
  const long pairs = static_cast<long>(peers::read_number(in));
  for (long k = 0; k < pairs; ++k)
  {
    const auto first = static_cast<pinocchio::GeomIndex>(peers::read_number(in));
    const auto second = static_cast<pinocchio::GeomIndex>(peers::read_number(in));
    shapes.addCollisionPair(pinocchio::CollisionPair(first, second));
  }
  return shapes;
}

// Fills the gradients of all distances, one per row. The columns of joints that do not move a pair stay as they are.
void gradients(
  const pinocchio::Model & model,
  const pinocchio::Data & data,
  const pinocchio::GeometryModel & shapes,
  const pinocchio::GeometryData & found,
  Matrix & J)
{
  for (std::size_t k = 0; k < shapes.collisionPairs.size(); ++k)
  {
    const auto & pair = shapes.collisionPairs[k];
    const coal::DistanceResult & result = found.distanceResults[k];
    // The normal points from the first to the second, so moving the first along it lowers the distance.
    Eigen::Matrix<double, 6, 1> wrench;
    wrench << -result.normal, -result.nearest_points[0].cross(result.normal);
    pinocchio::JointIndex first = shapes.geometryObjects[pair.first].parentJoint;
    pinocchio::JointIndex second = shapes.geometryObjects[pair.second].parentJoint;
    while (first != second)
    {
      const bool is_first = first > second;
      pinocchio::JointIndex & joint = is_first ? first : second;
      const int start = model.joints[joint].idx_v();
      for (int v = start; v < start + model.joints[joint].nv(); ++v)
      {
        const double rate = wrench.dot(data.J.col(v));
        J(static_cast<Eigen::Index>(k), v) = is_first ? rate : -rate;
      }
      joint = model.parents[joint];
    }
  }
}

void functions(const pinocchio::Model & model, const pinocchio::GeometryModel & shapes, peers::Report & report)
{
  pinocchio::Data data(model);
  pinocchio::GeometryData found(shapes);
  const auto pairs = static_cast<Eigen::Index>(shapes.collisionPairs.size());
  Matrix J = Matrix::Zero(pairs, model.nv);
  const auto distances = [&] {
    Matrix d(pairs, 1);
    for (Eigen::Index k = 0; k < pairs; ++k)
      d(k, 0) = found.distanceResults[static_cast<std::size_t>(k)].min_distance;
    return d;
  };

  report.function(
    "distances", [&](const State & s) { pinocchio::computeDistances(model, data, shapes, found, s.q); },
    [&] { return Matrices{distances()}; });
  report.function(
    "distances_and_gradients",
    [&](const State & s) {
      pinocchio::computeJointJacobians(model, data, s.q);
      pinocchio::updateGeometryPlacements(model, data, shapes, found);
      pinocchio::computeDistances(shapes, found);
      gradients(model, data, shapes, found, J);
    },
    [&] { return Matrices{distances(), J}; });
}
} // namespace

int main(int argc, char ** argv)
{
  if (argc < 3)
  {
    std::fprintf(stderr, "usage: %s SHAPES MODEL STATES (time SECONDS | values)\n", argv[0]);
    return 2;
  }
  const std::string path = argv[1];
  return peers::drive(argc - 1, argv + 1, [&](const pinocchio::Model & model, peers::Report & report) {
    functions(model, read_shapes(path), report);
  });
}
