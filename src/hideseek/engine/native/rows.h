/* Which rows a step sees and what stands in for them: the same draws as in ``draws.py``, word for word. */

#ifndef HIDESEEK_ROWS_H
#define HIDESEEK_ROWS_H

#include "room.h"

/* Rows of one step that are worked on together, all of them rows that one Seek learns from. */
typedef struct {
    uint64_t step;
    int seek; /* which one learns from these rows */
    int first, n, n_padded; /* rows of the batch, and their number in whole vectors */
    int starts_step, starts_seek; /* whether the gradients of Hide, of the Seek, start with this block */
} Block;

static int blocks_of_seek(const Task *task)
{
    return (int)((task->batch_size / task->n_seeks + MOST_ROWS - 1) / MOST_ROWS);
}

static int64_t blocks_of_step(const Task *task) { return (int64_t)blocks_of_seek(task) * task->n_seeks; }

/* The blocks of all steps are numbered through. */
static Block block_at(const Task *task, int64_t number)
{
    const int size = (int)(task->batch_size / task->n_seeks), n_blocks = blocks_of_seek(task);
    const int most = (int)padded((size + n_blocks - 1) / n_blocks), place = (int)(number % n_blocks);
    const int n = (place + 1) * most < size ? most : size - place * most;
    const int seek = (int)(number / n_blocks % task->n_seeks);
    return (Block){
        .step = (uint64_t)(number / (n_blocks * task->n_seeks)),
        .seek = seek, .first = seek * size + place * most, .n = n, .n_padded = (n + LANES - 1) / LANES * LANES,
        .starts_step = seek == 0 && place == 0, .starts_seek = place == 0,
    };
}

