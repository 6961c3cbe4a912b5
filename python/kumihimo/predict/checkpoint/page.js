// The curves of a checkpoint interval.
"use strict";

const chart = JSON.parse(document.getElementById("data").textContent);
const hidden = new Set();
const place = document.querySelector("#curves .grid");
const figure = html("figure", { class: "wide" }, place);
html("h3", {}, figure, chart.title);
html("p", { class: "unit" }, figure, chart.unit);
html("div", { class: "plot" }, figure);
const charts = [new LineChart(figure, chart, hidden)];
legend_of(document.querySelector("#curves .legend"), chart.series, charts, hidden);
document.getElementById("theme").addEventListener("click", () => {
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "light" : "dark";
});
document.documentElement.dataset.ready = "yes";
