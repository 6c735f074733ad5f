// Effects: how much each selected feature adds to the prediction, as bars to the left and right, and in words.

/** A bar from the middle: to the right what raises the prediction, to the left what lowers it. */
function makeEffectBar() {
  const fill = make("span");
  const element = make("span", { className: "effect-bar", "aria-hidden": "true" }, fill); // the number says the same
  const show = (effect, largest) => {
    const half = 50 * Math.min(1, Math.abs(effect) / largest);
    fill.className = effect < 0 ? "lowers" : "raises";
    fill.style.left = `${effect < 0 ? 50 - half : 50}%`;
    fill.style.width = `${half}%`;
  };
  return { element, show };
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
