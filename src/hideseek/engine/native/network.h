/* One network of one member: forward, back, and the step of its weights. */

#ifndef HIDESEEK_NETWORK_H
#define HIDESEEK_NETWORK_H

#include "product.h"
#include "room.h"

#include <math.h>

/* (n, m) -> (m, n), the rows of the first those that index says, if it says; what lies beyond n is 0. */
INLINE void transpose(const float *from, long from_width, const int32_t *index, long n, long m, float *to, long to_width)
{
    for (long i = 0; i < n; i += LANES)
        for (long j = 0; j < m; j += LANES) {
            Vector square[LANES];
            if (i + LANES <= n)
                UNROLLED for (int r = 0; r < LANES; r++)
                    square[r] = load(from + (index ? index[i + r] : i + r) * from_width + j);
            else
                for (int r = 0; r < LANES; r++)
                    square[r] = i + r < n ? load(from + (index ? index[i + r] : i + r) * from_width + j) : (Vector){0};
            transpose_square(square);
            UNROLLED for (int r = 0; r < LANES; r++)
                store(to + (j + r) * to_width + i, square[r]);
        }
}

static void turn(Network *network)
{
    for (int l = 0; l < network->n_layers - 1; l++) {
        const Layer *layer = &network->layers[l];
        transpose(layer->matrix, layer->width, NULL, layer->n_inputs, padded(layer->n_outputs), layer->back,
                  layer->back_width);
    }
}

/* Fill the output, bias included, for n rows of the input. */
static void forward(Network *network, const float *input, long input_width, int n, int n_padded)
{
    for (int l = 0; l < network->n_layers - 1; l++) {
        const Layer *layer = &network->layers[l];
        const Product product = {
            .m = n, .n = (int)layer->width, .k = layer->n_inputs,
            .a = input, .a_row = input_width, .a_column = 1,
            .b = layer->matrix, .b_row = layer->width,
            .c = layer->values, .c_row = layer->width,
            .bias = layer->matrix + matrix_floats(layer),
        };
        multiply(&product, FROM_COLUMN_BIAS, POSITIVE_PART);
        input = layer->values;
        input_width = layer->width;
    }
    const Layer *last = &network->layers[network->n_layers - 1];
    transpose(input, input_width, NULL, n, last->n_inputs, network->across, MOST_ROWS);
    const Product product = {
        .m = last->n_outputs, .n = n_padded, .k = last->n_inputs,
        .a = last->matrix, .a_row = last->width, .a_column = 1,
        .b = network->across, .b_row = MOST_ROWS,
        .c = network->output, .c_row = MOST_ROWS,
        .bias = last->matrix + matrix_floats(last),
    };
    multiply(&product, FROM_ROW_BIAS, AS_IT_IS);
}

INLINE void add_product(const Product *product, int add)
{
    if (add)
        multiply(product, FROM_RESULT, AS_IT_IS);
    else
        multiply(product, FROM_ZERO, AS_IT_IS);
}

static void output_gradient(const Network *network, int n, int n_padded, int add)
{
    const Layer *last = &network->layers[network->n_layers - 1], *below = last - 1;
    const Product product = {
        .m = last->n_outputs, .n = (int)last->width, .k = n,
        .a = network->output, .a_row = MOST_ROWS, .a_column = 1,
        .b = below->values, .b_row = below->width,
        .c = last->gradient, .c_row = last->width,
    };
    add_product(&product, add);
    float *bias = last->gradient + matrix_floats(last);
    for (int o = 0; o < last->n_outputs; o++) {
        Vector sum = {0};
        for (int r = 0; r < n_padded; r += LANES)
            sum += load(network->output + o * MOST_ROWS + r);
        bias[o] = (add ? bias[o] : 0.0f) + total(sum);
    }
}

static void hidden_gradient(const Layer *layer, const float *input, long input_width, int n, int add)
{
    const Product product = {
        .m = layer->n_inputs, .n = (int)layer->width, .k = n,
        .a = input, .a_row = 1, .a_column = input_width,
        .b = layer->slopes, .b_row = layer->width,
        .c = layer->gradient, .c_row = layer->width,
    };
    add_product(&product, add);
    float *bias = layer->gradient + matrix_floats(layer);
    for (long o = 0; o < layer->width; o += LANES) {
        Vector even = add ? load(bias + o) : (Vector){0}, odd = {0};
        int r = 0;
        for (; r + 2 <= n; r += 2) {
            even += load(layer->slopes + r * layer->width + o);
            odd += load(layer->slopes + (r + 1) * layer->width + o);
        }
        if (r < n)
            even += load(layer->slopes + r * layer->width + o);
        store(bias + o, even + odd);
    }
}

/* From the slopes in the place of the output: the gradient of the weights if learn is set, added to what is there if
 * add is; the slopes of the input times ``shown``, if there is room for them. */
static void backward(Network *network, const float *input, long input_width, int n, int n_padded, int learn, int add,
                     const float *shown, float *input_slopes)
{
    const int top = network->n_layers - 2;
    const Layer *last = &network->layers[top + 1];
    if (learn)
        output_gradient(network, n, n_padded, add);
    const Product product = {
        .m = n, .n = (int)last->width, .k = last->n_outputs,
        .a = network->output, .a_row = 1, .a_column = MOST_ROWS,
        .b = last->matrix, .b_row = last->width,
        .c = network->layers[top].slopes, .c_row = last->width,
        .other = network->layers[top].values,
    };
    multiply(&product, FROM_ZERO, WHERE_POSITIVE);
    for (int l = top; l >= 0; l--) {
        const Layer *layer = &network->layers[l];
        if (learn)
            hidden_gradient(layer, l > 0 ? layer[-1].values : input, l > 0 ? layer[-1].width : input_width, n, add);
        if (l == 0 && input_slopes == NULL)
            break;
        const Product below = {
            .m = n, .n = (int)(l > 0 ? layer->back_width : padded(layer->n_inputs)), .k = layer->n_outputs,
            .a = layer->slopes, .a_row = layer->width, .a_column = 1,
            .b = layer->back, .b_row = layer->back_width,
            .c = l > 0 ? layer[-1].slopes : input_slopes, .c_row = l > 0 ? layer[-1].width : input_width,
            .other = l > 0 ? layer[-1].values : shown,
        };
        if (l > 0)
            multiply(&below, FROM_ZERO, WHERE_POSITIVE);
        else
            multiply(&below, FROM_ZERO, TIMES);
    }
}

/* One step of AdamW over all weights of a member. */
static void move(const Task *task, const Room *room, int64_t member, const Moment *now)
{
    float *restrict mean = task->moments + 2 * member * room->n_weights, *restrict square = mean + room->n_weights;
    float *restrict weights = room->weights;
    const float *restrict gradient = room->gradient, *restrict trainable = room->trainable;
    const float b1 = 1.0f - task->beta1, b2 = task->beta2, epsilon = task->epsilon;
    const float step_size = now->step_size, correction = now->correction, keep = now->keep;
    const int all_train = task->trainable == NULL;
    for (long i = 0; i < room->n_weights; i++) {
        const float slope = all_train ? gradient[i] : gradient[i] * trainable[i];
        mean[i] += b1 * (slope - mean[i]);
        square[i] = b2 * square[i] + (1.0f - b2) * slope * slope;
        weights[i] = keep * weights[i] - step_size * mean[i] / (sqrtf(square[i]) * correction + epsilon);
    }
}

#endif
