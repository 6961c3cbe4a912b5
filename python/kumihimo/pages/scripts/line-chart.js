// Curves as SVG, whose values can be pointed at or reached by keys.
class LineChart {
  constructor(figure, chart, hidden) {
    Object.assign(this, { figure, chart, hidden });
    const words = `${chart.title}: ${chart.unit}. Arrow keys show its values.`;
    this.svg = make("svg", { class: "chart", role: "application", tabindex: 0, "aria-label": words }, figure.querySelector(".plot"));
    this.svg.addEventListener("pointermove", (e) => this.point(e));
    this.svg.addEventListener("pointerdown", (e) => this.point(e));
    this.svg.addEventListener("pointerleave", () => this.leave());
    this.svg.addEventListener("focus", () => { if (this.svg.matches(":focus-visible")) this.step(0, 0); });
    this.svg.addEventListener("blur", () => this.leave());
    this.svg.addEventListener("keydown", (e) => this.key(e));
    drawn_at_new_width(figure, () => this.draw());
  }
  visible() { return this.chart.series.filter((s) => !this.hidden.has(s.name)); }

  draw() {
    const outer = this.svg.parentElement.clientWidth;
    if (!outer) return;
    const { chart, svg } = this;
    const narrow = outer < 430;
    const height = Math.round(Math.max(250, Math.min(chart.tall ? 430 : 340, outer * 0.66)));
    cleared(svg, outer, height);
    const shown = this.visible();
    const xs = chart.series.flatMap((s) => s.points.map((p) => p.x)).concat((chart.marks || []).map((m) => m.x));
    // Room for whiskers up to a factor; a longer one is cut, so that one disturbed point does not flatten all curves.
    const signed = chart.y.scale === "signed";
    const room = (p) => signed ? [p.y] : [p.y, Math.max(p.low ?? p.y, p.y / 1.4), Math.min(p.high ?? p.y, p.y * 1.4)];
    const ys = shown.flatMap((s) => s.points.flatMap(room))
      .concat((chart.levels || []).map((l) => l.y)).concat((chart.marks || []).map((m) => m.y))
      .filter((y) => signed || y > 0);
    if (!xs.length || !ys.length) return;
    const ends = narrow ? [] : shown.filter((s) => s.strong);
    const top = 10, bottom = 26, depth = height - top - bottom;
    const y_high = chart.y.most ? Math.min(chart.y.most, Math.max(...ys)) : Math.max(...ys);
    const y = axis_of(chart.y, Math.min(...ys), y_high, depth);
    const y_texts = y.ticks.map((v) => text_of[chart.y.quantity](v));
    const left = Math.max(chart.y.quantity === "ratio" ? 42 : 58, 14 + 6.6 * Math.max(0, ...y_texts.map((t) => t.length)));
    const right = ends.length ? 12 + 7 * Math.max(...ends.map((s) => s.label.length)) : 14;
    this.box = { left, top, right, bottom };
    const width = outer - left - right;
    const x = axis_of(chart.x, Math.min(...xs), Math.max(...xs), width);
    this.x = (v) => left + width * x.at(v);
    this.y = (v) => top + depth * (1 - y.at(v));
    const clip = `clip-${Math.random().toString(36).slice(2)}`;
    make("rect", { x: left - 4, y: top - 4, width: width + 8, height: depth + 8 }, make("clipPath", { id: clip }, make("defs", {}, svg)));
    y.ticks.forEach((v, i) => {
      make("line", { class: "grid-line", x1: left, x2: left + width, y1: this.y(v), y2: this.y(v) }, svg);
      make("text", { x: left - 7, y: this.y(v) + 4, "text-anchor": "end" }, svg, y_texts[i]);
    });
    for (const v of x.ticks) {
      make("line", { class: "grid-line", x1: this.x(v), x2: this.x(v), y1: top, y2: top + depth }, svg);
      make("text", { x: this.x(v), y: height - 8, "text-anchor": this.x(v) > outer - 24 ? "end" : "middle" }, svg, text_of[chart.x.quantity](v));
    }
    make("line", { class: "axis-line", x1: left, x2: left + width, y1: top + depth, y2: top + depth }, svg);
    this.levels(svg, left, width);
    const layer = make("g", { "clip-path": `url(#${clip})` }, svg);
    for (const s of [...shown].sort((a, b) => (a.strong ? 1 : 0) - (b.strong ? 1 : 0))) this.series(layer, s);
    const labels = [];
    for (const m of chart.marks || []) this.mark(svg, m, outer < 560 ? null : labels);
    this.end_labels(svg, ends);
    this.overlay = make("g", {}, svg);
  }
  levels(svg, left, width) {
    for (const l of this.chart.levels || []) {
      make("line", { class: "level", x1: left, x2: left + width, y1: this.y(l.y), y2: this.y(l.y) }, svg);
      if (l.label) make("text", { class: "end", x: left + 6, y: this.y(l.y) - 5 }, svg, l.label);
    }
  }
  series(layer, s) {
    const g = make("g", { class: "series", "data-name": s.name, style: `--c: var(--${s.colour})` }, layer);
    const path = s.points.map((p, i) => `${i ? "L" : "M"}${this.x(p.x).toFixed(1)} ${this.y(p.y).toFixed(1)}`).join("");
    make("path", { class: "curve", d: path, "stroke-width": s.strong ? 2.4 : 1.5, ...(s.dash ? { "stroke-dasharray": s.dash } : {}) }, g);
    if (s.bare) return;
    const size = s.points.length > 18 ? 2.1 : 2.7;
    for (const p of s.points) {
      const [px, py] = [this.x(p.x), this.y(p.y)];
      if (p.low && p.high) make("line", { class: "whisker", x1: px, x2: px, y1: this.y(p.low), y2: this.y(p.high) }, g);
      make("path", { class: "dot", d: MARKERS[s.marker % MARKERS.length](size), transform: `translate(${px.toFixed(1)} ${py.toFixed(1)})` }, g);
    }
  }
  // `labels`: ends of those that are drawn, so that none covers another; null: there is no room for any.
  mark(svg, m, labels) {
    const [px, py] = [this.x(m.x), this.y(m.y)];
    const circle = make("circle", { class: "mark", cx: px, cy: py, r: m.label ? 4.5 : 6.5 }, svg);
    if (!m.label) return;
    make("title", {}, circle, m.label);
    const reach = 5.4 * m.label.length;
    if (!labels || labels.some((l) => Math.abs(l.py - py) < 10 && l.px - l.reach < px && px - reach < l.px)) return;
    labels.push({ px, py, reach });
    make("text", { class: "mark-label", x: px - 8, y: py + 4, "text-anchor": "end" }, svg, m.label);
  }
  end_labels(svg, ends) {
    const placed = [];
    for (const s of ends) {
      const last = s.points[s.points.length - 1];
      if (!last) continue;
      placed.push({ s, x: this.x(last.x) + 8, y: this.y(last.y) + 4 });
    }
    placed.sort((a, b) => a.y - b.y);
    for (let i = 1; i < placed.length; i++) placed[i].y = Math.max(placed[i].y, placed[i - 1].y + 14);
    for (const p of placed) make("text", { class: "end", x: p.x, y: p.y, style: `fill: var(--${p.s.colour})` }, svg, p.s.label);
  }
  fade(name) {
    for (const g of this.svg.querySelectorAll(".series")) g.classList.toggle("faded", name !== null && g.dataset.name !== name);
  }
  xs() { return [...new Set(this.visible().flatMap((s) => s.points.map((p) => p.x)))].sort((a, b) => a - b); }
  rows_at(x) { return this.visible().map((s) => ({ s, p: s.points.find((p) => p.x === x) })).filter((r) => r.p).sort((a, b) => b.p.y - a.p.y); }

