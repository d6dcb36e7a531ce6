/* Pressure maps in a log, as the recorder counts them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "log_session.h"

/* Pressure maps for which the ring has no room are counted, and so are polygons for which a map
 * has none. */
static void pressure_maps_are_counted(void **state)
{
    (void)state;
    static struct tact_pressure map;
    const char *path = test_log_path("pressures");
    const double corner[3][3] = {{0, 0, 0}, {1e-3, 0, 0}, {0, 1e-3, 0}}, zero[3] = {0.0};
    const double pressure[3] = {1e4, 2e4, 3e4};
    for (uint32_t ring = 0; ring < 3; ring += 2) {
        struct tact_recorder_options options = session_recorder_options();
        struct tact_recorder_report report;
        struct tact_recorder *recorder;
        uint64_t lost = 0;
        options.ring_pressures = ring;
        assert_int_equal(
            open_session_recorder(path, &options, (struct tact_messages){0}, &recorder), 0);
        for (uint64_t tick = 0; tick < 300; tick++) {
            struct tact_record *record = tact_recorder_begin(recorder);
            assert_non_null(record);
            fill_session_record(tick, record);
            tact_recorder_commit(recorder);
            tact_pressure_clear(&map);
            struct tact_pressure_patch *patch = tact_pressure_add_patch(&map, zero, corner[1]);
            for (uint32_t i = 0; i < TACT_PRESSURE_POLYGONS + 3; i++) {
                tact_pressure_add_polygon(&map, patch, corner, pressure, 3);
            }
            int rc = tact_recorder_pressure(recorder, tick, record->stamp_ns, &map);
            assert_true(rc == 0 || rc == -ENOBUFS);
            lost += rc != 0;
        }
        assert_int_equal(tact_recorder_close(recorder, &report), 0);
        assert_int_equal(report.records, 300);
        assert_int_equal(report.pressures, 300 - lost);
        assert_int_equal(report.pressure_overruns, ring ? lost : 0);
        assert_int_equal(report.polygons_left_out, 3 * report.pressures);
        assert_true(ring ? report.pressures > 1 && lost > 0 : lost == 300);
        unlink(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pressure_maps_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
