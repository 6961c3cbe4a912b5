// What each thread does when: tasks by their kind, with the waits between them. Zooms and moves as the timeline of ranks.
PARTS["task-timeline"] = class extends PARTS["rank-timeline"] {
  colour(place) { return css(["--grid", "--library"][place] ?? `--s${place - 1}`); }
  legend() {
    this.keys.replaceChildren();
    this.data.kinds.forEach((name, place) => {
      const entry = html("span", {}, this.keys);
      html("i", {}, entry).style.background = this.colour(place);
      entry.append(name);
    });
  }
  interval(r, i) { return `${this.data.threads[r]}: ${this.data.notes[r][i]}`; }
};
