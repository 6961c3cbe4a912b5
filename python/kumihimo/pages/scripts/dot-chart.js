// Rows of single values as SVG, which tell of themselves where they are pointed at.
class DotChart {
  constructor(figure, chart) {
    Object.assign(this, { chart, show: (v, digits) => text_of[chart.quantity](v, digits) });
    const row_in_words = (row) => `${row.name} ${(row.levels || row.points).map((l) => `${this.show(l.x)} ${l.label}`).join(", ")}`;
    const words = [chart.title, chart.unit, ...chart.rows.map(row_in_words)].filter(Boolean).join("; ");
    this.svg = make("svg", { class: "chart", role: "img", "aria-label": words }, figure.querySelector(".plot"));
    this.told = told_below(figure);
    drawn_at_new_width(figure, () => this.draw());
  }
  fade() {}
  draw() {
    const outer = this.svg.parentElement.clientWidth, { svg, chart: { rows, scattered, from_zero } } = this;
    if (!outer) return;
    const each = scattered ? 96 : 16, left = 16 + 7 * Math.max(...rows.map((r) => r.name.length)), right = 18;
    const bottom = rows.length * each, width = outer - left - right;
    cleared(svg, outer, bottom + 26);
    const all = rows.flatMap((r) => [...r.points, ...(r.levels || [])].map((p) => p.x));
    const low = from_zero ? 0 : Math.min(...all), high = Math.max(...all);
    const room = Math.max((high - low) * 0.05, high * 0.01), first = from_zero ? 0 : low - room, range = high + room - first;
    const step = nice_step(range / Math.max(2, width / 110)), x = (v) => left + (width * (v - first)) / range;
    for (let v = Math.ceil(first / step) * step; v <= high + room; v += step) {
      make("line", { class: "grid-line", x1: x(v), x2: x(v), y1: 0, y2: bottom }, svg);
      make("text", { x: x(v), y: bottom + 18, "text-anchor": "middle" }, svg, this.show(v, 4));
    }
    rows.forEach((row, at) => this.row(row, at * each, each, x));
    make("line", { class: "axis-line", x1: left, x2: outer - right, y1: bottom, y2: bottom }, svg);
  }
  row(row, top, each, x) {
    const g = make("g", { class: this.chart.scattered ? "series scattered" : "series", style: `--c: var(--${row.colour})` }, this.svg);
    make("text", { x: 4, y: top + each / 2 + 4 }, g, row.name);
    for (const l of row.levels || [])
      make("line", { class: l.dashed ? "level" : "middle", x1: x(l.x), x2: x(l.x), y1: top + 8, y2: top + each - 8 }, g);
    row.points.forEach((p, i) => { // beside each other by the golden ratio, which spreads any number of them
      const y = top + (this.chart.scattered ? 16 + (each - 32) * ((i * 0.6180339887) % 1) : each / 2);
      const colour = p.colour ? { style: `--c: var(--${p.colour})` } : {};
      const dot = make("path", { class: "dot", d: MARKERS[p.marker || 0](this.chart.scattered ? 3.5 : 4.5), transform: `translate(${x(p.x)} ${y})`, ...colour }, g);
      dot.addEventListener("pointerenter", () => { this.told.textContent = `${p.label}: ${this.show(p.x, 4)}${p.note ? `, ${p.note}` : ""}`; });
    });
  }
}
CHARTS["dot-chart"] = DotChart;
