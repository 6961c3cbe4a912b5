// What each rank does when: a row for each rank, with its computing and the calls between. Zooms and moves.
const SHORTEST = 50; // ticks: the least that the picture shows

PARTS["rank-timeline"] = class extends RowsOverTime {
  constructor(place, data) {
    super(place, data, data.label, 2);
    Object.assign(this, { from: 0, to: data.ticks, keys: html("div", { class: "key" }, this.figure) });
    this.canvas.classList.add("grabbed");
    this.ends = data.tracks.map((track) => { // of each interval, for the search
      let at = 0;
      return track.filter((_, i) => i % 2).map((ticks) => (at += ticks));
    });
    this.listen();
    drawn_at_new_width(this.figure, () => this.repaint());
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
  legend() {
    const { regions, colours, sites } = this.data;
    this.keys.replaceChildren();
    const add = (place, text) => {
      const entry = html("span", {}, this.keys);
      html("i", {}, entry).style.background = this.colour(place);
      entry.append(text);
    };
    add(0, "computing");
    if (regions.length > 1) add(1, "computing in regions");
    const own = colours.map((colour, site) => [colour, site]).filter(([colour]) => colour !== null && colour >= 0);
    for (const [, site] of own.sort((a, b) => a[0] - b[0])) add(regions.length + site, sites[site]);
    const other = colours.indexOf(-1);
    if (other >= 0) add(regions.length + other, "other calls");
  }
  repaint() {
    this.legend();
    const { tracks, ranks } = this.data, rows = tracks.length, g = this.cleared(rows);
    const scale = this.plot / (this.to - this.from), gap = this.row > 6 ? 1 : 0, colours = new Map();
    tracks.forEach((track, r) => {
      const ends = this.ends[r];
      let drawn = -1;
      for (let i = this.index(r, this.from); i < ends.length; i++) {
        const start = i ? ends[i - 1] : 0;
        if (start >= this.to) break;
        const x0 = Math.max(0, (start - this.from) * scale), x1 = Math.min(this.plot, (ends[i] - this.from) * scale);
        if (x1 - drawn < 0.5) continue; // less than half a pixel
        const place = track[2 * i];
        if (!colours.has(place)) colours.set(place, this.colour(place));
        g.fillStyle = colours.get(place);
        g.fillRect(NAMES + Math.max(x0, drawn), r * this.row, x1 - Math.max(x0, drawn), this.row - gap);
        drawn = x1;
      }
    });
    this.names(g, ranks);
    this.axis(g, rows, this.seconds(this.from), this.seconds(this.to));
  }
  seconds(ticks) { return (ticks / this.data.ticks) * this.data.seconds; }
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
    this.repaint();
  }
  zoom(by, at = 0.5) {
    const middle = this.from + at * (this.to - this.from), length = (this.to - this.from) * by;
    this.show(middle - at * length, middle + (1 - at) * length);
  }
  move(share) { const by = share * (this.to - this.from); this.show(this.from + by, this.to + by); }
  tell(x, y) {
    const r = Math.floor(y / this.row), tick = this.from + ((x - NAMES) / this.plot) * (this.to - this.from);
    const i = r >= 0 && r < this.ends.length && x >= NAMES ? this.index(r, tick) : Infinity;
    if (!(i < (this.ends[r]?.length ?? 0))) { this.told.textContent = ""; return; }
    const start = i ? this.ends[r][i - 1] : 0;
    const took = this.seconds(this.ends[r][i] - start);
    this.told.textContent = `${this.interval(r, i)}, ${this.time(took)} from ${this.time(this.seconds(start), took)}`;
  }
  interval(r, i) { return `rank ${this.data.ranks[r]}: ${this.name(this.data.tracks[r][2 * i])}`; }
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
};
