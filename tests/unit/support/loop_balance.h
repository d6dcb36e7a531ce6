/* Energy balance of a spring whose target moves in a loop. Include after cmocka.h. */
#ifndef TACT_TESTS_LOOP_BALANCE_H
#define TACT_TESTS_LOOP_BALANCE_H

#include <math.h>

/* Checks the energies gained in a closed loop of a spring's target at the periods h, h/2 and h/4
 * [J]; most: the largest energy in the loop, at h/4. A base that follows dissipates. One that does
 * not move is a wall, which generates the energy that sampling generates, in proportion to h.
 * Without a damper the balance, extrapolated to h = 0, closes at 0. */
static inline void check_energy_balance_of_closed_loop(int is_base_immobile, int is_spring_damped,
                                                       const double energy_gained_per_loop[3],
                                                       double most)
{
    const double limit = (8.0 * energy_gained_per_loop[2] - 6.0 * energy_gained_per_loop[1] +
                          energy_gained_per_loop[0]) /
                         3.0;
    print_message("%s: gained %.3f, %.3f, %.3f mJ at h, h/2, h/4, to %.5f at 0, of %.1f mJ\n",
                  is_base_immobile   ? "wall"
                  : is_spring_damped ? "damper"
                                     : "free",
                  1e3 * energy_gained_per_loop[0], 1e3 * energy_gained_per_loop[1],
                  1e3 * energy_gained_per_loop[2], 1e3 * limit, 1e3 * most);
    for (int i = 0; i < 3; i++) {
        assert_true(is_base_immobile ? energy_gained_per_loop[i] > 0.0
                                     : energy_gained_per_loop[i] < 0.0);
    }
    assert_true(is_spring_damped ? limit < 0.0
                                 : fabs(limit) < (is_base_immobile ? 1e-6 : 3e-3) * most);
}

#endif
