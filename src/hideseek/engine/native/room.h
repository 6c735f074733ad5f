/* Where a member's weights and the values of a block of its rows lie while it is at work. */

#ifndef HIDESEEK_ROOM_H
#define HIDESEEK_ROOM_H

#include "step.h"
#include "vector.h"

typedef struct {
    int n_inputs, n_outputs, output; /* output: whether this is the last layer */
    long width; /* floats of a row of the matrix */
    float *matrix; /* (inputs, outputs), of the last layer (outputs, inputs); the bias follows */
    float *gradient;
    float *back; /* (outputs, inputs); of the last layer the matrix itself */
    long back_width;
    float *values; /* what this layer gives, of a hidden layer: (rows, outputs) */
    float *slopes;
} Layer;

typedef struct {
    int n_layers;
    Layer layers[MOST_LAYERS];
    float *across; /* the last hidden values: (units, rows) */
    float *output; /* (outputs, rows), and what becomes of it */
} Network;

typedef struct {
    long x_width, z_width, pick_width, target_words; /* floats, picks of a row; 32-bit words of a target */
    float *x, *x_hat, *z, *shown, *by_row; /* (rows, columns) */
    float *by_column; /* (columns, rows) */
    float *mask, *target; /* (features, rows), (outputs, rows) */
    float *weight, *level, *price; /* (rows,) */
    float *mask_sums; /* (features, LANES) */
    uint32_t *picks; /* (rows, features) */
    int32_t *rows; /* (rows,) */
    float *weights, *gradient, *trainable; /* of all networks */
    long n_weights;
    Network hide, seeks[2];
} Room;

/* ---- room ---- */

static long padded(long size) { return (size + 15) / 16 * 16; }

/* The same, where rows that follow each other would fall into few sets of the cache. */
static long spread(long size) { return size > 32 && padded(size) % 32 == 0 ? padded(size) + 16 : padded(size); }

static float *take(float **free, long n)
{
    float *start = *free;
    *free += padded(n);
    return start;
}

static long matrix_floats(const Layer *layer)
{
    return (layer->output ? layer->n_outputs : layer->n_inputs) * layer->width;
}

static long layer_floats(const Layer *layer) { return matrix_floats(layer) + padded(layer->n_outputs); }

static void describe(Network *network, const int64_t *sizes, int64_t n_layers)
{
    network->n_layers = (int)n_layers;
    for (int l = 0; l < n_layers; l++) {
        Layer *layer = &network->layers[l];
        layer->n_inputs = (int)sizes[l];
        layer->n_outputs = (int)sizes[l + 1];
        layer->output = l == n_layers - 1;
        layer->width = padded(layer->output ? layer->n_inputs : layer->n_outputs);
    }
}

static void furnish(Network *network, float **weights, float **gradient, float **free, long input_width)
{
    for (int l = 0; l < network->n_layers; l++) {
        Layer *layer = &network->layers[l];
        layer->matrix = take(weights, layer_floats(layer));
        layer->gradient = take(gradient, layer_floats(layer));
        layer->back_width = l > 0 ? padded(layer->n_inputs) : input_width;
        if (layer->output)
            layer->back = layer->matrix;
        else {
            layer->back = take(free, padded(layer->n_outputs) * layer->back_width);
            layer->values = take(free, MOST_ROWS * layer->width);
            layer->slopes = take(free, MOST_ROWS * layer->width);
        }
    }
    const Layer *last = &network->layers[network->n_layers - 1];
    network->across = take(free, padded(last->n_inputs) * MOST_ROWS);
    network->output = take(free, last->n_outputs * MOST_ROWS);
}

