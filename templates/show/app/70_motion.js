// Motion by steps of the generated functions, and the sliders of the joints.

let mode = "pose", time = 0;
const torque = new Float64Array(nv), forces = new Float64Array(3 * feet.length);
const DT = 1e-3;
const FRICTION = 0.8;
const withContacts = has("contact_step_servo"), withLoops = has("contact_aba");
const moves = withContacts || withLoops || has("step_rk4");

// ---- Sliders

const sliders = coordinates.map((coordinate) => {
  const value = element("span", { className: "value" }, element("b"), element("span"));
  const slider = element("input", {
    type: "range", min: coordinate.lower, max: coordinate.upper, step: (coordinate.upper - coordinate.lower) / 2000,
    value: valueOf(coordinate, q), ariaLabel: `${coordinate.name}, ${coordinate.unit}`,
  });
  const fill = element("i"), body = bodies.findIndex((each) => each.joint === coordinate.joint);
  const head = element("div", { className: "row" },
    element("span", { className: "name", text: coordinate.name, title: coordinate.name }), value);
  const row = element("div", { className: "joint" }, head, slider, element("div", { className: "bar" }, fill));
  slider.oninput = () => {
    move(coordinate, +slider.value, target);
    if (mode !== "pose") return;
    move(coordinate, +slider.value, q);
    close(q, coordinate.at);
    settle(q);
    refresh();
  };
  slider.ondblclick = () => {
    slider.value = valueOf(coordinate, home);
    slider.oninput();
  };
  row.onmouseenter = () => mark(body);
  row.onmouseleave = () => mark(null);
  $("joints").append(row);
  return { coordinate, value, slider, fill };
});

function showJoints() {
  for (const { coordinate, value, slider, fill } of sliders) {
    const now = valueOf(coordinate, q), size = torque[coordinate.at], limit = coordinate.effort;
    const part = limit ? 50 * Math.min(1, Math.abs(size) / limit) : 0;
    value.firstChild.textContent = `${decimals(now, 3)} ${coordinate.unit}`;
    value.lastChild.textContent = `${decimals(size, 2)} ${coordinate.unitOfForce}`;
    value.title = limit ? `the limit is ${digits(limit)} ${coordinate.unitOfForce}` : "the description has no limit";
    fill.style.cssText = `width:${part}%;left:${size < 0 ? 50 - part : 50}%`;
    fill.className = size < 0 ? "negative" : "";
    if (mode !== "hold" && document.activeElement !== slider) slider.value = now;
  }
}

// ---- Steps

const MODES = { pose: "Pose" };
if (moves) Object.assign(MODES, { free: withContacts ? "Motors off" : "Free motion", hold: "Hold the pose" });

const log = { time: [], kinetic: [], potential: [], total: [], change: [] };
let energyAtStart = 0;
const kinetic = () => first("kinetic_energy", { q, v })[0];
const potential = () => first("potential_energy", { q })[0];

function restart() {
  time = 0;
  for (const values of Object.values(log)) values.length = 0;
  energyAtStart = kinetic() + potential();
}

function note() {
  const k = kinetic(), p = potential();
  const values = { time, kinetic: k, potential: p, total: k + p, change: k + p - energyAtStart };
  for (const [name, value] of Object.entries(values)) {
    log[name].push(value);
    if (log[name].length > 2400) log[name].splice(0, 400);
  }
}

/** The torques of the computed-torque method, which pull the robot to the positions of the sliders. */
function computedTorque() {
  const apart = Float64Array.from(first("difference", { q0: q, q1: target }));
  const wanted = apart.map((x, i) => Math.max(-60, Math.min(60, 64 * x - 16 * v[i])));
  return first("rnea", { q, v, a: wanted });
}

/** Gains of the servos, by the weight and the size of the robot. */
const stiffness = 0.9 * gravity * totalMass * span, damping = 0.045 * stiffness;

