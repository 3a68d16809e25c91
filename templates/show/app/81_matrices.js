// The matrices at the state shown, with the elements that are 0 in every state left empty.

/** The indices that a list such as "0-2 5" of the manifest stands for; null for all. */
function indices(text) {
  if (text == null) return null;
  const found = new Set();
  for (const range of String(text).split(" ").filter(Boolean)) {
    const [from, to] = range.split("-").map(Number);
    for (let i = from; i <= (to ?? from); i++) found.add(i);
  }
  return found;
}

const velocityNames = manifest.manifold.flatMap(({ name, nv: count }) =>
  count === 1 ? [name] : Array.from({ length: count }, (_, k) => `${name}.${count === 6 ? ["vx", "vy", "vz", "wx", "wy", "wz"][k] : k}`));
const rowNames = contacts.flatMap((contact) =>
  Array.from({ length: contact.rows }, (_, k) => `${contact.name}.${["x", "y", "z", "rx", "ry", "rz"][k]}`));

const matrices = [];
for (const name of ["crba", "minv", "rnea_derivatives", "aba_derivatives", "contact_jacobian"]) {
  const copies = ["dtau_da", "da_dtau"]; // M and M^-1 once more
  for (const output of manifest.functions[name]?.outputs ?? [])
    if (has(name) && output.shape.length === 2 && !copies.includes(output.name)) addMatrix(name, output);
}

function addMatrix(name, output) {
  const [rows, columns] = output.shape, all = rows * columns, computed = indices(output.nonzero);
  const canvas = element("canvas", { role: "img", ariaLabel: `${output.name}, ${output.meaning}` });
  const legend = element("div", { className: "legend" });
  const count = computed ? computed.size : all;
  const zeros = count === all ? "no element is always 0" : `${count} of ${all} elements can differ from 0`;
  const text = `${output.meaning}, ${rows} × ${columns}; ${zeros}`;
  $("mats").append(element("div", { className: "mat" }, element("h3", { text: output.name }), element("p", { text }), canvas, legend));
  const matrix = { name, output, computed, rows, columns, canvas, legend, values: new Float64Array(all) };
  matrices.push(matrix);
  canvas.onmousemove = (event) => tellElement(event, matrix);
  canvas.onmouseleave = () => tip();
}

function tellElement(event, { output, computed, rows, columns, canvas, values }) {
  const area = canvas.getBoundingClientRect();
  const i = Math.floor((event.clientY - area.top) / area.height * rows);
  const k = Math.floor((event.clientX - area.left) / area.width * columns);
  if (i < 0 || k < 0 || i >= rows || k >= columns) return;
  const names = rows === nv ? velocityNames : rows === rowNames.length ? rowNames : [];
  const value = computed && !computed.has(i * columns + k) ? "0 in every state, never computed" : values[i * columns + k].toPrecision(8);
  tip(event, `${output.name}[${i}][${k}]  ${names[i] ?? i} / ${velocityNames[k] ?? k}\n${value}`);
}

const channels = (hue) => [1, 3, 5].map((at) => parseInt((hue.length === 4 ? hue.replace(/[^#]/g, "$&$&") : hue).slice(at, at + 2), 16));
const mixed = (from, to, part) => `rgb(${from.map((x, i) => Math.round(x + (to[i] - x) * part))})`;

function drawMatrix(matrix) {
  const { name, output, computed, rows, columns, canvas, legend, values } = matrix;
  values.set(call(name, { q, v, tau: torque })[output.name]);
  const most = values.reduce((top, x) => Math.max(top, Math.abs(x)), 0), least = 1e-4 * most;
  const cell = Math.min(120, Math.max(4, Math.floor(600 / Math.max(rows, columns)))), gap = Math.max(1, 0.04 * cell);
  if (canvas.width !== columns * cell) {
    canvas.width = columns * cell;
    canvas.height = rows * cell;
    canvas.style.width = `${columns * cell / 2}px`;
  }
  const pen = canvas.getContext("2d"), grey = color("--line"), faint = channels(color("--soft"));
  const hues = { positive: channels(color("--positive")), negative: channels(color("--negative")) };
  pen.fillStyle = color("--background");
  pen.fillRect(0, 0, canvas.width, canvas.height);
  for (let at = 0; at < values.length; at++) {
    if (computed && !computed.has(at)) continue;
    const x = values[at], part = most ? Math.log(Math.abs(x) / least) / Math.log(1e4) : 0;
    pen.fillStyle = part > 0 ? mixed(faint, hues[x < 0 ? "negative" : "positive"], 0.1 + 0.9 * Math.min(1, part)) : grey;
    const [i, k] = [Math.floor(at / columns), at % columns];
    pen.fillRect(k * cell + gap, i * cell + gap, cell - 2 * gap, cell - 2 * gap);
    if (part > 0 && x < 0 && cell >= 12) { // a bar: the sign is not told by colour alone
      pen.fillStyle = color("--background");
      pen.fillRect(k * cell + 0.3 * cell, i * cell + 0.46 * cell, 0.4 * cell, 0.08 * cell);
    }
  }
  const scale = `logarithmic, ±${digits(least, 2)} … ±${digits(most, 3)} ${output.unit.split(",")[0]}`;
  legend.replaceChildren(element("span", { text: most ? scale : "0 now" }), element("span", { text: "− is negative" }));
}

let matricesSeen = false;
function drawMatrices() {
  if (matricesSeen) matrices.forEach(drawMatrix);
}
new IntersectionObserver((entries) => {
  matricesSeen = entries.some((entry) => entry.isIntersecting);
  drawMatrices();
}).observe($("mats"));
painters.push(() => drawMatrices());
if (!matrices.length) $("matrices").remove();
