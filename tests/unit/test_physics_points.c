/* The limit of point contacts, by the loop of tact_world_solve(): Coulomb problems, real ones of
 * Siconos (FCLIB) among them, and stacks and walls of 10 to 100 boxes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "support/campaign.h"
#include "support/coulomb_world.h"

static void coulomb_problems_are_solved(void **state)
{
    (void)state;
    static struct coulomb_problem p;
    for (int i = 0; i < COULOMB_PROBLEMS; i++) {
        struct coulomb_solve_run run = {.residual_goal = 1e-13};
        if (!read_coulomb_problem(i, &p)) {
            continue;
        }
        struct tact_world *world = coulomb_world_of_problem(&p);
        coulomb_world_solve(world, &run);
        print_message("%-24s %d sweeps to 1e-6, %d to 1e-10, ends at %.1e after %d, with %d "
                      "eliminations\n",
                      coulomb_names[i], run.six, run.ten, run.residual, run.sweeps, run.steps);
        /* 9 at most on x86-64, 17 on aarch64: the last steps depend on rounding */
        assert_true(run.ten > 0 && run.ten <= 20);
        tact_world_destroy(world);
    }
}

/* 1e-6 in at most 100 sweeps and eliminations together, gravity sideways by up to half of what
 * friction bears. Plain Gauss-Seidel with Anderson acceleration takes 717 for one of 48 boxes. */
static void masonry_is_solved_within_100_sweeps(void **state)
{
    (void)state;
    static struct masonry m;
    int most = 0, most_work = 0, failed = 0, count = campaign_trial_count(50, 400);
    double worst = 0, work = 0;
    for (int i = 0; i < count; i++) {
        struct coulomb_solve_run run = {.residual_goal = 1e-9};
        generate_masonry(i, 0.5, &m);
        struct tact_world *world = coulomb_world_of_masonry(&m);
        coulomb_world_solve(world, &run);
        tact_world_destroy(world);
        if (!run.six || run.work > 100) {
            print_message("%d: %s of %d boxes, friction %.1f: %d sweeps to 1e-6, ends at %.1e\n", i,
                          i % 2 ? "wall" : "stack", m.boxes, m.friction, run.six, run.residual);
            failed++;
        }
        most = run.six > most ? run.six : most;
        most_work = run.work > most_work ? run.work : most_work;
        work += run.work / (double)count;
        worst = fmax(worst, run.residual);
    }
    print_message("%d stacks and walls: at most %d sweeps to 1e-6, with eliminations %d (%.1f in "
                  "the mean); worst end %.1e\n",
                  count, most, most_work, work, worst);
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masonry_is_solved_within_100_sweeps),
        cmocka_unit_test(coulomb_problems_are_solved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
