/* A program that links a device type of its own, swing.c:
 *
 *     with_type swing.yaml LOG */
#include <stdio.h>
#include <tact/tact.h>

extern const struct tact_device_type swing_type;

static void print_message(void *user, enum tact_message_level level, const char *text)
{
    (void)user;
    fprintf(stderr, "%s%s\n", level == TACT_MESSAGE_ERROR ? "error: " : "", text);
}

int main(int argc, char **argv)
{
    static const struct tact_device_type *const types[] = {&swing_type};
    struct tact_session_options options = tact_session_options_default();
    struct tact_session_report report;
    struct tact_session *session = NULL;
    struct tact_scene *scene = NULL;
    struct tact_error err = {.line = 0};
    if (argc != 3) {
        fprintf(stderr, "usage: with_type SCENE LOG\n");
        return 2;
    }
    options.types = types; /* in addition to tact's own: tact_devices_builtin() */
    options.type_count = 1;
    options.clock = TACT_LOOP_FREE;
    options.record = argv[2];
    options.replace = 1;
    options.messages.fn = print_message;
    int rc = tact_scene_load(argv[1], &scene, &err);
    rc = rc ? rc : tact_session_create(scene, &options, &session, &err);
    if (rc) {
        fprintf(stderr, "with_type: %s:%d: %s: %s\n", err.file, err.line, err.key, err.text);
        return 1;
    }
    rc = tact_session_run(session, &report);
    printf("%llu ticks, at most %d contact(s)\n", (unsigned long long)report.loop.ticks,
           report.contacts_max);
    tact_session_destroy(session);
    tact_scene_free(scene);
    return rc != 0;
}
