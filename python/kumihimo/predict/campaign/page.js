// Curves of a campaign by the reader's choice of parameters: columns and rows of page.py, charts of charts.js.
"use strict";

const page = JSON.parse(document.getElementById("data").textContent);
const [SECONDS, BOUND, RATE] = [0, 1, 2];
const QUANTITIES = {
  seconds: { label: "time", unit: "predicted time", y: { quantity: "seconds", scale: "log" }, of: (r) => r[1][SECONDS] },
  rate: { label: "rate", unit: "bytes per second of one call", y: { quantity: "rate", scale: "log" }, of: (r) => r[1][RATE] },
  share: { label: "share of the bound", unit: "bound / time", y: { quantity: "share", scale: "linear" }, of: (r) => r[1][BOUND] / r[1][SECONDS] },
  growth: { label: "relative to the first x", unit: "time as a multiple of that at the smallest x", y: { quantity: "ratio", scale: "log" }, of: (r) => r[1][SECONDS] },
};
const column_of = (name) => page.columns.findIndex((c) => c.name === name);
const value_of = (row, name) => (name ? row[0][column_of(name)] : "");
function words(name, value) {
  const c = page.columns[column_of(name)];
  if (value === null) return `no ${name}`;
  return c.bytes ? text_of.bytes(value) : c.number ? `${value.toLocaleString("en")} ${name}` : String(value);
}

const chosen = { ...page.choice, y: "seconds", rest: {} };
const independent = page.columns.filter((c) => !c.follows).map((c) => c.name);
const filters = () => independent.filter((n) => ![chosen.x, chosen.curves, chosen.charts].includes(n));
const rows_now = () => page.rows.filter((r) => filters().every((n) => value_of(r, n) === (chosen.rest[n] ?? first_of(n))));
function first_of(name) { // the largest number, or the first text
  const { values, number } = page.columns[column_of(name)];
  return values[number ? values.length - 1 : 0];
}
const values_in = (rows, name) => (name ? page.columns[column_of(name)].values.filter((v) => rows.some((r) => value_of(r, name) === v)) : [""]);

function select(label, options, now, take) {
  const place = html("label", {}, document.querySelector(".controls"), label);
  const box = html("select", {}, place);
  for (const [value, text] of options) {
    const option = html("option", { value }, box, text);
    if (value === String(now)) option.selected = true;
  }
  box.addEventListener("change", () => { take(box.selectedIndex); draw(); });
}
function controls() {
  document.querySelector(".controls").replaceChildren();
  const numbers = page.columns.filter((c) => c.number).map((c) => c.name);
  const others = (taken) => ["", ...independent.filter((n) => !taken.includes(n))];
  const named = (names) => names.map((n) => [n, n || "none"]);
  const set = (key, names) => (at) => {
    for (const other of ["x", "curves", "charts"]) if (chosen[other] === names[at] && names[at]) chosen[other] = other === "x" ? chosen.x : "";
    chosen[key] = names[at];
  };
  select("x", named(numbers), chosen.x, set("x", numbers));
  const curves = others([chosen.x]), charts = others([chosen.x, chosen.curves]);
  select("curves", named(curves), chosen.curves, set("curves", curves));
  select("charts", named(charts), chosen.charts, set("charts", charts));
  select("y", Object.entries(QUANTITIES).map(([k, q]) => [k, q.label]), chosen.y, (at) => { chosen.y = Object.keys(QUANTITIES)[at]; });
  for (const name of filters()) {
    const values = page.columns[column_of(name)].values;
    select(name, values.map((v) => [String(v), words(name, v)]), chosen.rest[name] ?? first_of(name), (at) => { chosen.rest[name] = values[at]; });
  }
}

