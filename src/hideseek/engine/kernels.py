"""Triton kernels, called by ``fused``, which explains when they are used.

Factors of products are in half precision (``LOW``; in tests in single). They have as many bits as matrix units take of
a number in single precision, but are rounded, not cut off, need half of the memory and are transposed on the way.
"""

from __future__ import annotations

import triton
import triton.language as tl

from hideseek.engine.kernel_draws import integers, step_key, uniform

__all__ = ["adam", "gradient"]

LARGEST = tl.constexpr(65504.0)
"""The largest number in half precision."""

SLOPE_UNIT = tl.constexpr(1 / 64)
"""Unit of the slopes of a row's loss: many are near 0, and half precision has nothing between 0 and 6e-8."""


@triton.jit
def _load(base, rows, inside, stride: tl.constexpr, IN: tl.constexpr, INP: tl.constexpr):
    """Return rows of a layer's matrix, padded with zeros. Shape: ``rows (n,)`` -> ``(n, INP)``."""
    columns = tl.arange(0, INP)[None, :]
    return tl.load(base + rows[:, None] * stride + columns, mask=inside[:, None] & (columns < IN), other=0.0)


@triton.jit
def _load_layer(base, rows, inside, IN: tl.constexpr, INP: tl.constexpr):
    """Return rows of a layer's matrix, and of its bias, the last column.

    Shape: ``rows (n,)`` -> ``(n, INP)``, ``(1, n)``.
    """
    bias = tl.load(base + rows * (IN + 1) + IN, mask=inside, other=0.0)
    return _load(base, rows, inside, IN + 1, IN, INP), bias[None, :]


@triton.jit
def _dot(a, b, acc=None):
    return tl.dot(a, b, acc=acc, input_precision="tf32x3")  # that is for factors in single precision


@triton.jit
def _low(x, LOW: tl.constexpr):
    """Return slopes in half precision; beyond its largest number that one, and not infinity."""
    x = x.to(LOW)
    return tl.minimum(tl.maximum(x, tl.full(x.shape, -LARGEST, LOW)), tl.full(x.shape, LARGEST, LOW))


@triton.jit
def _split(x, LOW: tl.constexpr):
    """Return values in half precision, and what is missing of them."""
    low = x.to(LOW)
    return low, (x - low.to(tl.float32)).to(LOW)


@triton.jit
def _layer(values, missing, W, EXACT: tl.constexpr, LOW: tl.constexpr):
    """Return a matrix in half precision, and its product with the values of the layer before it.

    Three products of halves give single precision up to rounding.
    """
    low, low_missing = _split(W, LOW)
    by_units = tl.trans(low)
    if EXACT:
        out = _dot(values, by_units, _dot(missing, by_units, _dot(values, tl.trans(low_missing))))
    else:
        out = _dot(values, by_units)
    return low, out


@triton.jit
def _units(before, LOW: tl.constexpr):
    """Return the values of a hidden layer as ``_split`` does."""
    return _split(tl.minimum(tl.maximum(before, 0.0), LARGEST), LOW)


@triton.jit
def _forward(
    x, parameters, at1, at2, at3, units3, is3,
    IN: tl.constexpr, INP: tl.constexpr, H1: tl.constexpr, H1P: tl.constexpr, H2: tl.constexpr, H2P: tl.constexpr,
    EXACT: tl.constexpr, LOW: tl.constexpr,
):  # fmt: skip
    """Return the matrices of a network, its input and the values of its hidden layers, all of them in half precision.

    Behind them what is missing of the last hidden layer, and the output. The first matrix has its bias as a column, by
    which a one among the inputs is multiplied.
    """
    units1, units2 = tl.arange(0, H1P), tl.arange(0, H2P)
    W1 = _load(parameters + at1, units1, units1 < H1, IN + 1, IN + 1, INP)
    W2, b2 = _load_layer(parameters + at2, units2, units2 < H2, H1, H1P)
    W3, b3 = _load_layer(parameters + at3, units3, is3, H2, H2P)
    x, missing = _split(x, LOW)
    W1, out = _layer(x, missing, W1, EXACT, LOW)
    h1, missing = _units(out, LOW)
    W2, out = _layer(h1, missing, W2, EXACT, LOW)
    h2, missing = _units(out + b2, LOW)
    W3, out = _layer(h2, missing, W3, EXACT, LOW)
    return W1, W2, W3, x, h1, h2, missing, out + b3


