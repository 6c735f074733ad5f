// The table of rows: search, filter by group, sort, page by page.

class RowTable {
  constructor(data, onOpen, path) {
    this.path = path;
    this.rows = data.rows;
    this.names = data.features.names;
    this.kind = data.kind;
    this.importance = unpackShades(data.rows.importance);
    this.groups = data.groups;
    this.onOpen = onOpen;
    this.columns = this.describeColumns(data);
    this.sorting = { column: this.columns[0], direction: 1 };
    this.page = 0;
    this.search = byId("rows-search");
    this.group = byId("rows-group");
    this.size = byId("rows-size");
    this.group.append(new Option("All", ""), ...data.groups.map((name, g) => new Option(name, g)));
    this.makeHead();
    byId("rows-download").addEventListener("click", () => this.download());
    this.search.form.addEventListener("submit", (event) => event.preventDefault());
    for (const control of [this.search, this.group, this.size]) {
      control.addEventListener("input", () => this.show(0));
    }
    byId("rows-previous").addEventListener("click", () => this.show(this.page - 1));
    byId("rows-next").addEventListener("click", () => this.show(this.page + 1));
    for (const link of document.querySelectorAll("a[data-group]")) {
      link.addEventListener("click", () => {
        this.group.value = link.dataset.group;
        this.show(0);
      });
    }
    this.show(0);
  }

  describeColumns({ rows, groups }) {
    const all = [
      { title: "Row", key: (i) => i, text: (i) => rows.labels[i] },
      { title: "Prediction", values: rows.prediction },
      { title: "Probability", values: rows.probability, text: (i) => rows.probability[i].toFixed(2) },
      { title: "Actual", values: rows.actual },
      { title: "Selected", key: (i) => this.count(i), text: (i) => String(this.count(i)) },
      { title: "Group", values: groups.length > 1 ? rows.group : null, text: (i) => groups[rows.group[i]] },
    ];
    return all
      .filter(({ key, values }) => key || values)
      .map(({ title, values, key = (i) => values[i], text = (i) => short(values[i]) }) => ({
        title,
        key,
        text,
        raw: values && title !== "Group" ? key : text, // in full, for the file
      }));
  }

  /** The parts of the address that tell what the table shows. */
  states() {
    const show = () => this.show(0);
    const controls = { search: this.search, group: this.group, size: this.size };
    return [
      ...Object.entries(controls).map(([name, control]) => controlState(`rows-${name}`, control, show)),
      {
        name: "rows-sort",
        read: () => {
          const { column, direction } = this.sorting;
          return column === this.columns[0] && direction > 0 ? "" : `${direction > 0 ? "" : "-"}${column.title}`;
        },
        write: (text) => {
          const column = this.columns.find(({ title }) => title === text.replace(/^-/, ""));
          if (column) this.sorting = { column, direction: text.startsWith("-") ? -1 : 1 };
          show();
        },
      },
      { name: "rows-page", read: () => (this.page ? String(this.page) : ""), write: (text) => this.show(Number(text) || 0) },
    ];
  }

  /** Every row that is found, with the features that are selected and, at the chosen price, the importance of each. */
  download() {
    const named = this.path.moved ? [] : [...this.names.keys()];
    const titles = [...this.columns.map(({ title }) => title), "Selected features", "What decided"];
    const head = [...titles, ...named.map((j) => `${this.kind} of ${this.names[j]}`)];
    const lines = this.found().map((row) => [
      ...this.columns.map(({ text, raw = text }) => raw(row)),
      this.path.features(row).map((j) => this.names[j]).join("; "),
      this.sentence(row),
      ...named.map((j) => this.importance(row * this.names.length + j).toFixed(4)),
    ]);
    const text = [head, ...lines].map((cells) => cells.map(quoted).join(",")).join("\r\n");
    const link = make("a", { href: URL.createObjectURL(new Blob([`\ufeff${text}\r\n`], { type: "text/csv" })), download: "rows.csv" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  count(row) {
    return this.path.moved ? this.path.features(row).length : this.rows.selected[row];
  }

  sentence(row) {
    return this.path.moved ? this.path.sentence(row) : this.rows.sentences[row];
  }

  makeHead() {
    const cells = this.columns.map((column) => {
      const button = make("button", { type: "button" }, column.title);
      button.addEventListener("click", () => this.sortBy(column));
      column.head = make("th", { scope: "col", role: "columnheader" }, button);
      return column.head;
    });
    const sentence = make("th", { scope: "col", role: "columnheader", className: "sentence" }, "What decided");
    byId("rows-table").tHead.append(make("tr", { role: "row" }, ...cells, sentence));
  }

  sortBy(column) {
    const again = this.sorting.column === column;
    this.sorting = { column, direction: again ? -this.sorting.direction : 1 };
    this.show(0);
  }

  found() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const group = this.group.value;
    const rows = [];
    for (let i = 0; i < this.rows.labels.length; i += 1) {
      if (group !== "" && this.rows.group[i] !== Number(group)) continue;
      const sentence = words.length ? this.sentence(i).toLowerCase() : "";
      if (words.every((word) => sentence.includes(word))) rows.push(i);
    }
    const { column, direction } = this.sorting;
    const keys = new Map(rows.map((row) => [row, column.key(row)]));
    return rows.sort((a, b) => direction * compare(keys.get(a), keys.get(b)) || a - b);
  }

  show(page) {
    const found = this.found();
    const size = Number(this.size.value);
    const pages = Math.max(1, Math.ceil(found.length / size));
    this.page = Math.min(pages - 1, Math.max(0, page));
    const first = this.page * size;
    const visible = found.slice(first, first + size);
    byId("rows-table").tBodies[0].replaceChildren(...visible.map((row) => this.line(row)));
    for (const { head } of this.columns) head.setAttribute("aria-sort", "none");
    const { column, direction } = this.sorting;
    column.head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
    byId("rows-previous").disabled = this.page === 0;
    byId("rows-next").disabled = this.page === pages - 1;
    const range = `${(first + 1).toLocaleString("en-US")} to ${(first + visible.length).toLocaleString("en-US")}`;
    const total = found.length.toLocaleString("en-US");
    byId("rows-status").textContent = found.length ? `Rows ${range} of ${total}` : "No row matches";
  }

  line(row) {
    const cells = this.columns.map(({ title, text }, i) =>
      i === 0
        ? make("th", { scope: "row", role: "rowheader", "data-title": title }, text(row))
        : make("td", { role: "cell", "data-title": title }, text(row)),
    );
    const sentence = make("td", { role: "cell", className: "sentence" }, this.sentence(row), this.bars(row));
    if (this.onOpen) {
      const open = make("button", { type: "button", className: "small no-print" }, "What if");
      open.setAttribute("aria-label", `What if, from row ${this.rows.labels[row]}`);
      open.addEventListener("click", () => this.onOpen(row));
      sentence.append(" ", open);
    }
    return make("tr", { role: "row" }, ...cells, sentence);
  }

  /** The selected features of a row, each with its effect; the sentence says the same. */
  bars(row) {
    if (!this.rows.effects || this.path.moved) return "";
    const { largest, of, rows } = this.rows.effects;
    const lines = rows[row].map(([j, effect]) => {
      const bar = makeEffectBar();
      bar.show(effect, largest);
      const name = make("span", { className: "effect-name" }, this.names[j]);
      return make("span", { className: "effect-line" }, name, bar.element, signed(effect, of === "probability"));
    });
    return make("div", { className: "effects", "aria-hidden": "true" }, ...lines);
  }
}

/** A cell of a CSV file. */
function quoted(cell) {
  const text = String(cell);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}