  point(event) {
    const xs = this.xs();
    if (!this.box || !xs.length) return;
    const frame = this.svg.getBoundingClientRect();
    const px = event.clientX - frame.left, py = event.clientY - frame.top;
    const at = xs.reduce((a, b) => (Math.abs(this.x(a) - px) <= Math.abs(this.x(b) - px) ? a : b));
    const rows = this.rows_at(at);
    this.show(at, rows, rows.reduce((a, b) => (Math.abs(this.y(a.p.y) - py) <= Math.abs(this.y(b.p.y) - py) ? a : b)), px, py);
  }
  key(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], Home: [-Infinity, 0], End: [Infinity, 0] };
    if (event.key === "Escape") this.leave();
    if (!steps[event.key]) return;
    event.preventDefault();
    this.step(...steps[event.key]);
  }
  // From the point that is shown to another: along the axis, or to the next curve above or below.
  step(along, down) {
    const xs = this.xs();
    if (!this.box || !xs.length) return;
    const clamp = (v, last) => Math.max(0, Math.min(last, v));
    const from = xs.indexOf(this.shown?.at), last = xs.length - 1;
    const at = xs[from < 0 ? last : clamp(from + along, last)], rows = this.rows_at(at);
    const row = rows.findIndex((r) => r.s.name === this.shown?.name);
    const near = rows[clamp(row < 0 ? rows.findIndex((r) => r.s.strong) : row + down, rows.length - 1)];
    this.show(at, rows, near, this.x(at), this.y(near.p.y));
  }
  show(at, rows, near, px, py) {
    this.shown = { at, name: near.s.name };
    this.overlay.replaceChildren();
    make("line", { class: "cross", x1: this.x(at), x2: this.x(at), y1: this.box.top, y2: this.svg.clientHeight - this.box.bottom }, this.overlay);
    make("circle", { cx: this.x(at), cy: this.y(near.p.y), r: 5, fill: "none", "stroke-width": 2, style: `stroke: var(--${near.s.colour})` }, this.overlay);
    this.tip(at, rows, near, px, py);
  }
  tip(at, rows, near, px, py) {
    this.box_of_tip ??= html("div", { class: "tip", "aria-live": "polite" }, this.svg.parentElement);
    const tip = this.box_of_tip;
    tip.replaceChildren(html("b", {}, null, text_of[this.chart.x.quantity](at)));
    const table = html("table", {}, tip);
    const show = text_of[this.chart.y.quantity];
    for (const r of rows) {
      const line = html("tr", r === near ? { class: "near" } : {}, table);
      html("i", { style: `--c: var(--${r.s.colour})` }, html("td", {}, line));
      html("td", {}, line, r.s.label);
      html("td", {}, line, show(r.p.y));
      html("td", {}, line, [r.p.low && r.p.high ? `${show(r.p.low)} – ${show(r.p.high)}` : "", r.p.note || ""].filter(Boolean).join(" · "));
    }
    tip.hidden = false;
    this.svg.parentElement.style.position = "relative";
    const room = this.svg.clientWidth;
    tip.style.left = `${px + 18 + tip.offsetWidth < room ? px + 18 : Math.max(0, px - 18 - tip.offsetWidth)}px`;
    tip.style.top = `${Math.max(0, Math.min(py - 20, this.svg.clientHeight - tip.offsetHeight))}px`;
  }
  leave() {
    if (this.overlay) this.overlay.replaceChildren();
    if (this.box_of_tip) this.box_of_tip.hidden = true;
  }
}
CHARTS["line-chart"] = LineChart;

