// The energies over time.

let plots = [];

function makePlots() {
  for (const plot of plots) plot.destroy();
  const axis = (size) => ({
    stroke: color("--dim"), grid: { stroke: color("--line"), width: 1 }, ticks: { stroke: color("--line"), width: 1 },
    font: `12px ${color("--mono")}`, size, values: (_, ticks) => ticks.map((x) => digits(x, 3)),
  });
  const made = (id, curves) => new uPlot({
    width: $(id).clientWidth || 600, height: 210, legend: { live: false }, cursor: { show: false },
    scales: { x: { time: false } }, axes: [axis(34), axis(62)],
    series: [{ label: "s" }, ...curves.map(([label, hue, dash]) => ({ label, stroke: color(hue), width: 2, dash, points: { show: false } }))],
  }, [[], ...curves.map(() => [])], $(id));
  plots = [
    made("plot-energy", [["kinetic", "--positive"], ["potential", "--negative", [7, 4]], ["total", "--ink"]]),
    made("plot-drift", [["change", "--fourth"]]),
  ];
  const said = ["energies over time", "change of the total energy over time"];
  plots.forEach((plot, k) => {
    plot.ctx.canvas.setAttribute("role", "img");
    plot.ctx.canvas.setAttribute("aria-label", said[k]);
  });
}

function showPlots() {
  plots[0].setData([log.time, log.kinetic, log.potential, log.total]);
  plots[1].setData([log.time, log.change]);
}

painters.push(() => { makePlots(); showPlots(); });
addEventListener("resize", () => {
  for (const plot of plots) plot.setSize({ width: plot.root.parentElement.clientWidth, height: 210 });
});