@triton.jit
def _before(slope, values, LOW: tl.constexpr):
    """Return the slope before a hidden layer's rectifier, given that behind it, in single and in half precision."""
    slope = tl.where(values > 0, slope, 0.0)
    return slope, _low(slope, LOW)


@triton.jit
def _store(base, matrix, rows, inside, stride: tl.constexpr, IN: tl.constexpr):
    """Write a matrix to where ``_load`` reads it."""
    columns = tl.arange(0, matrix.shape[1])[None, :]
    tl.store(base + rows[:, None] * stride + columns, matrix, mask=inside[:, None] & (columns < IN))


@triton.jit
def _store_bias(base, bias, rows, inside, stride: tl.constexpr):
    """Write a bias to where ``_load_layer`` reads it."""
    tl.store(base + rows * stride + stride - 1, bias, mask=inside)


@triton.jit
def _store_layer(base, matrix, bias, unit, rows, inside, IN: tl.constexpr):
    """Write both to where ``_load_layer`` reads them, in this unit."""
    _store(base, matrix * unit, rows, inside, IN + 1, IN)
    _store_bias(base, bias * unit, rows, inside, IN + 1)


@triton.jit
def _store_by_feature(
    base, matrix, bias, feature, is_column, stride: tl.constexpr, IN: tl.constexpr, F: tl.constexpr, STEP: tl.constexpr
):
    """Write sums over the columns of each feature, for ``STEP`` features at a time. Shape: ``matrix (columns, n)``."""
    for start in tl.static_range(0, F, STEP):
        features = start + tl.arange(0, STEP)
        own = (feature[None, :] == features[:, None]) & is_column[None, :]
        summed = tl.dot(own.to(tl.float32), matrix, input_precision="tf32x3")
        _store(base, summed, features, features < F, stride, IN)
        _store_bias(base, tl.sum(tl.where(own, bias[None, :], 0.0), axis=1), features, features < F, stride)


@triton.jit
def _store_masks_layer(
    base, matrix, bias, unit, columns, feature, is_column, H2: tl.constexpr, F: tl.constexpr, GROUPS: tl.constexpr
):
    """Write the gradient of Hide's last layer: for each feature the sum over its columns."""
    if GROUPS:
        STEP: tl.constexpr = min(matrix.shape[0], 32)
        _store_by_feature(base, matrix * unit, bias * unit, feature, is_column, H2 + 1, H2, F, STEP)
    else:
        _store_layer(base, matrix, bias, unit, columns, is_column, H2)


@triton.jit
def _softplus(x):
    return tl.maximum(x, 0.0) + tl.log(1 + tl.exp(-tl.abs(x)))


@triton.jit
def _drawn_price(places, key, log_prices):
    """Return the price of each row and its position; see ``Batches``. Shape: ``(n,)`` -> ``(n,)``, ``(n, 1)``."""
    position = uniform(places, key)
    low, high = tl.load(log_prices), tl.load(log_prices + 1)
    return tl.exp(low + (high - low) * position), (4 * position - 2)[:, None]


@triton.jit
def _loss(y_hat, target, rows, valid, outputs, C: tl.constexpr, TARGET: tl.constexpr):
    """Return the loss of each row and its gradient by the output; see ``objective``."""
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
        loss = -tl.sum(tl.where(y > 0, y * (y_hat - tl.log(total)), 0.0), axis=1)
        slope = exponentials / total - y
    return loss, slope


@triton.jit
def _add(places, values, inside):
    tl.store(places, tl.load(places, mask=inside, other=0.0) + values, mask=inside)


