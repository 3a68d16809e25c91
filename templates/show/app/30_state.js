// The state of the robot, and what moves it: sliders of joints, the floor, and closed loops.

const q = new Float64Array(nq), v = new Float64Array(nv), still = new Float64Array(nv);

/** The coordinates of joints that have a slider: one for a joint with one coordinate, and one for each
 * velocity of the others. */
const coordinates = [];
for (const place of manifest.manifold) {
  if (floating && place.idx_v === 0) continue;
  const joint = manifest.joints.find((each) => each.name === place.name) ?? {};
  const single = place.nq === 1 && place.nv === 1;
  for (let k = 0; k < place.nv; k++) {
    const slides = place.kind === "slide" || (place.kind === "planar" && k < 2);
    const turn = single ? 2 * Math.PI : Math.PI, widest = slides ? 1 : turn, usual = slides ? 1 : Math.PI;
    const lower = Math.max(joint.lower ?? -usual, slides ? joint.lower ?? -1 : -widest);
    const upper = Math.min(joint.upper ?? usual, slides ? joint.upper ?? 1 : widest);
    coordinates.push({
      name: single ? place.name : `${place.name}.${k}`, joint: place.name, single, slides, place,
      at: place.idx_v + k, lower, upper: upper > lower ? upper : lower + 1, effort: joint.effort ?? null,
      unit: slides ? "m" : "rad", unitOfForce: slides ? "N" : "N m", value: 0,
    });
  }
}

/** The configuration at which every coordinate is 0. */
const neutral = Float64Array.from(data.neutral);
const home = Float64Array.from(neutral);
const target = new Float64Array(nq);

/** Writes the value of a coordinate into a configuration. */
function move(coordinate, value, configuration) {
  coordinate.value = value;
  const { place } = coordinate;
  if (coordinate.single) {
    configuration[place.idx_q] = value;
    return;
  }
  const step = new Float64Array(nv);
  for (const other of coordinates) if (other.place === place) step[other.at] = other.value;
  const moved = first("integrate", { q: neutral, v: step });
  for (let k = place.idx_q; k < place.idx_q + place.nq; k++) configuration[k] = moved[k];
}

/** The value that a slider shows for a configuration. */
function valueOf(coordinate, configuration) {
  if (coordinate.single) return configuration[coordinate.place.idx_q];
  return first("difference", { q0: neutral, q1: configuration })[coordinate.at];
}

for (const coordinate of coordinates) {
  const value = data.pose[coordinate.name] ?? Math.min(Math.max(0, coordinate.lower), coordinate.upper);
  if (coordinate.single) move(coordinate, value, home);
}
if (data.q) home.set(data.q);
q.set(home);
target.set(home);

// ---- Placements of the bodies, in the world

const atRest = bodies.map(() => null);
bodies.forEach((body, i) => {
  const own = { R: body.rotation, p: body.translation };
  atRest[i] = body.parent < 0 ? own : composed(atRest[body.parent], own);
});

function composed(outer, inner) {
  const rotated = (x) => outer.R.map((row) => row[0] * x[0] + row[1] * x[1] + row[2] * x[2]);
  const columns = [0, 1, 2].map((k) => rotated(inner.R.map((row) => row[k])));
  return {
    R: [0, 1, 2].map((i) => columns.map((column) => column[i])),
    p: rotated(inner.p).map((x, i) => x + outer.p[i]),
  };
}

/** The placement {R, p} of every body, by `frame_placement`; null for a body without a frame. */
function placements(configuration) {
  if (!has("frame_placement")) return atRest;
  const { R, p } = call("frame_placement", { q: configuration });
  return data.frames.map((k) => k < 0 ? null : {
    R: [0, 1, 2].map((i) => [R[9 * k + 3 * i], R[9 * k + 3 * i + 1], R[9 * k + 3 * i + 2]]),
    p: [p[3 * k], p[3 * k + 1], p[3 * k + 2]],
  });
}

/** The place {R, p} of an end of a contact in the world. */
function placeOf(end, placed) {
  const own = { R: end.rotation, p: end.translation };
  return end.body < 0 ? own : composed(placed[end.body], own);
}

