/* Training steps of one member of a stack, from the draw of its rows to its new weights.
 *
 * The rows of a batch are worked on in blocks that stay in the cache. Inputs and hidden values lie row after row, so
 * that the vectors run along the units of a layer; outputs, masks and losses lie unit after unit, so that the vectors
 * run along the rows. Compiled once for each instruction set, with VARIANT at the end of the exported names.
 */

#include "network.h"
#include "rows.h"

/* ---- the mask ---- */

/* m = sigmoid(a); with a path m = sigmoid(a - softplus(b + 1) u), and the logit and -u sigmoid(b + 1) take the places
 * of a and b. */
static void fill_mask(const Task *task, Room *room, const Block *block)
{
    for (long f = 0; f < task->n_features; f++) {
        for (int r = 0; r < block->n_padded; r += LANES) {
            Vector a = load(room->hide.output + f * MOST_ROWS + r);
            if (task->path) {
                float *place = room->hide.output + (task->n_features + f) * MOST_ROWS + r;
                Vector level = load(room->level + r), slope;
                a -= softplus(load(place) + 1.0f, &slope) * level;
                store(room->hide.output + f * MOST_ROWS + r, a);
                store(place, -level * slope);
            }
            store(room->mask + f * MOST_ROWS + r, sigmoid(a));
        }
        add_to_sum(room, f);
    }
}

/* z = m x + (1 - m) x_hat, and what z gains where the mask does: x - x_hat. */
static void fill_z(const Task *task, Room *room, const Block *block)
{
    const long columns = padded(task->n_columns);
    transpose(room->mask, MOST_ROWS, task->feature, task->n_columns, block->n_padded, room->by_row, room->z_width);
    for (int r = 0; r < block->n; r++) {
        const long place = r * room->z_width;
        const float *x = room->x + r * room->x_width, *x_hat = room->x_hat + r * room->x_width;
        for (long c = 0; c < columns; c += LANES) {
            Vector drawn = load(x_hat + c), shown = load(x + c) - drawn;
            store(room->shown + place + c, shown);
            store(room->z + place + c, drawn + load(room->by_row + place + c) * shown);
        }
        if (task->path)
            room->z[place + task->n_columns] = room->level[r];
    }
}

/* From the slopes by z times x - x_hat, in by_row, to those by Hide's output, in its place. */
static void fill_hide_slopes(const Task *task, Room *room, const Block *block, const float *visible, float price)
{
    const float pull = task->logit_pull / (float)task->batch_size;
    transpose(room->by_row, room->z_width, NULL, block->n, padded(task->n_columns), room->by_column, MOST_ROWS);
    for (long f = 0; f < task->n_features; f++)
        for (int r = 0; r < block->n_padded; r += LANES) {
            Vector slope = load(room->price + r) * (price * visible[f]);
            for (long c = task->first_column[f]; c < task->first_column[f + 1]; c++)
                slope += load(room->by_column + c * MOST_ROWS + r);
            Vector mask = load(room->mask + f * MOST_ROWS + r);
            slope *= mask * (1.0f - mask);
            float *own = room->hide.output + f * MOST_ROWS + r;
            if (task->path) {
                float *place = room->hide.output + (task->n_features + f) * MOST_ROWS + r;
                Vector excess = larger(load(own) - task->farthest_logit, (Vector){0});
                slope += excess * load(room->weight + r) * pull;
                store(place, slope * load(place));
            }
            store(own, slope);
        }
}

/* ---- the loss ---- */

/* Put the slopes of the loss in the place of the output; return the sum of the losses over the rows. */
static float cross_entropy(const Room *room, float *output, const Block *block, long classes, float share)
{
    Vector losses = {0};
    for (int r = 0; r < block->n_padded; r += LANES) {
        Vector most = load(output + r), sum = {0}, loss = {0}, weight = load(room->weight + r);
        for (long o = 1; o < classes; o++)
            most = larger(most, load(output + o * MOST_ROWS + r));
        for (long o = 0; o < classes; o++)
            sum += exponential(load(output + o * MOST_ROWS + r) - most);
        Vector normal = most + logarithm(sum);
        for (long o = 0; o < classes; o++) {
            float *place = output + o * MOST_ROWS + r;
            Vector target = load(room->target + o * MOST_ROWS + r), log_y_hat = load(place) - normal;
            loss -= target * log_y_hat;
            store(place, (exponential(log_y_hat) - target) * (weight * share));
        }
        losses += loss * weight;
    }
    return total(losses);
}

