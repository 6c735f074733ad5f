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
def _words(cells, key):
    """See ``Draws.words``."""
    x = cells.to(tl.uint32) + key.to(tl.uint32)
    x ^= x >> 16
    x *= 0x7FEB352D
    x ^= (key >> 32).to(tl.uint32)
    x ^= x >> 15
    x *= 0x846CA68B
    return x ^ (x >> 16)


@triton.jit
def _uniform(cells, key):
    """See ``Draws.uniform``, which takes the words as signed numbers; here in single precision."""
    return (((_words(cells, key) ^ 0x80000000).to(tl.float64) + 0.5) / 4294967296.0).to(tl.float32)


@triton.jit
def _integers(cells, key, high):
    """See ``Draws.integers``."""
    x = _words(cells, key)
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
def _load(base, rows, inside, stride, IN, INP: tl.constexpr):
    """Return rows of a layer's matrix, padded with zeros. Shape: ``rows (n,)`` -> ``(n, INP)``."""
    columns = tl.arange(0, INP)[None, :]
    return tl.load(base + rows[:, None] * stride + columns, mask=inside[:, None] & (columns < IN), other=0.0)


@triton.jit
def _load_column(base, rows, inside, stride, column):
    """Return a column of a layer's matrix, such as the bias, which is the last. Shape: ``rows (n,)`` -> ``(1, n)``."""
    return tl.load(base + rows * stride + column, mask=inside, other=0.0)[None, :]


@triton.jit
def _learn(sums, bias_sums, slope, x, base, rows, inside, stride, IN, last, PRECISION: tl.constexpr):
    """Add a tile's share of a layer's gradient, and write the sums after the last tile."""
    sums = tl.dot(tl.trans(slope), x, acc=sums, input_precision=PRECISION)
    bias_sums += tl.sum(slope, axis=0)
    if last:
        _write(sums, bias_sums, base, rows, inside, stride, IN)
    return sums, bias_sums


@triton.jit
def _write(matrix, bias, base, rows, inside, stride, IN):
    """Write a layer's gradient to where ``_load`` and ``_load_column`` read the layer."""
    columns = tl.arange(0, matrix.shape[1])[None, :]
    tl.store(base + rows[:, None] * stride + columns, matrix, mask=inside[:, None] & (columns < IN))
    tl.store(base + rows * stride + stride - 1, bias, mask=inside)


