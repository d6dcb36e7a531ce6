/* A session as one function, for programs in other languages that load it as a shared library. */
#include <stddef.h>
#include "devices/registry.h"
#include "rt/scene/scene.h"
#include "rt/session/session.h"

int tact_host_session(const char *path, const char *log, double seconds);

/* Runs a scene for `seconds` on a free-wheeling clock with host moments and records a log. Returns
 * 0 or a negative errno. */
int tact_host_session(const char *path, const char *log, double seconds)
{
    struct tact_session_options options = tact_session_options_default();
    struct tact_scene *scene = NULL;
    struct tact_session *session = NULL;
    struct tact_session_report report;
    struct tact_error err;
    int rc = tact_scene_load(path, &scene, &err);
    options.types = tact_devices_builtin(&options.type_count);
    options.clock = TACT_LOOP_FREE;
    options.record = log;
    if (!rc) {
        options.ticks = (uint64_t)(seconds / scene->period + 0.5);
        rc = tact_session_create(scene, &options, &session, &err);
    }
    rc = rc ? rc : tact_session_run(session, &report);
    tact_session_destroy(session);
    tact_scene_free(scene);
    return rc;
}
