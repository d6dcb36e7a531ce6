#include "contact/counts.h"

#include <stddef.h>

const char *tact_solve_count_name(int count)
{
    static const char *const names[TACT_SOLVE_COUNTS] = {
        [TACT_COUNT_STICK] = "stick",
        [TACT_COUNT_ACTIVE_SET] = "active_set",
        [TACT_COUNT_SEARCH] = "search",
        [TACT_COUNT_NEWTON] = "newton",
        [TACT_COUNT_TAKEN_BACK] = "taken_back",
        [TACT_COUNT_INTERIOR] = "interior_point",
        [TACT_COUNT_PROXIMAL] = "proximal_point",
        [TACT_COUNT_ANDERSON] = "anderson",
        [TACT_COUNT_SLOWED] = "pushes_slowed",
        [TACT_COUNT_DAMPED] = "rebounds_damped",
        [TACT_COUNT_RESTORED] = "best_restored",
        [TACT_COUNT_BOUNDED] = "impulses_bounded",
        [TACT_COUNT_SCALED] = "energy_bounded",
        [TACT_COUNT_UNSOLVED] = "unsolved",
        [TACT_COUNT_CONFORMING] = "conforming",
        [TACT_COUNT_NOT_FOUND] = "closest_not_found",
        [TACT_COUNT_EDGES] = "smooth_edges",
        [TACT_COUNT_POLYGONS] = "pressure_polygons",
        [TACT_COUNT_PARTS] = "pressure_parts",
        [TACT_COUNT_ALIKE] = "pressures_alike",
        [TACT_COUNT_CROWDED] = "pressures_crowded",
        [TACT_COUNT_OVERSHOT] = "overshoot_corrected",
        [TACT_COUNT_TERM_LIMITED] = "second_order_limited",
        [TACT_COUNT_ROLLING_NOT_FOUND] = "rolling_not_found",
        [TACT_COUNT_OPPOSED] = "pressures_opposed",
        [TACT_COUNT_JOINTS_LOST] = "joint_rows_lost",
        [TACT_COUNT_POINTS_LEFT_OUT] = "points_left_out",
        [TACT_COUNT_RATES_NOT_PREDICTED] = "rates_not_predicted",
    };
    return count >= 0 && count < TACT_SOLVE_COUNTS ? names[count] : NULL;
}

const char *tact_moments_count_name(int count)
{
    static const char *const names[TACT_MOMENTS_COUNTS] = {
        [TACT_COUNT_CLOSED_FORM] = "closed_form",
        [TACT_COUNT_SPHERE_MESH] = "sphere_mesh",
        [TACT_COUNT_HALF_SPACE] = "half_space",
        [TACT_COUNT_CONVEX] = "convex",
        [TACT_COUNT_RIM] = "rim",
        [TACT_COUNT_PRISMS] = "prisms",
        [TACT_COUNT_ALL_PRISMS] = "all_prisms",
        [TACT_COUNT_TURNED] = "turned",
        [TACT_COUNT_CAPSULE_MESH] = "capsule_mesh",
    };
    return count >= 0 && count < TACT_MOMENTS_COUNTS ? names[count] : NULL;
}
