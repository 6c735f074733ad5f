/* Which rows a step sees and what stands in for them: the same draws as in ``draws.py``, word for word. */

#ifndef HIDESEEK_ROWS_H
#define HIDESEEK_ROWS_H

#include "room.h"

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

/* The numbers of the rows first to first + n - 1 of the batch. */
static void draw_rows(const Task *task, Room *room, long member, uint64_t key, int first, int n)
{
    const long seek = first / (task->batch_size / task->n_seeks);
    const int32_t *own = task->own_rows ? task->own_rows + (member * task->n_seeks + seek) * task->n_own : NULL;
    for (int r = 0; r < n; r++) {
        const uint32_t place = below(word(key, (uint32_t)(first + r)), (uint32_t)task->n_own);
        room->rows[r] = own ? own[place] : (int32_t)place;
    }
}

/* Cells are numbered feature after feature through the batch. */
static void draw_picks(const Task *task, Room *room, uint64_t key, int first, int n)
{
    const uint32_t batch_size = (uint32_t)task->batch_size, n_rows = (uint32_t)task->n_rows;
    for (int r = 0; r < n; r++) {
        uint32_t *restrict picks = room->picks + r * room->pick_width;
        for (uint32_t f = 0; f < (uint32_t)room->pick_width; f++)
            picks[f] = below(word(key, f * batch_size + (uint32_t)(first + r)), n_rows);
    }
}

/* Copy the columns of each feature from the row that was picked for it. */
static void gather_replacements(const Task *task, Room *room, const float *table, int n)
{
    const long columns = task->n_columns, features = task->n_features;
    const float *last = table + (task->n_rows - 1) * columns; /* in the last row eight floats may not be there */
    for (int r = 0; r < n; r++) {
        const uint32_t *picks = room->picks + r * room->pick_width;
        float *to = room->x_hat + r * room->x_width;
        if (columns == features) {
            for (long f = 0; f < features; f++)
                to[f] = table[picks[f] * columns + f];
            continue;
        }
        for (long f = 0; f < features; f++) {
            const long start = task->first_column[f], width = task->first_column[f + 1] - start;
            const float *from = table + picks[f] * columns + start;
            if (width <= 8 && from < last)
                memcpy(to + start, from, 8 * sizeof(float)); /* what is too much is written over by the next feature */
            else
                memcpy(to + start, from, (size_t)width * sizeof(float));
        }
    }
}

static void gather_targets(const Task *task, Room *room, long first_row, int n)
{
    const long outputs = task->seek[task->n_seek];
    for (int r = 0; r < n; r++) {
        const long row = first_row + room->rows[r];
        if (task->loss == VALUES)
            room->target[r] = ((const float *)task->target)[row];
        else
            for (long o = 0; o < outputs; o++)
                room->target[o * MOST_ROWS + r] = task->loss == CLASS_NUMBERS
                                                      ? (float)(((const int64_t *)task->target)[row] == o)
                                                      : ((const float *)task->target)[row * outputs + o];
    }
}

/* Fill x, x_hat, the target and the weight of the rows from first on; beyond n the weight is 0. */
static void gather(const Task *task, Room *room, long member, uint64_t batch_key, uint64_t replacement_key, int first,
                   int n)
{
    const long columns = task->n_columns, first_row = task->table[member] * task->n_rows;
    const float *table = task->x + first_row * columns;
    draw_rows(task, room, member, batch_key, first, n);
    draw_picks(task, room, replacement_key, first, n);
    for (int r = 0; r < n; r++)
        memcpy(room->x + r * room->x_width, table + room->rows[r] * columns, (size_t)columns * sizeof(float));
    gather_replacements(task, room, table, n);
    gather_targets(task, room, first_row, n);
    for (int r = 0; r < MOST_ROWS; r++)
        room->weight[r] = r >= n ? 0.0f : task->weight ? task->weight[first_row + room->rows[r]] : 1.0f;
}

#endif
