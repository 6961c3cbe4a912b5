// Pictures of a field one after the other: rows of signed bytes from y = 0 on, of the square root of the field.
PARTS["field-animation"] = class {
  constructor(place, { width, height, steps, frames, label }) {
    this.canvas = html("canvas", { width, height, tabindex: 0, class: "field", "aria-label": label }, place);
    Object.assign(this, { width, height, steps, context: this.canvas.getContext("2d"), timer: null });
    this.image = this.context.createImageData(width, height);
    this.pictures = frames.map((text) => Int8Array.from(atob(text), (letter) => letter.charCodeAt(0)));
    const controls = html("div", { class: "controls" }, place);
    this.button = html("button", { type: "button" }, controls);
    this.slider = html("input", { type: "range", min: 0, max: frames.length - 1, "aria-label": "picture" }, controls);
    this.step = html("span", {}, controls);
    this.button.addEventListener("click", () => this.play(this.timer === null));
    this.slider.addEventListener("input", () => { this.play(false); this.draw(Number(this.slider.value)); });
    this.draw(Math.floor(frames.length / 3));
    this.play(!matchMedia("(prefers-reduced-motion: reduce)").matches);
  }
  draw(index) {
    const { width, height, image } = this, picture = this.pictures[index];
    for (let y = 0; y < height; y++) // y points up
      for (let x = 0; x < width; x++) {
        const value = picture[(height - 1 - y) * width + x] / 127, pale = 255 * (1 - Math.abs(value));
        image.data.set([value > 0 ? 255 : pale, pale, value < 0 ? 255 : pale, 255], 4 * (y * width + x));
      }
    this.context.putImageData(image, 0, 0);
    this.slider.value = index;
    this.step.textContent = `step ${this.steps[index]}`;
  }
  play(on) {
    clearInterval(this.timer);
    this.timer = on ? setInterval(() => this.draw((Number(this.slider.value) + 1) % this.pictures.length), 150) : null;
    this.button.textContent = on ? "Pause" : "Play";
  }
};
