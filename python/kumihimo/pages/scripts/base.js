// What the scripts of all parts share: elements, texts of numbers, colours, and the start.
"use strict";

const PARTS = {}; // by kind: a class that draws the data of a part in a place, and again if it has repaint()
const drawn = {}; // by name

function start() {
  const data = JSON.parse(document.getElementById("data").textContent);
  for (const place of document.querySelectorAll("[data-part]"))
    drawn[place.dataset.name] = new PARTS[place.dataset.part](place, data[place.dataset.name]);
  const repaint = () => { for (const part of Object.values(drawn)) part.repaint?.(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  for (const event of ["beforeprint", "afterprint"]) addEventListener(event, repaint);
  document.getElementById("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = dark_now() ? "light" : "dark";
    repaint();
  });
  document.documentElement.dataset.ready = "yes";
}
addEventListener("DOMContentLoaded", start);

const SVG = "http://www.w3.org/2000/svg";
function make(tag, attributes = {}, parent = null, text = null) {
  return filled(document.createElementNS(SVG, tag), attributes, parent, text);
}
function html(tag, attributes = {}, parent = null, text = null) {
  return filled(document.createElement(tag), attributes, parent, text);
}
function filled(node, attributes, parent, text) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== null) node.textContent = text;
  if (parent) parent.appendChild(node);
  return node;
}

function scaled(value, steps, digits) {
  const [factor, unit] = steps.find(([f]) => Math.abs(value) >= f * 0.9995) || steps[steps.length - 1];
  return `${significant(value / factor, digits)} ${unit}`;
}
function significant(value, digits = 3) {
  if (value === 0) return "0";
  return String(Number(value.toPrecision(digits)));
}
const text_of = {
  bytes: (v) => scaled(v, [[2 ** 50, "PiB"], [2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]], 3),
  seconds: (v, digits = 3) => scaled(v, [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]], digits),
  rate: (v) => scaled(v, [[1e12, "TB/s"], [1e9, "GB/s"], [1e6, "MB/s"], [1e3, "kB/s"], [1, "B/s"]], 3),
  ratio: (v) => `${significant(v, 3)}×`,
  flops: (v) => scaled(v, [[1e18, "EFLOPS"], [1e15, "PFLOPS"], [1e12, "TFLOPS"], [1e9, "GFLOPS"], [1e6, "MFLOPS"], [1e3, "kFLOPS"], [1, "FLOPS"]], 3),
  intensity: (v) => `${significant(v, 3)} flop/B`,
  year: (v) => String(Math.round(v)),
  number: (v, digits = 3) => significant(v, digits),
  share: (v) => `${significant(100 * v, 3)} %`,
};

function cleared(svg, width, height) {
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("height", height);
}
function figure_of(place, { name, title, unit, caption }, wide = true) {
  const figure = html("figure", { ...(name ? { id: name } : {}), ...(wide ? { class: "wide" } : {}) }, place);
  if (title) html("h3", {}, figure, title);
  if (unit) html("p", { class: "unit" }, figure, unit);
  html("div", { class: "plot" }, figure);
  if (caption) html("figcaption", {}, figure, caption);
  return figure;
}

// A line below a picture that says the value pointed at.
const told_below = (figure) => html("p", { class: "told", "aria-live": "polite" }, figure);

// Draws now, and whenever the width changes in a frame of its own: drawing changes the height.
function drawn_at_new_width(figure, draw) {
  let width = figure.clientWidth;
  draw();
  new ResizeObserver(() => {
    if (figure.clientWidth === width) return;
    width = figure.clientWidth;
    requestAnimationFrame(draw);
  }).observe(figure);
}

function nice_step(raw, base = 10) {
  const power = base ** Math.floor(Math.log(raw) / Math.log(base));
  return (base === 2 ? [1, 2] : [1, 2, 5, 10]).map((m) => m * power).find((s) => s >= raw * 0.999);
}

function dark_now() { return getComputedStyle(document.documentElement).getPropertyValue("color-scheme").trim() === "dark"; }
function css(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
