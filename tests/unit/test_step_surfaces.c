/* The reader of surfaces in OpenCASCADE's text of a solid, as tact-step has it: surfaces of known
 * points, and texts that are changed at random. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "examples/step_surface.h"
#include "support/random.h"

enum { KINDS = 6, MOST_TEXT = 2048 };

/* A plane, a torus of radii 30 and 8 mm, a Bezier surface z = u v, a quarter of a cylinder of
 * radius 1 as a rational B-spline, in a trimmed surface, a tube of a periodic cubic B-spline over a
 * square, and the offset of an extruded circle. */
static const char solid[] = "CASCADE Topology V1, (c) Matra-Datavision\n"
                            "Surfaces 6\n"
                            "1 0 0 0 0 0 1 1 0 0 0 1 0\n"
                            "5 0 0 0 0 0 1 1 0 0 0 1 0 0.03 0.008\n"
                            "8 0 0 1 1 0 0 0 0 1 0 1 0 0 1 1 1\n"
                            "10 0 1 0 1\n"
                            "9 1 0 0 0 2 1 3 2 2 2 1 0 0 1 1 0 3 1 1 1 0 0.7071067811865476\n"
                            "1 1 3 0.7071067811865476 0 1 0 1 0 1 3 1\n"
                            "0 3\n1 3\n0 2\n1 2\n"
                            "9 0 0 1 0 3 1 4 2 5 2 1 0 0 1 0 2 0 1 0 0 1 2 -1 0 0 -1 0 2\n"
                            "0 -1 0 0 -1 2\n0 1 1 1 2 1 3 1 4 1\n0 2 1 2\n"
                            "11 0.5 6 0 0 1 2 0 0 0 0 0 1 1 0 0 0 1 0 2\n"
                            "\nTriangulations 0\n";

