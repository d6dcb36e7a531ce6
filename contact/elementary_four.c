#include "contact/elementary_internal.h"

#ifdef TACT_SLEEF_AVX
#include <sleef.h>
#endif
#include "contact/elementary.h"
#include "contact/simd_internal.h"

TACT_DISPATCH_BY_CPU(void, tact_atan2_of_four,
                     (const double y[4], const double x[4], double angle[4]), (y, x, angle))
{
#ifdef TACT_SLEEF_AVX
    tact_d4 all_y, all_x, all;
    memcpy(&all_y, y, sizeof all_y);
    memcpy(&all_x, x, sizeof all_x);
    all = Sleef_cinz_atan2d4_u10avx(all_y, all_x);
    memcpy(angle, &all, sizeof all);
#else
    for (int k = 0; k < 4; k++) {
        angle[k] = tact_atan2(y[k], x[k]);
    }
#endif
}

TACT_DISPATCH_BY_CPU(void, tact_sin_and_cos_of_four,
                     (const double angle[4], double sine[4], double cosine[4]),
                     (angle, sine, cosine))
{
#ifdef TACT_SLEEF_AVX
    tact_d4 all, all_sines, all_cosines;
    memcpy(&all, angle, sizeof all);
    all_sines = Sleef_cinz_sind4_u10avx(all);
    all_cosines = Sleef_cinz_cosd4_u10avx(all);
    memcpy(sine, &all_sines, sizeof all_sines);
    memcpy(cosine, &all_cosines, sizeof all_cosines);
#else
    for (int k = 0; k < 4; k++) {
        sine[k] = tact_sin(angle[k]);
        cosine[k] = tact_cos(angle[k]);
    }
#endif
}
