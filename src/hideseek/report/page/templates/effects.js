// Effects: how much each selected feature adds to the prediction, as bars to the left and right, and in words.

const SVG = "http://www.w3.org/2000/svg";

/** A bar from the middle: to the right what raises the prediction, to the left what lowers it. */
function makeEffectBar() {
  const element = document.createElementNS(SVG, "svg");
  const bar = document.createElementNS(SVG, "rect");
  const middle = document.createElementNS(SVG, "line");
  setAttributes(element, { class: "effect-bar", viewBox: "-100 0 200 12", preserveAspectRatio: "none" });
  element.setAttribute("aria-hidden", "true"); // the number beside it says the same
  setAttributes(bar, { y: 2, height: 8 });
  setAttributes(middle, { x1: 0, x2: 0, y1: 0, y2: 12 });
  element.append(bar, middle);
  const show = (effect, largest) => {
    const width = 100 * Math.min(1, Math.abs(effect) / largest);
    setAttributes(bar, { x: effect < 0 ? -width : 0, width, class: effect < 0 ? "lowers" : "raises" });
  };
  return { element, show };
}

function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}

/** +0.37, with a sign; as many digits as the prediction has. */
function signed(effect, isClass) {
  const text = isClass ? Math.abs(effect).toFixed(2) : short(Math.abs(effect));
  return Number(text.replaceAll(",", "")) === 0 ? text : `${effect < 0 ? "\u2212" : "+"}${text}`;
}

/** What the selected features do, as in sentences.py: parts are [name and value, effect], the largest first. */
function saidEffects(parts, answer, what, written) {
  const after = written(answer);
  const clauses = new Map();
  for (const [named, effect] of parts) {
    const before = written(answer - effect);
    const raises = effect > 0 ? "raises" : "lowers";
    const verb = before === after ? "hardly changes" : raises;
    if (!clauses.has(verb)) clauses.set(verb, []);
    const said = clauses.get(verb);
    if (verb === "hardly changes") said.push(named);
    else if (said.length) said.push(`${named} from ${before}`);
    else if (clauses.size === 1) said.push(`${named} ${verb} ${what} from ${before} to ${after}`);
    else said.push(`${named} ${verb} it from ${before}`);
  }
  const unchanged = clauses.get("hardly changes") ?? [];
  clauses.delete("hardly changes");
  const all = [...clauses.values()].map((said) => said.join(", "));
  if (unchanged.length) {
    const verb = unchanged.length === 1 ? "hardly changes" : "hardly change";
    all.push(`${listed(unchanged)} ${verb} ${all.length ? "it" : what}`);
  }
  return all.join("; ");
}
