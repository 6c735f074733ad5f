// From few features to many: one slider at the top moves every mask, row, ranking and group; path.py writes the data.

const MOST_RANKED = 50;
const MOST_DRAWN = 7;
const NAMED_AT_THE_TOP = 3;
const NAMED_IN_A_ROW = 12;
const NAMED_IN_A_GROUP = 8;
const DECIDES = 0.5; // share of a group's rows from which on a feature decides in it, as in subgroups.py

class Path {
  constructor(data) {
    Object.assign(this, data.path);
    this.names = data.features.names;
    this.total = data.features.total;
    this.labels = data.rows.labels;
    this.importance = unpackShades(data.rows.importance);
    this.first = unpack(data.path.first);
    this.selected = unpack(data.path.selected);
    this.level = this.chosen;
    this.listeners = [];
    this.slider = byId("path-level");
    this.deciding = [...document.querySelectorAll("[data-deciding]")];
    this.asChosen = this.deciding.map((element) => element.textContent);
    this.tiles = ["tile-selected", "tile-penalty"].map(byId).filter(Boolean);
    this.answer = byId("answer");
    this.answerAsChosen = [...this.answer.childNodes];
    this.tilesAsChosen = this.tiles.map((tile) => tile.textContent);
    this.slider.max = this.prices.length - 1;
    this.slider.addEventListener("input", () => this.move(Number(this.slider.value)));
    byId("path-reset").addEventListener("click", () => {
      this.move(this.chosen);
      this.slider.focus();
    });
    byId("picture-of")?.addEventListener("input", (event) => {
      for (const part of document.querySelectorAll("[data-picture]")) part.hidden = part.dataset.picture !== event.target.value;
    });
    byId("path").hidden = this.prices.length < 2;
    this.show();
  }

  state() {
    return {
      name: "level",
      read: () => (this.moved ? String(this.level) : ""),
      write: (text) => this.move(clamped(Math.round(Number(text)) || 0, 0, this.prices.length - 1)),
    };
  }

  get moved() {
    return this.level !== this.chosen;
  }

  move(level) {
    this.level = level;
    cancelAnimationFrame(this.waiting);
    this.waiting = requestAnimationFrame(() => {
      this.show();
      for (const listener of this.listeners) listener();
    });
  }

  isSelected(row, j) {
    return this.first[row * this.names.length + j] <= this.level;
  }

  /** The selected features of a row, those that entered first in front. */
  features(row) {
    const at = row * this.names.length;
    const chosen = [...this.names.keys()].filter((j) => this.first[at + j] <= this.level);
    return chosen.sort((a, b) => this.first[at + a] - this.first[at + b] || this.importance(at + b) - this.importance(at + a));
  }

  sentence(row) {
    const chosen = this.features(row);
    if (!chosen.length) return `Row ${this.labels[row]}: at this price no feature is selected.`;
    const named = chosen.slice(0, NAMED_IN_A_ROW).map((j) => this.names[j]);
    if (chosen.length > NAMED_IN_A_ROW) named.push(`${chosen.length - NAMED_IN_A_ROW} more`);
    return `Row ${this.labels[row]}: at this price ${chosen.length} of ${this.total} features: ${listed(named)}.`;
  }

  /** The share of a group's rows that select a feature. */
  share(group, j) {
    return this.selected[(group * this.names.length + j) * this.prices.length + this.level] / 65535;
  }

  shareOfAll(j) {
    const total = this.sizes.reduce((a, b) => a + b, 0);
    return this.sizes.reduce((sum, size, group) => sum + size * this.share(group, j), 0) / total;
  }

  show() {
    const { moved } = this;
    const numbers = this.numbers[this.level];
    const rows = numbers.reduce((a, b) => a + b, 0);
    const mean = numbers.reduce((sum, count, n) => sum + n * count, 0) / rows;
    const said = `${mean.toFixed(1)} features per row`;
    this.slider.value = this.level;
    this.slider.setAttribute("aria-valuetext", `${said}${moved ? "" : ", as chosen"}`);
    byId("path-status").textContent = said;
    byId("path-reset").disabled = !moved;
    for (const part of ["picture", "ranking", "numbers"]) byId(`${part}-chosen`).hidden = moved;
    for (const part of ["picture", "ranking", "numbers", "groups", "heatmap", "rows"]) byId(`${part}-moved`).hidden = !moved;
    const tiles = moved ? [mean.toFixed(1), String(this.penalties[this.level])] : this.tilesAsChosen;
    this.tiles.forEach((tile, i) => (tile.textContent = tiles[i]));
    this.deciding.forEach((element, i) => {
      element.textContent = moved ? this.decides(Number(element.dataset.deciding)) : this.asChosen[i];
    });
    if (!moved) {
      this.answer.replaceChildren(...this.answerAsChosen);
      return;
    }
    const all = [...this.names.keys()].map((j) => [this.names[j], this.shareOfAll(j)]);
    const shares = all.filter(([, share]) => share > 0).sort((a, b) => b[1] - a[1]);
    this.answer.textContent = this.said(shares, said);
    byId("picture-moved-table").replaceChildren(...shares.slice(0, MOST_DRAWN).map((line) => barLine(...line)));
    byId("ranking-moved-table").replaceChildren(...shares.slice(0, MOST_RANKED).map((line) => barLine(...line)));
    const counts = [...numbers.entries()].filter(([, count]) => count > 0);
    byId("numbers-moved-table").replaceChildren(...counts.map(([n, count]) => barLine(String(n), count / rows)));
  }

  /** What decides at this price, as at the top of the page. */
  said(shares, perRow) {
    const named = shares.slice(0, NAMED_AT_THE_TOP).map(([name, share]) => `${name} in ${percent(share)} of the rows`);
    return named.length ? `At this price: ${listed(named)}; ${perRow} on average.` : "At this price nothing decides.";
  }

  /** What decides in a group, as on its card. */
  decides(group) {
    const shares = [...this.names.keys()].map((j) => [this.names[j], this.share(group, j)]);
    const often = shares.filter(([, share]) => share >= DECIDES).sort((a, b) => b[1] - a[1]);
    const named = often.slice(0, NAMED_IN_A_GROUP).map(([name, share]) => `${name} (${percent(share)})`);
    if (often.length > NAMED_IN_A_GROUP) named.push(`${often.length - NAMED_IN_A_GROUP} more`);
    return listed(named) || "no feature in most of its rows";
  }
}

function percent(share) {
  return `${Math.round(100 * share)}%`;
}

/** A line of a table: a name, a bar and a share. */
function barLine(name, share) {
  const bar = make("meter", { min: 0, max: 1, value: share, "aria-hidden": "true" });
  const number = make("td", { className: "number" }, percent(share));
  return make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, bar), number);
}
