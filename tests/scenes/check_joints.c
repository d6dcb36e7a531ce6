/* The swings: joints of mechanisms, closed loops, and contacts on them. The groove: an overlap of
 * two planar contacts. The box that is pushed by an admittance device. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "contact/vec.h"
#include "simulation.h"
#include "scenes.h"

/* length of a crank [m]; its mass [kg]; mass of platform and cube [kg] */
static const double CRANK_LENGTH = 0.3, CRANK_MASS = 0.02, PLATFORM_AND_CUBE_MASS = 0.5;

/* Complete elliptic integral of the first kind of modulus k, by the arithmetic-geometric mean. */
static double elliptic_integral(double k)
{
    double a = 1.0, b = sqrt(1.0 - k * k);
    for (int i = 0; i < 30; i++) {
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    return acos(0.0) / a;
}

/* Period of the swing with its cube: the cranks rotate, platform and cube translate on an arc. */
static double exact_swing_period(double amplitude)
{
    double moment_of_inertia_of_crank =
        CRANK_MASS * (CRANK_LENGTH * CRANK_LENGTH + 0.01 * 0.01) / 12.0 +
        CRANK_MASS * 0.25 * CRANK_LENGTH * CRANK_LENGTH;
    double inertia =
        2.0 * moment_of_inertia_of_crank + PLATFORM_AND_CUBE_MASS * CRANK_LENGTH * CRANK_LENGTH;
    double weight_moment_of_crank = (CRANK_MASS + PLATFORM_AND_CUBE_MASS) * 9.81 * CRANK_LENGTH;
    return 4.0 * sqrt(inertia / weight_moment_of_crank) * elliptic_integral(sin(0.5 * amplitude));
}

/* Distance of the cube from its initial position on the platform [m]. */
static double cube_slide_distance(const struct simulation *p, const char *cube,
                                  const char *platform, double t)
{
    const struct body_state *c = simulation_body_at(p, cube, t),
                            *b = simulation_body_at(p, platform, t);
    return hypot(c->position[0] - b->position[0], c->position[1] - b->position[1]);
}

/* Mean period between passages of the platform's lowest point with rising x [s]. */
static double measure_swing_period(const struct simulation *p, const char *platform)
{
    double first = 0.0, last = 0.0;
    int count = 0;
    for (int i = 1; i < p->ticks; i++) {
        double a = simulation_body_at(p, platform, (i - 1) * p->period)->position[0];
        double b = simulation_body_at(p, platform, i * p->period)->position[0];
        if (a < 0.0 && b >= 0.0) {
            last = (i - b / (b - a)) * p->period;
            first = count++ ? first : last;
        }
    }
    return (last - first) / (count - 1);
}

void check_swing_scene(void)
{
    struct simulation p;
    simulate_scene("swing", 4, &p);
    double got = measure_swing_period(&p, "platform_low"),
           exact = exact_swing_period(30.0 * acos(-1.0) / 180.0);
    print_message("    lower swing: period %.6f s, exact %.6f s\n", got, exact);
    assert_true(fabs(got / exact - 1.0) < 1e-5);
    double low = cube_slide_distance(&p, "cube_low", "platform_low", -1);
    double high = cube_slide_distance(&p, "cube_high", "platform_high", 0.3);
    print_message("    the cube on the lower one slid %.1e m, that on the higher one %.4f m in the "
                  "first 0.3 s\n",
                  low, high);
    assert_true(low < 1e-9);
    assert_true(high > 1e-3);
    double tilt = tact_max(body_tilt_deg(simulation_body_at(&p, "platform_low", -1)),
                           body_tilt_deg(simulation_body_at(&p, "platform_high", -1)));
    print_message("    platforms level within %.1e degrees\n", tilt);
    assert_true(tilt < 1e-12);
    print_message("    worst residual %.1e, %d sweeps at most\n", p.report.residual_max,
                  p.report.iterations_max);
    simulation_free(&p);
}

void check_groove_scene(void)
{
    struct simulation p;
    simulate_scene("groove", 1, &p);
    double a = 35.0 * acos(-1.0) / 180.0, exact = sin(a) / (2.0 * 0.2 * 9.81) - 0.5e-3;
    double got = simulation_body_at(&p, "wedge", -1)->position[1] - (-0.1);
    print_message("    slid %.6f m, exact %.6f m\n", got, exact);
    assert_true(fabs(got / exact - 1.0) < 5e-3);
    assert_int_equal(p.report.contacts, 2);
    assert_true(body_tilt_deg(simulation_body_at(&p, "wedge", -1)) < 1e-6 &&
                largest_final_speed(&p) < 1e-9);
    assert_simulated_energy_rises_by_work_only(&p);
    simulation_free(&p);
}

/* What a person feels at an admittance device, and the energy of its port. */
struct admittance_record {
    double force[4500], energy[4500]; /* [N], [J] */
    int count;
};

static void record_force_and_energy(void *user, struct tact_session *session,
                                    const struct tact_session_status *status)
{
    struct admittance_record *admittance_record = user;
    const struct tact_session_port port = tact_session_port(session, 0);
    (void)status;
    if (admittance_record->count < 4500) {
        admittance_record->force[admittance_record->count] = -port.force[0];
        admittance_record->energy[admittance_record->count++] = port.energy;
    }
}

/* At 0.1 m/s the hand exerts what the friction of the box and the damper of the joint take, and so
 * much work; on the way back, at 0.2 m/s, the damper alone. */
void check_admittance_scene(void)
{
    static struct admittance_record admittance_record;
    struct simulation p;
    const double force_while_sliding = 0.4 * 0.5 * 9.81 + 2.0 * 0.1, back = -2.0 * 0.2;
    admittance_record.count = 0;
    simulate_scene_observed(
        "admittance", 4.5,
        &(struct simulation_observer){record_force_and_energy, &admittance_record}, &p);
    assert_int_equal(admittance_record.count, 4500);
    const double work = admittance_record.energy[2399] - admittance_record.energy[1899];
    print_message("    pushes with %.5f N, exact %.5f N; %.6f J over 50 mm, exact %.6f J; free air "
                  "%.6f N, exact %.6f N\n",
                  admittance_record.force[2399], force_while_sliding, work,
                  0.05 * force_while_sliding, admittance_record.force[4199], back);
    assert_true(fabs(admittance_record.force[2399] / force_while_sliding - 1.0) < 1e-3);
    assert_true(fabs(work / (0.05 * force_while_sliding) - 1.0) < 1e-3);
    assert_true(fabs(admittance_record.force[4199] / back - 1.0) < 1e-3);
    assert_true(admittance_record.energy[4499] > admittance_record.energy[2399]);
    simulation_free(&p);
}
