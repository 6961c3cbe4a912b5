// Puts the figures of the page in their places, and keeps them right when the theme changes or the page is printed.
"use strict";

const page = JSON.parse(document.getElementById("data").textContent);
const repainted = [];

for (const section of document.querySelectorAll("[data-group]")) {
  const group = page.groups[section.dataset.group];
  const hidden = new Set(group.hidden || []), charts = [];
  for (const chart of group.charts) {
    const figure = document.getElementById(chart.id);
    charts.push(chart.kind === "bars" ? new BarChart(figure, chart) : new LineChart(figure, chart, hidden));
  }
  const place = section.querySelector(".legend");
  if (place) legend_of(place, group.legend, charts, hidden);
}
for (const [id, kind] of [["link-load", LinkLoad], ["trees", Trees]]) {
  const figure = document.getElementById(id);
  if (figure && page[id]) repainted.push(new kind(figure, page[id]));
}

function repaint() { for (const f of repainted) f.colour(); }
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
addEventListener("beforeprint", repaint);
addEventListener("afterprint", repaint);

const theme = document.getElementById("theme");
theme.addEventListener("click", () => {
  document.documentElement.dataset.theme = dark_now() ? "light" : "dark";
  repaint();
});

// Raw tables are long: made from their CSV when they are first opened.
for (const details of document.querySelectorAll("details[data-table]"))
  details.addEventListener("toggle", () => fill(details), { once: true });
function fill(details) {
  const { columns, rows } = page.tables[details.dataset.table];
  const table = html("table", { class: "data" }, html("div", { class: "scroll" }, details));
  const head = html("tr", {}, html("thead", {}, table));
  const is_text = columns.map((_, i) => rows.some((r) => typeof r[i] === "string"));
  columns.forEach((c, i) => html("th", is_text[i] ? { class: "text" } : {}, head, c));
  const body = html("tbody", {}, table);
  for (const row of rows) {
    const line = html("tr", {}, body);
    row.forEach((v, i) => html("td", is_text[i] ? { class: "text" } : {}, line, v === null ? "" : typeof v === "number" && !Number.isInteger(v) ? String(Number(v.toPrecision(5))) : String(v)));
  }
}
document.documentElement.dataset.ready = "yes";
