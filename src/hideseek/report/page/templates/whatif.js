// What if: the values of a row can be changed, and the model in this page answers at once.

const FEATURES_AT_FIRST = 12;
const PAUSE_BEFORE_SPEAKING = 400; // milliseconds: a screen reader should not read every step of a slider

class WhatIf {
  constructor(data) {
    this.data = data;
    this.model = new PageModel(data.model);
    this.columns = data.rows.values.map(unpack);
    this.values = new Float64Array(this.columns.length);
    this.controls = data.features.all.map((feature, j) => this.makeControl(feature, j));
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

  find(label) {
    const row = this.data.rows.labels.indexOf(label);
    byId("what-if-error").textContent = row < 0 ? `No row ${label} in this page.` : "";
    if (row >= 0) this.load(row);
  }

  load(row) {
    this.row = row;
    byId("what-if-row").value = this.data.rows.labels[row];
    byId("what-if-error").textContent = "";
    this.columns.forEach((values, j) => this.set(j, plain(values[row], values)));
    this.before = this.model.run(this.values);
    this.ranked = [...this.before.masks.keys()].sort((a, b) => this.before.masks[b] - this.before.masks[a] || a - b);
    this.showAll = false;
    this.arrange();
    this.answer();
  }

  /** Shown first: the features that decided the row as it was. */
  arrange() {
    const all = this.ranked.length;
    const shown = this.showAll ? this.ranked : this.ranked.slice(0, FEATURES_AT_FIRST);
    byId("what-if-features").replaceChildren(...shown.map((j) => this.controls[j].element));
    this.more.hidden = all <= FEATURES_AT_FIRST;
    this.more.textContent = this.showAll ? "Show fewer features" : `Show all ${all} features`;
  }

  set(j, value) {
    this.values[j] = value;
    this.controls[j].show(value);
  }

  change(j, value) {
    this.set(j, value);
    this.answer();
  }

  makeControl(feature, j) {
    const name = make("span", { className: "feature-name", id: `feature-${j}` }, feature.name);
    const inputs = feature.categories.length ? this.makeMenu(feature, j) : this.makeNumber(feature, j);
    const meter = make("meter", { min: 0, max: 1, "aria-label": `Mask of ${feature.name}` });
    const mask = make("span", { className: "mask" });
    const element = make("div", { className: "feature" }, name, ...inputs.elements, meter, mask);
    const showMask = (value) => {
      meter.value = value;
      mask.textContent = value.toFixed(2);
      const isSelected = value > this.model.threshold;
      element.classList.toggle("selected", isSelected);
      mask.title = isSelected ? "selected" : "not selected";
    };
    return { element, show: inputs.show, showMask };
  }

  makeMenu(feature, j) {
    const options = feature.categories.map(({ value, label }) => new Option(label, value));
    const menu = make("select", { className: "menu", "aria-labelledby": `feature-${j}` }, ...options);
    menu.addEventListener("input", () => this.change(j, Number(menu.value)));
    return { elements: [menu], show: (value) => (menu.value = String(value)) };
  }

  makeNumber(feature, j) {
    const step = feature.kind === "whole number" ? 1 : "any";
    const slider = make("input", { type: "range", min: feature.low, max: feature.high, step });
    slider.setAttribute("aria-labelledby", `feature-${j}`);
    slider.disabled = feature.low === feature.high;
    const field = make("input", { type: "number", step: "any", "aria-labelledby": `feature-${j}` });
    slider.addEventListener("input", () => this.change(j, Number(slider.valueAsNumber.toPrecision(5))));
    field.addEventListener("input", () => {
      const isNumber = Number.isFinite(field.valueAsNumber);
      field.toggleAttribute("aria-invalid", !isNumber);
      if (isNumber) this.change(j, field.valueAsNumber);
    });
    const show = (value) => {
      slider.value = value;
      if (field.valueAsNumber !== value) field.value = value;
      field.removeAttribute("aria-invalid");
    };
    return { elements: [slider, field], show };
  }

  makeOutputs() {
    const { kind, classes = ["y"] } = this.model.output;
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
    const { masks, outputs } = this.model.run(this.values);
    masks.forEach((mask, j) => this.controls[j].showMask(mask));
    const isClass = this.model.output.kind === "softmax";
    const written = (value) => (isClass ? value.toFixed(3) : short(value));
    this.outputs.forEach(({ number, bar, before }, c) => {
      number.value = outputs[c];
      number.textContent = written(outputs[c]);
      if (bar) bar.value = outputs[c];
      before.textContent = `was ${written(this.before.outputs[c])}`;
    });
    clearTimeout(this.speaking);
    this.speaking = setTimeout(() => {
      byId("what-if-sentence").textContent = this.sentence(masks, outputs);
    }, PAUSE_BEFORE_SPEAKING);
  }

  sentence(masks, outputs) {
    const chosen = [...masks.keys()].filter((j) => masks[j] > this.model.threshold);
    chosen.sort((a, b) => masks[b] - masks[a] || a - b);
    const parts = chosen.map((j) => `${this.data.features.all[j].name} = ${this.said(j)} (${masks[j].toFixed(2)})`);
    const { classes } = this.model.output;
    const most = outputs.indexOf(Math.max(...outputs));
    const predicted = classes
      ? `predicted ${classes[most]} (probability ${outputs[most].toFixed(2)})`
      : `predicted ${short(outputs[0])}`;
    const decided = parts.length
      ? `${parts.length} of ${masks.length} features decided: ${listed(parts)}`
      : "no feature stood out";
    return `With these values: ${predicted}; ${decided}.`;
  }

  said(j) {
    const category = this.data.features.all[j].categories.find(({ value }) => value === this.values[j]);
    return category ? category.label : short(this.values[j]);
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
