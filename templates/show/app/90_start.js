// Fills the head, the foot and the equations, and draws every frame.

$("title").textContent = data.title;
const facts = [`${manifest.base} base`, `${bodies.length} bodies`, `nq ${nq}, nv ${nv}`, `${digits(totalMass)} kg`];
$("facts").append(...facts.map((text) => element("li", { text })));

// The equations are made by rbdgen from numbers and symbols; names of the description are not part of them.
if (data.equations) $("formulas").innerHTML = data.equations;
else {
  $("equations").remove();
  $("nav-equations").remove();
}

const [read, kept] = data.triangles;
$("foot").textContent = [
  data.source && `Made from ${data.source}, SHA-256 ${manifest.urdf_sha256.slice(0, 12)}….`, `rbdgen ${manifest.rbdgen}.`,
  read && `${grouped(kept)} of ${grouped(read)} triangles are drawn.`,
  "This page needs no network. It contains three.js and uPlot (MIT).",
].filter(Boolean).join(" ");

let before = null, debt = 0, spent = 0, taken = 0, plotted = 0;

/** Takes the steps for some seconds of time, as far as one frame has room for them. */
function advance(seconds) {
  debt += seconds;
  const start = performance.now();
  while (debt >= DT && performance.now() - start < 12) {
    step(DT);
    debt -= DT;
    if (++taken % 8 === 0) note();
  }
  if (debt > 0.05) debt = 0;
  spent += performance.now() - start;
}

function frame(now) {
  if (mode !== "pose" && before !== null && !document.hidden) {
    advance(Math.min(0.05, (now - before) / 1000));
    refresh();
    $("clock").textContent = `${decimals(time, 2)} s   ${digits(1000 * spent / Math.max(taken, 1), 3)} µs a step`;
    if (now - plotted > 60) {
      showPlots();
      plotted = now;
    }
  } else if (mode === "pose") $("clock").textContent = "";
  before = now;
  orbit?.update();
  if (mustDraw && renderer) {
    renderer.render(scene, camera);
    mustDraw = false;
  }
  requestAnimationFrame(frame);
}

makePlots();
setScheme(scheme);
showLayers();
resize();
frameView();
setMode("pose");
requestAnimationFrame(frame);

/** What scripts and tests may use. */
window.rbdgenShow = {
  ready: true, data, functions, call, q, v, target, coordinates, nodes, log, setMode, step, note, refresh, move, openings,
  feet, forces, measured, segments, boxAt, scene, renderer, ground: [grid, shade], camera, frameView, time: () => time, scheme: () => scheme,
};