static uint64_t mix64(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static uint64_t key_at(uint64_t stream_key, uint64_t step) { return mix64(stream_key + step * 0xD1342543DE82EF95u); }

INLINE uint32_t word(uint64_t key, uint32_t cell)
{
    uint32_t x = cell + (uint32_t)key;
    x = (x ^ (x >> 16)) * 0x7FEB352Du;
    x ^= (uint32_t)(key >> 32);
    x = (x ^ (x >> 15)) * 0x846CA68Bu;
    return x ^ (x >> 16);
}

INLINE uint32_t below(uint32_t word, uint32_t high) { return (uint32_t)(((uint64_t)word * high) >> 32); }

/* With a full batch all rows that the Seek learns from, in order. */
static void draw_rows(const Task *task, Room *room, long member, const Block *block)
{
    const int32_t *own = task->own_rows ? task->own_rows + (member * task->n_seeks + block->seek) * task->n_own : NULL;
    int32_t *restrict rows = room->rows;
    if (task->batch_keys) {
        const uint64_t key = key_at(task->batch_keys[member], block->step);
        for (int r = 0; r < MOST_ROWS; r++)
            rows[r] = (int32_t)below(word(key, (uint32_t)(block->first + r)), (uint32_t)task->n_own);
    } else
        for (int r = 0; r < MOST_ROWS; r++)
            rows[r] = block->first - block->seek * (int32_t)task->n_own + r;
    for (int r = 0; own && r < block->n; r++)
        rows[r] = own[rows[r]];
}

/* Cells are numbered feature after feature through the batch. */
static void draw_picks(const Task *task, Room *room, long member, const Block *block)
{
    const uint64_t key = key_at(task->replacement_keys[member], block->step);
    const uint32_t batch_size = (uint32_t)task->batch_size, n_rows = (uint32_t)task->n_rows;
    for (int r = 0; r < block->n; r++) {
        uint32_t *restrict picks = room->picks + r * room->pick_width;
        for (uint32_t f = 0; f < (uint32_t)room->pick_width; f++)
            picks[f] = below(word(key, f * batch_size + (uint32_t)(block->first + r)), n_rows);
    }
}

/* Draw the rows of a block and what stands in for them, and have the cache fetch them for ``gather``. */
static void draw(const Task *task, Room *room, long member, const Block *block)
{
    const long columns = task->n_columns, first_row = task->table[member] * task->n_rows;
    const float *table = task->x + first_row * columns;
    draw_picks(task, room, member, block);
    for (int r = 0; r < block->n && !task->x_columns; r++)
        for (long f = 0; f < task->n_features; f++) {
            const float *values = table + room->picks[r * room->pick_width + f] * columns;
            __builtin_prefetch(values + task->first_column[f], 0, 2);
            __builtin_prefetch(values + task->first_column[f + 1] - 1, 0, 2);
        }
    draw_rows(task, room, member, block);
    for (int r = 0; r < block->n; r++) {
        const float *row = table + room->rows[r] * columns;
        for (long c = 0; c < columns; c += 16)
            __builtin_prefetch(row + c, 0, 2);
        __builtin_prefetch(row + columns - 1, 0, 2);
        __builtin_prefetch((const int32_t *)task->target + (first_row + room->rows[r]) * room->target_words, 0, 2);
    }
}

/* How many first features have at most width columns, and width columns from their first on. */
static long narrow_features(const Task *task, int width)
{
    long f = 0;
    while (f < task->n_features && task->first_column[f] + width <= task->n_columns &&
           task->first_column[f + 1] - task->first_column[f] <= width)
        f++;
    return f;
}

/* Copy width columns for some features; what is too much is written over by the next. All reads come before the writes,
 * behind which the processor would hold them up. */
INLINE void copy_pieces(const float *table, long columns, const uint32_t *picks, const int32_t *first, float *to,
                        const int n, const int width)
{
    float pieces[8][8];
    UNROLLED for (int i = 0; i < n; i++)
        memcpy(pieces[i], table + picks[i] * columns + first[i], width * sizeof(float));
    UNROLLED for (int i = 0; i < n; i++)
        memcpy(to + first[i], pieces[i], width * sizeof(float));
}

/* Copy the columns of each feature from the row that was picked for it. */
INLINE void gather_pieces(const Task *task, Room *room, const float *table, int n, const int width)
{
    const long columns = task->n_columns, features = task->n_features, narrow = narrow_features(task, width);
    const int32_t *first = task->first_column;
    for (int r = 0; r < n; r++) {
        const uint32_t *picks = room->picks + r * room->pick_width;
        float *to = room->x_hat + r * room->x_width;
        long f = 0;
        for (; f + 8 <= narrow; f += 8)
            copy_pieces(table, columns, picks + f, first + f, to, 8, width);
        for (; f + 2 <= narrow; f += 2)
            copy_pieces(table, columns, picks + f, first + f, to, 2, width);
        for (; f < features; f++)
            for (long c = first[f]; c < first[f + 1]; c++)
                to[c] = table[picks[f] * columns + c];
    }
}

/* Copy one column after the other. */
static void gather_columns(const Task *task, Room *room, const float *column, int n)
{
    for (long f = 0; f < task->n_features; f++, column += task->n_rows)
        for (int r = 0; r < n; r++)
            room->x_hat[r * room->x_width + f] = column[room->picks[r * room->pick_width + f]];
}

/* Pieces are no wider than the features need: each line of the cache beyond theirs would have to be waited for. */
static void gather_replacements(const Task *task, Room *room, const float *table, int n)
{
    if (task->x_columns) {
        gather_columns(task, room, task->x_columns + (table - task->x), n);
        return;
    }
    int widest = 1;
    for (long f = 0; f < task->n_features; f++)
        if (task->first_column[f + 1] - task->first_column[f] > widest)
            widest = task->first_column[f + 1] - task->first_column[f];
    if (widest == 1)
        gather_pieces(task, room, table, n, 1);
    else if (widest <= 4)
        gather_pieces(task, room, table, n, 4);
    else
        gather_pieces(task, room, table, n, 8);
}

static void gather_targets(const Task *task, Room *room, long first_row, int n)
{
    const long outputs = task->seek[task->n_seek];
    if (task->loss == CLASS_NUMBERS) {
        const int64_t *classes = (const int64_t *)task->target + first_row;
        int32_t drawn[MOST_ROWS] = {0};
        for (int r = 0; r < n; r++)
            drawn[r] = (int32_t)classes[room->rows[r]];
        for (long o = 0; o < outputs; o++)
            for (int r = 0; r < MOST_ROWS; r++)
                room->target[o * MOST_ROWS + r] = drawn[r] == o ? 1.0f : 0.0f;
        return;
    }
    const float *values = (const float *)task->target + first_row * outputs;
    for (int r = 0; r < n; r++)
        for (long o = 0; o < outputs; o++)
            room->target[o * MOST_ROWS + r] = values[room->rows[r] * outputs + o];
}

/* Add the mask of a feature, where rows have a weight, to its sum over all rows. */
static void add_to_sum(Room *room, long f)
{
    Vector sum = load(room->mask_sums + f * LANES);
    for (int r = 0; r < MOST_ROWS; r += LANES)
        sum += load(room->mask + f * MOST_ROWS + r) * load(room->weight + r);
    store(room->mask_sums + f * LANES, sum);
}

/* Fill the mask with what is selected in the rows that were drawn. */
static void gather_selected(const Task *task, Room *room, long first_row, int n)
{
    for (int r = 0; r < n; r++) {
        const uint8_t *selected = task->selected + (first_row + room->rows[r]) * task->n_features;
        for (long f = 0; f < task->n_features; f++)
            room->mask[f * MOST_ROWS + r] = (float)selected[f];
    }
    for (long f = 0; f < task->n_features; f++)
        add_to_sum(room, f);
}

/* Fill x, x_hat, the target and the weight of the rows that were drawn; beyond them the weight is 0. */
static void gather(const Task *task, Room *room, long member, int n)
{
    const long columns = task->n_columns, first_row = task->table[member] * task->n_rows;
    const float *table = task->x + first_row * columns;
    for (int r = 0; r < n; r++)
        memcpy(room->x + r * room->x_width, table + room->rows[r] * columns, (size_t)columns * sizeof(float));
    gather_replacements(task, room, table, n);
    gather_targets(task, room, first_row, n);
    for (int r = 0; r < MOST_ROWS; r++)
        room->weight[r] = r >= n ? 0.0f : task->weight ? task->weight[first_row + room->rows[r]] : 1.0f;
    if (task->selected)
        gather_selected(task, room, first_row, n);
}

#endif
