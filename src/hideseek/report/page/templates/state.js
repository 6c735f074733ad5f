// What the reader has chosen, in the address: slider, filters, order, comparison, marked columns, the row of what if.

const PAUSE_BEFORE_SAVING = 150; // milliseconds

class State {
  /** Each part has a name, a function that gives its text ("": as it was at first), and one that takes it back. */
  constructor(parts) {
    this.parts = parts;
    this.place = "";
    this.restore();
    for (const kind of ["input", "click", "keyup"]) document.addEventListener(kind, () => this.saveSoon());
    window.addEventListener("hashchange", () => (location.hash.includes("=") ? location.reload() : this.restore()));
    byId("copy-link").addEventListener("click", (event) => this.copy(event.currentTarget));
    byId("print").addEventListener("click", () => window.print());
  }

  saveSoon() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.save(), PAUSE_BEFORE_SAVING);
  }

  save() {
    const told = this.parts.map(({ name, read }) => [name, read()]).filter(([, text]) => text !== "");
    if (this.place) told.unshift(["at", this.place]);
    const hash = new URLSearchParams(told).toString();
    if (hash !== location.hash.slice(1)) history.replaceState(null, "", hash ? `#${hash}` : location.pathname);
  }

  /** "#rows" is a place alone, as of the links in the page: the view stays and the address tells both. */
  restore() {
    const hash = location.hash.slice(1);
    if (hash && !hash.includes("=")) {
      this.place = hash;
      this.save();
      return;
    }
    const told = new URLSearchParams(hash);
    this.place = told.get("at") ?? "";
    for (const { name, write } of this.parts) if (told.has(name)) write(told.get(name));
    if (this.place) requestAnimationFrame(() => byId(this.place)?.scrollIntoView());
  }

  async copy(button) {
    this.save();
    const before = button.textContent;
    try {
      await navigator.clipboard.writeText(location.href);
      button.textContent = "Copied";
    } catch {
      button.textContent = "It is in the address bar";
    }
    setTimeout(() => (button.textContent = before), 2000);
  }
}

/** A part of the state that is a control of a form. */
function controlState(name, control, show) {
  const first = control.value;
  return {
    name,
    read: () => (control.value === first ? "" : control.value),
    write: (text) => {
      if (control.options && ![...control.options].some(({ value }) => value === text)) return; // of another page
      control.value = text;
      show();
    },
  };
}
