// Charts side by side, with one legend for all: hover or focus lets one series stand out, a click hides or shows it.
const CHARTS = {}; // by kind

PARTS["chart-group"] = class {
  constructor(place, { charts, legend }) {
    for (const s of [...charts.flatMap((chart) => chart.series || []), ...(Array.isArray(legend) ? legend : [])]) s.label ??= s.name;
    const hidden = new Set(), keys = legend && html("div", { class: "legend" }, place);
    const grid = html("div", { class: "grid" }, place);
    this.charts = charts.map((chart) => new CHARTS[chart.kind](figure_of(grid, chart, charts.length === 1 || chart.kind === "dot-chart"), chart, hidden));
    if (legend) legend_of(keys, legend === true ? series_of(charts) : legend, this.charts, hidden);
  }
};

const MARKERS = [
  (s) => `M${-s} 0A${s} ${s} 0 1 0 ${s} 0A${s} ${s} 0 1 0 ${-s} 0Z`,
  (s) => `M${-s} ${-s}H${s}V${s}H${-s}Z`,
  (s) => `M0 ${-1.25 * s}L${1.2 * s} ${s}H${-1.2 * s}Z`,
  (s) => `M0 ${-1.4 * s}L${1.4 * s} 0L0 ${1.4 * s}L${-1.4 * s} 0Z`,
  (s) => `M0 ${1.25 * s}L${1.2 * s} ${-s}H${-1.2 * s}Z`,
];

function series_of(charts) { return [...new Map(charts.flatMap((chart) => chart.series.map((s) => [s.name, s]))).values()]; }

function legend_of(place, entries, charts, hidden) {
  for (const s of entries) {
    const button = html("button", { type: "button", "aria-pressed": String(!hidden.has(s.name)), style: `--c: var(--${s.colour})` }, place);
    const icon = make("svg", { viewBox: "0 0 26 12" }, button);
    const g = make("g", { class: "series" }, icon);
    make("path", { class: "curve", d: "M0 6H26", "stroke-width": s.strong ? 2.6 : 1.7, ...(s.dash ? { "stroke-dasharray": s.dash } : {}) }, g);
    if (!s.bare) make("path", { class: "dot", d: MARKERS[s.marker % MARKERS.length](3.4), transform: "translate(13 6)" }, g);
    html("span", {}, button, s.label);
    if (s.checked === true) html("span", { class: "ok", title: "every comparison with the golden copy found the same bits, every repeated call too" }, button, "✓");
    if (s.checked === false) html("span", { class: "wrong" }, button, "✗ differs");
    const show = (name) => charts.forEach((c) => c.fade(name));
    for (const come of ["pointerenter", "focus"]) button.addEventListener(come, () => show(s.name));
    for (const go of ["pointerleave", "blur"]) button.addEventListener(go, () => show(null));
    button.addEventListener("click", () => {
      hidden.has(s.name) ? hidden.delete(s.name) : hidden.add(s.name);
      button.setAttribute("aria-pressed", String(!hidden.has(s.name)));
      charts.forEach((c) => c.draw());
    });
  }
}
