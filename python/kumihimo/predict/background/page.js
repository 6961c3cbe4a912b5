// The times of a job beside others: a row of points for each choice of its nodes.
"use strict";

const page = JSON.parse(document.getElementById("data").textContent);
const ROW = 96, LEFT = 86, RIGHT = 18, AXIS = 26;

class Times {
  constructor(figure, chart) {
    Object.assign(this, { figure, chart });
    const words = `${chart.title}: ${chart.rows.map((r) => `${r.name} ${text_of.seconds(r.median)} in the median, alone ${text_of.seconds(r.alone)}`).join("; ")}`;
    this.svg = make("svg", { class: "chart", role: "img", "aria-label": words }, figure.querySelector(".plot"));
    this.told = figure.querySelector(".told");
    redrawn_at_new_width(this, figure);
  }
  draw() {
    const outer = this.svg.parentElement.clientWidth, { svg } = this, { rows } = this.chart;
    if (!outer) return;
    const height = rows.length * ROW + AXIS, width = outer - LEFT - RIGHT;
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${outer} ${height}`);
    svg.setAttribute("height", height);
    const all = rows.flatMap((r) => [...r.times, r.alone]), low = Math.min(...all), high = Math.max(...all);
    const room = Math.max((high - low) * 0.05, high * 0.01), step = nice_step((high - low + 2 * room) / Math.max(2, width / 110));
    const x = (v) => LEFT + width * (v - low + room) / (high - low + 2 * room);
    for (let v = Math.ceil((low - room) / step) * step; v <= high + room; v += step) {
      make("line", { class: "grid-line", x1: x(v), x2: x(v), y1: 0, y2: rows.length * ROW }, svg);
      make("text", { x: x(v), y: height - 8, "text-anchor": "middle" }, svg, text_of.seconds(v, 4));
    }
    rows.forEach((row, at) => this.row(svg, row, at, x));
    make("line", { class: "axis-line", x1: LEFT, x2: outer - RIGHT, y1: rows.length * ROW, y2: rows.length * ROW }, svg);
  }
  row(svg, row, at, x) {
    const top = at * ROW, middle = top + ROW / 2;
    const g = make("g", { style: `--c: var(--s${at})` }, svg);
    make("text", { x: 4, y: middle + 4 }, g, row.name);
    make("line", { class: "alone", x1: x(row.alone), x2: x(row.alone), y1: top + 8, y2: top + ROW - 8 }, g);
    make("line", { class: "median", x1: x(row.median), x2: x(row.median), y1: top + 8, y2: top + ROW - 8 }, g);
    row.times.forEach((time, i) => { // beside each other by the golden ratio, which spreads any number of them
      const y = top + 16 + (ROW - 32) * ((i * 0.6180339887) % 1);
      const dot = make("circle", { cx: x(time), cy: y, r: 3.5 }, g);
      dot.addEventListener("pointerenter", () => { this.told.textContent = `${row.name}, seed ${row.seeds[i]}: ${text_of.seconds(time, 4)}, ${text_of.ratio(time / row.alone)} the median alone`; });
    });
  }
}

for (const chart of page) {
  const figure = html("figure", { class: "times wide" }, document.querySelector("#times .grid"));
  html("h3", {}, figure, chart.title);
  html("div", { class: "plot" }, figure);
  html("p", { class: "told" }, figure);
  new Times(figure, chart);
}
document.documentElement.dataset.ready = "yes";
const theme = document.getElementById("theme");
theme.addEventListener("click", () => {
  const dark = getComputedStyle(document.documentElement).getPropertyValue("color-scheme").trim() === "dark";
  document.documentElement.dataset.theme = dark ? "light" : "dark";
});
