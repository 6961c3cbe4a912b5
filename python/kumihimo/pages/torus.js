// Tori drawn on a canvas that turns under the pointer: link loads, and trees that grow hop by hop. A painter's loop over
// lines sorted by depth; nothing is drawn while nobody looks or nothing changes.
"use strict";

class View { // a rotation shared by the scenes that turn together
  constructor(yaw, pitch) { Object.assign(this, { yaw, pitch, scenes: [], turning: !matchMedia("(prefers-reduced-motion: reduce)").matches }); }
  turn(dx, dy) {
    this.yaw += dx;
    this.pitch = Math.max(-1.35, Math.min(1.35, this.pitch + dy));
    for (const s of this.scenes) s.dirty = true;
  }
}

function dark_now() { return getComputedStyle(document.documentElement).getPropertyValue("color-scheme").trim() === "dark"; }
function css(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

// From quiet to busy; towards the ink of the page, so that what matters stands out on paper and on black alike.
const HEAT = {
  light: [[176, 190, 206], [242, 178, 70], [230, 104, 32], [186, 24, 60], [76, 4, 88]],
  dark: [[72, 84, 112], [122, 60, 160], [214, 62, 96], [250, 150, 58], [255, 242, 170]],
};
function heat(t, dark) {
  const stops = HEAT[dark ? "dark" : "light"];
  const p = Math.max(0, Math.min(1, t)) * (stops.length - 1), i = Math.min(stops.length - 2, Math.floor(p));
  const c = stops[i].map((v, k) => Math.round(v + (stops[i + 1][k] - v) * (p - i)));
  return `rgb(${c[0]} ${c[1]} ${c[2]})`;
}

class Scene {
  constructor(canvas, axes, view, aspect) {
    Object.assign(this, { canvas, axes, view, aspect, lines: [], dots: [], dirty: true, seen: false });
    view.scenes.push(this);
    this.extent = 0.5 * Math.hypot(...axes.map((n) => n));
    canvas.addEventListener("pointerdown", (e) => this.grab(e));
    canvas.tabIndex = 0;
    canvas.setAttribute("aria-label", `${canvas.getAttribute("aria-label")}; arrow keys turn it`);
    canvas.addEventListener("keydown", (e) => this.key(e));
    new ResizeObserver(() => requestAnimationFrame(() => this.fit())).observe(canvas.parentElement);
    new IntersectionObserver((entries) => { this.seen = entries[0].isIntersecting; this.dirty = true; }).observe(canvas);
    this.fit();
    const frame = (now) => {
      if (this.seen && view.scenes[0] === this && view.turning) view.turn((Math.min(50, now - (this.last || now)) * 0.00012), 0);
      this.last = now;
      if (this.seen && this.dirty) this.paint();
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }
  fit() {
    const width = this.canvas.parentElement.clientWidth;
    if (!width || width === this.width) return;
    const ratio = Math.min(2, devicePixelRatio || 1);
    const height = Math.round(width * (width < 500 ? Math.max(this.aspect, 0.85) : this.aspect));
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    this.canvas.style.height = `${height}px`;
    Object.assign(this, { width, height, ratio, dirty: true });
    if (!this.seen) this.paint();
  }
  grab(event) {
    this.view.turning = false;
    this.canvas.setPointerCapture(event.pointerId);
    let [x, y] = [event.clientX, event.clientY];
    const move = (e) => { this.view.turn((e.clientX - x) * 0.008, (e.clientY - y) * 0.008); [x, y] = [e.clientX, e.clientY]; };
    const drop = () => { this.canvas.removeEventListener("pointermove", move); };
    this.canvas.addEventListener("pointermove", move);
    for (const end of ["pointerup", "pointercancel"]) this.canvas.addEventListener(end, drop, { once: true });
  }
  key(event) {
    const turns = { ArrowLeft: [-0.12, 0], ArrowRight: [0.12, 0], ArrowUp: [0, -0.12], ArrowDown: [0, 0.12] };
    if (!turns[event.key]) return;
    event.preventDefault();
    this.view.turning = false;
    this.view.turn(...turns[event.key]);
  }
  coordinates(node) {
    const c = [];
    for (let a = this.axes.length - 1; a >= 0; a--) { c[a] = node % this.axes[a]; node = Math.floor(node / this.axes[a]); }
    return c;
  }
  at(c) { // a place of the torus -> pixels and depth
    const [x, y, z] = [0, 1, 2].map((a) => (c[a] ?? 0) - ((this.axes[a] ?? 1) - 1) / 2);
    const { yaw, pitch } = this.view;
    const x1 = x * Math.cos(yaw) + z * Math.sin(yaw), z1 = -x * Math.sin(yaw) + z * Math.cos(yaw);
    const y1 = y * Math.cos(pitch) - z1 * Math.sin(pitch), z2 = y * Math.sin(pitch) + z1 * Math.cos(pitch);
    const eye = 4.2 * this.extent, near = eye / (eye + z2);
    const scale = this.zoom() * near;
    return [this.width / 2 + x1 * scale, this.height / 2 - y1 * scale, z2, near];
  }
  // Pixels a hop: the whole torus fits however it is turned about the upright axis, stubs and perspective included.
  zoom() {
    const [x, y, z] = [0, 1, 2].map((a) => (this.axes[a] ?? 1) - 1 + 1.3);
    const across = Math.hypot(x, z), up = y * Math.cos(this.view.pitch) + across * Math.abs(Math.sin(this.view.pitch));
    return Math.min(this.width / (across * 1.04), this.height / (up * 1.08));
  }
  // The lines of a cable: one between neighbours, two stubs for one that wraps around.
  segments(from, to) {
    const a = this.coordinates(from), b = this.coordinates(to);
    const axis = a.findIndex((v, k) => v !== b[k]);
    const step = b[axis] - a[axis];
    if (Math.abs(step) === 1) return [[a, b, false]];
    const out = Math.sign(-step), one = [...a], two = [...b];
    one[axis] += out * 0.62;
    two[axis] -= out * 0.62;
    return [[a, one, true], [two, b, true]];
  }
  paint() {
    this.dirty = false;
    const g = this.canvas.getContext("2d");
    g.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    g.clearRect(0, 0, this.width, this.height);
    const items = [];
    for (const l of this.lines) {
      const p = this.at(l.a), q = this.at(l.b);
      items.push({ depth: (p[2] + q[2]) / 2 + (l.lift || 0), p, q, l });
    }
    for (const d of this.dots) { const p = this.at(d.c); items.push({ depth: p[2] - 0.01, p, d }); }
    items.sort((a, b) => b.depth - a.depth);
    g.lineCap = "round";
    for (const it of items) it.l ? this.stroke(g, it) : this.dot(g, it);
  }
  stroke(g, { p, q, l }) {
    const fog = Math.max(0.35, Math.min(1, 0.5 + 1.1 * ((p[3] + q[3]) / 2 - 0.72)));
    g.globalAlpha = (l.alpha ?? 1) * fog;
    g.strokeStyle = l.colour;
    g.lineWidth = l.width * ((p[3] + q[3]) / 2);
    g.setLineDash(l.dash || []);
    g.beginPath(); g.moveTo(p[0], p[1]); g.lineTo(q[0], q[1]); g.stroke();
    if (l.arrow) this.arrow(g, p, q, l);
    g.globalAlpha = 1;
  }
  arrow(g, p, q, l) {
    const t = 0.62, x = p[0] + (q[0] - p[0]) * t, y = p[1] + (q[1] - p[1]) * t;
    const angle = Math.atan2(q[1] - p[1], q[0] - p[0]), size = 4.6 * p[3];
    if (Math.hypot(q[0] - p[0], q[1] - p[1]) < 12) return;
    g.setLineDash([]);
    g.fillStyle = l.colour;
    g.beginPath();
    g.moveTo(x + size * Math.cos(angle), y + size * Math.sin(angle));
    for (const side of [2.5, -2.5]) g.lineTo(x + size * Math.cos(angle + side), y + size * Math.sin(angle + side));
    g.fill();
  }
  dot(g, { p, d }) {
    g.globalAlpha = 1;
    g.fillStyle = d.colour;
    g.beginPath(); g.arc(p[0], p[1], d.size * p[3], 0, 7); g.fill();
    if (d.ring) { g.strokeStyle = d.ring; g.lineWidth = 2; g.setLineDash([]); g.stroke(); }
    if (d.label) { g.fillStyle = css("--ink"); g.font = "600 12px system-ui, sans-serif"; g.fillText(d.label, p[0] + 10, p[1] - 8); }
  }
}

// Link load: two algorithms side by side that turn together, on one logarithmic scale of bytes.
class LinkLoad {
  constructor(figure, data) {
    Object.assign(this, { figure, data });
    const loads = data.algorithms.flatMap((a) => a.load).filter((v) => v > 0);
    this.high = data.full_scale;
    this.low = Math.max(Math.min(...loads), this.high / 300);
    const view = new View(0.62, 0.42), duo = figure.querySelector(".duo");
    this.panels = data.first.map((name) => this.panel(duo, view, name));
    this.colour();
  }
  panel(duo, view, name) {
    const place = html("div", {}, duo), controls = html("div", { class: "controls" }, place);
    const select = html("select", { "aria-label": "algorithm" }, controls);
    for (const a of this.data.algorithms) html("option", a.name === name ? { value: a.name, selected: "" } : { value: a.name }, select, a.label);
    const canvas = html("canvas", { role: "application", "aria-label": "torus with links coloured by load" }, html("div", { class: "scene" }, place));
    const panel = { select, facts: html("p", { class: "facts" }, place), scene: new Scene(canvas, this.data.axes, view, 0.74) };
    select.addEventListener("change", () => this.paint(panel));
    return panel;
  }
  level(v) { return v <= 0 ? 0 : 0.1 + 0.9 * Math.max(0, Math.log(v / this.low) / Math.log(this.high / this.low)); }
  paint({ select, facts, scene }) {
    const chosen = this.data.algorithms.find((a) => a.name === select.value), dark = dark_now();
    facts.replaceChildren();
    for (const [what, value] of chosen.facts) { const f = html("span", {}, facts, `${what} `); html("b", {}, f, value); }
    scene.lines = this.data.cables.flatMap(([from, to], i) => {
      const v = chosen.load[i] || 0, t = Math.min(1, this.level(v));
      const look = { colour: heat(t, dark), width: v > 0 ? 0.9 + 3.3 * t ** 1.5 : 0.5, alpha: v > 0 ? 0.45 + 0.55 * t : 0.25, lift: -t };
      return scene.segments(from, to).map(([a, b]) => ({ a, b, ...look }));
    });
    scene.dirty = true;
    scene.paint();
  }
  colour() {
    for (const panel of this.panels) this.paint(panel);
    const dark = dark_now(), scale = this.figure.querySelector(".scale canvas"), g = scale.getContext("2d");
    for (let x = 0; x < scale.width; x++) { g.fillStyle = heat(0.1 + (0.9 * x) / scale.width, dark); g.fillRect(x, 0, 1, scale.height); }
    this.figure.querySelector(".scale .low").textContent = `${significant(this.low, 2)} n`;
    this.figure.querySelector(".scale .high").textContent = `${significant(this.high, 2)} n and more`;
  }
}

// Trees: one scene a tree, turning together; a slider of hops from the root.
class Trees {
  constructor(figure, data) {
    Object.assign(this, { figure, data, view: new View(0.5, 0.38), playing: 0 });
    const controls = figure.querySelector(".controls");
    this.shapes = data.shapes.map((shape) => {
      const b = html("button", { type: "button" }, controls, shape.shape.replaceAll("x", "×"));
      b.addEventListener("click", () => this.choose(shape));
      return b;
    });
    this.play = html("button", { type: "button" }, controls, "▶ send");
    this.play.addEventListener("click", () => this.start());
    this.slider = html("input", { type: "range", min: 0, "aria-label": "hops from the root" }, controls);
    this.slider.addEventListener("input", () => { clearInterval(this.playing); this.colour(); });
    this.says = html("label", {}, controls);
    this.choose(data.shapes[data.shapes.length - 1]);
  }
  choose(shape) {
    this.shape = shape;
    this.data.shapes.forEach((s, i) => this.shapes[i].setAttribute("aria-pressed", String(s === shape)));
    this.slider.max = Math.max(...shape.depths.flat());
    this.slider.value = this.slider.max;
    const trio = this.figure.querySelector(".trio");
    trio.replaceChildren();
    this.view.scenes = [];
    this.scenes = shape.parents.map((_, t) => {
      const place = html("div", { class: "scene" }, trio);
      html("div", { class: "unit" }, place, `tree ${t + 1}`);
      return new Scene(html("canvas", { role: "application", "aria-label": `tree ${t + 1}` }, place), shape.axes, this.view, 0.86);
    });
    this.colour();
  }
  start() {
    clearInterval(this.playing);
    this.slider.value = 0;
    this.colour();
    this.playing = setInterval(() => {
      this.slider.value = Number(this.slider.value) + 1;
      this.colour();
      if (this.slider.value === this.slider.max) clearInterval(this.playing);
    }, 420);
  }
  colour() {
    const hop = Number(this.slider.value), { root, parents, depths } = this.shape;
    this.says.textContent = `${hop} of ${this.slider.max} hops`;
    this.scenes.forEach((scene, t) => {
      const tree = `var-${t}`, colour = css(`--s${[0, 1, 2, 3, 5, 7][t % 6]}`), quiet = css("--line"), depth = depths[t];
      scene.lines = this.cables(scene, quiet);
      scene.dots = parents[t].map((parent, node) => {
        const reached = depth[node] <= hop;
        return { c: scene.coordinates(node), colour: reached ? colour : css("--card"), size: node === root ? 7 : 4.2, ring: node === root ? css("--ink") : reached ? null : quiet, label: node === root ? "root" : null, tree };
      });
      parents[t].forEach((parent, node) => {
        if (parent < 0 || depth[node] > hop) return;
        for (const [a, b, wraps] of scene.segments(parent, node))
          scene.lines.push({ a, b, colour, width: depth[node] === hop && hop < Number(this.slider.max) ? 4.2 : 2.6, arrow: !wraps, dash: wraps ? [3, 4] : null, lift: -0.05 });
      });
      scene.dirty = true;
      scene.paint();
    });
  }
  cables(scene, colour) {
    const lines = [], nodes = scene.axes.reduce((a, b) => a * b, 1);
    for (let node = 0; node < nodes; node++) {
      const c = scene.coordinates(node);
      scene.axes.forEach((length, axis) => {
        if (c[axis] + 1 < length) { const b = [...c]; b[axis]++; lines.push({ a: c, b, colour, width: 1 }); }
      });
    }
    return lines;
  }
}
