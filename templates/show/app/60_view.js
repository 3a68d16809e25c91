// The camera, the light, the floor, the buttons of the layers, and both colour schemes.

const grid = new T.GridHelper(8 * span, 64);
grid.rotation.x = Math.PI / 2;
const shade = new T.Mesh(new T.PlaneGeometry(8 * span, 8 * span), new T.ShadowMaterial({ opacity: 0.16 }));
shade.receiveShadow = true;
const sky = new T.HemisphereLight(0xffffff, 0xb8c0cc, 1.5), sun = new T.DirectionalLight(0xffffff, 2.2);
scene.add(grid, shade, sky, sun, sun.target);
sun.castShadow = true;
sun.shadow.mapSize.set(2048, 2048);
Object.assign(sun.shadow, { radius: 5, normalBias: 0.004 * span, bias: -0.0004 });
Object.assign(sun.shadow.camera, { left: -span, right: span, top: span, bottom: -span, near: 0.01, far: 8 * span });
if (renderer) {
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = T.PCFSoftShadowMap;
  renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
}
let mustDraw = true;

/** The box around what is drawn of the robot; hidden layers do not count. */
function boxAt(configuration) {
  pose(configuration);
  const box = new T.Box3();
  for (const object of hasShapes ? solids : layers.skeleton) box.expandByObject(object);
  return box.isEmpty() ? reach.clone() : box;
}

const lowest = floating ? 0 : Math.min(0, boxAt(neutral).min.z, boxAt(home).min.z);
const floor = feet.length ? 0 : lowest < -0.02 * span ? lowest - 0.06 * span : lowest;

function frameView() {
  const box = boxAt(q);
  if (!floating) box.expandByPoint(ORIGIN);
  const centre = box.getCenter(new T.Vector3()), radius = box.getSize(new T.Vector3()).length() / 2;
  const area = $("view").getBoundingClientRect();
  const half = Math.min(1, area.width / area.height) * Math.tan(camera.fov / 2 * Math.PI / 180);
  const away = new T.Vector3(1.15, -1.35, 0.55).normalize().multiplyScalar(1.08 * radius / Math.sin(Math.atan(half)));
  camera.position.copy(centre).add(away);
  orbit?.target.copy(centre);
  sun.position.copy(centre).add(new T.Vector3(0.9, -0.7, 2).multiplyScalar(span));
  sun.target.position.copy(centre);
  grid.position.set(0, 0, floor);
  shade.position.set(0, 0, floor + 1e-4 * span);
  mustDraw = true;
}

// ---- Layers

const shownLayers = new Set(hasShapes ? ["shapes"] : ["skeleton", "joint axes"]);
if (feet.length) shownLayers.add("contacts");
if (segments.length) shownLayers.add("distances");

function showLayers() {
  for (const [name, objects] of Object.entries(layers))
    for (const object of objects) object.visible = shownLayers.has(name);
  const ghost = hasShapes && (shownLayers.has("inertia") || shownLayers.has("skeleton"));
  for (const solid of solids) {
    const { material: look } = solid, opacity = look.userData.opacity;
    Object.assign(look, { transparent: ghost || opacity < 1, opacity: ghost ? 0.28 : opacity, depthWrite: !ghost, needsUpdate: true });
  }
  mustDraw = true;
}

for (const [name, objects] of Object.entries(layers)) {
  if (!objects.length) continue;
  $("layers").append(toggle(name, shownLayers.has(name), (pressed, button) => {
    pressed ? shownLayers.add(name) : shownLayers.delete(name);
    button.setAttribute("aria-pressed", pressed);
    showLayers();
  }));
}

/** Marks a body in the picture and in the table; null marks none. */
let markedBody = null;
function mark(body) {
  if (markedBody === body) return;
  markedBody = body;
  for (const row of document.querySelectorAll("#bodies tr")) row.classList.toggle("on", body !== null && +row.dataset.body === body);
  for (const solid of solids) {
    solid.userData.plain ??= solid.material;
    solid.material = body !== null && solid.userData.body === body ? material("#e69f00") : solid.userData.plain;
  }
  mustDraw = true;
}

// ---- Size and scheme

/** Whether the user has turned the robot. Until then it fills the view, also when the size of the view changes. */
let turned = false;
orbit?.addEventListener("start", () => { turned = true; });

function resize() {
  const area = $("view").getBoundingClientRect();
  renderer?.setSize(area.width, area.height, false);
  camera.aspect = area.width / area.height;
  camera.updateProjectionMatrix();
  if (!turned) frameView();
  mustDraw = true;
}
new ResizeObserver(resize).observe($("view"));
orbit?.addEventListener("change", () => { mustDraw = true; });

let scheme = new URLSearchParams(location.search).get("theme")
  ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

function setScheme(name) {
  scheme = name;
  document.documentElement.dataset.theme = name;
  Object.assign(grid.material, { vertexColors: false, transparent: true, opacity: 0.55, needsUpdate: true });
  grid.material.color.set(color("--grid"));
  sky.intensity = name === "dark" ? 1.1 : 1.5;
  mustDraw = true;
  for (const paint of painters) paint();
}
$("theme").onclick = () => setScheme(scheme === "dark" ? "light" : "dark");
