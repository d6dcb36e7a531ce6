#include "contact/elementary.h"

#include <sleef.h>

/* cinz: SLEEF's functions with consistent results, compiled without FMA. purec: called directly,
 * without a choice by CPU. */

double tact_sin(double x)
{
    return Sleef_cinz_sind1_u10purec(x);
}

double tact_cos(double x)
{
    return Sleef_cinz_cosd1_u10purec(x);
}

double tact_atan2(double y, double x)
{
    return Sleef_cinz_atan2d1_u10purec(y, x);
}

double tact_cbrt(double x)
{
    return Sleef_cinz_cbrtd1_u10purec(x);
}

double tact_expm1(double x)
{
    return Sleef_cinz_expm1d1_u10purec(x);
}

double tact_pow(double x, double y)
{
    return Sleef_cinz_powd1_u10purec(x, y);
}

double tact_hypot(double x, double y)
{
    return Sleef_cinz_hypotd1_u35purec(x, y);
}

double tact_log(double x)
{
    return Sleef_cinz_logd1_u10purec(x);
}
