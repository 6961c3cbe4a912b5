// Tori side by side that turn together: cables coloured by load, or nodes with colours of their own.
const MOST_TURNING = 700; // nodes; larger pictures turn only by hand

PARTS["torus-scene"] = class {
  constructor(place, data) {
    const { axes, layers, shown, label, scale, choice } = data, flat = axes.length < 3;
    this.data = data;
    this.figure = figure_of(place, data);
    this.view = new View(flat ? 0 : axes[2] > 2 * axes[0] ? 1.2 : 0.62, flat ? 0 : 0.42);
    if (flat || axes.reduce((a, b) => a * b) > MOST_TURNING) this.view.turning = false;
    const duo = html("div", { class: "duo" }, this.figure.querySelector(".plot"));
    this.panels = shown.map((name) => {
      const layer = layers.find((l) => l.name === name), place = html("div", {}, duo);
      const select = choice ? html("select", { "aria-label": "algorithm" }, html("div", { class: "controls" }, place)) : null;
      if (!choice) html("h3", {}, place, layer.label);
      const canvas = html("canvas", { role: "application", "aria-label": choice ? label : `${label}, ${layer.label}` }, html("div", { class: "scene" }, place));
      const panel = { layer, scene: new Scene(canvas, axes, this.view, flat ? 0.9 : 0.74), facts: html("p", { class: "facts" }, place) };
      for (const l of choice ? layers : []) html("option", { value: l.name }, select, l.label).selected = l === layer;
      select?.addEventListener("change", () => { panel.layer = layers[select.selectedIndex]; this.paint(panel); });
      return panel;
    });
    if (scale) this.scale = new HeatScale(this.figure, ...scale);
    this.repaint();
  }
  repaint() {
    for (const panel of this.panels) this.paint(panel);
    this.scale?.repaint();
  }
  paint({ layer, scene, facts }) {
    const dark = dark_now(), size = Math.max(1.6, Math.min(9, 0.3 * scene.zoom()));
    facts.replaceChildren();
    for (const [what, value] of layer.facts || []) html("b", {}, html("span", {}, facts, `${what} `), value);
    scene.lines = (layer.loads || []).flatMap((t, i) => {
      const look = { colour: heat(t, dark), width: t > 0 ? 0.9 + 3.3 * t ** 1.5 : 0.5, alpha: t > 0 ? 0.45 + 0.55 * t : 0.25, lift: -t };
      return scene.segments(...this.data.cables[i]).map(([a, b]) => ({ a, b, ...look }));
    });
    scene.dots = (layer.nodes || []).map((c, node) => ({
      c: scene.coordinates(node), size, colour: c ? `rgb(${c.join(" ")})` : css("--card"), ring: c ? null : css("--line"),
    }));
    scene.dirty = true;
    scene.paint();
  }
};
