/* A pinch study: how hard must two fingers press a ruler that they grasp away from its centre of
 * mass? Prints a row for each grip, from open (0) to closed (1):
 *
 *     pinch_study ruler.yaml */
#include <math.h>
#include <stdio.h>
#include <tact/tact.h>

/* The fingers close from 0.1 s to 0.6 s, in proportion to the grip. */
static void close_fingers(void *user, const struct tact_session_state *state, double *target)
{
    static const double open[4] = {0.26582, -1.00529, -0.26582, 1.00529}; /* [rad] */
    static const double by[4] = {-0.25900, -0.20182, 0.25900, 0.20182};   /* [rad], to grip 1 */
    const double share = fmin(fmax((state->time - 0.1) / 0.5, 0.0), 1.0);
    for (int i = 0; i < state->joint_count && i < 4; i++) {
        target[i] = open[i] + *(const double *)user * share * by[i];
    }
}

int main(int argc, char **argv)
{
    puts("grip   normal force [N]   turned in 1 s [deg]");
    for (double grip_fraction = 0.85; grip_fraction < 1.01; grip_fraction += 0.03) {
        struct tact_session_options options = tact_session_options_default();
        struct tact_session_status status = {.tick = 0};
        struct tact_session *session = NULL;
        struct tact_scene *scene = NULL;
        struct tact_error err = {.line = 0};
        options.types = tact_devices_builtin(&options.type_count);
        options.clock = TACT_LOOP_FREE;
        options.control = close_fingers;
        options.control_user = &grip_fraction;
        if (argc != 2 || tact_scene_load(argv[1], &scene, &err) ||
            tact_session_create(scene, &options, &session, &err) || tact_session_begin(session)) {
            fprintf(stderr, "pinch_study: %s:%d: %s\n", err.file, err.line, err.text);
            return 1;
        }
        while (status.time < 2.0 && !tact_session_step(session, 0, &status)) {
        }
        const struct tact_body *ruler = tact_world_body(tact_session_world(session), 0);
        printf("%.2f %12.2f %19.2f\n", grip_fraction, status.normal_force / 2.0,
               2.0 * asin(fabs(ruler->pose.quat_wxyz[2])) * 180.0 / 3.14159265);
        tact_session_destroy(session);
        tact_scene_free(scene);
    }
    return 0;
}