@triton.jit
def _learn_mask(
    sums, bias_sums, slope, h2, base, columns, feature, is_column, F, H2, last,
    GROUPS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Do as ``_learn`` for Hide's last layer, whose gradient for a feature is the sum over the feature's columns."""
    sums = tl.dot(tl.trans(slope), h2, acc=sums, input_precision=PRECISION)
    bias_sums += tl.sum(slope, axis=0)
    if last:
        if GROUPS:
            of_feature = (feature[None, :] == columns[:, None]) & is_column[None, :]
            by_feature = tl.dot(of_feature.to(tl.float32), sums, input_precision="tf32x3")
            bias = tl.sum(tl.where(of_feature, bias_sums[None, :], 0.0), axis=1)
            _write(by_feature, bias, base, columns, columns < F, H2 + 1, H2)
        else:
            _write(sums, bias_sums, base, columns, columns < F, H2 + 1, H2)
    return sums, bias_sums


@triton.jit
def _loss(y_hat, target, rows, valid, outputs, C, TARGET: tl.constexpr):
    """Return the loss of each row and its gradient by the output; names as in ``objective``."""
    inside = valid[:, None] & (outputs < C)
    if TARGET == "values":
        error = tl.where(inside, y_hat - tl.load(target + rows, mask=valid, other=0.0)[:, None], 0.0)
        loss, slope = tl.sum(error * error, axis=1), 2 * error
    else:
        if TARGET == "probabilities":
            y = tl.load(target + rows[:, None] * C + outputs, mask=inside, other=0.0)
        else:
            y = (tl.load(target + rows, mask=valid, other=0)[:, None] == outputs).to(tl.float32)
        y_hat = tl.where(outputs < C, y_hat, float("-inf"))
        y_hat -= tl.max(y_hat, axis=1)[:, None]
        exponentials = tl.exp(y_hat)
        total = tl.sum(exponentials, axis=1)[:, None]
        loss = -tl.sum(tl.where(inside, y * (y_hat - tl.log(total)), 0.0), axis=1)
        slope = exponentials / total - y
    return loss, slope


@triton.jit
def _softplus(x):
    return tl.maximum(x, 0.0) + tl.log(1.0 + tl.exp(-tl.abs(x)))


_SIZES = ["n_members", "n_rows", "n_own", "batch_size", "chunk_rows", "D", "F", "H1", "H2", "C"]
"""Arguments for whose values the kernel is not compiled anew, only for what they are padded to."""


@triton.jit(do_not_specialize=_SIZES)
def gradient(
    X, target, weight, own_rows, feature_of, parameters, prices, log_prices, tables, batch_keys, draw_keys, price_keys,
    done, gradients, loss_sum, mask_sum,
    n_members, n_rows, n_own, batch_size, chunk_rows, n_steps, power, D, F, H1, H2, C,
    DP: tl.constexpr, H1P: tl.constexpr, H2P: tl.constexpr, CP: tl.constexpr,
    SEEKS: tl.constexpr, PATH: tl.constexpr, GROUPS: tl.constexpr, TARGET: tl.constexpr,
    DRAWN: tl.constexpr, SHARED: tl.constexpr, WEIGHTED: tl.constexpr,
    TILE: tl.constexpr, ONE_TILE: tl.constexpr, VALUES: tl.constexpr, GRADIENTS: tl.constexpr,
):  # fmt: skip
    """Add the gradient and losses of one member on one chunk of its batch; names as in ``HideSeek.gradient``.

    Masks are computed column by column: columns of one feature have the same weights in Hide's last layer, and so the
    same mask. The price of a feature counts at its first column.

    A chunk has rows of one half of the batch where there are two Seeks: one learns from them, Hide through the other.
    """
    chunk, member = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    step = tl.load(done)
    share = tl.exp2(power * tl.log2((step + 1).to(tl.float32) / n_steps)) / batch_size
    draw_key = _step_key(draw_keys, member, step)
    batch_key = _step_key(batch_keys, member, step)
    first_row = tl.load(tables + member) * n_rows
    seek_rows, chunks_of_seek = batch_size // SEEKS, tl.num_programs(0) // SEEKS
    learning = chunk // chunks_of_seek
    first = chunk % chunks_of_seek * chunk_rows
    stop = tl.minimum(first + chunk_rows, seek_rows)

    # Layers are stored one after the other, each with the matrices of all members.
    stride1, stride2, stride3, stride4 = D + 1, H1 + 1, H2 + 1, D + PATH + 1
    size1, size2, size3 = H1 * stride1, H2 * stride2, F * (1 + PATH) * stride3
    size4, size6 = H1 * stride4, C * stride3
    at1 = member * size1
    at2 = n_members * size1 + member * size2
    at3 = n_members * (size1 + size2) + member * size3
    at4 = n_members * (size1 + size2 + size3)
    at5 = at4 + n_members * SEEKS * size4
    at6 = at5 + n_members * SEEKS * size2
    gradients += chunk * (at6 + n_members * SEEKS * size6)

    columns, hidden1, hidden2 = tl.arange(0, DP), tl.arange(0, H1P), tl.arange(0, H2P)
    numbers = tl.arange(0, CP)
    is_column, is1, is2, is_output = columns < D, hidden1 < H1, hidden2 < H2, numbers < C
    feature = tl.load(feature_of + columns, mask=is_column, other=0) if GROUPS else columns
    starts = is_column
    if GROUPS:
        starts &= (columns == 0) | (feature != tl.load(feature_of + columns - 1, mask=is_column & (columns > 0), other=0))
    price = tl.load(prices + member * F + feature, mask=starts, other=0.0)[None, :] * share

    dW1, db1 = tl.zeros((H1P, DP), tl.float32), tl.zeros((H1P,), tl.float32)
    dW2, db2 = tl.zeros((H2P, H1P), tl.float32), tl.zeros((H2P,), tl.float32)
    dA3, da3 = tl.zeros((DP, H2P), tl.float32), tl.zeros((DP,), tl.float32)
    dB3, db3 = tl.zeros((DP, H2P), tl.float32), tl.zeros((DP,), tl.float32)
    dV1, dc1 = tl.zeros((H1P, DP), tl.float32), tl.zeros((H1P,), tl.float32)
    dV2, dc2 = tl.zeros((H2P, H1P), tl.float32), tl.zeros((H2P,), tl.float32)
    dV3, dc3 = tl.zeros((CP, H2P), tl.float32), tl.zeros((CP,), tl.float32)
    du1 = tl.zeros((H1P,), tl.float32)
    losses = tl.zeros((TILE,), tl.float32)
    masks = tl.zeros((TILE, DP), tl.float32)

    n_tiles = 1 if ONE_TILE else tl.cdiv(stop - first, TILE)
    for tile in tl.range(0, n_tiles, disable_licm=True):
        last = tile == n_tiles - 1
        # The rows, and what replaces them.
        within = first + tile * TILE + tl.arange(0, TILE)
        valid, places = within < stop, learning * seek_rows + within
        picked = _integers(places, batch_key, n_own) if DRAWN else within
        if SHARED:
            picked = tl.load(own_rows + (member * SEEKS + learning) * n_own + picked, mask=valid, other=0)
        rows = first_row + picked
        counts = tl.load(weight + rows, mask=valid, other=0.0) if WEIGHTED else valid.to(tl.float32)
        inside = valid[:, None] & is_column[None, :]
        x = tl.load(X + rows[:, None] * D + columns[None, :], mask=inside, other=0.0)
        cells = feature[None, :] * batch_size + places[:, None]
        picks = first_row + _integers(cells, draw_key, n_rows)
        x_hat = tl.load(X + picks * D + columns[None, :], mask=inside, other=0.0)
        level = counts
        if PATH:
            position = _uniform(places, _step_key(price_keys, member, step))
            low, high = tl.load(log_prices + 2 * member), tl.load(log_prices + 2 * member + 1)
            level = counts * tl.exp(low + (high - low) * position)
            u = (4 * position - 2)[:, None]

        # Hide, and the rows as Seek sees them.
        W1 = _load(parameters + at1, hidden1, is1, stride1, D, DP)
        W2 = _load(parameters + at2, hidden2, is2, stride2, H1, H1P)
        A3 = _load(parameters + at3, feature, is_column, stride3, H2, H2P)
        b1 = _load_column(parameters + at1, hidden1, is1, stride1, D)
        b2 = _load_column(parameters + at2, hidden2, is2, stride2, H1)
        a3 = _load_column(parameters + at3, feature, is_column, stride3, H2)
        h1 = tl.maximum(tl.dot(x, tl.trans(W1), input_precision=VALUES) + b1, 0.0)
        h2 = tl.maximum(tl.dot(h1, tl.trans(W2), input_precision=VALUES) + b2, 0.0)
        a = tl.dot(h2, tl.trans(A3), input_precision=VALUES) + a3
        if PATH:
            B3 = _load(parameters + at3, F + feature, is_column, stride3, H2, H2P)
            b3 = _load_column(parameters + at3, F + feature, is_column, stride3, H2)
            b = tl.dot(h2, tl.trans(B3), input_precision=VALUES) + b3 + 1
            a -= _softplus(b) * u
            b_slope = -tl.sigmoid(b) * u
        mask = tl.sigmoid(a)
        shown = x - x_hat
        z = x_hat + mask * shown
        masks += counts[:, None] * mask

        # Seek: the one that learns from these rows, and the one that Hide learns through.
        for turn in tl.static_range(SEEKS):
            seek = member * SEEKS + (learning + turn) % SEEKS
            V1 = _load(parameters + at4 + seek * size4, hidden1, is1, stride4, D, DP)
            V2 = _load(parameters + at5 + seek * size2, hidden2, is2, stride2, H1, H1P)
            V3 = _load(parameters + at6 + seek * size6, numbers, is_output, stride3, H2, H2P)
            c1 = _load_column(parameters + at4 + seek * size4, hidden1, is1, stride4, D + PATH)
            c2 = _load_column(parameters + at5 + seek * size2, hidden2, is2, stride2, H1)
            c3 = _load_column(parameters + at6 + seek * size6, numbers, is_output, stride3, H2)
            if PATH:
                c1 += u * _load_column(parameters + at4 + seek * size4, hidden1, is1, stride4, D)
            s1 = tl.maximum(tl.dot(z, tl.trans(V1), input_precision=VALUES) + c1, 0.0)
            s2 = tl.maximum(tl.dot(s1, tl.trans(V2), input_precision=VALUES) + c2, 0.0)
            y_hat = tl.dot(s2, tl.trans(V3), input_precision=VALUES) + c3
            loss, y_hat_slope = _loss(y_hat, target, rows, valid, numbers[None, :], C, TARGET)
            d6 = y_hat_slope * (counts / batch_size)[:, None]
            d5 = tl.where(s2 > 0, tl.dot(d6, V3, input_precision=VALUES), 0.0)
            d4 = tl.where(s1 > 0, tl.dot(d5, V2, input_precision=VALUES), 0.0)
            if turn == 0:
                to4, to5, to6 = at4 + seek * size4, at5 + seek * size2, at6 + seek * size6
                dV3, dc3 = _learn(dV3, dc3, d6, s2, gradients + to6, numbers, is_output, stride3, H2, last, GRADIENTS)
                dV2, dc2 = _learn(dV2, dc2, d5, s1, gradients + to5, hidden2, is2, stride2, H1, last, GRADIENTS)
                dV1, dc1 = _learn(dV1, dc1, d4, z, gradients + to4, hidden1, is1, stride4, D, last, GRADIENTS)
                if PATH:
                    du1 += tl.sum(d4 * u, axis=0)
                    tl.store(gradients + to4 + hidden1 * stride4 + D, du1, mask=is1)
            if turn == SEEKS - 1:
                losses += counts * loss
                d_mask = tl.dot(d4, V1, input_precision=VALUES) * shown + price * level[:, None]

        # Back through Hide; its weights are read again rather than kept in registers.
        d3 = d_mask * mask * (1 - mask)
        A3 = _load(parameters + at3, feature, is_column, stride3, H2, H2P)
        d2 = tl.dot(d3, A3, input_precision=VALUES)
        to3 = gradients + at3
        dA3, da3 = _learn_mask(dA3, da3, d3, h2, to3, columns, feature, is_column, F, H2, last, GROUPS, GRADIENTS)
        if PATH:
            d3 *= b_slope
            B3 = _load(parameters + at3, F + feature, is_column, stride3, H2, H2P)
            d2 = tl.dot(d3, B3, acc=d2, input_precision=VALUES)
            to3 += F * stride3
            dB3, db3 = _learn_mask(dB3, db3, d3, h2, to3, columns, feature, is_column, F, H2, last, GROUPS, GRADIENTS)
        d2 = tl.where(h2 > 0, d2, 0.0)
        W2 = _load(parameters + at2, hidden2, is2, stride2, H1, H1P)
        d1 = tl.where(h1 > 0, tl.dot(d2, W2, input_precision=VALUES), 0.0)
        dW2, db2 = _learn(dW2, db2, d2, h1, gradients + at2, hidden2, is2, stride2, H1, last, GRADIENTS)
        dW1, db1 = _learn(dW1, db1, d1, x, gradients + at1, hidden1, is1, stride1, D, last, GRADIENTS)

    loss_at = loss_sum + (chunk * n_members + member) * C
    tl.store(loss_at, tl.load(loss_at) + tl.sum(losses, axis=0))
    mask_at = mask_sum + (chunk * n_members + member) * F + feature
    tl.store(mask_at, tl.load(mask_at, mask=starts, other=0.0) + tl.sum(masks, axis=0), mask=starts)
