/*
 * SIMD vectors of a few numbers in the compiler's generic notation; not installed.
 *
 * The number of lanes is fixed by the type, not by the processor, and nothing is contracted, so
 * that the results are the same bit for bit with any instructions. Operations are macros and
 * functions take pointers, because the calling convention of vectors depends on the processor.
 */
#ifndef TACT_CONTACT_SIMD_INTERNAL_H
#define TACT_CONTACT_SIMD_INTERNAL_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef float tact_f4 __attribute__((vector_size(16)));
typedef int32_t tact_i4 __attribute__((vector_size(16)));
typedef int64_t tact_l2 __attribute__((vector_size(16)));
typedef double tact_d2 __attribute__((vector_size(16)));
typedef float tact_f8 __attribute__((vector_size(32)));
typedef int32_t tact_i8 __attribute__((vector_size(32)));
typedef double tact_d4 __attribute__((vector_size(32)));
typedef int64_t tact_l4 __attribute__((vector_size(32)));

#define TACT_INLINE static inline __attribute__((always_inline))

/*
 * Sources that are compiled twice, as listed in contact/CMakeLists.txt: for any processor and for
 * AVX2. AVX2 has no fused multiply-add, with which bits would differ. Nothing is inlined from one
 * source into another, so that hot code need not be in headers.
 *
 * TACT_DISPATCH_BY_CPU defines a function that other sources call: it dispatches to the copy for
 * the processor that the program runs on. TACT_CPU_VARIANT names a function that only such sources
 * call, each its own copy: next to its declaration, `#define f TACT_CPU_VARIANT(f)`. All other
 * functions of such a source are static; the linker refuses one that is not. The build option
 * TACT_BASELINE, and a build with sanitizers, makes one copy only.
 */
#ifdef TACT_AVX2
#define TACT_CPU_VARIANT(name) name##_avx2
#define TACT_DISPATCH_BY_CPU(type, name, parameters, arguments) type name##_avx2 parameters
#else
#define TACT_CPU_VARIANT(name) name
#ifdef TACT_HAS_AVX2
#define TACT_DISPATCH_BY_CPU(type, name, parameters, arguments)                                    \
    type name##_avx2 parameters;                                                                   \
    static type name##_any parameters;                                                             \
    type name parameters                                                                           \
    {                                                                                              \
        return __builtin_cpu_supports("avx2") ? name##_avx2 arguments : name##_any arguments;      \
    }                                                                                              \
    static type name##_any parameters
#else
#define TACT_DISPATCH_BY_CPU(type, name, parameters, arguments) type name parameters
#endif
#endif

#define TACT_F4_SELECT(mask, a, b) ((tact_f4)(((mask) & (tact_i4)(a)) | (~(mask) & (tact_i4)(b))))
#define TACT_F4_MIN(a, b) TACT_F4_SELECT((a) < (b), a, b)
#define TACT_F4_MAX(a, b) TACT_F4_SELECT((a) > (b), a, b)
#define TACT_F8_ABS(a) ((tact_f8)((tact_i8)(a)&INT32_MAX))
#define TACT_F8_SELECT(mask, a, b) ((tact_f8)(((mask) & (tact_i8)(a)) | (~(mask) & (tact_i8)(b))))
#define TACT_F8_MIN(a, b) TACT_F8_SELECT((a) < (b), a, b)
#define TACT_F8_MAX(a, b) TACT_F8_SELECT((a) > (b), a, b)
#define TACT_D4_ABS(a) ((tact_d4)((tact_l4)(a)&INT64_MAX))

/* Set bit i of *bits where lane i of a comparison mask is set: of 8 lanes of floats, of 4, of 4 of
 * doubles. */
TACT_INLINE void tact_i8_mask_to_bits(const tact_i8 *mask, uint32_t *bits)
{
#ifdef __SSE2__
    tact_f4 half[2];
    memcpy(half, mask, sizeof half);
    *bits = (uint32_t)(_mm_movemask_ps(half[0]) | _mm_movemask_ps(half[1]) << 4);
#else
    const tact_i8 weight = {1, 2, 4, 8, 16, 32, 64, 128};
    tact_l4 l = (tact_l4)(*mask & weight);
    uint64_t any = (uint64_t)((l[0] | l[1]) | (l[2] | l[3]));
    *bits = (uint32_t)any | (uint32_t)(any >> 32);
#endif
}

TACT_INLINE void tact_i4_mask_to_bits(const tact_i4 *mask, uint32_t *bits)
{
#ifdef __SSE2__
    *bits = (uint32_t)_mm_movemask_ps((tact_f4)*mask);
#else
    const tact_i4 weight = {1, 2, 4, 8};
    tact_i4 l = *mask & weight;
    *bits = (uint32_t)((l[0] | l[1]) | (l[2] | l[3]));
#endif
}

TACT_INLINE void tact_l4_mask_to_bits(const tact_l4 *mask, uint32_t *bits)
{
#ifdef __SSE2__
    tact_d2 half[2];
    memcpy(half, mask, sizeof half);
    *bits = (uint32_t)(_mm_movemask_pd(half[0]) | _mm_movemask_pd(half[1]) << 2);
#else
    const tact_l4 weight = {1, 2, 4, 8};
    tact_l4 l = *mask & weight;
    *bits = (uint32_t)((l[0] | l[1]) | (l[2] | l[3]));
#endif
}

/* Square roots of four numbers. */
TACT_INLINE void tact_d4_sqrt(const tact_d4 *square, tact_d4 *out)
{
#ifdef __SSE2__
    __m128d half[2];
    memcpy(half, square, sizeof half);
    half[0] = _mm_sqrt_pd(half[0]);
    half[1] = _mm_sqrt_pd(half[1]);
    memcpy(out, half, sizeof half);
#else
    for (int i = 0; i < 4; i++) {
        (*out)[i] = sqrt((*square)[i]);
    }
#endif
}

/* A vector of one number of each of four arrays. */
#define TACT_D4_GATHER(from, at)                                                                   \
    ((tact_d4){(from)[0][at], (from)[1][at], (from)[2][at], (from)[3][at]})

/* Prefetches memory that will soon be read: a large mesh does not fit in a cache. */
TACT_INLINE void tact_prefetch(const void *from, size_t size)
{
    for (size_t i = 0; i < size; i += 64) {
        __builtin_prefetch((const char *)from + i);
    }
}

/* Four numbers in a vector register, loaded without alignment. */
typedef double tact_row4 __attribute__((vector_size(32), aligned(8), may_alias));

#define TACT_FOUR_DOUBLES_AT(pointer) (*(const tact_row4 *)(pointer))
#define TACT_STORE_FOUR_DOUBLES_AT(pointer, value) (*(tact_row4 *)(pointer) = (value))

/* Product of a matrix, given by its columns, and three numbers. */
#define TACT_MULTIPLY_COLUMNS(c0, c1, c2, a) ((c0) * (a)[0] + (c1) * (a)[1] + (c2) * (a)[2])

/* Selects the lanes of a where mask is set, else those of b. */
#define TACT_D4_SELECT(mask, a, b) ((tact_d4)(((mask) & (tact_l4)(a)) | (~(mask) & (tact_l4)(b))))
#define TACT_D4_MIN(a, b) TACT_D4_SELECT((a) < (b), a, b)
#define TACT_D4_MAX(a, b) TACT_D4_SELECT((a) > (b), a, b)

#endif
