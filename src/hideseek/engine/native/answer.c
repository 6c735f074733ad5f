/* Masks and predictions of all members of a stack, for some rows.
 *
 * Rows are worked on in blocks that stay in the cache, as in training. What is computed for a row does not depend on the
 * other rows of its block. Compiled once for each instruction set, with VARIANT at the end of the exported names.
 */

#include "network.h"

static int whole_vectors(int n) { return (n + LANES - 1) / LANES * LANES; }

static int rows_of_block(int64_t n_left) { return n_left < MOST_ROWS ? (int)n_left : MOST_ROWS; }

/* Lay out the weights of each member as they are while it is trained. packed: (members, weights of one), zeros. */
void NAMED(pack, VARIANT)(const Task *task, float *space, float *packed)
{
    Room room;
    arrange(task, &room, space);
    for (long member = 0; member < task->n_members; member++)
        carry_member(task, &room, member, packed + member * room.n_weights, task->parameters, FROM_STACK);
}

/* Point the layers of all networks at the weights of another member. */
static void turn_to(const Task *task, Room *room, float *weights)
{
    Network *networks[] = {&room->hide, &room->seeks[0], &room->seeks[1]};
    for (int i = 0; i <= task->n_seeks; i++)
        for (int l = 0; l < networks[i]->n_layers; l++)
            networks[i]->layers[l].matrix = weights + (networks[i]->layers[l].matrix - room->weights);
    room->weights = weights;
}

/* Copy (units, rows) to rows of the result, times a share. */
static void hand_over(const float *values, long units, int n, float share, float *rows)
{
    for (int r = 0; r < n; r++)
        for (long o = 0; o < units; o++)
            rows[r * units + o] = values[o * MOST_ROWS + r] * share;
}

/* Fill Hide's output of a member for a block of rows. */
static void run_hide(const Task *task, const Question *question, Room *room, long member, int64_t first, int n)
{
    turn_to(task, room, question->weights + member * room->n_weights);
    forward(&room->hide, question->x + first * task->n_columns, task->n_columns, n, whole_vectors(n));
}

/* ---- masks ---- */

/* Add the masks of a member, m = sigmoid(a) or, with a path, sigmoid(a - softplus(b + 1) u). */
static void add_masks(const Task *task, const Room *room, const float *share, float u, int n_padded)
{
    for (long f = 0; f < task->n_features; f++)
        for (int r = 0; r < n_padded; r += LANES) {
            Vector a = load(room->hide.output + f * MOST_ROWS + r), slope;
            if (task->path)
                a -= softplus(load(room->hide.output + (task->n_features + f) * MOST_ROWS + r) + 1.0f, &slope) * u;
            float *sum = room->mask + f * MOST_ROWS + r;
            store(sum, load(sum) + sigmoid(a) * share[f]);
        }
}

void NAMED(masks, VARIANT)(const Task *task, const Question *question, float *space)
{
    const unsigned mode = flush_tiny();
    const long features = task->n_features;
    Room room;
    arrange(task, &room, space);
    for (int64_t first = 0; first < question->n_rows; first += MOST_ROWS) {
        const int n = rows_of_block(question->n_rows - first);
        memset(room.mask, 0, MOST_ROWS * features * sizeof(float));
        for (long member = 0; member < task->n_members; member++) {
            run_hide(task, question, &room, member, first, n);
            add_masks(task, &room, question->share + member * features, question->u[member], whole_vectors(n));
        }
        hand_over(room.mask, features, n, 1.0f, question->out + first * features);
    }
    restore_mode(mode);
}

/* ---- entry prices ---- */

/* Keep a member's logits of a block of rows as straight lines of the log price p: level - slope p, in place of a and b. */
static void keep_lines(const Task *task, const Question *question, const Room *room, long member, int n_padded)
{
    const long features = task->n_features;
    const float low = task->log_prices[2 * member], high = task->log_prices[2 * member + 1];
    const float scale = 2.0f * question->half_width / (high - low), middle = low * scale + question->half_width;
    float *lines = question->lines + 2 * member * features * MOST_ROWS;
    for (long f = 0; f < features; f++)
        for (int r = 0; r < n_padded; r += LANES) {
            const float *a = room->hide.output + f * MOST_ROWS + r;
            Vector unused, slope = softplus(load(a + features * MOST_ROWS) + 1.0f, &unused);
            store(lines + f * MOST_ROWS + r, load(a) + slope * middle);
            store(lines + (features + f) * MOST_ROWS + r, slope * scale);
        }
}

/* The mean mask of a feature at these log prices. */
INLINE Vector mean_mask(const Task *task, const Question *question, long f, int r, Vector log_price)
{
    const long features = task->n_features;
    Vector mean = {0};
    for (long member = 0; member < task->n_members; member++) {
        const float *level = question->lines + (2 * member * features + f) * MOST_ROWS + r;
        mean += sigmoid(load(level) - load(level + features * MOST_ROWS) * log_price) *
                question->share[member * features + f];
    }
    return mean;
}

