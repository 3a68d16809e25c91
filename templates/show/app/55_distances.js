// Distances of pairs of capsules, computed by distance_witness: capsules, the segments between nearest points, and a table.

const pairs = has("distance_witness") ? manifest.distance_pairs : { pairs: [], capsules: [] };

/** Distances in m below which a pair counts as near, and above which it is one of an obstacle that is not there. */
const NEAR = 0.08 * span, AWAY = 1e5;

/** The largest numbers of pairs in the picture and in the table, the nearest ones. */
const MOST_DRAWN = 8, MOST_LISTED = 60;

/** What is said of a distance, with its mark and its hue in the picture and in the table. */
const LEVELS = [
  { below: 0, said: "overlap", mark: "▲", hue: "#d55e00", name: "--negative" },
  { below: NEAR, said: `closer than ${digits(1000 * NEAR, 2)} mm`, mark: "◆", hue: "#e69f00", name: "--near" },
  { below: Infinity, said: "farther apart", mark: "●", hue: "#0072b2", name: "--positive" },
];
const levelOf = (distance) => LEVELS.find((level) => distance < level.below);

/** The pairs, nearest first, each with its name, its distance in m, and the nearest points of both in the world. */
function measured(configuration) {
  if (!pairs.pairs.length) return [];
  const { points, normal } = call("distance_witness", { q: configuration });
  const found = pairs.pairs.map((name, k) => {
    const ends = [6 * k, 6 * k + 3].map((at) => Array.from(points.subarray(at, at + 3)));
    const distance = [0, 1, 2].reduce((sum, i) => sum + (ends[0][i] - ends[1][i]) * normal[3 * k + i], 0);
    return { name, distance, ends };
  });
  return found.filter(({ distance }) => Math.abs(distance) < AWAY).sort((one, other) => one.distance - other.distance);
}

const inPairs = new Set(pairs.pairs.flatMap((name) => name.split("~")));
for (const { name, body, center, axis, half_length, radius } of pairs.capsules) {
  if (!inPairs.has(name)) continue;
  const look = new T.MeshStandardMaterial({ color: hueOf(body), transparent: true, opacity: 0.3, roughness: 0.9, depthWrite: false });
  const capsule = new T.Mesh(new T.CapsuleGeometry(radius, 2 * half_length, 10, 28), look);
  capsule.quaternion.setFromUnitVectors(UP, new T.Vector3(...axis));
  capsule.position.set(...center);
  add("distances", nodeOf(body), capsule, false);
}

/** A segment with a ball at each end, for each pair in the picture. */
const segments = pairs.pairs.slice(0, MOST_DRAWN).map(() => {
  const look = onTop(LEVELS[0].hue), group = new T.Group();
  const stem = new T.Mesh(new T.CylinderGeometry(0.2 * thick, 0.2 * thick, 1, 10), look);
  const balls = [0, 1].map(() => new T.Mesh(new T.SphereGeometry(0.5 * thick, 16, 12), look));
  group.add(stem, ...balls);
  for (const part of group.children) part.renderOrder = 6;
  return { group, stem, balls, look };
});
if (segments.length) add("distances", scene, new T.Group().add(...segments.map(({ group }) => group)), false);

function drawSegments(found) {
  segments.forEach(({ group, stem, balls, look }, k) => {
    group.visible = k < found.length;
    if (!group.visible) return;
    const [from, to] = found[k].ends.map((end) => new T.Vector3(...end)), along = to.clone().sub(from);
    balls[0].position.copy(from);
    balls[1].position.copy(to);
    stem.position.copy(from).add(to).multiplyScalar(0.5);
    stem.scale.set(1, Math.max(along.length(), 1e-9), 1);
    stem.quaternion.setFromUnitVectors(UP, along.normalize());
    look.color.set(levelOf(found[k].distance).hue);
  });
}

const rowsOfPairs = pairs.pairs.slice(0, MOST_LISTED).map(() => {
  const level = element("b"), name = element("span"), distance = element("td", { className: "number" }), fill = element("i");
  const row = element("tr", {}, element("td", {}, level, name), distance, element("td", { className: "wide" },
    element("div", { className: "bar plain" }, fill)));
  $("pairs").append(row);
  return { row, level, name, distance, fill };
});

function listPairs(found) {
  rowsOfPairs.forEach(({ row, level, name, distance, fill }, k) => {
    row.hidden = k >= found.length;
    if (row.hidden) return;
    const { mark: sign, said, name: hue } = levelOf(found[k].distance), size = Math.abs(found[k].distance);
    level.textContent = sign;
    level.title = said;
    level.style.color = fill.style.background = `var(${hue})`;
    name.textContent = found[k].name.replace("~", "  ~  ");
    distance.textContent = `${decimals(1000 * found[k].distance, 1)} mm`;
    fill.style.width = `${100 * Math.min(1, size / (0.6 * span))}%`;
  });
  $("nearest").title = $("nearest").textContent = found.length ? `${levelOf(found[0].distance).mark} nearest: ${found[0].name}, ${decimals(1000 * found[0].distance, 1)} mm` : "";
}

/** Shows the distances at a configuration. */
function drawDistances(configuration) {
  if (!segments.length) return;
  const found = measured(configuration);
  drawSegments(found);
  listPairs(found);
}

if (segments.length) {
  const count = pairs.pairs.length, listed = count > MOST_LISTED ? ` The nearest ${MOST_LISTED} are listed.` : "";
  const drawn = count > MOST_DRAWN ? ` The picture shows the nearest ${MOST_DRAWN}.` : "";
  $("distances-lead").append(`The signed distances of ${grouped(count)} ${count === 1 ? "pair" : "pairs"} of capsules, nearest first, by `
    + `distance_witness. Lines in the picture join the nearest points.${drawn}${listed} `, ...LEVELS.flatMap(({ mark: sign, said, name }) => {
    const symbol = element("b", { text: sign });
    symbol.style.color = `var(${name})`;
    return [symbol, ` ${said}  `];
  }));
} else for (const part of [$("distances"), $("nav-distances"), $("nearest").parentElement]) part.remove();
