/* Scenes with soft meshes and the cache of their extents: cached and computed extents are equal
 * bit for bit, and damaged or absent files cost only time. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "contact/counts.h"
#include "contact/pair/field/extent.h"
#include "contact/pair/field/field.h"
#include "contact/pair/options.h"
#include "rt/cache.h"
#include "rt/session/replay.h"
#include "support/campaign.h"
#include "support/run_scene.h"

static char folder[] = "/tmp/tact-extent-XXXXXX";

/* Scene of a soft mesh and a soft torus on a rigid floor, and a rigid ball on a soft bumpy cube. */
static const char scene[] =
    "name: soft_meshes\nduration: 0.04\n" /* the bodies are in contact from 0.01 s on */
    "materials:\n"
    "  - {name: rubber, field: {modulus: 2e5, thickness: 0.006, cell: 0.003}}\n"
    "  - {name: foam, field: {modulus: 1e5, thickness: 0.01, cell: 0.003, kind: distance}}\n"
    "  - {name: steel}\n"
    "pairs:\n"
    "  - {materials: [rubber, steel], friction: 0.6, model: field}\n"
    "  - {materials: [foam, steel], friction: 0.6, model: field}\n"
    "  - {materials: [rubber, rubber], friction: 0.6, model: field}\n"
    "  - {materials: [rubber, foam], friction: 0.6, model: field}\n"
    "  - {materials: [foam, foam], friction: 0.6, model: field}\n"
    "  - {materials: [steel, steel], friction: 0.6}\n"
    "bodies:\n"
    "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: steel}]}\n"
    "  - {name: gear, mass: 0.1, position: [0, 0, 0.0105], angular_velocity: [0, 0, 9],\n"
    "     shapes: [{type: mesh, material: rubber,\n"
    "       generate: {kind: gear, radius: 0.03, height: 0.02, count: 8, triangles: 400}}]}\n"
    "  - {name: ring, mass: 0.1, position: [0.1, 0, 0.0105],\n"
    "     shapes: [{type: torus, radius: 0.02, tube: 0.01, material: foam}]}\n"
    "  - {name: ball, mass: 0.1, position: [0.2, 0, 0.0205],\n"
    "     shapes: [{type: sphere, radius: 0.02, material: foam}]}\n";

/* The bits of a scene's final state, and the messages of the run. */
static char received_messages_text[4096];

static void append_to_received_messages(void *user, enum tact_message_level level, const char *text)
{
    (void)user;
    (void)level;
    size_t used = strlen(received_messages_text);
    snprintf(received_messages_text + used, sizeof received_messages_text - used, "%s\n", text);
}

static void record_field_scene(const char *text, const char *name, char *path, size_t size)
{
    struct tact_session_options options = {.clock = TACT_LOOP_FREE,
                                           .messages = {.fn = append_to_received_messages}};
    struct tact_session_report report;
    snprintf(path, size, "%s/%s.mcap", folder, name);
    options.record = path;
    received_messages_text[0] = '\0';
    run_session_of_scene_text(text, &options, &report);
    assert_true(report.counts[TACT_COUNT_POLYGONS] > 10 * report.loop.ticks);
    assert_true(report.counts[TACT_COUNT_UNSOLVED] == 0);
    assert_true(report.counts[TACT_COUNT_CROWDED] == 0);
}

static void check_log_replays_exactly(const char *path)
{
    struct tact_replay_options how = tact_replay_options_default();
    struct tact_replay_report replay_report;
    struct tact_error err = {.line = 0};
    assert_int_equal(tact_replay_run_with(path, &how, &replay_report, &err), 0);
    assert_true(replay_report.differing == 0 && replay_report.ticks == 40);
}

/* Number of files in the extent cache; *path gets the path of the last one. */
static int count_stored_files(char *path, size_t size)
{
    char cache[256];
    struct dirent *entry;
    int count = 0;
    snprintf(cache, sizeof cache, "%s/cache/tact", folder);
    DIR *dir = opendir(cache);
    assert_non_null(dir);
    while (dir && (entry = readdir(dir))) {
        if (!strncmp(entry->d_name, "field-", 6)) {
            struct stat st;
            snprintf(path, size, "%s/%s", cache, entry->d_name);
            assert_int_equal(stat(path, &st), 0);
            assert_int_equal(st.st_mode & 07777, 0600);
            count++;
        }
    }
    if (dir) {
        closedir(dir);
    }
    return count;
}

