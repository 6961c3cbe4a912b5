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
