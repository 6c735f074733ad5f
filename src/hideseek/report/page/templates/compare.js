// Two groups of rows side by side: in how many rows of each every feature is selected; splits.py writes the groups.

const COMPARED = 20;
const OTHERS = "others"; // in the menu of the second group: every row that is not in the first
const SURE = 2; // standard errors

class Comparison {
  constructor(data, path) {
    this.path = path;
    this.names = data.features.names;
    this.weight = unpack(data.rows.weight);
    this.isSample = this.weight.some((weight) => weight !== 1);
    this.other = data.other;
    this.splits = data.splits.map((split) => ({ ...split, values: unpack(split.values) }));
    this.split = byId("compare-split");
    this.first = byId("compare-first");
    this.second = byId("compare-second");
    this.order = byId("compare-order");
    if (this.other) this.split.append(new Option("Model", "Model"));
    this.split.append(...this.splits.map(({ name }) => new Option(name)));
    if (!this.split.length) {
      byId("compare").hidden = true;
      return;
    }
    byId("compare-form").hidden = false;
    byId("compare-form").addEventListener("submit", (event) => event.preventDefault());
    this.split.addEventListener("input", () => this.divide());
    for (const menu of [this.first, this.second, this.order]) menu.addEventListener("input", () => this.show());
    this.divide();
  }

  /** The parts of the address that tell what is compared. */
  states() {
    const show = () => this.show();
    const menus = { first: this.first, second: this.second, order: this.order };
    return [
      controlState("compare", this.split, () => this.divide()),
      ...Object.entries(menus).map(([name, menu]) => controlState(`compare-${name}`, menu, show)),
    ];
  }

  /** Offer the parts of the chosen split. */
  divide() {
    this.chosen = this.splits.find(({ name }) => name === this.split.value);
    const parts = this.chosen?.parts ?? this.other.names;
    const options = () => parts.map((name, part) => new Option(name, part));
    this.first.replaceChildren(...options());
    this.second.replaceChildren(...options(), ...(this.chosen ? [new Option("all others", OTHERS)] : []));
    this.second.value = "1";
    this.show();
  }

  /** The rows of a part of the split. */
  rows(part) {
    const { values } = this.chosen;
    const isIn = part === OTHERS ? (value) => value !== Number(this.first.value) : (value) => value === Number(part);
    return [...values.keys()].filter((row) => isIn(values[row]));
  }

  /** The share of the rows that select each feature, and how many rows that says it of. */
  shares(part) {
    if (this.chosen) return weightedShares(this.rows(part), this.weight, this.path);
    const all = this.path.sizes.reduce((a, b) => a + b, 0);
    const shares = part === "0" ? this.names.map((_, j) => this.path.shareOfAll(j)) : this.other.shares;
    return { shares, count: all, size: all };
  }

  show() {
    if (!this.split.length) return;
    const [a, b] = [this.first, this.second].map((menu) => this.shares(menu.value));
    const [one, two] = [this.first, this.second].map((menu) => menu.selectedOptions[0].text);
    const lines = this.names.map((name, j) => {
      const [x, y] = [a.shares[j], b.shares[j]];
      const error = Math.sqrt((x * (1 - x)) / a.size + (y * (1 - y)) / b.size);
      return { name, first: x, second: y, difference: x - y, isSure: Math.abs(x - y) > SURE * error };
    });
    const size = { first: (line) => line.first, second: (line) => line.second, difference: ({ difference }) => Math.abs(difference) };
    const key = size[this.order.value];
    const ranked = lines.filter((line) => line.first || line.second).sort((p, q) => key(q) - key(p));
    byId("compare-first-title").textContent = one;
    byId("compare-second-title").textContent = two;
    byId("compare-table").tBodies[0].replaceChildren(...ranked.slice(0, COMPARED).map(compareLine));
    byId("compare-status").textContent = this.said(lines, one, two, a.count, b.count);
  }

  said(lines, one, two, n, m) {
    const count = (number) => {
      const about = this.isSample && this.chosen;
      return `${about ? "about " : ""}${Number(about ? number.toPrecision(2) : number).toLocaleString("en-US")}`;
    };
    const sure = lines.filter(({ isSure }) => isSure).sort((p, q) => Math.abs(q.difference) - Math.abs(p.difference));
    const sizes = `${one}: ${count(n)} rows; ${two}: ${count(m)} rows. `;
    if (!sure.length) return `${sizes}No feature is selected clearly more often in one of them.`;
    const { name, first, second } = sure[0];
    return `${sizes}They differ most in ${name}: selected in ${percent(first)} of the first and ${percent(second)} of the second.`;
  }
}

/** The weighted share of some rows that select each feature, how many rows they stand for, and of how many it is known. */
function weightedShares(rows, weight, path) {
  const sums = new Float64Array(path.names.length);
  let count = 0;
  let squares = 0;
  for (const row of rows) {
    count += weight[row];
    squares += weight[row] ** 2;
    for (let j = 0; j < sums.length; j += 1) if (path.isSelected(row, j)) sums[j] += weight[row];
  }
  return { shares: Array.from(sums, (sum) => (count ? sum / count : 0)), count, size: count ** 2 / squares || 1 };
}

function compareLine({ name, first, second, difference, isSure }) {
  const bars = [first, second].map((value, i) => make("meter", { min: 0, max: 1, value, className: `of-${i}`, "aria-hidden": "true" }));
  const size = Math.round(100 * Math.abs(difference));
  const sign = difference < 0 ? "\u2212" : "+";
  const points = size ? `${sign}${size}` : "0";
  return make(
    "tr",
    {},
    make("th", { scope: "row" }, name),
    make("td", {}, ...bars),
    make("td", { className: "number" }, percent(first)),
    make("td", { className: "number" }, percent(second)),
    make("td", { className: isSure ? "number" : "number quiet", title: isSure ? "" : "within two standard errors of none" }, points),
  );
}