// Positions on an axis: {at(value) -> 0..1, ticks: [value]}.
function axis_of(definition, low, high, room) {
  if (definition.scale !== "log") {
    const signed = definition.scale === "signed", base = definition.quantity === "bytes" ? 2 : 10; // signed: not from 0
    const step = nice_step(((high - (signed ? low : 0)) * 1.04 || 1) / Math.max(2, Math.min(6, room / 45)), base);
    const bottom = signed ? Math.floor(low / step) * step : 0;
    const top = Math.max(Math.ceil((high * (signed ? 1 : 1.02)) / step) * step, bottom + step);
    const ticks = [];
    for (let v = bottom; v <= top + step / 1e4; v += step) ticks.push(Math.abs(v) < step / 1e4 ? 0 : v);
    return { at: (v) => (v - bottom) / (top - bottom), ticks };
  }
  const margin = definition.quantity === "bytes" ? 1 : 1.12;
  const a = Math.log(low / margin), b = Math.log(high * margin);
  const at = (v) => (Math.log(v) - a) / (b - a || 1);
  return { at, ticks: log_ticks(definition.quantity, low / margin, high * margin, room) };
}
function log_ticks(quantity, low, high, room) {
  const most = Math.max(3, Math.floor(room / (quantity === "bytes" ? 62 : 26)));
  if (quantity === "bytes") return powers(2, low, high, most, [1, 2, 3, 4, 5, 6, 10]);
  const decades = Math.log10(high / low);
  if (decades > 1.6) return powers(10, low, high, most, [1, 2, 3, 4]);
  const fine = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high); e++)
    for (const m of decades < 0.5 ? [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8] : decades < 1.2 ? [1, 1.5, 2, 3, 5, 7] : [1, 2, 5]) {
      const v = m * 10 ** e;
      if (v >= low && v <= high) fine.push(v);
    }
  return fine;
}
function powers(base, low, high, most, strides) {
  const log = (v) => Math.log(v) / Math.log(base);
  const first = Math.ceil(log(low) - 1e-9), last = Math.floor(log(high) + 1e-9);
  const stride = strides.find((s) => (last - first) / s + 1 <= most) || 10;
  const ticks = [];
  for (let e = last; e >= first; e -= stride) ticks.push(base ** e);
  return ticks.reverse();
}