/* The inode number of a cache file, which changes when the file is stored again. */
static ino_t inode_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_ino;
}

static void flip_bit_at_offset(const char *path, long at)
{
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, at < 0 ? SEEK_END : SEEK_SET), 0);
    int was = fgetc(file);
    assert_int_equal(fseek(file, -1, SEEK_CUR), 0);
    fputc(was ^ 4, file);
    fclose(file);
}

static void stored_field_equals_the_computed_one(void **state)
{
    (void)state;
    char cache[256], log[256], file[512];
    struct stat st;
    snprintf(cache, sizeof cache, "%s/cache", folder);
    assert_int_equal(mkdir(cache, 0700), 0);
    setenv("XDG_CACHE_HOME", cache, 1);
    record_field_scene(scene, "computed", log, sizeof log);
    assert_int_equal(count_stored_files(file, sizeof file), 3);
    assert_int_equal(stat(file, &st), 0);
    printf("%lld bytes stored of the last; said: %s", (long long)st.st_size,
           received_messages_text);
    ino_t first = inode_of(file);
    check_log_replays_exactly(log);
    assert_true(inode_of(file) == first); /* the extent is read from the cache */
    for (int i = 0; i < 4; i += is_quick_sanitizer_run() ? 3 : 1) {
        static const long at[3] = {0, 300, -20};
        if (i < 3) {
            flip_bit_at_offset(file, at[i]);
        } else {
            assert_int_equal(truncate(file, st.st_size / 2), 0);
        }
        first = inode_of(file);
        check_log_replays_exactly(log);
        assert_true(inode_of(file) != first); /* the extent is computed and stored again */
        assert_int_equal(count_stored_files(file, sizeof file), 3);
    }
}

