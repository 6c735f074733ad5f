// Columns that should not decide: in how many rows they do, and for which of their own values.

class Protected {
  constructor(data, path) {
    this.path = path;
    this.names = data.features.names;
    this.weight = unpack(data.rows.weight);
    this.splits = new Map(data.splits.map(({ name, parts, values }) => [name, { parts, values: unpack(values) }]));
    this.given = data.protected;
    this.marked = [...data.protected];
    this.sentences = ["protected-short", "protected-sentence"].map(byId);
    this.asGiven = this.sentences[0].textContent;
    this.menu = byId("protected-add");
    byId("protected-form").hidden = false;
    byId("protected-form").addEventListener("submit", (event) => event.preventDefault());
    this.menu.addEventListener("input", () => this.mark([...this.marked, this.menu.value]));
    this.show();
  }

  state() {
    return {
      name: "protected",
      read: () => (String(this.marked) === String(this.given) ? "" : JSON.stringify(this.marked)),
      write: (text) => this.mark(parsedList(text)),
    };
  }

  mark(names) {
    this.marked = names.filter((name) => this.names.includes(name));
    this.show();
  }

  remove(name) {
    this.mark(this.marked.filter((each) => each !== name));
    this.menu.focus();
  }

  show() {
    const free = this.names.filter((name) => !this.marked.includes(name));
    this.menu.replaceChildren(new Option("choose ...", ""), ...free.map((name) => new Option(name)));
    byId("protected-table").hidden = !this.marked.length;
    const all = [...this.weight.keys()];
    const { shares } = weightedShares(all, this.weight, this.path);
    byId("protected-table").tBodies[0].replaceChildren(...this.marked.map((name) => this.line(name, shares)));
    const isAsGiven = !this.path.moved && String(this.marked) === String(this.given);
    for (const element of this.sentences) element.textContent = isAsGiven ? this.asGiven : this.said(all, shares);
  }

  said(all, shares) {
    if (!this.marked.length) return "No column is marked as protected.";
    const places = this.marked.map((name) => this.names.indexOf(name));
    if (!places.some((j) => shares[j])) return `${listed(this.marked)} decide${places.length > 1 ? "" : "s"} in no row.`;
    const each = places.map((j, i) => `${this.names[j]}${i ? "" : " decides"} in ${shareOfRows(shares[j])}`);
    if (places.length === 1) return `${each[0]}.`;
    const total = all.reduce((sum, row) => sum + this.weight[row], 0);
    const any = all.reduce((sum, row) => sum + this.weight[row] * places.some((j) => this.path.isSelected(row, j)), 0);
    return `${listed(each)}; at least one of them in ${shareOfRows(any / total)}.`;
  }

  line(name, shares) {
    const j = this.names.indexOf(name);
    const button = make("button", { type: "button", className: "small", "aria-label": `Unmark ${name}` }, "Unmark");
    button.addEventListener("click", () => this.remove(name));
    const bar = make("meter", { min: 0, max: 1, value: shares[j], "aria-hidden": "true" });
    return make(
      "tr",
      {},
      make("th", { scope: "row" }, name),
      make("td", {}, bar),
      make("td", { className: "number" }, exactly(shares[j])),
      make("td", {}, this.byValue(name, j)),
      make("td", { className: "no-print" }, button),
    );
  }

  /** In how many of the rows of each value the column decides: male 12.0%, female 15.1%. */
  byValue(name, j) {
    const split = this.splits.get(name);
    if (!split) return "";
    const rows = [...split.values.keys()];
    const said = split.parts.map((part, code) => {
      const own = rows.filter((row) => split.values[row] === code);
      return `${part.replace(`${name} `, "")}: ${exactly(weightedShares(own, this.weight, this.path).shares[j])}`;
    });
    return said.join(", ");
  }
}

function shareOfRows(share) {
  return share ? `${exactly(share)} of the rows` : "no row";
}

function exactly(share) {
  return `${(100 * share).toFixed(1)}%`;
}

/** A list from text, which may be anything. */
function parsedList(text) {
  try {
    return [JSON.parse(text)].flat();
  } catch {
    return [];
  }
}
