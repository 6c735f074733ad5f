// Controls for the values of one column: a slider, a menu or a date, and a box to tick where a value may be missing.
// A value is a number, also of menus and dates; NaN stands for missing.

const DAY = 86_400_000; // milliseconds

/** Elements, and a function that shows a value in them; `change` is called with each new value. */
function makeControl(field, id, change) {
  if (field.control === "menu") return makeMenu(field, id, change);
  const isDate = field.control.startsWith("date");
  const control = isDate ? makeDate(field, id, change) : makeNumber(field, id, change);
  return field.missing ? withMissing(control, field, change) : control;
}

function makeMenu({ options, missing }, id, change) {
  const all = options.map(({ value, label }) => new Option(label, value));
  if (missing) all.push(new Option("missing", NaN));
  const menu = make("select", { "aria-labelledby": id, disabled: all.length < 2 }, ...all);
  menu.addEventListener("input", () => change(Number(menu.value)));
  return { elements: [menu], show: (value) => (menu.value = String(value)) };
}

function makeNumber({ control, low, high }, id, change) {
  const step = control === "whole number" ? 1 : "any";
  const slider = make("input", { type: "range", min: low, max: high, step, "aria-labelledby": id });
  slider.disabled = low === high;
  const field = make("input", { type: "number", step: "any", "aria-labelledby": id });
  slider.addEventListener("input", () => change(Number(slider.valueAsNumber.toPrecision(5))));
  const showField = readField(field, (number) => number, change);
  const show = (value) => {
    if (!Number.isNaN(value)) slider.value = value;
    showField(value, value);
  };
  return { elements: [slider, field], show };
}

function makeDate({ control }, id, change) {
  const field = make("input", { type: control, "aria-labelledby": id });
  if (control === "datetime-local") field.step = 1;
  const showField = readField(field, (number) => number / DAY, change);
  return { elements: [field], show: (value) => showField(value, Math.round((value * DAY) / 1000) * 1000) };
}

/** Listens to a field, and gives a function that shows a value in it: nothing where it is missing. */
function readField(field, toValue, change) {
  let shown = NaN; // what is written need not be all of the value
  field.addEventListener("input", () => {
    const isNumber = Number.isFinite(field.valueAsNumber);
    field.toggleAttribute("aria-invalid", !isNumber);
    if (isNumber) {
      shown = toValue(field.valueAsNumber);
      change(shown);
    }
  });
  return (value, written) => {
    field.removeAttribute("aria-invalid");
    if (Object.is(shown, value) && field.value !== "") return;
    shown = value;
    if (Number.isNaN(value)) field.value = "";
    else field.valueAsNumber = written;
  };
}

/** The same control beside a box that says there is no value; unticked, the row's last value is back, or one of the middle. */
function withMissing(control, field, change) {
  const box = make("input", { type: "checkbox", "aria-label": `${field.name} is missing` });
  let last = field.middle;
  box.addEventListener("input", () => change(box.checked ? NaN : last));
  const show = (value) => {
    box.checked = Number.isNaN(value);
    if (!box.checked) last = value;
    for (const element of control.elements) element.classList.toggle("gone", box.checked);
    control.show(value);
  };
  const label = make("label", { className: "missing" }, box, "missing");
  return { elements: [...control.elements, label], show, forget: () => (last = field.middle) };
}

/** A value as the sentences say it: text of a group is not between quotation marks. */
function saidValue({ control, options }, value, isGroup) {
  if (Number.isNaN(value)) return "missing";
  const option = options.find((each) => each.value === value);
  if (option) return isGroup ? option.label : option.said;
  if (!control.startsWith("date")) return short(value);
  const text = new Date(Math.round((value * DAY) / 1000) * 1000).toISOString();
  return control === "date" ? text.slice(0, 10) : text.slice(0, 19).replace("T", " ");
}
