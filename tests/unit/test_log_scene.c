/* The topic /scene of large scenes: it has a chunk of its own, and a limit that the reader accepts.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <cmocka.h>
#include "contact/mesh/generate.h"
#include "contact/mesh/mesh.h"
#include "log_session.h"
#include "rt/log/mcap_writer_internal.h"
#include "rt/log/recover.h"

enum { TICKS = 200, MIB = 1 << 20 };

/* A mesh that all the shapes of a test share, of 72 bytes a triangle in /scene. */
static struct tact_shape shared_mesh_shape = {.kind = TACT_SHAPE_MESH};
static struct tact_mesh *mesh;

static int make_stone_mesh(void **state)
{
    (void)state;
    const struct tact_generate what = {.kind = TACT_GENERATE_BUMPY_CUBE,
                                       .edge = 0.1,
                                       .bump = 0.01,
                                       .count = 4,
                                       .triangles = 10000};
    struct tact_soup soup;
    int rc = tact_soup_generate(&what, &soup, NULL);
    rc = rc ? rc
            : tact_mesh_create(soup.vertices, soup.vertex_count, soup.triangles,
                               soup.triangle_count, &mesh, NULL);
    shared_mesh_shape.mesh = mesh;
    tact_soup_free(&soup);
    return rc;
}

static int release_stone_mesh(void **state)
{
    (void)state;
    tact_mesh_free(mesh);
    return 0;
}

static struct tact_recorder *open_recorder_of_stones(const char *path, size_t count,
                                                     struct tact_recorder_options options,
                                                     struct message_summary *received_messages)
{
    static char frames[100][16];
    struct tact_recorder_shape shapes[100];
    struct tact_layout layout = {0};
    struct tact_recorder *recorder = NULL;
    const struct tact_messages messages = {received_messages ? count_message_and_keep_text : NULL,
                                           received_messages};

    for (size_t i = 0; i < count; i++) {
        snprintf(frames[i], sizeof frames[i], "stone%zu", i);
        shapes[i] = (struct tact_recorder_shape){
            .frame = frames[i], .shape = &shared_mesh_shape, .pose.quat_wxyz = {1.0}};
    }
    add_session_fields(&layout);
    struct tact_recorder_content content = make_test_log_content(&layout);
    content.shapes = shapes;
    content.shape_count = count;
    int rc = tact_recorder_open(path, &options, &content, messages, &recorder, NULL);
    tact_layout_free(&layout);
    return rc == 0 ? recorder : NULL;
}

static void expect_whole_log(const char *path, uint64_t ticks)
{
    struct tact_log *log;
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    const struct tact_log_state *found = tact_log_state(log);
    assert_string_equal(found->why, "");
    assert_int_equal(found->bytes_lost, 0);
    assert_int_equal(found->first_tick, 0);
    assert_int_equal(found->ticks, ticks);
    assert_int_equal(count_equal_records(log, 0), ticks);
    tact_log_close(log);
}

/* 72 MB of triangles, of which 46 shapes with 33 MB are in /scene: a chunk of all would exceed what
 * the reader accepts, and tick 0 in it would be lost. */
static void shapes_beyond_the_limit_of_a_log_are_left_out_and_reported(void **state)
{
    (void)state;
    const char *path = test_log_path("log_scene");
    struct message_summary received_messages = {0};
    char expected[64];
    struct tact_recorder *recorder =
        open_recorder_of_stones(path, 100, session_recorder_options(), &received_messages);
    assert_non_null(recorder);
    const unsigned logged_shape_count =
        (32U * MIB) / (72 * (unsigned)shared_mesh_shape.mesh->triangle_count);
    snprintf(expected, sizeof expected, "lacks %u of 100 shapes, the first of \"stone%u\"",
             100 - logged_shape_count, logged_shape_count);
    print_message("%s\n", received_messages.text);
    assert_int_equal(received_messages.warning_count, 1);
    assert_non_null(strstr(received_messages.text, expected));
    record_session_ticks(recorder, 0, TICKS);
    assert_int_equal(tact_recorder_close(recorder, NULL), 0);
    expect_whole_log(path, TICKS);
    unlink(path);
}

/* A scene of 7 MB, killed at any moment and in parts: each part has it, and no tick is lost. */
static void log_that_begins_with_a_large_scene_is_recovered(void **state)
{
    (void)state;
    const char *path = test_log_path("log_scene_killed");
    int pipe_ends[2], wait_status;
    char byte;
    assert_int_equal(pipe(pipe_ends), 0);
    for (int run = 0; run < 4; run++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct tact_recorder_options options = session_recorder_options();
            options.chunk_ns = run % 2 ? 10000000 : options.chunk_ns;
            struct tact_recorder *recorder = open_recorder_of_stones(path, 10, options, NULL);
            if (!recorder)
                _exit(1);
            record_session_ticks(recorder, 0, TICKS);
            usleep((useconds_t)(run * 30000));
            _exit(write(pipe_ends[1], "x", 1) == 1 ? 2 + pause() : 3);
        }
        assert_int_equal(read(pipe_ends[0], &byte, 1), 1);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &wait_status, 0), child);
        struct tact_recover_report report;
        assert_int_equal(tact_log_recover(path, NULL, &report, NULL), 0);
        assert_int_equal(report.bytes_covered, 0);
        expect_whole_log(path, TICKS);
    }
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    unlink(path);
}

/* A chunk that the reader would refuse is an error of the writer. */
static void chunk_beyond_the_limit_of_the_reader_is_not_written(void **state)
{
    (void)state;
    const char *path = test_log_path("log_scene_chunk");
    struct tact_mcap_writer *writer;
    uint8_t *zeros = calloc(1, (size_t)TACT_MCAP_CHUNK_MAX_BYTES);
    assert_non_null(zeros);
    for (int bytes_beyond_chunk_limit = 0; bytes_beyond_chunk_limit < 2;
         bytes_beyond_chunk_limit++) {
        int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
        assert_int_equal(tact_mcap_writer_open(fd, "", "", 1, &writer), 0);
        int schema = tact_mcap_writer_add_schema(writer, "a", "", 0);
        int channel = tact_mcap_writer_add_channel(writer, schema, "/a");
        struct tact_bytes *message = tact_mcap_writer_begin_message(writer, channel, 0);
        tact_bytes_append(message, zeros,
                          (size_t)TACT_MCAP_CHUNK_MAX_BYTES - message->size +
                              (size_t)bytes_beyond_chunk_limit);
        tact_mcap_writer_end_message(writer);
        assert_int_equal(tact_mcap_writer_flush(writer), bytes_beyond_chunk_limit ? -EMSGSIZE : 0);
        assert_int_equal(tact_mcap_writer_close(writer, NULL),
                         bytes_beyond_chunk_limit ? -EMSGSIZE : 0);
    }
    free(zeros);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_beyond_the_limit_of_a_log_are_left_out_and_reported),
        cmocka_unit_test(log_that_begins_with_a_large_scene_is_recovered),
        cmocka_unit_test(chunk_beyond_the_limit_of_the_reader_is_not_written),
    };
    return cmocka_run_group_tests(tests, make_stone_mesh, release_stone_mesh);
}
