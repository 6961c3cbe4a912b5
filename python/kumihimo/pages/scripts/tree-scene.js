// Trees on a torus, a scene each, which turn together and grow hop by hop; a slider of hops from the root.
PARTS["tree-scene"] = class {
  constructor(place, data) {
    Object.assign(this, { data, view: new View(0.5, 0.38), playing: 0 });
    const figure = figure_of(place, data), plot = figure.querySelector(".plot"), controls = html("div", { class: "controls" }, plot);
    this.trio = html("div", { class: "trio" }, plot);
    this.shapes = data.shapes.map((shape) => {
      const b = html("button", { type: "button" }, controls, shape.shape.replaceAll("x", "×"));
      b.addEventListener("click", () => this.choose(shape));
      return b;
    });
    this.play = html("button", { type: "button" }, controls, "▶ send");
    this.play.addEventListener("click", () => this.start());
    this.slider = html("input", { type: "range", min: 0, "aria-label": "hops from the root" }, controls);
    this.slider.addEventListener("input", () => { clearInterval(this.playing); this.repaint(); });
    this.says = html("label", {}, controls);
    this.choose(data.shapes[data.shapes.length - 1]);
  }
  choose(shape) {
    this.shape = shape;
    this.data.shapes.forEach((s, i) => this.shapes[i].setAttribute("aria-pressed", String(s === shape)));
    this.slider.max = Math.max(...shape.depths.flat());
    this.slider.value = this.slider.max;
    this.trio.replaceChildren();
    this.view.scenes = [];
    this.scenes = shape.parents.map((_, t) => {
      const place = html("div", { class: "scene" }, this.trio);
      html("div", { class: "unit" }, place, `tree ${t + 1}`);
      return new Scene(html("canvas", { role: "application", "aria-label": `tree ${t + 1}` }, place), shape.axes, this.view, 0.86);
    });
    this.repaint();
  }
  start() {
    clearInterval(this.playing);
    this.slider.value = 0;
    this.repaint();
    this.playing = setInterval(() => {
      this.slider.value = Number(this.slider.value) + 1;
      this.repaint();
      if (this.slider.value === this.slider.max) clearInterval(this.playing);
    }, 420);
  }
  repaint() {
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
};
