/* Short vectors of floats, in the width of the instruction set that this file is compiled for. */

#ifndef HIDESEEK_VECTOR_H
#define HIDESEEK_VECTOR_H

#include <stdint.h>
#include <string.h>
#ifdef __SSE__
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif

#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLLED _Pragma("unroll")
#else
#define UNROLLED _Pragma("GCC unroll 32")
#endif

#define JOIN(a, b) a##b
#define NAMED(a, b) JOIN(a, b) /* a name that is exported once for each instruction set */

typedef float Vector __attribute__((vector_size(4 * LANES)));
typedef int32_t IntVector __attribute__((vector_size(4 * LANES)));
typedef float Unaligned __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

INLINE Vector load(const float *from) { return *(const Unaligned *)from; }
INLINE void store(float *to, Vector value) { *(Unaligned *)to = value; }
INLINE Vector all(float value) { return value - (Vector){0}; }

/* The value where the mask is all ones, else 0. */
INLINE Vector where(IntVector mask, Vector value) { return (Vector)(mask & (IntVector)value); }
/* What is not a number stays so in the first argument, so that a training that fails is noticed. */
INLINE Vector larger(Vector a, Vector b)
{
#if LANES == 16
    return _mm512_max_ps(b, a);
#elif LANES == 8
    return _mm256_max_ps(b, a);
#elif defined(__SSE__)
    return _mm_max_ps(b, a);
#else
    IntVector mask = b > a;
    return (Vector)((mask & (IntVector)b) | (~mask & (IntVector)a));
#endif
}

INLINE Vector positive(Vector value) { return larger(value, (Vector){0}); }

INLINE float total(Vector value)
{
    float sums[LANES];
    memcpy(sums, &value, sizeof sums);
    for (int width = LANES / 2; width > 0; width /= 2)
        for (int i = 0; i < width; i++)
            sums[i] += sums[i + width];
    return sums[0];
}

/* e^x to two units in the last place; beyond +-87 the value there, so that nothing overflows. */
INLINE Vector exponential(Vector x)
{
    const float magic = 12582912.0f; /* 1.5 * 2^23: adding it rounds to a whole number */
    x = larger(x, all(-87.0f));
    x = -larger(-x, all(-87.0f));
    Vector shifted = x * 1.44269504f + magic, power = shifted - magic;
    Vector r = (x - power * 0.693359375f) + power * 2.12194440e-4f;
    Vector p = all(1.9875691500e-4f);
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    return (Vector)((IntVector)p + ((IntVector)shifted << 23));
}

INLINE Vector sigmoid(Vector x) { return 1.0f / (1.0f + exponential(-x)); }

/* ln x of a positive number. */
INLINE Vector logarithm(Vector x)
{
    const int32_t root_of_half = 0x3f3504f3;
    IntVector exponent = ((IntVector)x - root_of_half) >> 23;
    Vector f = (Vector)((IntVector)x - (exponent << 23)) - 1.0f;
    Vector power = __builtin_convertvector(exponent, Vector), square = f * f;
    Vector p = all(7.0376836292e-2f);
    p = p * f - 1.1514610310e-1f;
    p = p * f + 1.1676998740e-1f;
    p = p * f - 1.2420140846e-1f;
    p = p * f + 1.4249322787e-1f;
    p = p * f - 1.6668057665e-1f;
    p = p * f + 2.0000714765e-1f;
    p = p * f - 2.4999993993e-1f;
    p = p * f + 3.3333331174e-1f;
    return (p * square * f + (power * -2.12194440e-4f - 0.5f * square)) + f + power * 0.693359375f;
}

/* ln(1 + e^x) and its slope, the sigmoid. */
INLINE Vector softplus(Vector x, Vector *slope)
{
    Vector small = exponential(-larger(x, -x)), inverse = 1.0f / (1.0f + small);
    IntVector negative = x < 0.0f;
    *slope = inverse * (where(negative, small) + where(~negative, all(1.0f)));
    return positive(x) + logarithm(1.0f + small);
}

#ifdef __clang__
#define INTERLEAVED(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define INTERLEAVED(a, b, ...) __builtin_shuffle(a, b, (IntVector){__VA_ARGS__})
#endif
#if LANES == 16
#define LOW(a, b) INTERLEAVED(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH(a, b) INTERLEAVED(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#elif LANES == 8
#define LOW(a, b) INTERLEAVED(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH(a, b) INTERLEAVED(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#else
#define LOW(a, b) INTERLEAVED(a, b, 0, 4, 1, 5)
#define HIGH(a, b) INTERLEAVED(a, b, 2, 6, 3, 7)
#endif

/* Transpose a square: each round interleaves the first half of the rows with the second. */
INLINE void transpose_square(Vector rows[LANES])
{
    UNROLLED for (int round = 1; round < LANES; round *= 2) {
        Vector mixed[LANES];
        UNROLLED for (int i = 0; i < LANES / 2; i++) {
            mixed[2 * i] = LOW(rows[i], rows[i + LANES / 2]);
            mixed[2 * i + 1] = HIGH(rows[i], rows[i + LANES / 2]);
        }
        UNROLLED for (int i = 0; i < LANES; i++)
            rows[i] = mixed[i];
    }
}

/* Have numbers too small for the full precision, which are slow, taken for 0; return what to restore. */
INLINE unsigned flush_tiny(void)
{
#ifdef __SSE__
    const unsigned mode = _mm_getcsr();
    _mm_setcsr(mode | 0x8040);
    return mode;
#else
    return 0;
#endif
}

INLINE void restore_mode(unsigned mode)
{
#ifdef __SSE__
    _mm_setcsr(mode);
#else
    (void)mode;
#endif
}

#endif