/* Creates a sparse file in the cache folder, last used at `time` [s]. */
static void make_sparse_cache_file(const char *name, off_t megabytes, time_t time)
{
    char path[512];
    const struct timespec file_access_and_modification_times[2] = {{.tv_sec = time},
                                                                   {.tv_sec = time}};
    snprintf(path, sizeof path, "%s/cache/tact/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(truncate(path, megabytes << 20), 0);
    assert_int_equal(utimensat(AT_FDCWD, path, file_access_and_modification_times, 0), 0);
}

static int is_in_cache_folder(const char *name)
{
    char path[512];
    struct stat st;
    snprintf(path, sizeof path, "%s/cache/tact/%s", folder, name);
    return !lstat(path, &st);
}

/* When an extent is stored and the cache exceeds 512 MB, the least recently used extents are
 * removed, and no other file. */
static void least_recently_used_fields_leave_the_cache(void **state)
{
    (void)state;
    static const char *const name[] = {"field-0123456789abcdef0123456789abcdef-25",
                                       "field-1123456789abcdef0123456789abcdef-25.aB3xYz",
                                       "field-2123456789abcdef0123456789abcdef-26"};
    static const char *const other[] = {"field-notes",
                                        "field-0123456789abcdef0123456789abcdef-25.txt",
                                        "field-3123456789abcdef0123456789abcde-25", "photo",
                                        "field-4123456789abcdef0123456789abcdef-"};
    char log[256], file[512], link[512];
    make_sparse_cache_file(name[0], 400, 2000);
    make_sparse_cache_file(name[1], 200, 1000);
    for (int i = 0; i < 5; i++) {
        make_sparse_cache_file(other[i], 600, 10);
    }
    snprintf(link, sizeof link, "%s/cache/tact/field-5123456789abcdef0123456789abcdef-25", folder);
    assert_int_equal(symlink("photo", link), 0);
    snprintf(log, sizeof log, "%s/computed.mcap", folder);
    check_log_replays_exactly(log); /* loads all extents from the cache, and stores nothing */
    assert_true(is_in_cache_folder(name[0]) && is_in_cache_folder(name[1]));
    for (int i = 0; i < 2; i++) {
        char text[4096];
        const char *from = strstr(scene, "cell: 0.003}");
        snprintf(text, sizeof text, "%.*scell: %s%s", (int)(from - scene), scene,
                 i ? "0.0035" : "0.004", from + strlen("cell: 0.003"));
        if (i) {
            make_sparse_cache_file(name[2], 300, 3000);
        }
        record_field_scene(text, i ? "finer" : "coarser", file, sizeof file);
        assert_false(is_in_cache_folder(name[1])); /* then the next older extent is removed */
        assert_true(is_in_cache_folder(name[0]) == !i);
        for (int k = 0; k < 5; k++) {
            assert_true(is_in_cache_folder(other[k]));
        }
        assert_true(is_in_cache_folder(strrchr(link, '/') + 1));
    }
    assert_true(is_in_cache_folder(name[2]));
    check_log_replays_exactly(log);
}

/* Without a private cache folder the results have the same bits, and a message is reported. */
static void results_are_the_same_without_a_cache_folder(void **state)
{
    (void)state;
    char log[256], cache[256], file[512];
    snprintf(cache, sizeof cache, "%s/cache/tact", folder);
    for (int i = is_quick_sanitizer_run(); i < 3; i++) {
        char home_folder[256];
        snprintf(home_folder, sizeof home_folder, "%s/none", folder);
        setenv("HOME", home_folder, 1);
        if (i == 0) {
            setenv("XDG_CACHE_HOME", "relative", 1);
        } else if (i == 1) { /* writable by others */
            snprintf(home_folder, sizeof home_folder, "%s/cache", folder);
            setenv("XDG_CACHE_HOME", home_folder, 1);
            assert_int_equal(chmod(cache, 0777), 0);
        }
        snprintf(log, sizeof log, "%s/computed.mcap", folder);
        if (i < 2) {
            check_log_replays_exactly(log);
            assert_int_equal(tact_cache_folder(file, sizeof file), -ENOENT);
            snprintf(file, sizeof file, "without%d", i);
            record_field_scene(scene, file, log, sizeof log);
            assert_non_null(strstr(received_messages_text, "could not be stored"));
        } else {
            assert_int_equal(chmod(cache, 0700), 0);
            check_log_replays_exactly(log);
        }
    }
}

/* Meshes too thin for the cell size are refused or warned of, with their place in the scene. */
static void field_meshes_too_thin_are_refused_or_warned_of(void **state)
{
    (void)state;
    struct tact_session_options options = {.clock = TACT_LOOP_FREE,
                                           .messages = {.fn = append_to_received_messages}};
    struct tact_session_report report;
    char text[4096];
    const char *from = strstr(scene, "thickness: 0.006, cell: 0.003");
    snprintf(text, sizeof text, "%.*sthickness: 0.0015, cell: 0.003%s", (int)(from - scene), scene,
             from + strlen("thickness: 0.006, cell: 0.003"));
    received_messages_text[0] = '\0';
    run_session_of_scene_text(text, &options, &report);
    printf("%s", received_messages_text);
    assert_non_null(
        strstr(received_messages_text, "a shape of gear: the pressure field of its mesh"));
    assert_non_null(strstr(received_messages_text, "off the surface at ("));
}

static int make_test_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_test_folder(void **state)
{
    (void)state;
    char folder_removal_command[256];
    snprintf(folder_removal_command, sizeof folder_removal_command, "rm -r %s", folder);
    return system(folder_removal_command);
}

/* A store of a library whose headers are of another version is refused: its functions are not
 * called. */
static void field_store_of_another_abi_is_refused(void **state)
{
    (void)state;
    struct tact_extent_store store = {.abi = TACT_ABI(struct tact_extent_store)};
    const struct tact_field_material soft_material = {
        .modulus = 1e5, .thickness = 0.01, .store = &store};
    const struct tact_shape floor = {.kind = TACT_SHAPE_HALFSPACE};
    struct tact_pressure_field *field;
    struct tact_error err = {.line = 0};
    assert_int_equal(tact_field_of_shape(&floor, &soft_material, &field, &err), 0);
    tact_field_free(field);
    for (int i = 0; i < 2; i++) {
        store.abi = (struct tact_abi)TACT_ABI(struct tact_extent_store);
        store.abi.size += (uint32_t)i;
        store.abi.version -= (uint32_t)!i;
        assert_int_equal(tact_field_of_shape(&floor, &soft_material, &field, &err), -EINVAL);
        assert_null(field);
        assert_string_equal(
            err.text,
            "the program's store of pressure-field extents was compiled for another ABI version");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(field_store_of_another_abi_is_refused),
        cmocka_unit_test(stored_field_equals_the_computed_one),
        cmocka_unit_test(least_recently_used_fields_leave_the_cache),
        cmocka_unit_test(results_are_the_same_without_a_cache_folder),
        cmocka_unit_test(field_meshes_too_thin_are_refused_or_warned_of),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
