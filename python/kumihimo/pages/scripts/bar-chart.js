// Bars of one or two parts as SVG, a row each.
class BarChart {
  constructor(figure, chart) {
    Object.assign(this, { figure, chart });
    this.svg = make("svg", { class: "chart", role: "img", "aria-label": chart.title }, figure.querySelector(".plot"));
    drawn_at_new_width(figure, () => this.draw());
  }
  fade() {}
  draw() {
    const outer = this.svg.parentElement.clientWidth;
    if (!outer) return;
    const { chart, svg } = this;
    const show = text_of[chart.quantity];
    const totals = chart.rows.map((r) => r.parts.reduce((a, b) => a + b, 0));
    const most = Math.max(...totals, ...(chart.marks || []).map((m) => m.x)) * 1.01;
    const left = Math.min(outer * 0.36, 14 + 6.6 * Math.max(...chart.rows.map((r) => r.label.length)));
    const room = (notes) => 14 + 6.3 * Math.max(...notes.map((n) => n.length));
    const short = totals.map((t) => show(t)), whole = chart.rows.map((r, i) => r.note ?? short[i]);
    const notes = room(whole) <= outer * 0.32 ? whole : short;
    const right = Math.min(outer * 0.32, room(notes));
    const step = 27, top = (chart.marks || []).length ? 22 : 4;
    const height = top + step * chart.rows.length + 4;
    cleared(svg, outer, height);
    const x = (v) => left + ((outer - left - right) * v) / most;
    chart.rows.forEach((row, i) => {
      const y = top + step * i;
      const g = make("g", { class: "series", style: `--c: var(--${row.colour})` }, svg);
      make("text", { class: "name", x: left - 9, y: y + 17, "text-anchor": "end" }, g, row.label);
      let from = 0;
      row.parts.forEach((part, k) => {
        make("rect", { class: k ? "bar second" : "bar", x: x(from), y: y + 5, width: Math.max(0, x(from + part) - x(from)), height: step - 10, rx: 2 }, g);
        from += part;
      });
      make("text", { class: "name", x: x(totals[i]) + 7, y: y + 17 }, g, notes[i]);
    });
    for (const m of chart.marks || []) {
      make("line", { class: "level", x1: x(m.x), x2: x(m.x), y1: top - 4, y2: height }, svg);
      make("text", { x: x(m.x), y: 12, "text-anchor": x(m.x) > outer * 0.7 ? "end" : "middle" }, svg, m.label);
    }
  }
}
CHARTS["bar-chart"] = BarChart;
