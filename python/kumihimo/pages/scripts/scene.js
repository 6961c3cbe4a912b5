// Tori drawn on a canvas that turns under the pointer. A painter's loop over lines sorted by depth; nothing is drawn while
// nobody looks or nothing changes.
class View { // a rotation shared by the scenes that turn together
  constructor(yaw, pitch) { Object.assign(this, { yaw, pitch, scenes: [], turning: !matchMedia("(prefers-reduced-motion: reduce)").matches }); }
  turn(dx, dy) {
    this.yaw += dx;
    this.pitch = Math.max(-1.35, Math.min(1.35, this.pitch + dy));
    for (const s of this.scenes) s.dirty = true;
  }
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