function looks() {
  const values = chosen.curves ? page.columns[column_of(chosen.curves)].values : [""];
  return new Map(values.map((v, i) => [v, { name: String(v), label: chosen.curves ? words(chosen.curves, v) : "prediction", colour: `s${i % 16}`, marker: i % 5, strong: false }]));
}
function note_of(row) { // what follows from the choice and differs: the algorithm that a rule chose
  const told = page.columns.filter((c) => c.follows && !c.number).map((c) => value_of(row, c.name)).filter((v) => v !== null);
  return [...told, row[4], row[3] ? "may be more than 20 % off" : ""].filter(Boolean).join(" · ");
}
function chart_of(rows, value, look, at) {
  const quantity = QUANTITIES[chosen.y], series = [], bounds = new Map();
  let one_bound = true;
  for (const [curve, style] of look) {
    const mine = rows.filter((r) => value_of(r, chosen.curves) === curve && value_of(r, chosen.x) !== null).sort((a, b) => value_of(a, chosen.x) - value_of(b, chosen.x));
    if (!mine.length) continue;
    const measured = mine.filter((r) => r[2]), first = quantity.of(mine[0]), first_measured = measured.length ? measured[0][2][0] : 1;
    const y = (r) => (chosen.y === "growth" ? quantity.of(r) / first : quantity.of(r));
    series.push({ ...style, points: mine.filter((r) => y(r) > 0).map((r) => ({ x: value_of(r, chosen.x), y: y(r), note: note_of(r) })) });
    const scaled = { seconds: 1, growth: first_measured }[chosen.y];
    if (measured.length && scaled) {
      const point = (r) => ({ x: value_of(r, chosen.x), y: r[2][0] / scaled, low: r[2][1] && r[2][1] / scaled, high: r[2][2] && r[2][2] / scaled, note: "measured" });
      series.push({ ...style, name: `${style.name} measured`, label: `${style.label}, measured`, dash: "2 4", points: measured.map(point) });
    }
    for (const r of mine) {
      const x = value_of(r, chosen.x), bound = r[1][BOUND];
      one_bound &&= bound > 0 && (!bounds.has(x) || Math.abs(bounds.get(x) / bound - 1) < 1e-9);
      bounds.set(x, bound);
    }
  }
  if (chosen.y === "seconds" && one_bound && bounds.size)
    series.push({ name: "bound", label: "bound", colour: "bound", marker: 0, bare: true, dash: "2 4", points: [...bounds].sort((a, b) => a[0] - b[0]).map(([x, y]) => ({ x, y })) });
  const c = page.columns[column_of(chosen.x)], least = Math.min(...rows.map((r) => value_of(r, chosen.x)).filter((v) => v !== null));
  return {
    id: `chart-${at}`, kind: "lines", title: chosen.charts ? words(chosen.charts, value) : "all points", unit: `${quantity.unit}, by ${chosen.x}`,
    x: { quantity: c.bytes ? "bytes" : "number", scale: least > 0 ? "log" : "linear" }, y: quantity.y, series, tall: true,
  };
}

function table_of(chart) {
  const place = document.querySelector(".tables");
  html("h3", {}, place, chart.title);
  const table = html("table", { class: "data" }, html("div", { class: "scroll" }, place));
  const curves = chart.series.filter((s) => s.points.length && s.name !== "bound" && !s.name.endsWith(" measured"));
  const head = html("tr", {}, html("thead", {}, table)), body = html("tbody", {}, table);
  html("th", {}, head, chosen.x);
  for (const s of curves) html("th", {}, head, s.label);
  const show = text_of[chart.y.quantity], at = text_of[chart.x.quantity === "bytes" ? "bytes" : "number"];
  for (const x of [...new Set(curves.flatMap((s) => s.points.map((p) => p.x)))].sort((a, b) => a - b)) {
    const line = html("tr", {}, body);
    html("td", {}, line, chart.x.quantity === "bytes" ? at(x) : x.toLocaleString("en"));
    for (const s of curves) {
      const p = s.points.find((q) => q.x === x), m = chart.series.find((o) => o.name === `${s.name} measured`)?.points.find((q) => q.x === x);
      const text = p ? `${show(p.y)}${p.note?.includes("may be") ? "*" : ""}${m ? ` (${show(m.y)})` : ""}` : "";
      html("td", { title: p?.note || "" }, line, text);
    }
  }
}

const hidden = new Set();
function draw() {
  controls();
  const grid = document.querySelector("#curves .grid"), legend = document.querySelector("#curves .legend");
  for (const place of [grid, legend, document.querySelector(".tables")]) place.replaceChildren();
  const rows = rows_now(), look = looks(), charts = [], seen = new Map();
  const values = values_in(rows, chosen.charts);
  values.forEach((value, at) => {
    const chart = chart_of(rows.filter((r) => value_of(r, chosen.charts) === value), value, look, at);
    for (const s of chart.series) seen.set(s.name, s);
    const figure = html("figure", { id: chart.id, ...(values.length === 1 ? { class: "wide" } : {}) }, grid);
    html("h3", {}, figure, chart.title);
    html("p", { class: "unit" }, figure, chart.unit);
    html("div", { class: "plot" }, figure);
    charts.push(new LineChart(figure, chart, hidden));
    table_of(chart);
  });
  const entries = [...seen.values()];
  legend_of(legend, [...entries.filter((s) => s.name !== "bound"), ...entries.filter((s) => s.name === "bound")], charts, hidden);
}
document.getElementById("theme").addEventListener("click", () => {
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "light" : "dark";
});
if (page.choice.x && page.rows.length) draw();
else html("p", { class: "absent" }, document.querySelector("#curves .grid"), page.rows.length ? "No number varies, so there is no curve." : "No point has a result yet.");
document.documentElement.dataset.ready = "yes";
