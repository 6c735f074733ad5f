// What if: the values of a row can be changed, and the model in this page answers at once.

const FEATURES_AT_FIRST = 12;
const PAUSE_BEFORE_SPEAKING = 400; // milliseconds: a screen reader should not read every step of a slider

class WhatIf {
  constructor(data) {
    this.data = data;
    this.model = new PageModel(data.model);
    const { columns } = this.model.encoder;
    this.fields = data.fields.map((field, k) => ({ ...field, middle: columns[k].fill }));
    this.columns = data.fields.map((field) => unpack(field.values));
    this.values = new Float64Array(this.columns.length);
    this.isClass = this.model.output.kind === "softmax";
    this.largest = data.rows.effects?.largest ?? 1;
    this.controls = this.fields.map((field, k) =>
      makeControl(field, `field-${k}`, (value) => {
        this.set(k, value);
        this.answer();
      }),
    );
    this.features = this.model.encoder.features.map((feature) => this.makeFeature(feature));
    this.outputs = this.makeOutputs();
    this.form = byId("what-if-start");
    this.more = byId("what-if-more");
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.find(byId("what-if-row").value.trim());
    });
    byId("what-if-reset").addEventListener("click", () => this.load(this.row));
    this.more.addEventListener("click", () => {
      this.showAll = !this.showAll;
      this.arrange();
    });
    byId("what-if-panel").hidden = false;
    this.load(0);
  }

  /** Answer at another price, where the model answers for a range of them. */
  setPrice(price) {
    this.model.price = price;
    this.rank();
    this.answer();
  }

  /** The parts of the address that tell which row it is, and which of its values were changed. */
  states() {
    const changed = () => [...this.values.keys()].filter((k) => !Object.is(this.values[k], this.own(k)));
    return [
      { name: "row", read: () => (this.row ? this.data.rows.labels[this.row] : ""), write: (label) => this.find(label) },
      {
        name: "values",
        read: () => changed().map((k) => `${k}:${this.values[k]}`).join(" "),
        write: (text) => {
          for (const [k, value] of text.split(" ").map((part) => part.split(":").map(Number))) {
            if (k in this.controls) this.set(k, value);
          }
          this.answer();
        },
      },
    ];
  }

  find(label) {
    const row = this.data.rows.labels.indexOf(label);
    byId("what-if-error").textContent = row < 0 ? `No row ${label} in this page.` : "";
    if (row >= 0) this.load(row);
  }

  load(row) {
    this.row = row;
    byId("what-if-row").value = this.data.rows.labels[row];
    byId("what-if-error").textContent = "";
    this.columns.forEach((_, k) => {
      this.controls[k].forget?.();
      this.set(k, this.own(k));
    });
    this.showAll = false;
    this.rank();
    this.answer();
  }

  /** Rank the features by what the row as it was shows of them at this price. */
  rank() {
    this.before = this.model.run(this.columns.map((_, k) => this.own(k)));
    this.ranked = [...this.before.masks.keys()].sort((a, b) => this.before.masks[b] - this.before.masks[a] || a - b);
    this.arrange();
  }

  /** Shown first: the features that decided the row as it was. */
  arrange() {
    const all = this.ranked.length;
    const shown = this.showAll ? this.ranked : this.ranked.slice(0, FEATURES_AT_FIRST);
    byId("what-if-features").replaceChildren(...shown.map((j) => this.features[j].element));
    this.more.hidden = all <= FEATURES_AT_FIRST;
    this.more.textContent = this.showAll ? "Show fewer features" : `Show all ${all} features`;
  }

  /** What the row has in a column. */
  own(k) {
    return plain(this.columns[k][this.row], this.columns[k]);
  }

  set(k, value) {
    this.values[k] = value;
    this.controls[k].show(value);
  }

  /** A feature has one mask, and the controls of its columns: one, or several under their own names. */
  makeFeature({ name, columns }) {
    const isGroup = columns.length > 1;
    const title = make("span", { className: "feature-name" }, name);
    const parts = columns.map((k) => {
      const label = isGroup ? make("span", { className: "part-name" }, this.fields[k].name) : title;
      label.id = `field-${k}`; // which the control names as its label
      return make("div", { className: "part" }, ...(isGroup ? [label] : []), ...this.controls[k].elements);
    });
    const meter = make("meter", { min: 0, max: 1, "aria-label": `Mask of ${name}` });
    const mask = make("span", { className: "mask" });
    const bar = makeEffectBar();
    const effect = make("data", { className: "effect", "aria-label": `Effect of ${name}` });
    const controls = make("div", {}, ...parts);
    const element = make("div", { className: "feature" }, title, controls, meter, mask, bar.element, effect);
    const show = (value, change) => {
      meter.value = value;
      mask.textContent = value.toFixed(2);
      const isSelected = change !== null;
      element.classList.toggle("selected", isSelected);
      mask.title = isSelected ? "selected" : "not selected";
      bar.show(change ?? 0, this.largest);
      effect.value = change ?? 0;
      effect.textContent = isSelected ? signed(change, this.isClass) : "";
    };
    return { element, show };
  }

  makeOutputs() {
    const { kind, name: target, said: classes = [target] } = this.model.output;
    if (kind === "softmax") byId("what-if-output-title").textContent = "Probability of each class";
    return classes.map((name) => {
      const number = make("data");
      const bar = kind === "softmax" ? make("meter", { min: 0, max: 1, "aria-label": `Probability of ${name}` }) : "";
      const before = make("span", { className: "quiet" });
      byId("what-if-outputs").append(make("div", { className: "output" }, make("b", {}, name), bar, number, before));
      return { number, bar, before };
    });
  }

  answer() {
    const { masks, outputs, effects } = this.model.run(this.values);
    const most = outputs.indexOf(Math.max(...outputs));
    const changes = effects.map((effect) => effect && effect[most]);
    masks.forEach((mask, j) => this.features[j].show(mask, changes[j]));
    const written = (value) => (this.isClass ? value.toFixed(3) : short(value));
    this.outputs.forEach(({ number, bar, before }, c) => {
      number.value = outputs[c];
      number.textContent = written(outputs[c]);
      if (bar) bar.value = outputs[c];
      before.textContent = `was ${written(this.before.outputs[c])}`;
    });
    clearTimeout(this.speaking);
    this.speaking = setTimeout(() => {
      byId("what-if-sentence").textContent = this.sentence(changes, outputs[most], most);
    }, PAUSE_BEFORE_SPEAKING);
  }

  sentence(changes, answer, most) {
    const { said, name } = this.model.output;
    const written = (value) => (this.isClass ? clamped(value, 0, 1).toFixed(2) : short(value));
    const predicted = this.isClass
      ? `predicted ${said[most]} (probability ${written(answer)})`
      : `predicted ${name} = ${written(answer)}`;
    const chosen = [...changes.keys()].filter((j) => changes[j] !== null);
    chosen.sort((a, b) => Math.abs(changes[b]) - Math.abs(changes[a]) || a - b);
    if (!chosen.length) return `With these values: ${predicted}; no feature stood out.`;
    const what = this.isClass ? `the probability of ${said[most]}` : "the prediction";
    const names = chosen.map((j) => this.model.encoder.features[j].name);
    const parts = chosen.map((j) => [this.said(j) + this.standIn(j, names), changes[j]]);
    const decided = saidEffects(parts, answer, what, written);
    return `With these values: ${predicted}; ${chosen.length} of ${this.data.features.total} features decided: ${decided}.`;
  }

  said(j) {
    const { name, columns } = this.model.encoder.features[j];
    const isGroup = columns.length > 1;
    const values = columns.map((k) => saidValue(this.fields[k], this.values[k], isGroup)).join(", ");
    return `${name} = ${isGroup ? `(${values})` : values}`;
  }

  /** Which column would have done as well, if it is not selected too. */
  standIn(j, selected) {
    const all = this.data.features.stand_ins[this.model.encoder.features[j].name] ?? [];
    const found = all.find((name) => !selected.includes(name));
    return found === undefined ? "" : ` (${found} would have done as well)`;
  }
}

/** The shortest number that is this one in the array's precision: 17.99, not 17.989999771118164. */
function plain(value, array) {
  if (!(array instanceof Float32Array)) return value;
  for (let digits = 5; digits < 9; digits += 1) {
    const shorter = Number(value.toPrecision(digits));
    if (Math.fround(shorter) === value) return shorter;
  }
  return value;
}
