// The tree of bodies as a table.

const isLastChild = (i) => !bodies.some((other, k) => k > i && other.parent === bodies[i].parent);

function twigs(i) {
  if (bodies[i].parent < 0) return "";
  let text = isLastChild(i) ? "└ " : "├ ";
  for (let p = bodies[i].parent; p >= 0 && bodies[p].parent >= 0; p = bodies[p].parent) text = (isLastChild(p) ? "  " : "│ ") + text;
  return text;
}

function axisName(axis) {
  const k = axis.findIndex((x) => Math.abs(Math.abs(x) - 1) < 1e-9);
  return k < 0 ? axis.map((x) => digits(x, 3)).join(" ") : (axis[k] < 0 ? "−" : "") + "xyz"[k];
}

const COLUMNS = ["body", "joint", "type", "axis", "q", "v", "lower", "upper", "effort", "velocity", "mass, kg", "principal moments, kg m²"];
const NUMBERS = new Set(COLUMNS.slice(4, 12));
$("bodies").append(element("thead", {}, element("tr", {},
  ...COLUMNS.map((text) => element("th", { text, className: NUMBERS.has(text) ? "number" : "", scope: "col" })))));

const rowsOfBodies = element("tbody");
$("bodies").append(rowsOfBodies);
for (const [i, body] of bodies.entries()) {
  const joint = manifest.joints.find((each) => each.name === body.joint);
  const place = manifest.manifold.find((each) => each.name === body.joint);
  const follows = (manifest.mimic ?? []).find((each) => each.joint === body.joint);
  const slides = /prismatic/.test(body.kind), unit = slides ? "m" : "rad";
  const range = (at, count) => count === 1 ? `${at}` : `${at}–${at + count - 1}`;
  const limit = (x, of) => x == null ? "·" : `${digits(x)} ${of}`;
  const dot = element("span", { className: "dot" });
  dot.style.background = hueOf(i);
  const texts = [
    body.joint, follows ? `${body.kind}, follows ${follows.primary}` : body.kind,
    body.axis?.some((x) => x) ? axisName(body.axis) : "·",
    place ? range(place.idx_q, place.nq) : "·", place ? range(place.idx_v, place.nv) : "·",
    limit(joint?.lower, unit), limit(joint?.upper, unit), limit(joint?.effort, slides ? "N" : "N m"),
    limit(joint?.velocity, `${unit}/s`), digits(body.mass),
    data.ellipsoids[i] ? data.ellipsoids[i].moments.map((x) => digits(x, 3)).join("  ") : "·",
  ];
  const cells = texts.map((text, k) => element("td", { text, className: NUMBERS.has(COLUMNS[k + 1]) ? "number" : "" }));
  const name = element("td", {}, dot, element("span", { className: "twig", text: twigs(i) }), body.name);
  if (data.doubts[i]) cells.at(-1).prepend(element("span", { className: "doubt", text: "▲ ", title: data.doubts[i].join("; ") }));
  const row = element("tr", {}, name, ...cells);
  row.dataset.body = i;
  row.onmouseenter = () => mark(i);
  row.onmouseleave = () => mark(null);
  rowsOfBodies.append(row);
}
const doubts = Object.entries(data.doubts).flatMap(([i, texts]) => texts.map((text) => `${bodies[i].name}: ${text}`));
$("warnings").append(...doubts.map((text) => element("li", { text })));
$("warnings").append(...data.warnings.map((text) => element("li", { text })));
$("missing").append(...data.missing.map((text) => element("li", { text })));
