/* A cup that rocks on a saucer, both NURBS surfaces of revolution: their surfaces, mass properties
 * and motion against those of spheres, cylinders and tori. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "contact/shape/charts.h"
#include "simulation.h"
#include "scenes.h"

/* Sizes of the cup and the saucer [m]. */
static const double CUP_RADIUS = 0.045, CUP_INNER_RADIUS = 0.041, CUP_SIDE = 0.029,
                    CUP_RIM_RADIUS = 0.002, SAUCER_RADIUS = 0.12, SAUCER_LOWER_RADIUS = 0.124,
                    SAUCER_ANGLE = M_PI / 6.0;

/* Distance of a point from the surface of the cup: arcs and lines turned about z [m]. */
static double distance_from_cup_surface(const double at[3])
{
    const double r = hypot(at[0], at[1]), height = at[2] - CUP_RADIUS;
    if (height > CUP_SIDE) {
        return fabs(hypot(r - 0.5 * (CUP_RADIUS + CUP_INNER_RADIUS), height - CUP_SIDE) -
                    CUP_RIM_RADIUS);
    }
    const double distance_from_surface_centre = height < 0.0 ? hypot(r, height) : r;
    return fmin(fabs(distance_from_surface_centre - CUP_RADIUS),
                fabs(distance_from_surface_centre - CUP_INNER_RADIUS));
}

static double distance_from_saucer_surface(const double at[3])
{
    const double r = hypot(at[0], at[1]), middle = 0.5 * (SAUCER_RADIUS + SAUCER_LOWER_RADIUS);
    if (atan2(r, -at[2]) > SAUCER_ANGLE) {
        return fabs(hypot(r - middle * sin(SAUCER_ANGLE), at[2] + middle * cos(SAUCER_ANGLE)) -
                    0.5 * (SAUCER_LOWER_RADIUS - SAUCER_RADIUS));
    }
    const double distance_from_surface_centre = hypot(r, at[2]);
    return fmin(fabs(distance_from_surface_centre - SAUCER_RADIUS),
                fabs(distance_from_surface_centre - SAUCER_LOWER_RADIUS));
}

/* The patches are exact: points of all of them are on the surface, and the curvatures at a place of
 * the patch that touches are both `curvature` [1/m]. */
static void check_patches_of_revolution(const struct tact_shape *shape,
                                        double (*distance_from_surface)(const double at[3]),
                                        const double contact_point_on_surface[3], double curvature)
{
    enum { PLACES_PER_SIDE = 9 };
    struct tact_surface_point p;
    double off = 0.0, k[2], directions[9];
    int patches = 0;
    assert_int_equal(shape->kind, TACT_SHAPE_PATCHES);
    for (; !tact_charts_point(shape->charts, (double[3]){patches, 0.0, 0.0}, &p); patches++) {
        for (int i = 0; i < PLACES_PER_SIDE * PLACES_PER_SIDE; i++) {
            const double u = (double)(i % PLACES_PER_SIDE) / (PLACES_PER_SIDE - 1),
                         v = (double)(i / PLACES_PER_SIDE) / (PLACES_PER_SIDE - 1);
            assert_int_equal(tact_charts_point(shape->charts, (double[3]){patches, u, v}, &p), 0);
            off = fmax(off, distance_from_surface(p.at));
        }
    }
    assert_int_equal(tact_charts_point(shape->charts, contact_point_on_surface, &p), 0);
    tact_surface_curvatures(&p, k, directions);
    const double curvature_error = fmax(fabs(k[0] / curvature - 1.0), fabs(k[1] / curvature - 1.0));
    print_message("    %d patches within %.1e m, curvatures to %.1e\n", patches, off,
                  curvature_error);
    assert_true(off < 1e-15 && curvature_error < 1e-12);
}

/* Volume, its first moment along z and second moment about an axis across z [m^3, m^4, m^5]. */
struct solid_moments {
    double volume, first, second;
};

/* Adds a solid with its centroid at z; second: of the solid about an axis across z through its
 * centroid, over its volume [m^2]. */
static void add_solid(struct solid_moments *sum, double volume, double z, double second)
{
    sum->volume += volume;
    sum->first += volume * z;
    sum->second += volume * (second + z * z);
}

/* The cup as hemispheres, cylinders and the upper half of a torus: height of its centre of mass and
 * second moment about the lowest point, over the volume [m, m^2]. */
