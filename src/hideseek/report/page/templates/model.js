// The fitted model at work on one row: what model.py described, as arithmetic.

const FARTHEST = 1e6; // deviations; values further out count as that far, as in Python
const HALF_WIDTH = 2; // the position of the highest price of a range; that of the lowest is its negative

class PageModel {
  constructor(description) {
    Object.assign(this, description);
    this.weights = unpack(description.weights);
  }

  /**
   * A number for each column of the table, NaN where missing -> the mask of each feature, the outputs, and the effects:
   * for each selected feature how much it adds to each output, null for the others.
   */
  run(values) {
    const matrix = this.encode(values);
    const x = this.inputs.map((input) => standardised(input, matrix[input.column]));
    const own = this.members.map((member) => this.memberMasks(member, x));
    const masks = this.meanMasks(own);
    const selected = Array.from(masks, (mask) => Number(mask > this.threshold));
    const shown = this.shown === "selected" ? this.members.map(() => selected) : own;
    const outputs = this.predict(x, shown, 1);
    const whole = this.turns === 1 ? outputs : this.predict(x, shown, this.turns);
    const effects = selected.map((isSelected, j) => {
      if (!isSelected) return null;
      const without = this.predict(x, shown, this.turns, j);
      return whole.map((value, c) => value - without[c]);
    });
    return { masks, outputs, effects };
  }

  /** The masks of one member: at the price, where it answers for a range of prices. */
  memberMasks(member, x) {
    const output = this.forward(member.hide, x);
    if (!member.range) return output.map(sigmoid);
    const u = this.position(member);
    const n = output.length / 2;
    return output.slice(0, n).map((a, g) => sigmoid(a - softplus(output[n + g] + 1) * u));
  }

  /** Where the price lies in the member's range. */
  position({ range: [low, high] }) {
    return ((Math.log(this.price) - low) / (high - low)) * 2 * HALF_WIDTH - HALF_WIDTH;
  }

  /** Over the members that saw the feature. */
  meanMasks(own) {
    return this.members[0].visible.map((_, g) => {
      const seen = this.members.filter(({ visible }) => visible[g]).length;
      const sum = own.reduce((total, mask, k) => total + this.members[k].visible[g] * mask[g], 0);
      return sum / Math.max(1, seen);
    });
  }

  /**
   * The mean answer of the Seeks to a row of which member k is shown what shown[k] says, and nothing of one feature.
   * In more turns than one, only some of the Seeks answer to each draw, as in Python.
   */
  predict(x, shown, turns, hiddenFeature = -1) {
    let total = null;
    let count = 0;
    for (let draw = 0; draw < this.pool.rows; draw += 1) {
      this.members.forEach((member, k) => {
        const { seeks } = member;
        const answering = seeks.filter((_, i) => (k * seeks.length + i) % turns === draw % turns);
        if (!answering.length) return;
        const z = x.map((value, i) => {
          const drawn = this.weights[this.pool.start + draw * x.length + i];
          const group = this.groups[i];
          return group === hiddenFeature ? drawn : drawn + shown[k][group] * (value - drawn);
        });
        if (member.range) z.push(clamped(this.position(member), -HALF_WIDTH, HALF_WIDTH));
        for (const seek of answering) {
          const output = this.answer(this.forward(seek, z));
          total ??= new Float64Array(output.length);
          output.forEach((value, c) => (total[c] += value));
          count += 1;
        }
      });
    }
    const { center = 0, scale = 1 } = this.output;
    return total.map((value) => center + (scale * value) / count);
  }

  /** The columns of the features, one after the other, as in Python. */
  encode(values) {
    const { columns, features } = this.encoder;
    return features.flatMap((feature) => feature.columns.flatMap((k) => encoded(columns[k], values[k])));
  }

  forward(layers, x) {
    let values = x;
    layers.forEach(({ inputs, outputs, start }, depth) => {
      const next = new Array(outputs);
      const bias = start + outputs * inputs;
      for (let row = 0; row < outputs; row += 1) {
        let sum = this.weights[bias + row];
        const first = start + row * inputs;
        for (let i = 0; i < inputs; i += 1) sum += this.weights[first + i] * values[i];
        next[row] = depth + 1 < layers.length ? Math.max(0, sum) : sum;
      }
      values = next;
    });
    return values;
  }

  answer(logits) {
    if (this.output.kind !== "softmax") return logits;
    const most = Math.max(...logits);
    const powers = logits.map((logit) => Math.exp(logit - most));
    const sum = powers.reduce((a, b) => a + b, 0);
    return powers.map((power) => power / sum);
  }
}

function sigmoid(value) {
  return 1 / (1 + Math.exp(-value));
}

function softplus(value) {
  return value > 30 ? value : Math.log1p(Math.exp(value));
}

/** What a column's code makes of a value: a number, or the place of a level. */
function encoded({ kind, fill, missing, levels, other }, value) {
  const gone = Number.isNaN(value);
  if (kind !== "category") return missing ? [gone ? fill : value, Number(gone)] : [gone ? fill : value];
  const places = levels.length + Number(other) + Number(missing);
  const whereMissing = missing ? places - 1 : fill;
  const place = gone ? whereMissing : value;
  if (places < 2) return [0];
  return places === 2 ? [place] : Array.from({ length: places }, (_, i) => Number(i === place));
}

/** A column, or a ramp of it. */
function standardised({ center, scale, constant, cuts, ramp }, number) {
  if (constant) return 0;
  const deviations = awayFrom(cuts ?? [], clamped((number - center) / scale, -FARTHEST, FARTHEST));
  if (!ramp) return Math.fround(deviations);
  const height = clamped((deviations - ramp.low) / (ramp.high - ramp.low), 0, 1);
  return Math.fround((height - ramp.center) / ramp.scale);
}

/** The value, at least a margin away from every cut, on its own side. */
function awayFrom(cuts, value) {
  let moved = value;
  for (const { at, margin } of cuts) {
    moved = value >= at ? Math.max(moved, at + margin) : Math.min(moved, at - margin);
  }
  return moved;
}

function clamped(value, least, most) {
  return Math.min(most, Math.max(least, value));
}
