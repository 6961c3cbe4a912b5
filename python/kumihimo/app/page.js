// Puts the charts of the page in their places.
"use strict";

const page = JSON.parse(document.getElementById("data").textContent);
for (const section of document.querySelectorAll("[data-group]")) {
  const group = page.groups[section.dataset.group];
  const hidden = new Set(), charts = [];
  for (const chart of group.charts) {
    const figure = document.getElementById(chart.id);
    charts.push(chart.kind === "bars" ? new BarChart(figure, chart) : new LineChart(figure, chart, hidden));
  }
  const place = section.querySelector(".legend");
  if (place) legend_of(place, group.legend, charts, hidden);
}
document.documentElement.dataset.ready = "yes";
