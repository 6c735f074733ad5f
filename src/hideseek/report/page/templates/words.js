// Numbers and elements as people read them.

/** A number as one would write it by hand, as in the sentences. */
function short(value) {
  if (typeof value !== "number") return String(value);
  const size = Math.abs(value);
  if (size >= 1e4 && size < 1e15) return value.toLocaleString("en-US", { maximumFractionDigits: 0 });
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) return value.toExponential(3).replace(/\.?0+e/, "e");
  return String(Number(value.toPrecision(4)));
}

/** a, b and c */
function listed(words) {
  return words.length > 1 ? `${words.slice(0, -1).join(", ")} and ${words.at(-1)}` : words.join("");
}

/** An element with properties, attributes (those with a hyphen, role and scope) and children; text stays text. */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role" || name === "scope") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children);
  return element;
}

const byId = (id) => document.getElementById(id);
