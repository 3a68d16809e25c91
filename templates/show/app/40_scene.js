// The robot in 3D: its shapes on nodes that follow the placements of the bodies.

// three.js is a quarter of its size while it is packed.
const T = new Function(`${new TextDecoder().decode(await unpacked("b-three"))}\nreturn THREE;`)();
const scene = new T.Scene(), world = new T.Group();
scene.add(world);
const camera = new T.PerspectiveCamera(36, 1, 0.01, 200);
camera.up.set(0, 0, 1);

let renderer = null;
try {
  renderer = new T.WebGLRenderer({ canvas: $("canvas"), antialias: true, alpha: true, preserveDrawingBuffer: true });
} catch {
  $("canvas").remove();
  const told = "This browser has no WebGL, so that the robot is not drawn. Everything else works.";
  $("view").prepend(element("p", { className: "no-webgl", text: told }));
}
const orbit = renderer && new T.OrbitControls(camera, renderer.domElement);

/** The hues by Okabe and Ito, which people with any colour vision can tell apart. */
const HUES = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#8c8c00", "#7a7a7a"];
const hueOf = (body) => body < 0 ? "#9aa3b0" : HUES[body % HUES.length];

/** What can be drawn, by the name on its button. */
const layers = {
  shapes: [], skeleton: [], "joint axes": [], frames: [], inertia: [], "centre of mass": [], contacts: [], distances: [],
};

const matrixOf = ({ R, p }) => new T.Matrix4().set(
  R[0][0], R[0][1], R[0][2], p[0], R[1][0], R[1][1], R[1][2], p[1], R[2][0], R[2][1], R[2][2], p[2], 0, 0, 0, 1);

/** A group at a fixed place. */
function placed(place) {
  const group = new T.Group();
  matrixOf(place).decompose(group.position, group.quaternion, group.scale);
  return group;
}

const nodes = bodies.map(() => {
  const node = new T.Group();
  node.matrixAutoUpdate = false;
  world.add(node);
  return node;
});
const nodeOf = (body) => body < 0 ? world : nodes[body];

/** Moves the nodes to the placements of a configuration. */
function pose(configuration) {
  placements(configuration).forEach((place, i) => {
    nodes[i].visible = place !== null;
    if (place) nodes[i].matrix.copy(matrixOf(place));
  });
  world.updateMatrixWorld(true);
}

const materials = new Map();

/** The material of a colour, shared by all that has it. */
function material(hue, opacity = 1) {
  const key = `${hue}/${opacity}`;
  if (!materials.has(key)) {
    const made = new T.MeshStandardMaterial({ color: hue, roughness: 0.62, metalness: 0.08 });
    Object.assign(made, { transparent: opacity < 1, opacity });
    made.userData.opacity = opacity;
    materials.set(key, made);
  }
  return materials.get(key);
}

function add(layer, parent, object, shadow = true) {
  object.traverse((part) => { if (part.isMesh) part.castShadow = part.receiveShadow = shadow; });
  parent.add(object);
  layers[layer].push(object);
  return object;
}

// ---- Shapes of the description

const blob = data.meshes.length ? await unpacked("b-meshes") : new Uint8Array();

/** The triangles of a part of a mesh, whose positions are numbers of 16 bits within its box. */
function geometryOf(part) {
  const [offset, count] = part.v, [place, length, bytes] = part.f;
  const coded = new Uint16Array(blob.buffer, offset, 3 * count);
  const positions = Float32Array.from(coded, (x, i) => part.lo[i % 3] + x / 65535 * part.size[i % 3]);
  const Index = bytes === 2 ? Uint16Array : Uint32Array;
  const geometry = new T.BufferGeometry();
  geometry.setAttribute("position", new T.BufferAttribute(positions, 3));
  geometry.setIndex(new T.BufferAttribute(new Index(blob.buffer, place, length), 1));
  return T.toCreasedNormals(geometry, 0.7);
}
const meshes = data.meshes.map((parts) => parts.map((part) => ({ geometry: geometryOf(part), color: part.color })));

const hex = (rgb) => "#" + rgb.slice(0, 3)
  .map((x) => Math.round(255 * Math.min(1, Math.max(0, x))).toString(16).padStart(2, "0")).join("");

const primitives = {
  box: ([x, y, z]) => new T.BoxGeometry(x, y, z),
  sphere: ([r]) => new T.SphereGeometry(r, 32, 20),
  ellipsoid: ([x, y, z]) => new T.SphereGeometry(1, 32, 20).scale(x, y, z),
  cylinder: ([r, length]) => new T.CylinderGeometry(r, r, length, 36).rotateX(Math.PI / 2),
  capsule: ([r, length]) => new T.CapsuleGeometry(r, length, 8, 24).rotateX(Math.PI / 2),
};

/** All meshes of shapes; `userData.body` is the body that carries one. */
const solids = [];
for (const link of data.links) {
  const carrier = placed(link);
  nodeOf(link.body).add(carrier);
  for (const shape of link.shapes) {
    const holder = placed(shape), hue = shape.color ? hex(shape.color) : "#c9ced6", opacity = shape.color?.[3] ?? 1;
    if (shape.kind === "mesh") {
      holder.scale.set(...shape.scale);
      for (const part of meshes[shape.mesh])
        holder.add(new T.Mesh(part.geometry, material(part.color ? hex(part.color) : hue, opacity)));
    } else if (shape.kind in primitives) {
      holder.add(new T.Mesh(primitives[shape.kind](shape.size), material(hue, opacity)));
    }
    holder.traverse((part) => {
      if (!part.isMesh) return;
      part.userData.body = link.body;
      solids.push(part);
    });
    add("shapes", carrier, holder);
  }
}
const hasShapes = solids.length > 0;
