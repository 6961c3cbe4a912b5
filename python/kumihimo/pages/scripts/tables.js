// Tables of values that are in the data of the page.
function table_of(place, columns, rows, is_text = []) {
  const table = html("table", { class: "data" }, html("div", { class: "scroll" }, place));
  const line = (parent, tag, cells) => {
    const row = html("tr", {}, parent);
    cells.forEach((cell, i) => html(tag, is_text[i] ? { class: "text" } : {}, row, cell));
  };
  line(html("thead", {}, table), "th", columns);
  const body = html("tbody", {}, table);
  for (const row of rows) line(body, "td", row);
}

PARTS["raw-table"] = class { // long: made when it is first opened
  constructor(details, { columns, rows }) {
    const text = (v) => (v === null ? "" : typeof v === "number" && !Number.isInteger(v) ? String(Number(v.toPrecision(5))) : String(v));
    const is_text = columns.map((_, i) => rows.some((row) => typeof row[i] === "string"));
    details.addEventListener("toggle", () => table_of(details, columns, rows.map((row) => row.map(text)), is_text), { once: true });
  }
};