/* Point of the tube of a periodic B-spline, u from 0 to 4 around it, v along it. */
static void periodic_tube_point(double u, double v, double out[3])
{
    static const double corner[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    const int first = (int)fmin(u, 3.0);
    const double x = u - first, y = 1.0 - x;
    const double share[4] = {y * y * y / 6.0, (3.0 * x * x * x - 6.0 * x * x + 4.0) / 6.0,
                             (3.0 * y * y * y - 6.0 * y * y + 4.0) / 6.0, x * x * x / 6.0};
    out[0] = out[1] = 0.0;
    out[2] = 2.0 * v;
    for (int i = 0; i < 4; i++) {
        out[0] += share[i] * corner[(first + i) % 4][0];
        out[1] += share[i] * corner[(first + i) % 4][1];
    }
}

static void known_step_surfaces_are_read(void **state)
{
    (void)state;
    static const char *const names[KINDS] = {"a plane",    "a torus",    "a Bezier surface",
                                             "a B-spline", "a B-spline", "an offset surface"};
    const char *what = NULL;
    int count = 0;
    double off[4] = {0.0}, at[3], tube[3];
    struct step_surface *surfaces = step_surfaces_read(solid, &count, &what);
    assert_non_null(surfaces);
    assert_int_equal(count, KINDS);
    for (int i = 0; i < KINDS; i++) {
        assert_string_equal(surfaces[i].name, names[i]);
        assert_int_equal(surfaces[i].point != NULL, i >= 1 && i <= 4);
    }
    for (int i = 0; i < 1000; i++) {
        const double uv[2] = {uniform(0.0, 1.0), uniform(0.0, 1.0)};
        const double torus_angles[2] = {2.0 * M_PI * uv[0], 2.0 * M_PI * uv[1]};
        step_spline_evaluate_point(&surfaces[1], torus_angles, at);
        off[0] = fmax(off[0], fabs(hypot(hypot(at[0], at[1]) - 0.03, at[2]) - 0.008));
        step_spline_evaluate_point(&surfaces[2], uv, at);
        off[1] = fmax(off[1], fabs(at[0] - uv[0]) + fabs(at[1] - uv[1]));
        off[1] = fmax(off[1], fabs(at[2] - uv[0] * uv[1]));
        step_spline_evaluate_point(&surfaces[3], uv, at);
        off[2] = fmax(off[2], fabs(hypot(at[0], at[1]) - 1.0) + fabs(at[2] - 3.0 * uv[1]));
        step_spline_evaluate_point(&surfaces[4], (double[2]){4.0 * uv[0], uv[1]}, at);
        periodic_tube_point(4.0 * uv[0], uv[1], tube);
        for (int k = 0; k < 3; k++) {
            off[3] = fmax(off[3], fabs(at[k] - tube[k]));
        }
    }
    print_message("points of the torus to %.1e, of the Bezier surface to %.1e, of the B-spline to "
                  "%.1e, of the periodic one to %.1e\n",
                  off[0], off[1], off[2], off[3]);
    assert_true(off[0] < 1e-15 && off[1] < 1e-15 && off[2] < 1e-14 && off[3] < 1e-14);
    step_surfaces_free(surfaces, count);
}

/* Replaces a part of the text, of a random place, by another. */
static void mutate_step_text(char *text)
{
    static const char *const words[] = {"0",   "-1",  "1e308", "nan", "9", "11", "65536",
                                        "10 ", "4e9", "2.5",   "8 ",  "",  "25", "1 1 1 1 "};
    const size_t size = strlen(text), at = (size_t)uniform(0.0, (double)size);
    const char *word = words[(size_t)uniform(0.0, sizeof words / sizeof *words)];
    size_t end = at;
    switch ((int)uniform(0.0, 4.0)) {
    case 0:
        text[at] = (char)uniform(1.0, 127.0);
        break;
    case 1:
        text[at] = '\0';
        break;
    default: /* replaces the rest of a number by another number */
        end += strcspn(text + at, " \n");
        if (size + strlen(word) < MOST_TEXT) {
            memmove(text + at + strlen(word), text + end, size - end + 1);
            memcpy(text + at, word, strlen(word));
        }
    }
}

/* Texts with a number, a byte or their end changed are read or refused; what is read has a range,
 * points and an output. */
static void mutated_step_files_are_read_or_refused(void **state)
{
    (void)state;
    const int trial_count = campaign_trial_count(20000, 1000000);
    int read_count = 0, refused = 0;
    for (int i = 0; i < trial_count; i++) {
        char text[MOST_TEXT], *out = NULL;
        size_t size = 0;
        const char *what = NULL;
        int count = 0;
        memcpy(text, solid, sizeof solid);
        for (int k = 0; k <= i % 4; k++) {
            if (*text) {
                mutate_step_text(text);
            }
        }
        struct step_surface *surfaces = step_surfaces_read(text, &count, &what);
        if (!surfaces) {
            refused++;
            assert_true(count == 0 && what && strlen(what) > 10);
            continue;
        }
        read_count++;
        FILE *to = open_memstream(&out, &size);
        assert_non_null(to);
        for (int k = 0; k < count; k++) {
            double range[2][2], at[3];
            assert_true(memchr(surfaces[k].name, '\0', sizeof surfaces[k].name) != NULL);
            if (!surfaces[k].point) {
                continue;
            }
            for (int m = 0; m < 2; m++) {
                step_spline_parameter_range(&surfaces[k], m, range[m]);
                assert_true(range[m][1] > range[m][0]);
            }
            step_spline_evaluate_point(&surfaces[k], (double[2]){range[0][1], range[1][0]}, at);
            step_spline_write_as_obj(to, &surfaces[k], k % 2);
        }
        assert_int_equal(fclose(to), 0);
        free(out);
        step_surfaces_free(surfaces, count);
    }
    print_message("%d changed texts are read, %d refused\n", read_count, refused);
    assert_true(read_count > trial_count / 20 && refused > trial_count / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_step_surfaces_are_read),
        cmocka_unit_test(mutated_step_files_are_read_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