/* The mean mask falls with the price, so that halving finds the highest log price at which it is over the threshold. */
void NAMED(entries, VARIANT)(const Task *task, const Question *question, float *space)
{
    const unsigned mode = flush_tiny();
    const long features = task->n_features;
    Room room;
    arrange(task, &room, space);
    for (int64_t first = 0; first < question->n_rows; first += MOST_ROWS) {
        const int n = rows_of_block(question->n_rows - first), n_padded = whole_vectors(n);
        for (long member = 0; member < task->n_members; member++) {
            run_hide(task, question, &room, member, first, n);
            keep_lines(task, question, &room, member, n_padded);
        }
        for (long f = 0; f < features; f++)
            for (int r = 0; r < n_padded; r += LANES) {
                Vector bottom = all(question->lowest), top = all(question->highest);
                for (int64_t i = 0; i < question->n_halvings; i++) {
                    const Vector middle = (bottom + top) * 0.5f;
                    const IntVector selected = mean_mask(task, question, f, r, middle) > question->threshold;
                    bottom = where(selected, middle) + where(~selected, bottom);
                    top = where(~selected, middle) + where(selected, top);
                }
                store(room.mask + f * MOST_ROWS + r, bottom);
            }
        hand_over(room.mask, features, n, 1.0f, question->out + first * features);
    }
    restore_mode(mode);
}

/* ---- predictions ---- */

/* z is x where a feature is shown, else a draw. */
static void show(const Task *task, const Room *room, const float *x, const uint8_t *shown, const float *drawn, int n)
{
    for (int r = 0; r < n; r++)
        for (long c = 0; c < task->n_columns; c++)
            room->z[r * room->z_width + c] =
                shown[r * task->n_features + task->feature[c]] ? x[r * task->n_columns + c] : drawn[c];
}

static void add_probabilities(float *output, float *sums, long classes, int n_padded)
{
    for (int r = 0; r < n_padded; r += LANES) {
        Vector most = load(output + r), sum = {0};
        for (long o = 1; o < classes; o++)
            most = larger(most, load(output + o * MOST_ROWS + r));
        for (long o = 0; o < classes; o++) {
            Vector e = exponential(load(output + o * MOST_ROWS + r) - most);
            store(output + o * MOST_ROWS + r, e);
            sum += e;
        }
        const Vector share = 1.0f / sum;
        for (long o = 0; o < classes; o++)
            store(sums + o * MOST_ROWS + r, load(sums + o * MOST_ROWS + r) + load(output + o * MOST_ROWS + r) * share);
    }
}

static void add_values(const float *output, float *sums, long outputs, int n_padded)
{
    for (long o = 0; o < outputs; o++)
        for (int r = 0; r < n_padded; r += LANES)
            store(sums + o * MOST_ROWS + r, load(sums + o * MOST_ROWS + r) + load(output + o * MOST_ROWS + r));
}

/* Add the outputs of a Seek, counted through all members, for the rows in z. */
static void add_seek(const Task *task, const Question *question, Room *room, long number, float *sums, int n)
{
    const long member = number / task->n_seeks, outputs = task->seek[task->n_seek];
    Network *seek = &room->seeks[number % task->n_seeks];
    turn_to(task, room, question->weights + member * room->n_weights);
    if (task->path)
        for (int r = 0; r < n; r++)
            room->z[r * room->z_width + task->n_columns] = question->u[member];
    forward(seek, room->z, room->z_width, n, whole_vectors(n));
    if (question->softmax)
        add_probabilities(seek->output, sums, outputs, whole_vectors(n));
    else
        add_values(seek->output, sums, outputs, whole_vectors(n));
}

void NAMED(outputs, VARIANT)(const Task *task, const Question *question, float *space)
{
    const unsigned mode = flush_tiny();
    const long columns = task->n_columns, features = task->n_features, outputs = task->seek[task->n_seek];
    Room room;
    arrange(task, &room, space);
    float *sums = room.target;
    for (int64_t first = 0; first < question->n_rows; first += MOST_ROWS) {
        const int n = rows_of_block(question->n_rows - first);
        int64_t count = 0;
        memset(sums, 0, MOST_ROWS * outputs * sizeof(float));
        for (int64_t d = 0; d < question->n_draws; d++) {
            show(task, &room, question->x + first * columns, question->shown + first * features,
                 question->draws + d * columns, n);
            for (int64_t k = d % question->n_turns; k < task->n_members * task->n_seeks; k += question->n_turns, count++)
                add_seek(task, question, &room, k, sums, n);
        }
        hand_over(sums, outputs, n, 1.0f / (float)count, question->out + first * outputs);
    }
    restore_mode(mode);
}
