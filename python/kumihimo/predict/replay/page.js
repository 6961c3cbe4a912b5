// The timeline of a replay: a row for each rank, with the computing and the calls between.
"use strict";

const SHORTEST = 50; // ticks: the least that the picture shows
const AXIS = 18, NAMES = 46; // pixels below, and at the left

class Timeline {
  constructor(figure, data) {
    Object.assign(this, { figure, data, from: 0, to: data.ticks });
    this.canvas = figure.querySelector("canvas");
    this.told = figure.querySelector(".told");
    this.ends = data.tracks.map((track) => { // of each interval, for the search
      let at = 0;
      return track.filter((_, i) => i % 2).map((ticks) => (at += ticks));
    });
    this.listen();
    this.key();
  }
  colour(place) {
    const { regions, colours } = this.data;
    if (place < regions.length) return css(place ? "--bound" : "--grid");
    const which = colours[place - regions.length];
    return css(which < 0 ? "--library" : `--s${which}`);
  }
  name(place) {
    const { regions, sites } = this.data;
    return place < regions.length ? `computing, ${regions[place]}` : sites[place - regions.length];
  }
  key() {
    const key = this.figure.querySelector(".key");
    key.replaceChildren();
    const add = (place, text) => {
      const entry = html("span", {}, key);
      html("i", {}, entry).style.background = this.colour(place);
      entry.append(text);
    };
    add(0, "computing");
    if (this.data.regions.length > 1) add(1, "computing in regions");
    const sites = this.data.colours.map((colour, site) => [colour, site]).filter(([colour]) => colour !== null && colour >= 0);
    for (const [, site] of sites.sort((a, b) => a[0] - b[0])) add(this.data.regions.length + site, this.data.sites[site]);
    const other = this.data.colours.indexOf(-1);
    if (other >= 0) add(this.data.regions.length + other, "other calls");
  }
  paint() {
    const rows = this.data.tracks.length, ratio = devicePixelRatio || 1;
    const width = this.canvas.clientWidth, row = Math.max(2, Math.min(22, Math.floor(520 / rows)));
    const height = rows * row + AXIS;
    this.canvas.style.height = `${height}px`;
    Object.assign(this.canvas, { width: width * ratio, height: height * ratio });
    Object.assign(this, { row, plot: width - NAMES });
    const g = this.canvas.getContext("2d"), scale = this.plot / (this.to - this.from);
    g.scale(ratio, ratio);
    const gap = row > 6 ? 1 : 0, colours = new Map();
    for (let r = 0; r < rows; r++) {
      const track = this.data.tracks[r], ends = this.ends[r];
      let drawn = -1;
      for (let i = this.index(r, this.from); i < ends.length; i++) {
        const start = i ? ends[i - 1] : 0;
        if (start >= this.to) break;
        const x0 = Math.max(0, (start - this.from) * scale), x1 = Math.min(this.plot, (ends[i] - this.from) * scale);
        if (x1 - drawn < 0.5) continue; // less than half a pixel
        const place = track[2 * i];
        if (!colours.has(place)) colours.set(place, this.colour(place));
        g.fillStyle = colours.get(place);
        g.fillRect(NAMES + Math.max(x0, drawn), r * row, x1 - Math.max(x0, drawn), row - gap);
        drawn = x1;
      }
    }
    g.fillStyle = css("--soft");
    g.font = "11px system-ui, sans-serif";
    g.textBaseline = "middle";
    const each = Math.ceil(14 / row);
    g.textAlign = "right";
    for (let r = 0; r < rows; r += each) g.fillText(`${this.data.ranks[r]}`, NAMES - 6, r * row + Math.max(row / 2, 6));
    g.textAlign = "left";
    const step = nice_step(this.seconds(this.to - this.from) / Math.max(2, this.plot / 140));
    for (let t = Math.ceil(this.seconds(this.from) / step) * step; t <= this.seconds(this.to); t += step) {
      const x = NAMES + (t / this.data.seconds * this.data.ticks - this.from) * scale;
      g.fillRect(x, rows * row, 1, 4);
      g.fillText(this.text(t, step), Math.min(x + 3, this.plot - 20), height - 7);
    }
  }
  seconds(ticks) { return ticks / this.data.ticks * this.data.seconds; }
  text(seconds, precise = seconds) {
    const [unit, name] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [0, "ns"]].find(([least]) => seconds >= least * 0.9995) ?? [1, "s"];
    const size = unit || 1e-9, digits = Math.max(0, Math.min(6, 1 - Math.floor(Math.log10(precise / size))));
    return `${Number((seconds / size).toFixed(digits))} ${name}`;
  }
  index(r, tick) { // of the interval of this tick
    const ends = this.ends[r];
    let low = 0, high = ends.length;
    while (low < high) { const middle = (low + high) >> 1; if (ends[middle] <= tick) low = middle + 1; else high = middle; }
    return low;
  }
  show(from, to) {
    const length = Math.max(SHORTEST, Math.min(this.data.ticks, to - from));
    this.from = Math.max(0, Math.min(this.data.ticks - length, from));
    this.to = this.from + length;
    this.paint();
  }
  zoom(by, at = 0.5) {
    const middle = this.from + at * (this.to - this.from), length = (this.to - this.from) * by;
    this.show(middle - at * length, middle + (1 - at) * length);
  }
  move(share) { const by = share * (this.to - this.from); this.show(this.from + by, this.to + by); }
  tell(x, y) {
    const r = Math.floor(y / this.row), tick = this.from + (x - NAMES) / this.plot * (this.to - this.from);
    const i = r >= 0 && r < this.ends.length && x >= NAMES ? this.index(r, tick) : Infinity;
    if (!(i < (this.ends[r]?.length ?? 0))) { this.told.textContent = ""; return; }
    const start = i ? this.ends[r][i - 1] : 0;
    const took = this.seconds(this.ends[r][i] - start);
    this.told.textContent = `rank ${this.data.ranks[r]}: ${this.name(this.data.tracks[r][2 * i])}, ${this.text(took)} from ${this.text(this.seconds(start), took)}`;
  }
  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      this.zoom(e.deltaY > 0 ? 1.25 : 0.8, Math.max(0, Math.min(1, (e.offsetX - NAMES) / this.plot)));
    }, { passive: false });
    let grabbed = null;
    canvas.addEventListener("pointerdown", (e) => { grabbed = e.offsetX; canvas.setPointerCapture(e.pointerId); });
    canvas.addEventListener("pointerup", () => { grabbed = null; });
    canvas.addEventListener("pointermove", (e) => {
      if (grabbed !== null) { this.move((grabbed - e.offsetX) / this.plot); grabbed = e.offsetX; }
      this.tell(e.offsetX, e.offsetY);
    });
    canvas.addEventListener("dblclick", () => this.show(0, this.data.ticks));
    canvas.addEventListener("keydown", (e) => {
      const does = { "+": () => this.zoom(0.5), "-": () => this.zoom(2), ArrowLeft: () => this.move(-0.2), ArrowRight: () => this.move(0.2), 0: () => this.show(0, this.data.ticks) }[e.key];
      if (does) { e.preventDefault(); does(); }
    });
  }
}

const timeline = new Timeline(document.getElementById("timeline"), JSON.parse(document.getElementById("data").textContent));
function repaint() { timeline.key(); timeline.paint(); }
repaint();
addEventListener("resize", repaint);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
document.getElementById("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = dark_now() ? "light" : "dark";
  repaint();
});
document.documentElement.dataset.ready = "yes";