static float squared_error(const Room *room, float *output, const Block *block, float share)
{
    Vector losses = {0};
    for (int r = 0; r < block->n_padded; r += LANES) {
        Vector error = load(output + r) - load(room->target + r), weight = load(room->weight + r);
        losses += error * error * weight;
        store(output + r, error * (weight * (2.0f * share)));
    }
    return total(losses);
}

static float loss_and_slopes(const Task *task, const Room *room, Network *seek, const Block *block)
{
    const float share = 1.0f / (float)task->batch_size;
    if (task->loss == VALUES)
        return squared_error(room, seek->output, block, share);
    return cross_entropy(room, seek->output, block, task->seek[task->n_seek], share);
}

/* ---- steps ---- */

/* The position u and the price of each row of a block: a price for all, or one drawn for each. */
static void fill_prices(const Task *task, Room *room, long member, const Block *block)
{
    if (!task->path) {
        memcpy(room->price, room->weight, MOST_ROWS * sizeof(float));
        return;
    }
    const uint64_t key = key_at(task->price_keys[member], block->step);
    const float low = task->log_prices[2 * member], high = task->log_prices[2 * member + 1];
    for (int r = 0; r < MOST_ROWS; r++)
        room->level[r] = (float)(((word(key, (uint32_t)(block->first + r)) ^ 0x80000000u) + 0.5) / 4294967296.0);
    for (int r = 0; r < MOST_ROWS; r += LANES) {
        Vector v = load(room->level + r);
        store(room->price + r, exponential(low + (high - low) * v) * load(room->weight + r));
        store(room->level + r, 4.0f * v - 2.0f);
    }
}

/* The gradient of a member's only Seek, where the mask is given. */
static float seek_gradient(const Task *task, Room *room, const Block *block)
{
    Network *seek = &room->seeks[0];
    fill_z(task, room, block);
    forward(seek, room->z, room->z_width, block->n, block->n_padded);
    const float loss = loss_and_slopes(task, room, seek, block);
    backward(seek, room->z, room->z_width, block->n, block->n_padded, 1, !block->starts_seek, NULL, NULL);
    return loss;
}

/* The gradients of a block whose rows are gathered; return the sum of its losses. */
static float block_gradient(const Task *task, Room *room, const Block *block, const float *visible, float price)
{
    const int n = block->n, n_padded = block->n_padded, alone = task->n_seeks == 1, add = !block->starts_seek;
    if (task->selected)
        return seek_gradient(task, room, block);
    forward(&room->hide, room->x, room->x_width, n, n_padded);
    fill_mask(task, room, block);
    fill_z(task, room, block);
    if (!alone) {
        Network *own = &room->seeks[block->seek];
        forward(own, room->z, room->z_width, n, n_padded);
        loss_and_slopes(task, room, own, block);
        backward(own, room->z, room->z_width, n, n_padded, 1, add, NULL, NULL);
    }
    Network *seek = &room->seeks[task->n_seeks - 1 - block->seek]; /* that Hide learns through */
    forward(seek, room->z, room->z_width, n, n_padded);
    const float loss = loss_and_slopes(task, room, seek, block);
    backward(seek, room->z, room->z_width, n, n_padded, alone, add, room->shown, room->by_row);
    fill_hide_slopes(task, room, block, visible, price);
    backward(&room->hide, room->x, room->x_width, n, n_padded, 1, !block->starts_step, NULL, NULL);
    return loss;
}

/* Lay out a room for a member, with its weights. */
static void move_in(const Task *task, Room *room, float *space, int64_t member)
{
    memset(space, 0, (size_t)arrange(task, room, space) * sizeof(float));
    carry_member(task, room, member, room->weights, task->parameters, FROM_STACK);
    if (task->trainable)
        carry_member(task, room, member, room->trainable, (float *)task->trainable, FROM_STACK);
}

static void draw_block(const Task *task, Room *room, int64_t member, int64_t number)
{
    const Block block = block_at(task, number);
    draw(task, room, member, &block);
}

