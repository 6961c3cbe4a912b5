// A canvas with a row for each of many things, and the time from left to right: what heat maps and timelines share.
const NAMES = 46, AXIS = 22; // pixels at the left, and below

class RowsOverTime {
  constructor(place, data, label, least) {
    this.figure = figure_of(place, { unit: data.unit });
    this.canvas = html("canvas", { tabindex: 0, role: "application", "aria-label": label }, this.figure.querySelector(".plot"));
    Object.assign(this, { data, least, told: told_below(this.figure) });
  }
  // The context of the cleared canvas. Afterwards `row` is the height of a row, `plot` the width of the time.
  cleared(rows) {
    const { canvas } = this, ratio = devicePixelRatio || 1, width = canvas.clientWidth;
    this.row = Math.max(this.least, Math.min(24, Math.floor(520 / rows)));
    this.plot = width - NAMES;
    const height = rows * this.row + AXIS;
    canvas.style.height = `${height}px`;
    Object.assign(canvas, { width: width * ratio, height: height * ratio });
    const g = canvas.getContext("2d");
    g.scale(ratio, ratio);
    return g;
  }
  axis(g, rows, from, to) { // in seconds
    const bottom = rows * this.row, right = NAMES + this.plot;
    this.ink(g);
    g.fillRect(NAMES, bottom, this.plot, 1);
    const step = nice_step((to - from) / Math.max(2, this.plot / 140));
    for (let t = Math.ceil(from / step) * step; t <= to + step / 1e4; t += step) {
      const x = NAMES + (this.plot * (t - from)) / (to - from);
      g.fillRect(Math.min(x, right - 1), bottom, 1, 4);
      g.textAlign = x > right - 50 ? "right" : "left";
      g.fillText(t ? this.time(t, step) : "0", Math.min(x + 3, right - 2), bottom + AXIS - 8);
    }
  }
  names(g, names) {
    this.ink(g);
    g.textAlign = "right";
    const each = Math.ceil(14 / this.row);
    for (let r = 0; r < names.length; r += each) g.fillText(names[r], NAMES - 6, r * this.row + Math.max(this.row / 2, 6));
  }
  ink(g) {
    g.fillStyle = css("--soft");
    g.font = "11px system-ui, sans-serif";
    g.textBaseline = "middle";
  }
  time(seconds, precise = seconds) { // with digits for a step this small
    const [unit, name] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [0, "ns"]].find(([least]) => seconds >= least * 0.9995) ?? [1, "s"];
    const size = unit || 1e-9, digits = Math.max(0, Math.min(6, 1 - Math.floor(Math.log10(precise / size))));
    return `${Number((seconds / size).toFixed(digits))} ${name}`;
  }
}
