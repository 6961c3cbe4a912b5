// A map of rows by time as colours, and a chart below it.
"use strict";

const AXIS = 22, NAMES = 44; // pixels below, and at the left

class HeatMap {
  constructor(figure, data) {
    Object.assign(this, { figure, data, bins: Math.max(...data.rows.map((r) => r.values.length)), row: 0, bin: 0 });
    this.canvas = figure.querySelector(".plot canvas");
    this.told = figure.querySelector(".told");
    this.starts = []; // of groups: first row
    let at = 0;
    for (const [name, rows] of data.groups) { this.starts.push([name, at]); at += rows; }
    this.canvas.addEventListener("pointermove", (e) => this.point(e));
    this.canvas.addEventListener("keydown", (e) => this.key(e));
    let width = 0;
    new ResizeObserver(() => { if (figure.clientWidth !== width) { width = figure.clientWidth; requestAnimationFrame(() => this.paint()); } }).observe(figure);
    this.paint();
  }
  paint() {
    const { canvas, data } = this, ratio = devicePixelRatio || 1, dark = dark_now(), high = data.highest || 1;
    const rows = data.rows.length, each = Math.max(1, Math.min(24, Math.floor(520 / rows)));
    const width = canvas.clientWidth, height = rows * each + AXIS;
    canvas.style.height = `${height}px`;
    Object.assign(canvas, { width: width * ratio, height: height * ratio });
    Object.assign(this, { each, plot: width - NAMES });
    const g = canvas.getContext("2d");
    g.scale(ratio, ratio);
    const colours = Array.from({ length: 256 }, (_, i) => heat(i / 255, dark)), cell = this.plot / this.bins;
    data.rows.forEach((row, r) => row.values.forEach((value, b) => {
      if (value <= 0) return;
      g.fillStyle = colours[Math.min(255, Math.round(255 * value / high))];
      g.fillRect(NAMES + Math.floor(b * cell), r * each, Math.ceil(cell), each);
    }));
    g.fillStyle = css("--soft");
    g.font = "11px system-ui, sans-serif";
    g.textBaseline = "middle";
    this.names(g, rows);
    g.fillRect(NAMES, rows * each, this.plot, 1);
    const seconds = this.bins * data.bin_seconds, step = nice_step(seconds / Math.max(2, this.plot / 140));
    for (let t = 0; t <= seconds * 1.0001; t += step) {
      const x = NAMES + this.plot * t / seconds, text = text_of.seconds(t);
      g.fillRect(Math.min(x, width - 1), rows * each, 1, 4);
      g.textAlign = x > width - 50 ? "right" : "left";
      g.fillText(t ? text : "0", Math.min(x + 3, width - 2), height - 8);
      g.textAlign = "left";
    }
    const scale = this.figure.querySelector(".scale canvas"), s = scale.getContext("2d");
    for (let x = 0; x < scale.width; x++) { s.fillStyle = heat(x / scale.width, dark); s.fillRect(x, 0, 1, scale.height); }
    this.figure.querySelector(".scale .high").textContent = this.text(high);
  }
  names(g, rows) {
    if (!this.starts.length) {
      const apart = Math.ceil(16 / this.each);
      for (let r = 0; r < rows; r += Math.max(apart, Math.ceil(rows / 12))) g.fillText(this.data.rows[r].label.replace(/^ranks? (\d+).*/, "$1"), 2, r * this.each + Math.max(6, this.each / 2));
      return;
    }
    let free = 0;
    for (const [name, first] of this.starts) {
      const y = first * this.each;
      g.fillRect(0, y, NAMES - 4, 1);
      if (y + 8 >= free) { g.fillText(name.slice(0, 7), 2, y + 8); free = y + 20; }
    }
  }
  text(value) { return text_of[this.data.quantity](value); }
  tell() {
    const row = this.data.rows[this.row];
    if (!row) return;
    const from = this.bin * this.data.bin_seconds;
    this.told.textContent = `${row.label}, from ${from ? text_of.seconds(from) : "0"} to ${text_of.seconds(from + this.data.bin_seconds)}: ${this.text(row.values[this.bin] ?? 0)}`;
  }
  point(e) {
    const row = Math.floor(e.offsetY / this.each), bin = Math.floor((e.offsetX - NAMES) / this.plot * this.bins);
    if (row < 0 || row >= this.data.rows.length || bin < 0 || bin >= this.bins) return;
    Object.assign(this, { row, bin });
    this.tell();
  }
  key(e) {
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    if (!steps[e.key]) return;
    e.preventDefault();
    this.row = Math.max(0, Math.min(this.data.rows.length - 1, this.row + steps[e.key][0]));
    this.bin = Math.max(0, Math.min(this.bins - 1, this.bin + steps[e.key][1]));
    this.tell();
  }
}

const page = JSON.parse(document.getElementById("data").textContent);
const place = document.getElementById("map");
const map = page.map.rows.length ? new HeatMap(place, page.map) : null;
if (!map) place.querySelector(".plot").replaceChildren(html("p", { class: "absent" }, null, "No link carried anything."));
if (page.chart) {
  const hidden = new Set(), figure = document.getElementById("classes"), chart = new LineChart(figure, page.chart, hidden);
  legend_of(figure.querySelector(".legend"), page.chart.series, [chart], hidden);
}
document.getElementById("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = dark_now() ? "light" : "dark";
  if (map) map.paint();
});
document.documentElement.dataset.ready = "yes";
