"""Triton kernels, called by ``fused``, which explains when they are used."""

from __future__ import annotations

import triton
import triton.language as tl

__all__ = ["draw", "gradient"]


@triton.jit
def _mix64(x):
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB
    return x ^ (x >> 31)


@triton.jit
def _step_key(stream_keys, member, done):
    """See ``Keys.at``."""
    stream_key = tl.load(stream_keys + member).to(tl.uint64)
    return _mix64(stream_key + done.to(tl.uint64) * 0xD1342543DE82EF95)


@triton.jit
def _integers(cells, key, high):
    """See ``Draws.integers``."""
    x = cells.to(tl.uint32) + key.to(tl.uint32)
    x ^= x >> 16
    x *= 0x7FEB352D
    x ^= (key >> 32).to(tl.uint32)
    x ^= x >> 15
    x *= 0x846CA68B
    x ^= x >> 16
    return tl.umulhi(x, tl.full(x.shape, 0, tl.uint32) + high.to(tl.uint32)).to(tl.int64)


@triton.jit
def draw(keys, cells, starts, values, out, n_members, n_columns, n_rows, n_values, BLOCK: tl.constexpr):
    """Draw replacement values for some cells of one member."""
    key_at, places = tl.program_id(1).to(tl.int64), tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < n_columns * n_rows
    low = tl.load(keys + 2 * key_at).to(tl.uint32, bitcast=True).to(tl.uint64)
    high = tl.load(keys + 2 * key_at + 1).to(tl.uint32, bitcast=True).to(tl.uint64)
    picks = _integers(tl.load(cells + places, mask=inside, other=0), low | (high << 32), n_values)
    start = tl.load(starts + (key_at % n_members) * n_columns + places // n_rows, mask=inside, other=0)
    value = tl.load(values + start + picks, mask=inside, other=0.0)
    tl.store(out + key_at * n_columns * n_rows + places, value, mask=inside)


@triton.jit
def _load(base, stride, OUT: tl.constexpr, IN: tl.constexpr, OUTP: tl.constexpr, INP: tl.constexpr):
    """Return a matrix padded with zeros. Shape: ``(OUTP, INP)``."""
    rows, columns = tl.arange(0, OUTP)[:, None], tl.arange(0, INP)[None, :]
    return tl.load(base + rows * stride + columns, mask=(rows < OUT) & (columns < IN), other=0.0)


@triton.jit
def _store(base, matrix, stride, OUT: tl.constexpr, IN: tl.constexpr, OUTP: tl.constexpr, INP: tl.constexpr):
    """Write a matrix to where ``_load`` reads it."""
    rows, columns = tl.arange(0, OUTP)[:, None], tl.arange(0, INP)[None, :]
    tl.store(base + rows * stride + columns, matrix, mask=(rows < OUT) & (columns < IN))


@triton.jit
def _load_bias(base, stride, OUT: tl.constexpr, OUTP: tl.constexpr):
    """Return the last column of a layer's matrix. Shape: ``(1, OUTP)``."""
    rows = tl.arange(0, OUTP)
    return tl.load(base + (rows + 1) * stride - 1, mask=rows < OUT, other=0.0)[None, :]


@triton.jit
def _store_bias(base, bias, stride, OUT: tl.constexpr, OUTP: tl.constexpr):
    """Write the bias to where ``_load_bias`` reads it."""
    rows = tl.arange(0, OUTP)
    tl.store(base + (rows + 1) * stride - 1, bias, mask=rows < OUT)


@triton.jit
def gradient(
    X, target, weight, parameters, prices, tables, batch_keys, draw_keys, done, gradients, loss_sum, mask_sum,
    n_members, n_rows, batch_size, chunk_rows, n_steps, power,
    D: tl.constexpr, H1: tl.constexpr, H2: tl.constexpr, C: tl.constexpr,
    DP: tl.constexpr, H1P: tl.constexpr, H2P: tl.constexpr, CP: tl.constexpr,
    CLASSES: tl.constexpr, DRAWN: tl.constexpr, WEIGHTED: tl.constexpr, TILE: tl.constexpr,
    VALUES: tl.constexpr, GRADIENTS: tl.constexpr,
):  # fmt: skip
    """Add the gradient and losses of one member on one chunk of its batch; names as in ``HideSeek.gradient``."""
    chunk, member = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    step = tl.load(done)
    share = tl.exp2(power * tl.log2((step + 1).to(tl.float32) / n_steps)) / batch_size
    draw_key = _step_key(draw_keys, member, step)
    batch_key = _step_key(batch_keys, member, step)
    first_row = tl.load(tables + member) * n_rows

    # Layers are stored one after the other, each with the matrices of all members.
    S1: tl.constexpr = H1 * (D + 1)
    S2: tl.constexpr = H2 * (H1 + 1)
    S3: tl.constexpr = D * (H2 + 1)
    S4: tl.constexpr = C * (H2 + 1)
    at1 = member * S1
    at2 = n_members * S1 + member * S2
    at3 = n_members * (S1 + S2) + member * S3
    at4 = n_members * (S1 + S2 + S3) + member * S1
    at5 = n_members * (2 * S1 + S2 + S3) + member * S2
    at6 = n_members * (2 * S1 + 2 * S2 + S3) + member * S4
    columns = tl.arange(0, DP)[None, :]
    outputs = tl.arange(0, CP)[None, :]
    price = tl.load(prices + member * D + columns, mask=columns < D, other=0.0) * share
    dW1 = tl.zeros((H1P, DP), tl.float32)
    dW2 = tl.zeros((H2P, H1P), tl.float32)
    dW3 = tl.zeros((DP, H2P), tl.float32)
    dV1 = tl.zeros((H1P, DP), tl.float32)
    dV2 = tl.zeros((H2P, H1P), tl.float32)
    dV3 = tl.zeros((CP, H2P), tl.float32)
    db2 = tl.zeros((H2P,), tl.float32)
    db3 = tl.zeros((DP,), tl.float32)
    dc2 = tl.zeros((H2P,), tl.float32)
    dc3 = tl.zeros((CP,), tl.float32)
    losses = tl.zeros((TILE,), tl.float32)
    masks = tl.zeros((TILE, DP), tl.float32)

    stop = tl.minimum((chunk + 1) * chunk_rows, batch_size)
    for start in tl.range(chunk * chunk_rows, stop, TILE, disable_licm=True):
        W1 = _load(parameters + at1, D + 1, H1, D + 1, H1P, DP)
        W2 = _load(parameters + at2, H1 + 1, H2, H1, H2P, H1P)
        W3 = _load(parameters + at3, H2 + 1, D, H2, DP, H2P)
        V1 = _load(parameters + at4, D + 1, H1, D + 1, H1P, DP)
        V2 = _load(parameters + at5, H1 + 1, H2, H1, H2P, H1P)
        V3 = _load(parameters + at6, H2 + 1, C, H2, CP, H2P)
        b2 = _load_bias(parameters + at2, H1 + 1, H2, H2P)
        b3 = _load_bias(parameters + at3, H2 + 1, D, DP)
        c2 = _load_bias(parameters + at5, H1 + 1, H2, H2P)
        c3 = _load_bias(parameters + at6, H2 + 1, C, CP)
        places = start + tl.arange(0, TILE)
        valid = places < stop
        rows = first_row + (_integers(places, batch_key, n_rows) if DRAWN else places)
        counts = tl.load(weight + rows, mask=valid, other=0.0) if WEIGHTED else valid.to(tl.float32)
        inside = valid[:, None] & (columns < D)
        x = tl.load(X + rows[:, None] * D + columns, mask=inside, other=1.0)
        cells = columns * batch_size + places[:, None]
        picks = first_row + _integers(cells, draw_key, n_rows)
        x_hat = tl.load(X + picks * D + columns, mask=inside, other=1.0)

        h1 = tl.maximum(tl.dot(x, tl.trans(W1), input_precision=VALUES), 0.0)
        h2 = tl.maximum(tl.dot(h1, tl.trans(W2), input_precision=VALUES) + b2, 0.0)
        mask = tl.sigmoid(tl.dot(h2, tl.trans(W3), input_precision=VALUES) + b3)
        shown = x - x_hat
        z = x_hat + mask * shown
        s1 = tl.maximum(tl.dot(z, tl.trans(V1), input_precision=VALUES), 0.0)
        s2 = tl.maximum(tl.dot(s1, tl.trans(V2), input_precision=VALUES) + c2, 0.0)
        y_hat = tl.dot(s2, tl.trans(V3), input_precision=VALUES) + c3

        if CLASSES:
            y = (tl.load(target + rows, mask=valid, other=0)[:, None] == outputs).to(tl.float32)
            y_hat = tl.where(outputs < C, y_hat, float("-inf"))
            top = tl.max(y_hat, axis=1)[:, None]
            exponentials = tl.exp(y_hat - top)
            total = tl.sum(exponentials, axis=1)
            losses += counts * (tl.log(total) - tl.sum(tl.where(y > 0, y_hat - top, 0.0), axis=1))
            y_hat_slope = exponentials / total[:, None] - y
        else:
            error = tl.where(outputs < C, y_hat - tl.load(target + rows, mask=valid, other=0.0)[:, None], 0.0)
            losses += counts * tl.sum(error * error, axis=1)
            y_hat_slope = 2 * error
        masks += counts[:, None] * mask

        d6 = y_hat_slope * (counts / batch_size)[:, None]
        dV3 = tl.dot(tl.trans(d6), s2, acc=dV3, input_precision=GRADIENTS)
        d5 = tl.where(s2 > 0, tl.dot(d6, V3, input_precision=VALUES), 0.0)
        dV2 = tl.dot(tl.trans(d5), s1, acc=dV2, input_precision=GRADIENTS)
        d4 = tl.where(s1 > 0, tl.dot(d5, V2, input_precision=VALUES), 0.0)
        dV1 = tl.dot(tl.trans(d4), z, acc=dV1, input_precision=GRADIENTS)
        d_mask = tl.dot(d4, V1, input_precision=VALUES) * shown + price * counts[:, None]
        d3 = d_mask * mask * (1 - mask)
        dW3 = tl.dot(tl.trans(d3), h2, acc=dW3, input_precision=GRADIENTS)
        d2 = tl.where(h2 > 0, tl.dot(d3, W3, input_precision=VALUES), 0.0)
        dW2 = tl.dot(tl.trans(d2), h1, acc=dW2, input_precision=GRADIENTS)
        d1 = tl.where(h1 > 0, tl.dot(d2, W2, input_precision=VALUES), 0.0)
        dW1 = tl.dot(tl.trans(d1), x, acc=dW1, input_precision=GRADIENTS)
        db2 += tl.sum(d2, axis=0)
        db3 += tl.sum(d3, axis=0)
        dc2 += tl.sum(d5, axis=0)
        dc3 += tl.sum(d6, axis=0)

    gradients += chunk * n_members * (2 * S1 + 2 * S2 + S3 + S4)
    _store(gradients + at1, dW1, D + 1, H1, D + 1, H1P, DP)
    _store(gradients + at2, dW2, H1 + 1, H2, H1, H2P, H1P)
    _store(gradients + at3, dW3, H2 + 1, D, H2, DP, H2P)
    _store(gradients + at4, dV1, D + 1, H1, D + 1, H1P, DP)
    _store(gradients + at5, dV2, H1 + 1, H2, H1, H2P, H1P)
    _store(gradients + at6, dV3, H2 + 1, C, H2, CP, H2P)
    _store_bias(gradients + at2, db2, H1 + 1, H2, H2P)
    _store_bias(gradients + at3, db3, H2 + 1, D, DP)
    _store_bias(gradients + at5, dc2, H1 + 1, H2, H2P)
    _store_bias(gradients + at6, dc3, H2 + 1, C, CP)
    loss_at = loss_sum + (chunk * n_members + member) * C
    tl.store(loss_at, tl.load(loss_at) + tl.sum(losses, axis=0))
    mask_at = mask_sum + (chunk * n_members + member) * D + tl.arange(0, DP)
    inside_row = tl.arange(0, DP) < D
    tl.store(mask_at, tl.load(mask_at, mask=inside_row, other=0.0) + tl.sum(masks, axis=0), mask=inside_row)
