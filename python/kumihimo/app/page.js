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
if (page.pictures) animate(page.pictures);

// Pictures are rows of signed bytes from y = 0 on, of the square root of the field; y points up.
function animate({width, height, steps, frames}) {
  const canvas = document.getElementById("picture"), slider = document.getElementById("frame");
  const button = document.getElementById("play"), label = document.getElementById("frame-step");
  const context = canvas.getContext("2d"), image = context.createImageData(width, height);
  const pictures = frames.map((text) => Int8Array.from(atob(text), (letter) => letter.charCodeAt(0)));
  function draw(index) {
    const picture = pictures[index];
    for (let y = 0; y < height; y++)
      for (let x = 0; x < width; x++) {
        const value = picture[(height - 1 - y) * width + x] / 127, pale = 255 * (1 - Math.abs(value));
        image.data.set([value > 0 ? 255 : pale, pale, value < 0 ? 255 : pale, 255], 4 * (y * width + x));
      }
    context.putImageData(image, 0, 0);
    slider.value = index;
    label.textContent = `step ${steps[index]}`;
  }
  let timer = null;
  function play(on) {
    clearInterval(timer);
    timer = on ? setInterval(() => draw((Number(slider.value) + 1) % pictures.length), 150) : null;
    button.textContent = on ? "Pause" : "Play";
  }
  button.addEventListener("click", () => play(timer === null));
  slider.addEventListener("input", () => { play(false); draw(Number(slider.value)); });
  draw(Math.floor(pictures.length / 3));
  play(!matchMedia("(prefers-reduced-motion: reduce)").matches);
}
document.documentElement.dataset.ready = "yes";
