// The fitted model at work on one row: what model.py described, as arithmetic.

const FARTHEST = 1e6; // deviations; values further out count as that far, as in Python

class PageModel {
  constructor(description) {
    Object.assign(this, description);
    this.weights = unpack(description.weights);
  }

  /** A number for each column of the table, NaN where missing -> the mask of each feature, and the outputs. */
  run(values) {
    const matrix = this.encode(values);
    const x = this.inputs.map((input) => standardised(input, matrix[input.column]));
    const n = x.length;
    const nMasks = this.members[0].visible.length;
    const masks = new Float64Array(nMasks);
    const seen = new Float64Array(nMasks);
    let total = null;
    for (const member of this.members) {
      const mask = this.forward(member.hide, x).map((logit) => 1 / (1 + Math.exp(-logit)));
      member.visible.forEach((sees, g) => {
        masks[g] += sees * mask[g];
        seen[g] += sees;
      });
      for (let draw = 0; draw < this.pool.rows; draw += 1) {
        const z = x.map((value, i) => {
          const hidden = this.weights[this.pool.start + draw * n + i];
          return hidden + mask[this.groups[i]] * (value - hidden);
        });
        for (const seek of member.seeks) {
          const output = this.answer(this.forward(seek, z));
          const share = 1 / (this.members.length * member.seeks.length * this.pool.rows);
          total ??= new Float64Array(output.length);
          output.forEach((value, c) => (total[c] += share * value));
        }
      }
    }
    const { center = 0, scale = 1 } = this.output;
    return {
      masks: masks.map((sum, g) => sum / Math.max(1, seen[g])),
      outputs: total.map((value) => center + scale * value),
    };
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
function standardised({ center, scale, constant, ramp }, number) {
  if (constant) return 0;
  const deviations = clamped((number - center) / scale, -FARTHEST, FARTHEST);
  if (!ramp) return Math.fround(deviations);
  const height = clamped((deviations - ramp.low) / (ramp.high - ramp.low), 0, 1);
  return Math.fround((height - ramp.center) / ramp.scale);
}

function clamped(value, least, most) {
  return Math.min(most, Math.max(least, value));
}
