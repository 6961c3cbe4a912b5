// Rows of small squares, side by side in panels: shares as colours, or colours of their own.
PARTS["square-map"] = class {
  constructor(place, data) {
    this.figure = figure_of(place, data);
    this.columns = data.columns;
    const duo = html("div", { class: "duo" }, this.figure.querySelector(".plot"));
    this.rows = data.panels.flatMap(([title, rows]) => {
      const panel = html("div", { class: "cells" }, duo), count = rows.reduce((sum, [, squares]) => sum + squares.length, 0);
      html("h3", {}, panel, title);
      return rows.map(([label, squares]) => {
        if (label) html("h4", {}, panel, label);
        return { squares, count, canvas: html("canvas", { role: "img", "aria-label": `${label || data.label}, ${title}` }, panel) };
      });
    });
    if (data.scale) this.scale = new HeatScale(this.figure, ...data.scale);
    drawn_at_new_width(this.figure, () => this.repaint());
  }
  repaint() {
    const { columns } = this, ratio = Math.min(2, devicePixelRatio || 1), dark = dark_now(), empty = css("--line");
    const colour = (square) => (square === null ? empty : square.length ? `rgb(${square.join(" ")})` : heat(square, dark));
    for (const { canvas, squares, count } of this.rows) {
      const width = canvas.parentElement.clientWidth, wanted = Math.max(3, Math.min(16, Math.sqrt((width * 260) / count)));
      const lines = columns && width / columns >= 3 ? Math.max(1, Math.floor(width / wanted / columns)) : 0; // in one row
      const across = lines * columns || Math.max(1, Math.floor(width / wanted));
      const size = Math.min(16, width / across), height = Math.ceil(squares.length / across) * size, gap = size > 5 ? 1 : 0;
      Object.assign(canvas, { width: width * ratio, height: height * ratio });
      canvas.style.height = `${height}px`;
      const g = canvas.getContext("2d");
      g.scale(ratio, ratio);
      squares.forEach((square, i) => {
        g.fillStyle = colour(square);
        g.fillRect((i % across) * size, Math.floor(i / across) * size, size - gap, size - gap);
      });
    }
    this.scale?.repaint();
  }
};
