// Curves by the reader's choice: which column of a table runs along x, which tells curves apart, which gets a chart for
// each value, and the values of the others.
const [SECONDS, BOUND, RATE] = [0, 1, 2]; // of what a row has beside its columns
const QUANTITIES = {
  seconds: { label: "time", unit: "predicted time", y: { quantity: "seconds", scale: "log" }, of: (r) => r[1][SECONDS] },
  rate: { label: "rate", unit: "bytes per second of one call", y: { quantity: "rate", scale: "log" }, of: (r) => r[1][RATE] },
  share: { label: "share of the bound", unit: "bound / time", y: { quantity: "share", scale: "linear" }, of: (r) => r[1][BOUND] / r[1][SECONDS] },
  growth: { label: "relative to the first x", unit: "time as a multiple of that at the smallest x", y: { quantity: "ratio", scale: "log" }, of: (r) => r[1][SECONDS] },
};
const is_measured = (s) => s.name.endsWith(" measured");

PARTS["curve-explorer"] = class {
  constructor(place, { columns, rows, choice }) {
    Object.assign(this, { columns, rows, chosen: { ...choice, y: "seconds", rest: {} }, hidden: new Set() });
    this.independent = columns.filter((c) => !c.follows).map((c) => c.name);
    for (const name of ["controls", "legend", "grid"]) this[name] = html("div", { class: name }, place);
    this.tables = html("div"); // until a part gives another place
    this.draw();
  }
  place(name) { return this.columns.findIndex((c) => c.name === name); }
  column(name) { return this.columns[this.place(name)]; }
  value(row, name) { return name ? row[0][this.place(name)] : ""; }
  words(name, value) {
    const c = this.column(name);
    if (value === null) return `no ${name}`;
    return c.bytes ? text_of.bytes(value) : c.number ? `${value.toLocaleString("en")} ${name}` : String(value);
  }
  filters() { return this.independent.filter((n) => ![this.chosen.x, this.chosen.curves, this.chosen.charts].includes(n)); }
  kept(name) { // the largest number or the first text, unless the reader chose another value
    const { values, number } = this.column(name);
    return this.chosen.rest[name] ?? values[number ? values.length - 1 : 0];
  }

  select(label, options, now, take) {
    const box = html("select", {}, html("label", {}, this.controls, label));
    for (const [value, text] of options) html("option", { value }, box, text).selected = value === String(now);
    box.addEventListener("change", () => { take(box.selectedIndex); this.draw(); });
  }
  draw_controls() {
    const { chosen, independent, columns } = this;
    this.controls.replaceChildren();
    const named = (key, names) => this.select(key, names.map((n) => [n, n || "none"]), chosen[key], (at) => {
      for (const other of ["curves", "charts"]) if (names[at] && chosen[other] === names[at]) chosen[other] = "";
      chosen[key] = names[at];
    });
    const others = (taken) => ["", ...independent.filter((n) => !taken.includes(n))];
    named("x", columns.filter((c) => c.number).map((c) => c.name));
    named("curves", others([chosen.x]));
    named("charts", others([chosen.x, chosen.curves]));
    this.select("y", Object.entries(QUANTITIES).map(([k, q]) => [k, q.label]), chosen.y, (at) => { chosen.y = Object.keys(QUANTITIES)[at]; });
    for (const name of this.filters()) {
      const { values } = this.column(name);
      this.select(name, values.map((v) => [String(v), this.words(name, v)]), this.kept(name), (at) => { chosen.rest[name] = values[at]; });
    }
  }

  looks() {
    const { curves } = this.chosen, values = curves ? this.column(curves).values : [""];
    return new Map(values.map((v, i) => [v, { name: String(v), label: curves ? this.words(curves, v) : "prediction", colour: `s${i % 16}`, marker: i % 5 }]));
  }
  note(row) { // what follows from the choice and differs: the algorithm that a rule chose
    const told = this.columns.filter((c) => c.follows && !c.number).map((c) => this.value(row, c.name)).filter((v) => v !== null);
    return [...told, row[4], row[3] ? "may be more than 20 % off" : ""].filter(Boolean).join(" · ");
  }
  chart(rows, value, look) {
    const { chosen } = this, quantity = QUANTITIES[chosen.y], series = [], bounds = new Map(), x = (r) => this.value(r, chosen.x);
    let one_bound = true;
    for (const [curve, style] of look) {
      const mine = rows.filter((r) => this.value(r, chosen.curves) === curve && x(r) !== null).sort((a, b) => x(a) - x(b));
      if (!mine.length) continue;
      const measured = mine.filter((r) => r[2]), first = quantity.of(mine[0]);
      const y = (r) => (chosen.y === "growth" ? quantity.of(r) / first : quantity.of(r));
      series.push({ ...style, points: mine.filter((r) => y(r) > 0).map((r) => ({ x: x(r), y: y(r), note: this.note(r) })) });
      const scaled = measured.length && { seconds: 1, growth: measured[0][2][0] }[chosen.y];
      if (scaled) {
        const point = (r) => ({ x: x(r), y: r[2][0] / scaled, low: r[2][1] && r[2][1] / scaled, high: r[2][2] && r[2][2] / scaled, note: "measured" });
        series.push({ ...style, name: `${style.name} measured`, label: `${style.label}, measured`, dash: "2 4", points: measured.map(point) });
      }
      for (const r of mine) {
        const bound = r[1][BOUND];
        one_bound &&= bound > 0 && (!bounds.has(x(r)) || Math.abs(bounds.get(x(r)) / bound - 1) < 1e-9);
        bounds.set(x(r), bound);
      }
    }
    if (chosen.y === "seconds" && one_bound && bounds.size)
      series.push({ name: "bound", label: "bound", colour: "bound", bare: true, dash: "2 4", points: [...bounds].sort((a, b) => a[0] - b[0]).map(([x, y]) => ({ x, y })) });
    const c = this.column(chosen.x), least = Math.min(...rows.map(x).filter((v) => v !== null));
    return {
      title: chosen.charts ? this.words(chosen.charts, value) : "all points", unit: `${quantity.unit}, by ${chosen.x}`,
      x: { quantity: c.bytes ? "bytes" : "number", scale: least > 0 ? "log" : "linear" }, y: quantity.y, series, tall: true,
    };
  }

  draw_table(chart) {
    html("h3", {}, this.tables, chart.title);
    const curves = chart.series.filter((s) => s.points.length && s.name !== "bound" && !is_measured(s));
    const show = text_of[chart.y.quantity], in_bytes = chart.x.quantity === "bytes";
    const rows = [...new Set(curves.flatMap((s) => s.points.map((p) => p.x)))].sort((a, b) => a - b).map((x) => [
      in_bytes ? text_of.bytes(x) : x.toLocaleString("en"),
      ...curves.map((s) => {
        const p = s.points.find((q) => q.x === x), m = chart.series.find((o) => o.name === `${s.name} measured`)?.points.find((q) => q.x === x);
        return p ? `${show(p.y)}${p.note?.includes("may be") ? "*" : ""}${m ? ` (${show(m.y)})` : ""}` : "";
      }),
    ]);
    table_of(this.tables, [this.chosen.x, ...curves.map((s) => s.label)], rows);
  }
  draw() {
    this.draw_controls();
    for (const place of [this.grid, this.legend, this.tables]) place.replaceChildren();
    const rows = this.rows.filter((r) => this.filters().every((n) => this.value(r, n) === this.kept(n))), { charts } = this.chosen;
    const values = charts ? this.column(charts).values.filter((v) => rows.some((r) => this.value(r, charts) === v)) : [""];
    const found = values.map((value) => this.chart(rows.filter((r) => this.value(r, charts) === value), value, this.looks()));
    const lines = found.map((chart) => new LineChart(figure_of(this.grid, chart, found.length === 1), chart, this.hidden));
    for (const chart of found) this.draw_table(chart);
    legend_of(this.legend, series_of(found).sort((a, b) => (a.name === "bound") - (b.name === "bound")), lines, this.hidden);
  }
};
PARTS["curve-tables"] = class {
  constructor(place) {
    drawn["curve-explorer"].tables = place;
    drawn["curve-explorer"].draw();
  }
};
