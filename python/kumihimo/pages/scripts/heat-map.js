// Rows by time as colours; pointing or the arrow keys tell the values.
PARTS["heat-map"] = class extends RowsOverTime {
  constructor(place, data) {
    super(place, data, `${data.title}. Arrow keys show its values.`, 1);
    Object.assign(this, { at: 0, bin: 0, bins: Math.max(...data.rows.map(([, values]) => values.length)) });
    this.highest = Math.max(...data.rows.map(([, values]) => Math.max(...values)));
    this.scale = new HeatScale(this.figure, "0", text_of[data.quantity](this.highest));
    this.figure.append(this.told);
    this.canvas.addEventListener("pointermove", (e) => this.point(e));
    this.canvas.addEventListener("keydown", (e) => this.key(e));
    drawn_at_new_width(this.figure, () => this.repaint());
  }
  repaint() {
    const { data: { rows, groups = [], bin_seconds }, bins } = this, dark = dark_now(), high = this.highest || 1;
    const g = this.cleared(rows.length), cell = this.plot / bins;
    const colours = Array.from({ length: 256 }, (_, i) => heat(i / 255, dark));
    rows.forEach(([, values], r) => values.forEach((value, b) => {
      if (value <= 0) return;
      g.fillStyle = colours[Math.min(255, Math.round((255 * value) / high))];
      g.fillRect(NAMES + Math.floor(b * cell), r * this.row, Math.ceil(cell), this.row);
    }));
    if (groups.length) this.group_names(g, groups);
    else this.names(g, rows.map(([label]) => label.replace(/^ranks? (\d+).*/, "$1")));
    this.axis(g, rows.length, 0, bins * bin_seconds);
    this.scale.repaint();
  }
  group_names(g, groups) {
    let first = 0, free = 0;
    this.ink(g);
    for (const [name, rows] of groups) {
      const y = first * this.row;
      g.fillRect(0, y, NAMES - 4, 1);
      if (y + 8 >= free) { g.fillText(name.slice(0, 7), 2, y + 8); free = y + 20; }
      first += rows;
    }
  }
  tell() {
    const [label, values] = this.data.rows[this.at], from = this.bin * this.data.bin_seconds, to = from + this.data.bin_seconds;
    const value = text_of[this.data.quantity](values[this.bin] ?? 0);
    this.told.textContent = `${label}, from ${from ? text_of.seconds(from) : "0"} to ${text_of.seconds(to)}: ${value}`;
  }
  point(e) {
    const at = Math.floor(e.offsetY / this.row), bin = Math.floor(((e.offsetX - NAMES) / this.plot) * this.bins);
    if (at < 0 || at >= this.data.rows.length || bin < 0 || bin >= this.bins) return;
    Object.assign(this, { at, bin });
    this.tell();
  }
  key(e) {
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    if (!steps[e.key]) return;
    e.preventDefault();
    const clamp = (v, count) => Math.max(0, Math.min(count - 1, v));
    this.at = clamp(this.at + steps[e.key][0], this.data.rows.length);
    this.bin = clamp(this.bin + steps[e.key][1], this.bins);
    this.tell();
  }
};
