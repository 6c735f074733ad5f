// Rows by features: a canvas that can be pointed at and walked through with the arrow keys.

const PICTURE_LEAST = 160; // pixels
const PICTURE_MOST = 520; // with more rows than that, a line of the picture is the mean of several
const NAME_MOST = 120;
const GROUP_WIDTH = 10;

class Heatmap {
  constructor(data, onOpen, path) {
    this.data = data;
    this.path = path;
    this.importance = unpackShades(data.rows.importance);
    this.high = data.rows.importance.high;
    this.canvas = byId("heatmap-canvas");
    this.output = byId("heatmap-cell");
    this.order = data.rows.order;
    this.columns = data.features.heatmap;
    this.cursor = null;
    byId("heatmap-high").textContent = short(this.high);
    this.canvas.setAttribute("aria-label", this.summary());
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => this.place(null));
    this.canvas.addEventListener("click", (event) => {
      this.point(event);
      if (this.cursor) onOpen(this.order[this.cursor.line]);
    });
    this.canvas.addEventListener("keydown", (event) => this.walk(event, onOpen));
    new ResizeObserver(() => {
      if (this.canvas.clientWidth !== this.width) this.paint();
    }).observe(this.canvas);
    for (const query of ["(prefers-color-scheme: dark)", "print"]) {
      window.matchMedia(query).addEventListener("change", () => this.paint());
    }
  }

  summary() {
    const names = this.columns.slice(0, 5).map((j) => this.data.features.names[j]);
    return (
      `Heatmap of ${this.order.length} rows by ${this.columns.length} features in ${this.data.groups.length} ` +
      `groups; most important: ${listed(names)}. The groups are described above, every row below.`
    );
  }

  /** The importance, or 0 or the most where the slider has moved and the features that are selected are known alone. */
  value(line, column) {
    if (this.path.moved) return this.high * Number(this.path.isSelected(this.order[line], this.columns[column]));
    return this.importance(this.order[line] * this.data.features.names.length + this.columns[column]);
  }

  /** Everything but the cursor, once for each size and colour scheme. */
  paint() {
    const { canvas } = this;
    this.width = canvas.clientWidth;
    if (this.width === 0) return;
    const style = getComputedStyle(canvas);
    this.colours = {
      low: parseColour(style.getPropertyValue("--shade-low")),
      high: parseColour(style.getPropertyValue("--shade-high")),
      text: style.color,
      mark: style.getPropertyValue("--mark"),
      groups: this.data.groups.map((_, g) => style.getPropertyValue(`--group-${g}`)),
    };
    this.font = `12px ${style.fontFamily}`;
    this.left = GROUP_WIDTH + 2;
    this.cell = (this.width - this.left) / this.columns.length;
    this.top = this.headHeight();
    this.picture = Math.max(PICTURE_LEAST, Math.min(this.order.length, PICTURE_MOST));
    const height = this.top + this.picture;
    canvas.style.height = `${height}px`;
    this.ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(this.width * this.ratio);
    canvas.height = Math.round(height * this.ratio);
    this.still = new OffscreenCanvas(canvas.width, canvas.height);
    const context = this.still.getContext("2d");
    context.scale(this.ratio, this.ratio);
    this.drawNames(context);
    this.drawGroups(context);
    this.drawCells(context);
    this.draw();
  }

  draw() {
    if (!this.still) return;
    const context = this.canvas.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.drawImage(this.still, 0, 0);
    context.scale(this.ratio, this.ratio);
    this.drawCursor(context);
  }

  /** Names lie flat where they fit side by side, and stand upright where they do not. */
  headHeight() {
    const context = this.canvas.getContext("2d");
    context.font = this.font;
    const widest = Math.max(...this.columns.map((j) => context.measureText(this.data.features.names[j]).width));
    this.upright = widest + 8 > this.cell;
    return this.upright ? Math.min(NAME_MOST, widest + 10) : 20;
  }

  drawNames(context) {
    context.font = this.font;
    context.fillStyle = this.colours.text;
    const every = this.upright ? Math.max(1, Math.ceil(14 / this.cell)) : 1;
    for (let column = 0; column < this.columns.length; column += every) {
      const name = this.data.features.names[this.columns[column]];
      context.save();
      context.translate(this.left + (column + 0.5) * this.cell, this.top - 6);
      if (this.upright) {
        context.rotate(-Math.PI / 2);
        context.textBaseline = "middle";
        context.fillText(shortened(context, name, this.top - 10), 0, 0);
      } else {
        context.textAlign = "center";
        context.fillText(name, 0, 0);
      }
      context.restore();
    }
  }

  drawGroups(context) {
    const height = this.picture / this.order.length;
    this.order.forEach((row, line) => {
      context.fillStyle = this.colours.groups[this.data.rows.group[row]];
      context.fillRect(0, this.top + line * height, GROUP_WIDTH, height + 0.5);
    });
  }

  drawCells(context) {
    const { low, high } = this.colours;
    const lines = Math.min(this.order.length, PICTURE_MOST);
    const image = new ImageData(this.columns.length, lines);
    for (let line = 0; line < lines; line += 1) {
      const first = Math.floor((line * this.order.length) / lines);
      const last = Math.max(first + 1, Math.floor(((line + 1) * this.order.length) / lines));
      for (let column = 0; column < this.columns.length; column += 1) {
        let sum = 0;
        for (let row = first; row < last; row += 1) sum += this.value(row, column);
        const share = Math.min(1, Math.max(0, sum / (last - first) / this.high));
        const at = 4 * (line * this.columns.length + column);
        for (let c = 0; c < 3; c += 1) image.data[at + c] = low[c] + share * (high[c] - low[c]);
        image.data[at + 3] = 255;
      }
    }
    const small = new OffscreenCanvas(this.columns.length, lines);
    small.getContext("2d").putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, this.left, this.top, this.cell * this.columns.length, this.picture);
  }

  drawCursor(context) {
    if (!this.cursor) return;
    const height = this.picture / this.order.length;
    context.strokeStyle = this.colours.mark;
    context.lineWidth = 2;
    const y = this.top + this.cursor.line * height;
    context.strokeRect(this.left + this.cursor.column * this.cell, y - 2, this.cell, Math.max(6, height + 4));
  }

  point(event) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - this.left) / this.cell);
    const line = Math.floor(((event.clientY - box.top - this.top) / this.picture) * this.order.length);
    const inside = column >= 0 && column < this.columns.length && line >= 0 && line < this.order.length;
    this.place(inside ? { line, column } : null);
  }

  walk(event, onOpen) {
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (event.key === "Enter" && this.cursor) onOpen(this.order[this.cursor.line]);
    if (!(event.key in moves)) return;
    event.preventDefault();
    const [down, right] = moves[event.key];
    const stride = event.shiftKey ? 20 : 1;
    const { line, column } = this.cursor ?? { line: -down, column: -right };
    this.place({
      line: Math.min(this.order.length - 1, Math.max(0, line + down * stride)),
      column: Math.min(this.columns.length - 1, Math.max(0, column + right * stride)),
    });
  }

  place(cursor) {
    this.cursor = cursor;
    this.output.textContent = cursor ? this.said(cursor) : "";
    requestAnimationFrame(() => this.draw());
  }

  said({ line, column }) {
    const row = this.order[line];
    const { groups, rows, features } = this.data;
    const name = features.names[this.columns[column]];
    const isSelected = this.value(line, column) > 0 ? "selected" : "not selected";
    const said = this.path.moved ? isSelected : this.value(line, column).toFixed(2);
    return `${groups[rows.group[row]]}, row ${rows.labels[row]}, ${name}: ${said}`;
  }
}

/** "#rrggbb" -> three numbers */
function parseColour(text) {
  return [1, 3, 5].map((at) => parseInt(text.trim().slice(at, at + 2), 16));
}

function shortened(context, text, width) {
  let end = text.length;
  while (end > 1 && context.measureText(text.slice(0, end)).width > width) end -= 1;
  return end < text.length ? `${text.slice(0, end - 1)}…` : text;
}
