// Colours from quiet to busy; towards the ink of the page, so that what matters stands out on paper and on black alike.
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

class HeatScale { // the colours between two words, below a picture
  constructor(figure, low, high, more = "", from = 0) { // `from`: the share whose colour is at the left
    this.from = from;
    const place = html("div", { class: "scale" }, figure);
    html("span", {}, place, low);
    this.canvas = html("canvas", { width: 190, height: 10 }, place);
    html("span", {}, place, high);
    html("span", {}, place, more);
  }
  repaint() {
    const { width, height } = this.canvas, g = this.canvas.getContext("2d"), dark = dark_now();
    for (let x = 0; x < width; x++) { g.fillStyle = heat(this.from + ((1 - this.from) * x) / width, dark); g.fillRect(x, 0, 1, height); }
  }
}
