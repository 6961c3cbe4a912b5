// The pictures of a placement: link loads, and ranks as coloured nodes, before and after, which turn together.
"use strict";

const TITLES = { before: "usual order", after: "this placement" };
const MOST_TURNING = 700; // nodes; larger pictures turn only by hand

function bytes_text(v) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let at = 0;
  while (v >= 1024 && at + 1 < units.length) { v /= 1024; at++; }
  return `${at ? Number(v.toPrecision(3)) : Math.round(v)} ${units[at]}`;
}

function scale_of(figure, full) {
  const dark = dark_now(), scale = figure.querySelector(".scale canvas"), g = scale.getContext("2d");
  for (let x = 0; x < scale.width; x++) { g.fillStyle = heat(x / scale.width, dark); g.fillRect(x, 0, 1, scale.height); }
  figure.querySelector(".scale .high").textContent = bytes_text(full);
}

class Pair { // two scenes, one for each placement
  constructor(figure, data, view, label) {
    Object.assign(this, { figure, data });
    const flat = data.axes.length < 3;
    this.scenes = {};
    for (const name of ["before", "after"]) {
      const place = html("div", {}, figure.querySelector(".duo"));
      html("h3", {}, place, TITLES[name]);
      const canvas = html("canvas", { role: "application", "aria-label": `${label}, ${TITLES[name]}` }, html("div", { class: "scene" }, place));
      this.scenes[name] = new Scene(canvas, data.axes, view, flat ? 0.9 : 0.74);
      this.under(name, place);
    }
  }
  under() {}
  colour() {
    for (const name of ["before", "after"]) { this.paint(this.scenes[name], name); this.scenes[name].dirty = true; this.scenes[name].paint(); }
  }
}

class Loads extends Pair {
  under(name, place) {
    const facts = document.getElementById("facts").content.querySelector(`[data-of=${name}]`);
    html("p", { class: "facts" }, place).append(...[...facts.children].map((each) => each.cloneNode(true)));
  }
  paint(scene, name) {
    const dark = dark_now(), high = this.data.full_scale || 1;
    scene.lines = this.data.cables.flatMap(([from, to], i) => {
      const t = this.data.loads[name][i] / high;
      const look = { colour: heat(t, dark), width: t > 0 ? 0.9 + 2.6 * t : 0.5, alpha: t > 0 ? 0.35 + 0.65 * t : 0.2, lift: -t };
      return scene.segments(from, to).map(([a, b]) => ({ a, b, ...look }));
    });
  }
  colour() {
    super.colour();
    scale_of(this.figure, this.data.full_scale);
  }
}

class Ranks extends Pair {
  paint(scene, name) {
    const quiet = css("--line");
    const size = Math.max(1.6, Math.min(9, 0.3 * scene.zoom()));
    scene.dots = this.data.colours[name].map((c, node) => ({
      c: scene.coordinates(node), colour: c ? `rgb(${c[0]} ${c[1]} ${c[2]})` : css("--card"), size, ring: c ? null : quiet,
    }));
  }
}

class Cells { // where there are no axes to turn: rows of small squares
  constructor(figure, data) {
    Object.assign(this, { figure, data, canvases: [] });
    for (const name of ["before", "after"]) {
      const place = html("div", { class: "cells" }, figure.querySelector(".duo"));
      html("h3", {}, place, TITLES[name]);
      this.fill(place, name);
    }
    new ResizeObserver(() => requestAnimationFrame(() => this.colour())).observe(figure);
  }
  row(place, name, label, count, columns, look) {
    if (label) html("h4", {}, place, label);
    this.canvases.push({ canvas: html("canvas", { role: "img", "aria-label": `${label || "nodes"}, ${TITLES[name]}` }, place), count, columns, look });
  }
  colour() {
    const ratio = Math.min(2, devicePixelRatio || 1);
    for (const { canvas, count, columns, look } of this.canvases) {
      const width = canvas.parentElement.clientWidth;
      const wanted = Math.max(3, Math.min(16, Math.sqrt(width * 260 / this.total)));
      const across = columns && width / columns >= 3 ? columns * Math.max(1, Math.floor(width / wanted / columns)) : Math.max(1, Math.floor(width / wanted));
      const size = Math.min(16, width / across), height = Math.ceil(count / across) * size;
      canvas.width = width * ratio;
      canvas.height = height * ratio;
      canvas.style.height = `${height}px`;
      const g = canvas.getContext("2d"), gap = size > 5 ? 1 : 0;
      g.scale(ratio, ratio);
      for (let i = 0; i < count; i++) {
        g.fillStyle = look(i);
        g.fillRect((i % across) * size, Math.floor(i / across) * size, size - gap, size - gap);
      }
    }
  }
}

class LinkCells extends Cells {
  fill(place, name) {
    const high = this.data.full_scale || 1;
    this.total = this.data.classes.reduce((sum, each) => sum + each.before.length, 0);
    for (const each of this.data.classes)
      this.row(place, name, `${each.name}: ${each.links} links`, each.before.length, 0, (i) => heat(each[name][i] / high, dark_now()));
  }
  colour() {
    super.colour();
    scale_of(this.figure, this.data.full_scale);
  }
}

class RankCells extends Cells {
  fill(place, name) {
    const colours = this.data.colours[name];
    this.total = colours.length;
    this.row(place, name, "", colours.length, this.data.columns, (i) => colours[i] ? `rgb(${colours[i].join(" ")})` : css("--line"));
  }
}

const { scene: data, cells } = JSON.parse(document.getElementById("data").textContent);
const pictures = [];
if (cells) pictures.push(new LinkCells(document.getElementById("link-cells"), cells), new RankCells(document.getElementById("rank-cells"), cells));
if (data) {
  const flat = data.axes.length < 3, is_deep = data.axes[2] > 2 * data.axes[0];
  for (const [id, kind, label] of [["link-load", Loads, "links coloured by load"], ["rank-places", Ranks, "nodes coloured by rank"]]) {
    const view = new View(flat ? 0 : is_deep ? 1.2 : 0.62, flat ? 0 : 0.42);
    if (flat || data.axes.reduce((a, b) => a * b) > MOST_TURNING) view.turning = false;
    pictures.push(new kind(document.getElementById(id), data, view, label));
  }
}
function repaint() { for (const each of pictures) each.colour(); }
repaint();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
addEventListener("beforeprint", repaint);
addEventListener("afterprint", repaint);
document.getElementById("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = dark_now() ? "light" : "dark";
  repaint();
});
document.documentElement.dataset.ready = "yes";
