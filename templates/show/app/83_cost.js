// The operations of every function as bars.

const PARTS = [
  ["additions", ["add", "sub", "neg"], "--sky"], ["multiplications", ["mul", "sq"], "--positive"],
  ["divisions, roots", ["div", "sqrt"], "--negative"], ["sines, cosines", ["sin", "cos"], "--amber"],
];
const count = (operations, kinds) => kinds.reduce((sum, kind) => sum + (operations[kind] ?? 0), 0);
const OTHERS = (operations) => operations.total - PARTS.reduce((sum, [, kinds]) => sum + count(operations, kinds), 0);

const costs = Object.entries({ ...manifest.functions, ...data.costs }).sort(([, a], [, b]) => a.operations.total - b.operations.total);
const mostOperations = Math.max(...costs.map(([, facts]) => facts.operations.total));

/** Flash and stack of a small machine, if they were measured. */
const measures = Object.keys(data.figures).length ? ["flash", "stack"] : [];
const bytes = (size) => size === undefined ? "·" : size < 1000 ? `${size} B` : `${digits(size / 1000, 3)} kB`;
const key = element("span", { className: "key" }, ...PARTS.map(([text, , hue]) => {
  const square = element("i");
  square.style.background = `var(${hue})`;
  return element("span", {}, square, text);
}), element("span", { text: "◇ other forms" }));
$("bars").append(element("div", { className: "bar-row head" }, element("span", { text: "function" }), key,
  element("span", { className: "total", text: "operations" }),
  ...measures.map((name) => element("span", { className: "total", text: name }))));
$("bars").classList.toggle("measured", measures.length > 0);
if (measures.length) $("cost-lead").append(" Flash and stack are those of a Cortex-M4F in float, with all that a function calls.");
if (Object.keys(data.costs).length) $("cost-lead").append(" The page itself runs some of these functions; the others are only counted.");

function svg(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function barOf(name, facts) {
  const bar = svg("svg", { role: "img", "aria-label": `${name}: ${facts.operations.total} operations` });
  let from = 0;
  const part = (size, fill) => {
    const width = 100 * size / mostOperations;
    bar.append(svg("rect", { x: `${from}%`, width: `${width}%`, y: 3, height: 12, fill: `var(${fill})` }));
    from += width;
  };
  for (const [, kinds, hue] of PARTS) part(count(facts.operations, kinds), hue);
  part(OTHERS(facts.operations), "--faint");
  for (const other of Object.values(facts.alternatives ?? {})) {
    if (other.total === facts.operations.total || other.total > mostOperations) continue;
    const at = { x: `${100 * other.total / mostOperations}%`, y: 13.5, "text-anchor": "middle", "font-size": 13, fill: "var(--dim)" };
    const diamond = svg("text", at);
    diamond.textContent = "◇";
    bar.append(diamond);
  }
  return bar;
}

for (const [name, facts] of costs) {
  const total = element("span", { className: "total", text: grouped(facts.operations.total) });
  const row = element("div", { className: "bar-row" }, element("code", { text: name, title: name }), barOf(name, facts), total,
    ...measures.map((which) => element("span", { className: "total", text: bytes(data.figures[name]?.[which]) })));
  const lines = [[facts.operations.total, facts.form], ...PARTS.map(([text, kinds]) => [count(facts.operations, kinds), text])];
  const rest = OTHERS(facts.operations);
  if (rest) lines.push([rest, "comparisons and others"]);
  for (const [form, other] of Object.entries(facts.alternatives ?? {}))
    if (form !== facts.form) lines.push([other.total, `◇ ${form}`]);
  const told = [`${name}: ${facts.summary}`, ...lines.map(([x, text]) => `${String(x).padStart(7)} ${text}`)].join("\n");
  row.onmousemove = (event) => tip(event, told);
  row.onmouseleave = () => tip();
  $("bars").append(row);
}
