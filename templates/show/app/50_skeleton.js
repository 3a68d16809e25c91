// What is drawn from the tree and the inertias alone: the skeleton, axes, frames, ellipsoids and contacts.

pose(q);
const reach = new T.Box3();
for (const [i, body] of bodies.entries()) {
  reach.expandByPoint(new T.Vector3().setFromMatrixPosition(nodes[i].matrixWorld));
  const middle = data.ellipsoids[i]?.com;
  if (!middle) continue;
  const isLeaf = !bodies.some((other) => other.parent === i);
  reach.expandByPoint(new T.Vector3(...middle).multiplyScalar(isLeaf ? 2 : 1).applyMatrix4(nodes[i].matrixWorld));
}
for (const solid of solids) reach.expandByObject(solid);

/** The size of the robot, and the thickness of lines in its picture, in m. */
const span = Math.max(reach.getSize(new T.Vector3()).length(), 0.05), thick = 0.014 * span;
const ORIGIN = new T.Vector3(), UP = new T.Vector3(0, 1, 0);

function rod(parent, to, radius, hue) {
  const length = to.length();
  if (length < 1e-6) return;
  const mesh = new T.Mesh(new T.CapsuleGeometry(radius, length, 6, 20), material(hue));
  mesh.position.copy(to).multiplyScalar(0.5);
  mesh.quaternion.setFromUnitVectors(UP, to.clone().normalize());
  add("skeleton", parent, mesh);
}

const onTop = (hue) => new T.MeshBasicMaterial({ color: hue, depthTest: false, transparent: true });

function drawJoint(node, body) {
  const axis = new T.Vector3(...body.axis);
  if (axis.length() < 0.5) return;
  const slides = /prismatic/.test(body.kind);
  const shape = slides ? new T.BoxGeometry(2.2 * thick, 3.4 * thick, 2.2 * thick)
    : new T.CylinderGeometry(1.65 * thick, 1.65 * thick, 3.2 * thick, 28);
  const mesh = new T.Mesh(shape, material("#59616e"));
  mesh.quaternion.setFromUnitVectors(UP, axis);
  add("skeleton", node, mesh);
  const ends = [-9, 9].map((side) => axis.clone().multiplyScalar(side * thick));
  const line = new T.Line(new T.BufferGeometry().setFromPoints(ends), new T.LineBasicMaterial({ color: "#d55e00", depthTest: false }));
  line.renderOrder = 3;
  add("joint axes", node, line);
}

function drawInertia(node, ellipsoid, hue) {
  const group = placed({ R: ellipsoid.R, p: ellipsoid.com });
  const look = new T.MeshStandardMaterial({ color: hue, transparent: true, opacity: 0.5, roughness: 0.9, depthWrite: false });
  const ball = new T.Mesh(new T.SphereGeometry(1, 32, 20), look);
  ball.scale.set(...ellipsoid.radii);
  group.add(ball);
  add("inertia", node, group, false);
  const dot = new T.Mesh(new T.SphereGeometry(0.6 * thick, 16, 12), onTop("#d55e00"));
  dot.position.set(...ellipsoid.com);
  dot.renderOrder = 4;
  add("centre of mass", node, dot, false);
}

for (const [i, body] of bodies.entries()) {
  const node = nodes[i], hue = hueOf(i), ellipsoid = data.ellipsoids[i];
  const children = bodies.filter((other) => other.parent === i);
  const ends = contacts.flatMap((contact) => contact.ends).filter((end) => end.body === i);
  if (body.kind === "floating" && ellipsoid) { // a base: the solid box of the same inertia
    const box = placed({ R: ellipsoid.R, p: ellipsoid.com });
    const sides = ellipsoid.radii.map((radius) => 2 * radius * Math.sqrt(3 / 5));
    box.add(new T.Mesh(new T.BoxGeometry(...sides), material(hue)));
    add("skeleton", node, box);
  } else for (const child of children) rod(node, new T.Vector3(...child.translation), thick, hue);
  for (const end of ends) rod(node, new T.Vector3(...end.translation), 0.85 * thick, hue);
  if (!children.length && !ends.length && ellipsoid)
    rod(node, new T.Vector3(...ellipsoid.com).multiplyScalar(2), 0.85 * thick, hue);
  if (body.axis) drawJoint(node, body);
  if (ellipsoid) drawInertia(node, ellipsoid, hue);
}

const middle = new T.Mesh(new T.SphereGeometry(1.1 * thick, 20, 14), onTop("#cc79a7"));
middle.renderOrder = 5;
add("centre of mass", scene, middle, false);

for (const link of data.links) {
  const axes = new T.AxesHelper(7 * thick), group = placed(link);
  axes.material.depthTest = false;
  axes.renderOrder = 2;
  group.add(axes);
  add("frames", nodeOf(link.body), group, false);
}

/** A ball at each point that the floor can touch, with an arrow for its force. */
const arrows = feet.map(() => {
  const group = new T.Group(), look = onTop("#009e73");
  const stem = new T.Mesh(new T.CylinderGeometry(0.32 * thick, 0.32 * thick, 1, 12).translate(0, 0.5, 0), look);
  const ball = new T.Mesh(new T.SphereGeometry(0.9 * thick, 20, 14), look);
  group.add(stem, ball);
  group.renderOrder = 4;
  add("contacts", scene, group, false);
  return { group, stem, look };
});

/** Moves the arrows to these points; `forces` has a force in N for each, in world axes. */
function drawForces(configuration, forces) {
  const placed = placements(configuration);
  feet.forEach((foot, k) => {
    const { group, stem, look } = arrows[k];
    group.position.set(...pointOf(foot, placed));
    const force = new T.Vector3(forces[3 * k], forces[3 * k + 1], forces[3 * k + 2]), size = force.length();
    stem.visible = size > 1e-6 * totalMass;
    look.color.set(stem.visible ? "#009e73" : "#8a93a1");
    if (!stem.visible) return;
    stem.scale.set(1, 0.55 * span * Math.min(size / (gravity * totalMass), 2), 1);
    stem.quaternion.setFromUnitVectors(UP, force.normalize());
  });
}