@triton.jit
def gradient(
    X, target, weight, selected, own_rows, feature_of, parameters, prices, log_prices, tables, batch_keys, draw_keys,
    price_keys, schedule, done, gradients, loss_sum, mask_sum, n_members, n_rows, n_own, batch_size, chunk_rows,
    farthest_logit, logit_pull,
    D: tl.constexpr, F: tl.constexpr, H1: tl.constexpr, H2: tl.constexpr, C: tl.constexpr, HIDE: tl.constexpr,
    DP: tl.constexpr, H1P: tl.constexpr, H2P: tl.constexpr, CP: tl.constexpr,
    SEEKS: tl.constexpr, PATH: tl.constexpr, GROUPS: tl.constexpr, TARGET: tl.constexpr,
    DRAWN: tl.constexpr, OWN_ROWS: tl.constexpr, WEIGHTED: tl.constexpr, SETTLED: tl.constexpr,
    TILE: tl.constexpr, ONE_TILE: tl.constexpr, EXACT: tl.constexpr, LOW: tl.constexpr,
):  # fmt: skip
    """Add the gradient and losses of one member on one chunk of its batch; names as in ``HideSeek.gradient``.

    With two Seeks a chunk has rows of one half of the batch: one Seek learns from them, and Hide through the other.

    Masks are computed column by column: the columns of a feature read the same row of Hide's last layer, and so have
    the same mask. The price of a feature counts at its first column.

    Where features are settled, ``selected`` has what a row is shown: Hide, of ``HIDE`` parameters, is not asked and has
    no gradient.

    Where a chunk is a single tile, Seek's gradients are written at once, to free their registers.
    """
    chunk, member = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    step, unit = tl.load(done), SLOPE_UNIT / batch_size
    share = tl.load(schedule + 4 * step)
    draw_key, batch_key = step_key(draw_keys, member, step), step_key(batch_keys, member, step)
    first_row = tl.load(tables + member) * n_rows
    rows_of_seek, chunks_of_seek = batch_size // SEEKS, tl.num_programs(0) // SEEKS
    half, first = chunk // chunks_of_seek, chunk % chunks_of_seek * chunk_rows
    stop = tl.minimum(first + chunk_rows, rows_of_seek)

    # Layers are stored one after the other, each with the matrices of all members.
    T1: tl.constexpr = D + 1
    T2: tl.constexpr = H1 + 1
    T3: tl.constexpr = H2 + 1
    T4: tl.constexpr = D + PATH + 1
    S1: tl.constexpr = H1 * T1
    S2: tl.constexpr = H2 * T2
    S3: tl.constexpr = F * (1 + PATH) * T3
    S4: tl.constexpr = H1 * T4
    S6: tl.constexpr = C * T3
    at1, at2, at3 = member * S1, n_members * S1 + member * S2, n_members * (S1 + S2) + member * S3
    at4 = n_members * HIDE + member * SEEKS * S4
    at5 = n_members * (HIDE + SEEKS * S4) + member * SEEKS * S2
    at6 = n_members * (HIDE + SEEKS * (S4 + S2)) + member * SEEKS * S6
    gradients += chunk * n_members * (HIDE + SEEKS * (S4 + S2 + S6))

    columns, units1, units2 = tl.arange(0, DP), tl.arange(0, H1P), tl.arange(0, H2P)
    outputs = tl.arange(0, CP)
    is_column, is1, is2, is_output = columns < D, units1 < H1, units2 < H2, outputs < C
    feature, is_first = columns, is_column
    if GROUPS:
        feature = tl.load(feature_of + columns, mask=is_column, other=0).to(tl.int32)
        is_first &= feature != tl.load(feature_of + columns - 1, mask=is_column & (columns > 0), other=-1)
    price = tl.load(prices + member * F + feature, mask=is_first, other=0.0)[None, :] * share / SLOPE_UNIT

    dW1, dV1 = tl.zeros((H1P, DP), tl.float32), tl.zeros((H1P, DP), tl.float32)
    dW2, dV2 = tl.zeros((H2P, H1P), tl.float32), tl.zeros((H2P, H1P), tl.float32)
    db2, dc2 = tl.zeros((H2P,), tl.float32), tl.zeros((H2P,), tl.float32)
    dA3, dB3 = tl.zeros((DP, H2P), tl.float32), tl.zeros((DP, H2P), tl.float32)
    da3, db3 = tl.zeros((DP,), tl.float32), tl.zeros((DP,), tl.float32)
    dV3, dc3 = tl.zeros((CP, H2P), tl.float32), tl.zeros((CP,), tl.float32)
    losses, masks = tl.zeros((TILE,), tl.float32), tl.zeros((TILE, DP), tl.float32)

    n_tiles = 1 if ONE_TILE else tl.cdiv(stop - first, TILE)
    for tile in tl.range(0, n_tiles, disable_licm=True):
        within = first + tile * TILE + tl.arange(0, TILE)
        valid, places = within < stop, half * rows_of_seek + within
        rows = integers(places, batch_key, n_own) if DRAWN else within
        if OWN_ROWS:
            rows = tl.load(own_rows + (member * SEEKS + half) * n_own + rows, mask=valid, other=0)
        rows += first_row
        counts = tl.load(weight + rows, mask=valid, other=0.0) if WEIGHTED else valid.to(tl.float32)
        level, pull = counts, 0.0
        if PATH:
            drawn_price, u = _drawn_price(places, step_key(price_keys, member, step), log_prices + 2 * member)
            level *= drawn_price
        inside = valid[:, None] & is_column[None, :]
        x = tl.load(X + rows[:, None] * D + columns[None, :], mask=inside, other=1.0)
        picks = first_row + integers(feature[None, :] * batch_size + places[:, None], draw_key, n_rows)
        x_hat = tl.load(X + picks * D + columns[None, :], mask=inside, other=1.0)

        if SETTLED:
            mask = tl.load(selected + rows[:, None] * F + feature[None, :], mask=inside, other=0).to(tl.float32)
        else:
            _, W2, A3, x_low, h1, h2, h2_missing, a = _forward(
                x, parameters, at1, at2, at3, feature, is_column, D, DP, H1, H1P, H2, H2P, EXACT, LOW
            )
            if PATH:
                B3, b3 = _load_layer(parameters + at3 + F * T3, feature, is_column, H2, H2P)
                B3, b = _layer(h2, h2_missing, B3, EXACT, LOW)
                b += b3 + 1
                a -= _softplus(b) * u
                b_share = -tl.sigmoid(b) * u
                too_far = tl.maximum(a - farthest_logit, 0.0)
                pull = tl.where(is_first, logit_pull / SLOPE_UNIT, 0.0)[None, :] * counts[:, None] * too_far
            mask = tl.sigmoid(a)
        masks += counts[:, None] * mask
        shown = x - x_hat
        z = x_hat + mask * shown
        if PATH:
            z = tl.where(columns[None, :] == D, u, z)

        for turn in tl.static_range(SEEKS):  # first the Seek that learns, last the one that Hide learns through
            seek = (half + turn) % SEEKS
            own4, own5, own6 = at4 + seek * S4, at5 + seek * S2, at6 + seek * S6
            V1, V2, V3, z_low, s1, s2, _, y_hat = _forward(
                z, parameters, own4, own5, own6, outputs, is_output, D + PATH, DP, H1, H1P, H2, H2P, EXACT, LOW
            )
            loss, y_hat_slope = _loss(y_hat, target, rows, valid, outputs[None, :], C, TARGET)
            d6 = y_hat_slope * (counts / SLOPE_UNIT)[:, None]
            d6_low = _low(d6, LOW)
            if turn == 0:
                dc3 += tl.sum(d6, axis=0)
                dV3 = _dot(tl.trans(d6_low), s2, dV3)
                if ONE_TILE:
                    _store_layer(gradients + own6, dV3, dc3, unit, outputs, is_output, H2)
            d5, d5_low = _before(_dot(d6_low, V3), s2, LOW)
            if turn == 0:
                dc2 += tl.sum(d5, axis=0)
                dV2 = _dot(tl.trans(d5_low), s1, dV2)
                if ONE_TILE:
                    _store_layer(gradients + own5, dV2, dc2, unit, units2, is2, H1)
            _, d4 = _before(_dot(d5_low, V2), s1, LOW)
            if turn == 0:
                dV1 = _dot(tl.trans(d4), z_low, dV1)
                if ONE_TILE:
                    _store(gradients + own4, dV1 * unit, units1, is1, T4, T4)
            if turn == SEEKS - 1:
                losses += counts * loss
                if not SETTLED:
                    d_mask = _dot(d4, V1) * shown + price * level[:, None]

        if not SETTLED:
            d3 = d_mask * mask * (1 - mask) + pull
            d3_low = _low(d3, LOW)
            da3 += tl.sum(d3, axis=0)
            dA3 = _dot(tl.trans(d3_low), h2, dA3)
            d2 = _dot(d3_low, A3)
            if PATH:
                d3 *= b_share
                d3_low = _low(d3, LOW)
                db3 += tl.sum(d3, axis=0)
                dB3 = _dot(tl.trans(d3_low), h2, dB3)
                d2 = _dot(d3_low, B3, d2)
            d2, d2_low = _before(d2, h2, LOW)
            db2 += tl.sum(d2, axis=0)
            dW2 = _dot(tl.trans(d2_low), h1, dW2)
            _, d1 = _before(_dot(d2_low, W2), h1, LOW)
            dW1 = _dot(tl.trans(d1), x_low, dW1)

    own4, own5, own6 = at4 + half * S4, at5 + half * S2, at6 + half * S6
    if not ONE_TILE:
        _store_layer(gradients + own6, dV3, dc3, unit, outputs, is_output, H2)
        _store_layer(gradients + own5, dV2, dc2, unit, units2, is2, H1)
        _store(gradients + own4, dV1 * unit, units1, is1, T4, T4)
    if not SETTLED:
        _store(gradients + at1, dW1 * unit, units1, is1, T1, T1)
        _store_layer(gradients + at2, dW2, db2, unit, units2, is2, H1)
        _store_masks_layer(gradients + at3, dA3, da3, unit, columns, feature, is_column, H2, F, GROUPS)
        if PATH:
            _store_masks_layer(gradients + at3 + F * T3, dB3, db3, unit, columns, feature, is_column, H2, F, GROUPS)
    _add(loss_sum + (chunk * n_members + member) * C, tl.sum(losses, axis=0), True)
    _add(mask_sum + (chunk * n_members + member) * F + feature, tl.sum(masks, axis=0), is_first)


@triton.jit
def adam(
    parameters, gradients, trainable, mean, square, schedule, done, size, n_chunks, beta1, beta2, epsilon,
    SOME_TRAIN: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Update weights against the sum of the chunks' gradients; see ``Adam``, and ``Steps`` for the schedule."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside, now = at < size, schedule + 4 * tl.load(done)
    slope = tl.zeros((BLOCK,), tl.float32)
    for _ in range(n_chunks):
        slope += tl.load(gradients + at, mask=inside, other=0.0)
        gradients += size
    if SOME_TRAIN:
        slope *= tl.load(trainable + at, mask=inside, other=0.0)
    m, v = tl.load(mean + at, mask=inside, other=0.0), tl.load(square + at, mask=inside, other=0.0)
    m, v = beta1 * m + (1 - beta1) * slope, beta2 * v + (1 - beta2) * slope * slope
    weight = tl.load(now + 3) * tl.load(parameters + at, mask=inside, other=0.0)
    weight -= tl.load(now + 1) * m / (tl.sqrt(v) * tl.load(now + 2) + epsilon)
    tl.store(mean + at, m, mask=inside)
    tl.store(square + at, v, mask=inside)
    tl.store(parameters + at, weight, mask=inside)
