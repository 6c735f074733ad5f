/* Products of small matrices, C = A B, with tiles of C in registers. */

#ifndef HIDESEEK_PRODUCT_H
#define HIDESEEK_PRODUCT_H

#include "vector.h"

/* What a tile starts from and what becomes of it. */
enum Start { FROM_ZERO, FROM_COLUMN_BIAS, FROM_ROW_BIAS, FROM_RESULT };
enum End { AS_IT_IS, POSITIVE_PART, WHERE_POSITIVE, TIMES };

/* A is (m, k), read as a[i * a_row + j * a_column]; B is (k, n) and C is (m, n), rows of whole vectors.
 * n counts floats and is a multiple of 16. other is of the shape of C: what decides, or multiplies. */
typedef struct {
    int m, n, k;
    const float *a;
    long a_row, a_column;
    const float *b;
    long b_row;
    float *c;
    long c_row;
    const float *bias;
    const float *other;
} Product;

#if LANES == 16
#define TILE_ROWS 8
#elif defined(__aarch64__)
#define TILE_ROWS 8
#else
#define TILE_ROWS 4
#endif

INLINE void tile(const Product *p, int i, int j, const int n_rows, const int n_vectors, enum Start start, enum End end)
{
    Vector sums[TILE_ROWS][2];
    UNROLLED for (int r = 0; r < n_rows; r++)
        UNROLLED for (int v = 0; v < n_vectors; v++) {
            if (start == FROM_COLUMN_BIAS)
                sums[r][v] = load(p->bias + j + v * LANES);
            else if (start == FROM_ROW_BIAS)
                sums[r][v] = all(p->bias[i + r]);
            else if (start == FROM_RESULT)
                sums[r][v] = load(p->c + (i + r) * p->c_row + j + v * LANES);
            else
                sums[r][v] = (Vector){0};
        }
    const float *a[TILE_ROWS], *b = p->b + j;
    UNROLLED for (int r = 0; r < n_rows; r++)
        a[r] = p->a + (i + r) * p->a_row;
    const long a_column = p->a_column, b_row = p->b_row;
    for (long k = 0, last = p->k; k < last; k++) {
        Vector values[2];
        UNROLLED for (int v = 0; v < n_vectors; v++)
            values[v] = load(b + v * LANES);
        UNROLLED for (int r = 0; r < n_rows; r++) {
            Vector factor = all(a[r][k * a_column]);
            UNROLLED for (int v = 0; v < n_vectors; v++)
                sums[r][v] += factor * values[v];
        }
        b += b_row;
    }
    UNROLLED for (int r = 0; r < n_rows; r++)
        UNROLLED for (int v = 0; v < n_vectors; v++) {
            Vector sum = sums[r][v];
            const long place = (i + r) * p->c_row + j + v * LANES;
            if (end == POSITIVE_PART)
                sum = positive(sum);
            else if (end == WHERE_POSITIVE)
                sum = where(~(load(p->other + place) <= 0.0f), sum);
            else if (end == TIMES)
                sum *= load(p->other + place);
            store(p->c + place, sum);
        }
}

INLINE void rows_of_tiles(const Product *p, int j, const int n_vectors, enum Start start, enum End end)
{
    int i = 0;
    for (; i + TILE_ROWS <= p->m; i += TILE_ROWS)
        tile(p, i, j, TILE_ROWS, n_vectors, start, end);
    if (TILE_ROWS > 4 && i + 4 <= p->m) {
        tile(p, i, j, 4, n_vectors, start, end);
        i += 4;
    }
    if (i + 2 <= p->m) {
        tile(p, i, j, 2, n_vectors, start, end);
        i += 2;
    }
    if (i < p->m)
        tile(p, i, j, 1, n_vectors, start, end);
}

INLINE void multiply(const Product *p, enum Start start, enum End end)
{
    int j = 0;
    for (; j + 2 * LANES <= p->n; j += 2 * LANES)
        rows_of_tiles(p, j, 2, start, end);
    if (j < p->n)
        rows_of_tiles(p, j, 1, start, end);
}

#endif