/* Add the gradients of some blocks, of which the first is drawn already; draw the one that follows them, unless it is
 * the end. Return the sum of their losses. */
static double learn(const Task *task, Room *room, int64_t member, int64_t first, int64_t n_blocks, int64_t end,
                    float share)
{
    const float *visible = task->visible + member * task->n_features;
    const float price = share * ((task->path ? 1.0f : task->price[member]) / (float)task->batch_size);
    double loss = 0.0;
    for (int s = 0; s < task->n_seeks; s++)
        turn(&room->seeks[s]);
    turn(&room->hide);
    for (int64_t b = first; b < first + n_blocks; b++) {
        const Block block = block_at(task, b);
        gather(task, room, member, block.n);
        fill_prices(task, room, member, &block);
        if (b + 1 < end)
            draw_block(task, room, member, b + 1);
        loss += block_gradient(task, room, &block, visible, price);
    }
    return loss;
}

/* Add the masks of the rows that were learned from to their sums. */
static void take_masks(const Task *task, Room *room, float *sums)
{
    for (long f = 0; f < task->n_features; f++) {
        sums[f] += total(load(room->mask_sums + f * LANES));
        store(room->mask_sums + f * LANES, (Vector){0});
    }
}

/* A part of a batch: the gradient, the loss and the masks. */
static long part_floats(const Task *task, const Room *room) { return room->n_weights + 1 + task->n_features; }

/* ---- what the dispatcher calls ---- */

void NAMED(sizes, VARIANT)(const Task *task, int64_t *weights, int64_t *part, int64_t *space)
{
    Room room;
    *space = arrange(task, &room, NULL);
    *weights = room.n_weights;
    *part = part_floats(task, &room);
}

void NAMED(run, VARIANT)(const Task *task, float *space, int64_t member, int64_t done, int64_t n_steps,
                         const Moment *moments)
{
    const unsigned mode = flush_tiny();
    const int64_t n_blocks = blocks_of_step(task), end = (done + n_steps) * n_blocks;
    float *loss_sum = task->loss_sum + member * task->seek[task->n_seek];
    Room room;
    move_in(task, &room, space, member);
    draw_block(task, &room, member, done * n_blocks);
    for (int64_t t = 0; t < n_steps; t++) {
        *loss_sum += (float)learn(task, &room, member, (done + t) * n_blocks, n_blocks, end, moments[t].share);
        take_masks(task, &room, task->mask_sum + member * task->n_features);
        move(task, &room, member, &moments[t]);
    }
    carry_member(task, &room, member, room.weights, task->parameters, TO_STACK);
    restore_mode(mode);
}

void NAMED(learn, VARIANT)(const Task *task, float *space, int64_t member, int64_t step, int64_t number,
                           int64_t n_parts, const Moment *moment, float *part)
{
    const unsigned mode = flush_tiny();
    const int64_t n_blocks = blocks_of_step(task), start = step * n_blocks;
    const int64_t first = start + n_blocks * number / n_parts, end = start + n_blocks * (number + 1) / n_parts;
    Room room;
    move_in(task, &room, space, member);
    draw_block(task, &room, member, first);
    float *loss = part + room.n_weights, *masks = loss + 1;
    *loss = (float)learn(task, &room, member, first, end - first, end, moment->share);
    memset(masks, 0, (size_t)task->n_features * sizeof(float));
    take_masks(task, &room, masks);
    memcpy(part, room.gradient, (size_t)room.n_weights * sizeof(float));
    restore_mode(mode);
}

void NAMED(move, VARIANT)(const Task *task, float *space, int64_t member, int64_t n_parts, const float *parts,
                          const Moment *moment)
{
    const unsigned mode = flush_tiny();
    Room room;
    move_in(task, &room, space, member);
    const float *part = parts;
    for (int64_t p = 0; p < n_parts; p++, part += part_floats(task, &room)) {
        for (long i = 0; i < room.n_weights; i++)
            room.gradient[i] += part[i];
        task->loss_sum[member * task->seek[task->n_seek]] += part[room.n_weights];
        for (long f = 0; f < task->n_features; f++)
            task->mask_sum[member * task->n_features + f] += part[room.n_weights + 1 + f];
    }
    move(task, &room, member, moment);
    carry_member(task, &room, member, room.weights, task->parameters, TO_STACK);
    restore_mode(mode);
}