function contactStep(dt) {
  const on = mode === "hold" ? 1 : 0, angles = coordinates.filter((each) => each.single);
  const out = call("contact_step_servo", {
    q, v, dt, friction: FRICTION, kp: on * stiffness, kd: on * damping,
    target: angles.map((each) => target[each.place.idx_q]),
  });
  feet.forEach((foot, k) => { for (let i = 0; i < 3; i++) forces[3 * k + i] = out.impulse[foot.impulse + i] / dt; });
  for (const each of angles) {
    const reached = target[each.place.idx_q] - out.q_next[each.place.idx_q];
    torque[each.at] = on * (stiffness * reached - damping * out.v_next[each.at]);
  }
  q.set(out.q_next);
  v.set(out.v_next);
}

/** A step of the semi-implicit Euler method with loops that stay closed: contact_aba gives the accelerations,
 * and contact_impulse the velocities after the loops are closed again. */
function loopStep(dt) {
  torque.set(mode === "hold" ? computedTorque() : still);
  const accelerations = call("contact_aba", { q, v, tau: torque, mu: 1e-9 });
  const a = accelerations[functions.contact_aba.outputs.find((output) => output.kind === "acceleration").name];
  for (let i = 0; i < nv; i++) v[i] += dt * a[i];
  q.set(first("integrate", { q, v: v.map((x) => dt * x) }));
  close(q, -1);
  const after = functions.contact_impulse.outputs.find((output) => output.kind === "velocity").name;
  v.set(call("contact_impulse", { q, v, mu: 1e-9 })[after]);
}

function step(dt) {
  if (withContacts) contactStep(dt);
  else if (withLoops) loopStep(dt);
  else {
    torque.set(mode === "hold" ? computedTorque() : still);
    const out = call("step_rk4", { q, v, tau: torque, dt });
    q.set(out.q_next);
    v.set(out.v_next);
  }
  time += dt;
}

const SAID = {
  pose: () => moves ? `Press “${MODES.free}” on the robot above. ` : "",
  free: () => withLoops ? "No torques act. Steps of 1 ms keep the loops closed by contact_aba and contact_impulse." : withContacts
    ? `No torques act. contact_step_servo takes steps of 1 ms: contacts open, stick and slide by Coulomb's law with a coefficient of ${FRICTION}. Nothing but these contacts touches the floor, and limits do not stop the joints.`
    : "No torques and no friction act, so that the total energy stays as it is but for the error of step_rk4, which takes steps of 1 ms. Limits do not stop the joints.",
  hold: () => withContacts ? "Servos in the joints pull to the sliders; move one." : "The computed torque (rnea) pulls to the sliders; move one.",
};
const BARS = {
  pose: `The bars show the torque against gravity${floating ? ", of the robot in the air," : ""} relative to the joint's limit.`,
  free: "No torque acts.", hold: "The bars show the torque that acts relative to the joint's limit.",
};

function setMode(name) {
  mode = name;
  for (const button of $("modes").children) button.setAttribute("aria-pressed", button.dataset.mode === name);
  if (name === "pose") {
    v.fill(0);
    forces.fill(0);
  } else {
    restart();
  }
  if (name === "hold") {
    target.set(q);
    for (const { coordinate, slider } of sliders) slider.value = coordinate.value = valueOf(coordinate, q);
  }
  $("motion-lead").textContent = SAID[name]();
  const by = ` The generated code computes it in this page, as ${data.engine}.`;
  $("bar-note").textContent = BARS[name] + by;
  refresh();
}

for (const [name, text] of Object.entries(MODES)) {
  const button = toggle(text, false, () => setMode(name));
  button.dataset.mode = name;
  $("modes").append(button);
}
$("reset").onclick = () => {
  q.set(home);
  target.set(home);
  v.fill(0);
  frameView();
  setMode("pose");
};

/** Shows the state everywhere. */
function refresh() {
  if (mode === "pose" && has("gravity")) torque.set(first("gravity", { q }));
  if (mode === "free") torque.fill(0);
  pose(q);
  showJoints();
  if (has("com")) middle.position.set(...first("com", { q }));
  drawForces(q, forces);
  drawDistances(q);
  drawMatrices();
  mustDraw = true;
}