// ---- Contacts: points that the floor can touch, among which are the corners of soles, and those that close loops

/** These points: the end and the arm of each, the radius of a sphere about it, and the place of its impulse among all. */
const feet = [];
let impulses = 0;
for (const contact of contacts) {
  const radius = data.radii[contact.name] ?? 0;
  for (const [k, arm] of contact.touches.entries())
    feet.push({ end: contact.ends[0], arm, radius, impulse: impulses + 3 * k });
  impulses += 3 * contact.touches.length || contact.rows;
}
const loops = contacts.filter((contact) => contact.ends.length === 2);

/** The point of a foot in the world. */
function pointOf(foot, placed) {
  const { R, p } = placeOf(foot.end, placed);
  return R.map((row, i) => row[0] * foot.arm[0] + row[1] * foot.arm[1] + row[2] * foot.arm[2] + p[i]);
}

/** Moves a floating base vertically, so that its lowest foot touches the floor. */
function settle(configuration) {
  if (!floating || !feet.length) return;
  const placed = placements(configuration);
  const heights = feet.map((foot) => pointOf(foot, placed)[2] - foot.radius);
  configuration[2] -= Math.min(...heights);
}

/** What is left to close the loops: positions, and rotation vectors where axes are aligned, in the world. */
function openings(configuration) {
  const placed = placements(configuration);
  return loops.flatMap((loop) => {
    const [one, other] = loop.ends.map((end) => placeOf(end, placed));
    const gap = one.p.map((x, i) => x - other.p[i]);
    if (loop.kind === "point") return gap;
    const turn = [0, 0, 0];
    for (let k = 0; k < 3; k++) {
      const a = one.R.map((row) => row[k]), b = other.R.map((row) => row[k]);
      turn[0] += (b[1] * a[2] - b[2] * a[1]) / 2;
      turn[1] += (b[2] * a[0] - b[0] * a[2]) / 2;
      turn[2] += (b[0] * a[1] - b[1] * a[0]) / 2;
    }
    return [...gap, ...turn];
  });
}

/** Closes the loops by Gauss-Newton steps in all coordinates but `held`, with numeric derivatives. */
function close(configuration, held) {
  if (!loops.length) return;
  for (let round = 0; round < 12; round++) {
    const gap = openings(configuration);
    if (Math.hypot(...gap) < 1e-12) return;
    const columns = [];
    for (let k = 0; k < nv; k++) {
      const step = new Float64Array(nv);
      step[k] = 1e-7;
      const moved = Float64Array.from(first("integrate", { q: configuration, v: step }));
      columns.push(k === held ? gap.map(() => 0) : openings(moved).map((x, i) => (x - gap[i]) / 1e-7));
    }
    const normal = gap.map((_, i) => gap.map((_, j) => columns.reduce((sum, c) => sum + c[i] * c[j], i === j ? 1e-12 : 0)));
    const weights = solved(normal, gap);
    const step = columns.map((column) => -column.reduce((sum, x, i) => sum + x * weights[i], 0));
    configuration.set(first("integrate", { q: configuration, v: step }));
  }
}

/** The solution of a small symmetric system, by elimination with pivots. */
function solved(matrix, right) {
  const rows = matrix.map((row, i) => [...row, right[i]]), n = rows.length;
  for (let k = 0; k < n; k++) {
    let best = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(rows[i][k]) > Math.abs(rows[best][k])) best = i;
    [rows[k], rows[best]] = [rows[best], rows[k]];
    if (rows[k][k] === 0) continue;
    for (let i = 0; i < n; i++) {
      if (i === k) continue;
      const factor = rows[i][k] / rows[k][k];
      for (let j = k; j <= n; j++) rows[i][j] -= factor * rows[k][j];
    }
  }
  return rows.map((row, k) => row[k] === 0 ? 0 : row[n] / row[k]);
}

if (!data.q) {
  close(q, -1);
  settle(q);
}
home.set(q);
target.set(q);