/* Divide the floats from free on; with none, only count them. */
static long arrange(const Task *task, Room *room, float *start)
{
    const long columns = task->n_columns, features = task->n_features;
    memset(room, 0, sizeof *room);
    describe(&room->hide, task->hide, task->n_hide);
    for (int s = 0; s < task->n_seeks; s++)
        describe(&room->seeks[s], task->seek, task->n_seek);
    for (int l = 0; l < task->n_hide; l++)
        room->n_weights += layer_floats(&room->hide.layers[l]);
    for (int l = 0; l < task->n_seek; l++)
        room->n_weights += task->n_seeks * layer_floats(&room->seeks[0].layers[l]);

    float *free = start;
    room->weights = take(&free, room->n_weights);
    room->gradient = take(&free, room->n_weights);
    room->trainable = take(&free, task->trainable ? room->n_weights : 0);
    room->x_width = spread(columns);
    room->z_width = spread(task->seek[0]);
    float *weights = room->weights, *gradient = room->gradient;
    furnish(&room->hide, &weights, &gradient, &free, room->x_width);
    for (int s = 0; s < task->n_seeks; s++)
        furnish(&room->seeks[s], &weights, &gradient, &free, room->z_width);
    room->x = take(&free, MOST_ROWS * room->x_width + 16); /* copies may run over the end of the last row */
    room->x_hat = take(&free, MOST_ROWS * room->x_width + 16);
    room->z = take(&free, MOST_ROWS * room->z_width);
    room->shown = take(&free, MOST_ROWS * room->z_width);
    room->by_row = take(&free, MOST_ROWS * room->z_width);
    room->by_column = take(&free, MOST_ROWS * room->z_width);
    room->mask = take(&free, MOST_ROWS * features);
    room->target = take(&free, MOST_ROWS * task->seek[task->n_seek]);
    room->weight = take(&free, MOST_ROWS);
    room->level = take(&free, MOST_ROWS);
    room->price = take(&free, MOST_ROWS);
    room->mask_sums = take(&free, features * LANES);
    room->pick_width = padded(features);
    room->target_words = task->loss == CLASS_NUMBERS ? 2 : task->seek[task->n_seek];
    room->picks = (uint32_t *)take(&free, MOST_ROWS * room->pick_width);
    room->rows = (int32_t *)take(&free, MOST_ROWS);
    return free - start;
}

/* ---- weights: the stack's layout and that of a member at work ---- */

enum Way { FROM_STACK, TO_STACK };

INLINE void carry(float *ours, float *theirs, enum Way way)
{
    if (way == FROM_STACK)
        *ours = *theirs;
    else
        *theirs = *ours;
}

INLINE void carry_layer(const Layer *layer, float *ours, float *theirs, enum Way way)
{
    const long outputs = layer->n_outputs, inputs = layer->n_inputs;
    const long by_output = layer->output ? layer->width : 1, by_input = layer->output ? 1 : layer->width;
    float *bias = ours + matrix_floats(layer);
    for (long o = 0; o < outputs; o++) {
        for (long i = 0; i < inputs; i++)
            carry(ours + o * by_output + i * by_input, theirs + o * (inputs + 1) + i, way);
        carry(bias + o, theirs + o * (inputs + 1) + inputs, way);
    }
}

/* Between a block of ours and what belongs to a member in a tensor of the shape of the stack's parameters. */
INLINE void carry_member(const Task *task, Room *room, long member, float *ours, float *theirs, enum Way way)
{
    for (int l = 0; l < room->hide.n_layers; l++) {
        const Layer *layer = &room->hide.layers[l];
        const long size = layer->n_outputs * (layer->n_inputs + 1);
        carry_layer(layer, ours, theirs + member * size, way);
        ours += layer_floats(layer);
        theirs += task->n_members * size;
    }
    for (int l = 0; l < room->seeks[0].n_layers; l++) {
        const Layer *layer = &room->seeks[0].layers[l];
        const long size = layer->n_outputs * (layer->n_inputs + 1);
        long offset = 0;
        for (int s = 0; s < task->n_seeks; s++) {
            carry_layer(layer, ours + offset, theirs + (member * task->n_seeks + s) * size, way);
            for (int other = 0; other < room->seeks[0].n_layers; other++)
                offset += layer_floats(&room->seeks[0].layers[other]);
        }
        ours += layer_floats(layer);
        theirs += task->n_members * task->n_seeks * size;
    }
}

#endif
