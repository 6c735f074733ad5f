/* What a stack is trained on, as the caller describes it: the fields of ``Task`` in ``library.py``. */

#ifndef HIDESEEK_STEP_H
#define HIDESEEK_STEP_H

#include <stdint.h>

#define MOST_LAYERS 8
#define MOST_ROWS 64 /* of a block */

enum Loss { CLASS_NUMBERS, CLASS_PROBABILITIES, VALUES };

typedef struct {
    int64_t n_members, n_seeks, n_features, n_columns, n_rows, n_own, batch_size, loss, path;
    int64_t n_hide, n_seek; /* layers of weights of each network */
    int64_t hide[MOST_LAYERS + 1], seek[MOST_LAYERS + 1]; /* sizes */
    const int32_t *first_column; /* of each feature, and the number of columns: (features + 1,) */
    const int32_t *feature; /* of each column: (columns,) */
    const float *x; /* (tables, rows, columns) */
    const float *x_columns; /* (tables, columns, rows), where it is faster to read what stands in from; or null */
    const void *target; /* (tables, rows) int64, (tables, rows, outputs) or (tables, rows) float */
    const float *weight; /* (tables, rows), or null */
    const uint8_t *selected; /* what is shown of each row: (tables, rows, features); null: Hide decides, and learns */
    const int64_t *table; /* (members,) */
    const int32_t *own_rows; /* rows that each Seek learns from: (members, n_seeks, n_own); null: all of them */
    const uint64_t *batch_keys; /* of the streams: (members,); null: a step sees all rows, in order */
    const uint64_t *replacement_keys, *price_keys; /* (members,) */
    const float *price; /* (members,) */
    const float *visible; /* (members, features) */
    const float *log_prices; /* ends of each member's range of prices: (members, 2), or null */
    float *parameters; /* as in Stack */
    const float *trainable; /* of the shape of the parameters, or null */
    float *moments; /* what Adam remembers: mean and mean square of each weight, (members, 2, weights) */
    float *loss_sum; /* (members, outputs) */
    float *mask_sum; /* (members, features) */
    float beta1, beta2, epsilon;
    float farthest_logit, logit_pull; /* with a path: from where on, and how strongly, logits of masks are pulled back */
} Task;

/* What differs from step to step, the same for all members. */
typedef struct {
    float share; /* of the final price */
    float step_size; /* learning rate / (1 - beta1^t) */
    float correction; /* 1 / sqrt(1 - beta2^t) */
    float keep; /* 1 - learning rate * weight decay */
} Moment;

/* What all members of a stack are asked; of the task only the fields that describe the stack are read. */
typedef struct {
    int64_t n_rows, n_draws, n_turns, softmax; /* n_turns: of so many groups of Seeks each draw asks the next */
    const float *x; /* (rows, columns) */
    const uint8_t *shown; /* (rows, features) */
    const float *draws; /* what hidden columns are replaced with: (draws, columns) */
    const float *u; /* the position of the price in each member's range: (members,) */
    float *lines; /* room for the logits of one block of rows: (members, 2, features, MOST_ROWS) */
    const float *share; /* of each member in the mean mask: (members, features) */
    float *weights; /* as ``pack`` lays them out */
    float *out; /* (rows, features), (rows, outputs) */
    float threshold; /* a feature is selected where its mean mask is greater */
    float half_width, lowest, highest; /* position of the highest price; logarithms of the prices to search between */
    int64_t n_halvings;
} Question;

#endif