static void cup_mass_properties(double *height, double *second_moment)
{
    const double tube = CUP_RIM_RADIUS, ring = 0.5 * (CUP_RADIUS + CUP_INNER_RADIUS),
                 lift = 4.0 * tube / (3.0 * M_PI);
    struct solid_moments cup = {0.0, 0.0, 0.0};
    for (int inner = 0; inner < 2; inner++) {
        const double r = inner ? CUP_INNER_RADIUS : CUP_RADIUS, area = M_PI * r * r,
                     sign = inner ? -1.0 : 1.0;
        add_solid(&cup, sign * 2.0 / 3.0 * area * r, CUP_RADIUS - 0.375 * r,
                  (0.4 - 0.375 * 0.375) * r * r);
        add_solid(&cup, sign * area * CUP_SIDE, CUP_RADIUS + 0.5 * CUP_SIDE,
                  0.25 * r * r + CUP_SIDE * CUP_SIDE / 12.0);
    }
    add_solid(&cup, M_PI * M_PI * ring * tube * tube, CUP_RADIUS + CUP_SIDE + lift,
              0.5 * ring * ring + 0.625 * tube * tube - lift * lift);
    *height = cup.first / cup.volume;
    *second_moment = cup.second / cup.volume;
}

/* Period of the cup that rocks in the saucer [s]. amplitude: of its angle [rad]. height: of its
 * centre of mass [m]; second_moment: as cup_mass_properties(). The period is the integral of angle
 * over rate, with angle = amplitude sin s: its integrand is periodic in s. */
static double rocking_period(double amplitude, double height, double second_moment)
{
    enum { SAMPLES = 64 };
    const double way = SAUCER_RADIUS - CUP_RADIUS, arm = CUP_RADIUS - height,
                 slope_per_angle = CUP_RADIUS / way;
    const double second_moment_about_centre_of_mass = second_moment - height * height;
    double sum = 0.0;
    for (int i = 0; i < SAMPLES; i++) {
        const double s = 0.5 * M_PI * (i + 0.5) / SAMPLES, angle = amplitude * sin(s);
        /* square of the distance of the centre of mass from the point of touch [m^2] */
        const double squared_centre_distance_from_touch =
            CUP_RADIUS * CUP_RADIUS + arm * arm -
            2.0 * CUP_RADIUS * arm * cos(angle * (1.0 + slope_per_angle));
        const double fall =
            way * (cos(slope_per_angle * angle) - cos(slope_per_angle * amplitude)) +
            arm * (cos(angle) - cos(amplitude));
        sum += amplitude * cos(s) *
               sqrt((second_moment_about_centre_of_mass + squared_centre_distance_from_touch) /
                    (2.0 * 9.81 * fall));
    }
    return 2.0 * M_PI * sum / SAMPLES;
}

/* Patches of the exact surfaces have the exact period, also at the amplitude of the scene. */
void check_saucer_scene(void)
{
    struct tact_scene *scene = NULL;
    struct tact_error err = {.line = 0};
    struct simulation p;
    double height, second_moment;
    assert_int_equal(tact_scene_load(TACT_SOURCE_DIR "/examples/scenes/saucer.yaml", &scene, &err),
                     0);
    const struct tact_scene_body *saucer = &scene->bodies[0], *cup = &scene->bodies[1];
    check_patches_of_revolution(&saucer->shapes[0].shape, distance_from_saucer_surface,
                                (const double[3]){3.0, 0.3, 0.6}, -1.0 / SAUCER_RADIUS);
    check_patches_of_revolution(&cup->shapes[0].shape, distance_from_cup_surface,
                                (const double[3]){0.0, 0.3, 0.4}, 1.0 / CUP_RADIUS);
    cup_mass_properties(&height, &second_moment);
    const double inertia = cup->mass * (second_moment - height * height);
    const double off =
        fmax(fabs(cup->center_of_mass[2] / height - 1.0), fabs(cup->inertia[0] / inertia - 1.0));
    tact_scene_free(scene);
    simulate_scene("saucer", 4.0, &p);
    double period = mean_oscillation_period(&p, "cup", 0),
           exact = rocking_period(0.05, height, second_moment);
    print_message("    mass properties to %.1e; rocks in %.6f s, exact %.6f, of a small motion "
                  "%.6f\n",
                  off, period, exact, rocking_period(1e-3, height, second_moment));
    assert_true(off < 1e-12 && fabs(period / exact - 1.0) < 2e-5);
    simulation_free(&p);
}
