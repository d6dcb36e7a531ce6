/* Device types from plug-ins: files and folders that are refused, each with one message that names
 * it and the reason, before any of its code runs. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "devices/plugin/plugin_internal.h"
#include "devices/registry.h"
#include "rt/session/replay.h"
#include "rt/session/session.h"

#define PLUGIN_BUILD_FOLDER TACT_BINARY_DIR "/tests/plugins/"
#define OTHER_USER_ID 65534

#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZER_BUILD 1
#elif defined(__has_feature)
#define IS_SANITIZER_BUILD __has_feature(address_sanitizer)
#else
#define IS_SANITIZER_BUILD 0
#endif

static char root[] = "/tmp/tact_plugins_XXXXXX";
/* folder and file of the valid plug-in, and a second folder: root/p, root/p/good.so, root/q */
static char folder[128], file[160], other[160];
static int refused;

/* Copies at most the first `most` bytes of a plug-in, with byte `at` changed unless that is 0. */
static void copy_plugin_with_changed_byte(const char *from, const char *to, long most, long at)
{
    char path[512];
    snprintf(path, sizeof path, PLUGIN_BUILD_FOLDER "%s.so", from);
    FILE *in = fopen(path, "rb"), *out = fopen(to, "wb");
    assert_true(in && out);
    int c;
    for (long n = 0; n < most && (c = getc(in)) != EOF; n++) {
        putc(at && n == at ? c ^ 0x5a : c, out);
    }
    fclose(in);
    fclose(out);
    assert_int_equal(chmod(to, 0644), 0);
}

/* Makes the folder anew, with valid rights and the valid plug-in in it. */
static void make_plugin_folder(void)
{
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s/p' '%s/q'", root, root);
    assert_int_equal(system(command), 0);
    assert_int_equal(mkdir(folder, 0755), 0);
    assert_int_equal(chmod(folder, 0755), 0);
    copy_plugin_with_changed_byte("good", file, 1L << 30, 0);
    unsetenv("TACT_TEST_LOADED");
    unsetenv("TACT_PLUGINS");
}

static struct tact_scene *load_scene_of_device_type(const char *type, struct tact_error *err)
{
    char text[1024];
    struct tact_scene *scene = NULL;
    snprintf(text, sizeof text,
             "name: plugins\nmaterials: [{name: m}]\nmoments: {source: host}\n"
             "bodies: [{name: floor, fixed: true, shapes: [{type: halfspace, material: m}]}]\n"
             "devices:\n  - {name: d, type: %s}\n",
             type);
    tact_scene_parse(text, strlen(text), "plugins.yaml", NULL, &scene, err);
    return scene;
}

/* Opens the plug-ins of a scene with that type: expects one message of one line, with the place in
 * the scene that names the type. */
static void expect_plugin_refused(const char *type, const char *plugin_folder, const char *why)
{
    struct tact_error err = {.line = 0};
    struct tact_plugins *plugins = NULL;
    struct tact_scene *scene = load_scene_of_device_type(type, &err);
    if (!scene) {
        fail_msg("%s: %s", type, err.text);
    }
    const int rc = tact_plugins_open(scene, plugin_folder, &plugins, &err);
    if (rc >= 0 || plugins || !strstr(err.text, why) || strchr(err.text, '\n')) {
        fail_msg("%d, \"%s\": expected \"%s\"", rc, err.text, why);
    }
    refused++;
    tact_scene_free(scene);
}

/* Expects that the device type `good` is not loaded, with one message, and that its code did not
 * run. */
static void expect_plugin_not_loaded(const char *why)
{
    expect_plugin_refused("good", folder, why);
    assert_null(getenv("TACT_TEST_LOADED"));
}

static void valid_device_plugin_is_loaded(void **state)
{
    (void)state;
    static const mode_t modes[] = {0755, 0555, 0700};
    for (size_t i = 0; i < 3; i++) {
        struct tact_error err = {.line = 0};
        struct tact_plugins *plugins;
        size_t count, builtin;
        make_plugin_folder();
        assert_int_equal(chmod(folder, modes[i]), 0);
        struct tact_scene *scene = load_scene_of_device_type("good", &err);
        assert_int_equal(tact_plugins_open(scene, folder, &plugins, &err), 0);
        tact_devices_builtin(&builtin);
        const struct tact_device_type *const *types = tact_plugins_types(plugins, &count);
        assert_int_equal(count, builtin + 1);
        assert_string_equal(types[builtin]->name, "good");
        assert_string_equal(getenv("TACT_TEST_LOADED"), "1");
        tact_plugins_close(plugins);
        tact_scene_free(scene);
    }
}

/* Opens the plug-ins of a scene of one device of each type: expects that each is loaded from its
 * own file. */
static struct tact_plugins *open_plugin_types(const char *const *names, size_t name_count)
{
    struct tact_error err = {.line = 0};
    struct tact_plugins *plugins = NULL;
    size_t count, builtin;
    char list[200] = "";
    for (size_t i = 0; i < name_count; i++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? "}\n  - {name: e, type: " : "",
                 names[i]);
    }
    struct tact_scene *scene = load_scene_of_device_type(list, &err);
    if (!scene || tact_plugins_open(scene, folder, &plugins, &err)) {
        fail_msg("%s: %s", list, err.text);
    }
    tact_devices_builtin(&builtin);
    const struct tact_device_type *const *types = tact_plugins_types(plugins, &count);
    assert_int_equal(count, builtin + name_count);
    for (size_t i = 0; i < name_count; i++) {
        assert_string_equal(types[builtin + i]->name, names[i]);
    }
    tact_scene_free(scene);
    return plugins;
}

static void make_folder_of_valid_plugins(const char *const *names, size_t name_count)
{
    make_plugin_folder();
    for (size_t i = 0; i < name_count; i++) {
        char path[200];
        snprintf(path, sizeof path, "%s/%s.so", folder, names[i]);
        copy_plugin_with_changed_byte(names[i], path, 1L << 30, 0);
    }
}

/* The loader returns a library that it has under the same path: the descriptor of one file is that
 * of the next. */
static void two_device_types_of_one_scene_are_loaded(void **state)
{
    (void)state;
    static const char *const names[] = {"good", "second"}, *const reversed[] = {"second", "good"};
    make_folder_of_valid_plugins(names, 2);
    tact_plugins_close(open_plugin_types(names, 2));
    tact_plugins_close(open_plugin_types(reversed, 2));
}

/* The right files are loaded also where the first handle of a library is closed before the last. */
static void device_types_of_several_handles_are_loaded(void **state)
{
    (void)state;
    static const char *const names[] = {"good", "second", "third"};
    make_folder_of_valid_plugins(names, 3);
    struct tact_plugins *plugins_of_valid_type = open_plugin_types(names, 1);
    struct tact_plugins *second = open_plugin_types(names + 1, 1);
    struct tact_plugins *plugins_opened_again = open_plugin_types(names, 1);
    tact_plugins_close(plugins_of_valid_type);
    struct tact_plugins *reopened_plugins = open_plugin_types(names + 2, 1);
    tact_plugins_close(plugins_opened_again);
    tact_plugins_close(second);
    tact_plugins_close(open_plugin_types(names + 1, 1));
    tact_plugins_close(reopened_plugins);
}

/* The loader unloads some libraries never, as those in C++ with static variables of templates. */
static void device_type_is_loaded_after_one_that_is_never_unloaded(void **state)
{
    (void)state;
    static const char *const names[] = {"kept", "second"};
    make_folder_of_valid_plugins(names, 2);
    tact_plugins_close(open_plugin_types(names, 1));
    tact_plugins_close(open_plugin_types(names + 1, 1));
}

/* A folder that others can write to, or a path that is no folder. */
static void bad_plugin_folders_are_refused(void **state)
{
    (void)state;
    static const mode_t modes[] = {0775, 0757, 0777, 01777, 0720};
    char path[5100];
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        make_plugin_folder();
        assert_int_equal(chmod(folder, modes[i]), 0);
        expect_plugin_not_loaded("can be written by others");
    }
    make_plugin_folder();
    assert_int_equal(symlink(folder, other), 0);
    expect_plugin_refused("good", other, "is a symbolic link");
    snprintf(path, sizeof path, "%s///", other);
    expect_plugin_refused("good", path, "is a symbolic link");
    static const char *const ends[] = {"/.", "/..", "//.//", "/../", "/./."};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(path, sizeof path, "%s%s", other, ends[i]);
        expect_plugin_refused("good", path, "ends in /. or /..");
    }
    snprintf(path, sizeof path, "%s/none", root);
    expect_plugin_refused("good", path, "No such file");
    expect_plugin_refused("good", file, "Not a directory");
    expect_plugin_refused("good", "", "expected a path");
    memset(path, 'a', 5000);
    path[5000] = '\0';
    expect_plugin_refused("good", path, "expected a path");
    assert_int_equal(unlink(other), 0);
    assert_int_equal(mkfifo(other, 0600), 0);
    expect_plugin_refused("good", other, "Not a directory");
    assert_null(getenv("TACT_TEST_LOADED"));
}

/* A named plug-in folder is checked also where no plug-in is needed, as the user named a wrong
 * folder. */
static void explicitly_named_plugin_folder_is_always_checked(void **state)
{
    (void)state;
    make_plugin_folder();
    assert_int_equal(chmod(folder, 0777), 0);
    expect_plugin_refused("operator", folder, "can be written by others");
    expect_plugin_refused("operator", "/nowhere/at/all", "No such file");
}

static void bad_plugin_environment_variable_is_refused(void **state)
{
    (void)state;
    make_plugin_folder();
    setenv("TACT_PLUGINS", "/nowhere/at/all", 1);
    expect_plugin_not_loaded("No such file");
    assert_int_equal(mkdir(other, 0700), 0);
    assert_int_equal(chmod(other, 0777), 0);
    setenv("TACT_PLUGINS", other, 1);
    expect_plugin_not_loaded("can be written by others");
    assert_int_equal(rmdir(other), 0);
    assert_int_equal(symlink(folder, other), 0);
    expect_plugin_not_loaded("is a symbolic link");
}

static void bad_plugin_files_are_refused(void **state)
{
    (void)state;
    static const mode_t modes[] = {0664, 0646, 0666, 0622};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        make_plugin_folder();
        assert_int_equal(chmod(file, modes[i]), 0);
        expect_plugin_not_loaded("can be written by others");
    }
    make_plugin_folder();
    assert_int_equal(unlink(file), 0);
    expect_plugin_not_loaded("no good.so in");
    assert_int_equal(symlink(PLUGIN_BUILD_FOLDER "good.so", file), 0);
    expect_plugin_not_loaded("is a symbolic link");
    assert_int_equal(unlink(file), 0);
    assert_int_equal(symlink("/nowhere/at/all", file), 0);
    expect_plugin_not_loaded("is a symbolic link");
    assert_int_equal(unlink(file), 0);
    assert_int_equal(mkdir(file, 0755), 0);
    expect_plugin_not_loaded("is no file");
    assert_int_equal(rmdir(file), 0);
    assert_int_equal(mkfifo(file, 0600), 0);
    expect_plugin_not_loaded("is no file");
    assert_int_equal(unlink(file), 0);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    strcpy(address.sun_path, file);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    expect_plugin_not_loaded("good.so: ");
    close(fd);
}

static void files_that_are_no_plugin_are_refused(void **state)
{
    (void)state;
    make_plugin_folder();
    copy_plugin_with_changed_byte("good", file, 0, 0);
    expect_plugin_not_loaded("cannot be loaded");
    static const long lengths[] = {30, 64, 70, 700, 4096, 9000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        copy_plugin_with_changed_byte("good", file, lengths[i], 0);
        expect_plugin_not_loaded("cannot be loaded");
    }
    /* changes the processor architecture in the ELF header */
    copy_plugin_with_changed_byte("good", file, 1L << 30, 18);
    expect_plugin_not_loaded("cannot be loaded");
    FILE *text = fopen(file, "w");
    fputs("#!/bin/sh\ntouch /tmp/owned\n", text);
    fclose(text);
    expect_plugin_not_loaded("cannot be loaded");
}

/* A library that is loaded but is no plug-in of this version: its open() is never called. */
static void plugins_with_bad_function_tables_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *why;
    } cases[] = {
        {"size", "with a table of 8 bytes"},
        {"older", "compiled for ABI version"},
        {"newer", "compiled for ABI version"},
        {"symbol", "does not export the symbol tact_plugin"},
        {"type", "has no usable device type"},
        {"type_size", "has no usable device type: expected one of this ABI version"},
        {"type_version", "has no usable device type: expected one of this ABI version"},
        {"no_name", "has no usable device type: expected one of this ABI version with a name"},
        {"no_open", "with a name and open()"},
        {"other", "defines the device type \"another\""},
        {"undefined", "tact_no_such_function"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[200];
        make_plugin_folder();
        snprintf(path, sizeof path, "%s/%s.so", folder, cases[i].name);
        copy_plugin_with_changed_byte(cases[i].name, path, 1L << 30, 0);
        expect_plugin_refused(cases[i].name, folder, cases[i].why);
    }
}

/* A scene can name a device type, but no file or folder of plug-ins. */
static void scenes_cannot_name_a_plugin_file(void **state)
{
    (void)state;
    char absolute_plugin_folder[160];
    make_plugin_folder();
    snprintf(absolute_plugin_folder, sizeof absolute_plugin_folder, "%s/good", folder);
    const char *const names[] = {
        "../p/good", "./good",       "good.so", "p/good", "$TACT_PLUGINS",
        "~/good",    "good\xc3\xa9", "_good",   "7good",  absolute_plugin_folder};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        expect_plugin_refused(names[i], folder, "letters, digits and _");
    }
    static const char *const keys[] = {"good, plugin: /tmp/p", "good, folder: /tmp/p",
                                       "good, library: good.so",
                                       "a23456789012345678901234567890123456789012345678"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct tact_error err = {.line = 0};
        assert_null(load_scene_of_device_type(keys[i], &err));
        assert_int_equal(err.line, 6);
        refused++;
    }
    assert_null(getenv("TACT_TEST_LOADED"));
}

/* A type that is built in is never taken from a file. */
static void plugin_does_not_replace_a_built_in_device_type(void **state)
{
    (void)state;
    struct tact_error err = {.line = 0};
    struct tact_plugins *plugins;
    char path[200];
    size_t count, builtin;
    make_plugin_folder();
    snprintf(path, sizeof path, "%s/operator.so", folder);
    copy_plugin_with_changed_byte("good", path, 1L << 30, 0);
    struct tact_scene *scene = load_scene_of_device_type("operator", &err);
    assert_int_equal(tact_plugins_open(scene, folder, &plugins, &err), 0);
    tact_devices_builtin(&builtin);
    tact_plugins_types(plugins, &count);
    assert_int_equal(count, builtin);
    assert_null(getenv("TACT_TEST_LOADED"));
    tact_plugins_close(plugins);
    tact_scene_free(scene);
}

/* The decision from owner and mode alone; the next test makes files of another user, which only
 * root can. */
static void trust_in_a_plugin_depends_on_owner_and_mode(void **state)
{
    (void)state;
    const uid_t owners[] = {0, 1000, 1001, OTHER_USER_ID};
    for (unsigned mode = 0; mode < 0777; mode++) {
        for (int i = 0; i < 4; i++) {
            struct stat s = {.st_uid = owners[i], .st_mode = S_IFREG | mode};
            assert_int_equal(tact_plugin_is_trusted_file(&s, 1000), i < 2 && !(mode & 022));
        }
    }
}

static void plugin_files_of_other_users_are_refused(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("skipped: only root can make files of others\n");
        skip();
    }
    make_plugin_folder();
    assert_int_equal(chown(folder, OTHER_USER_ID, OTHER_USER_ID), 0);
    expect_plugin_not_loaded("belongs to user 65534");
    assert_int_equal(chmod(folder, 0555), 0);
    expect_plugin_not_loaded("belongs to user 65534");
    setenv("TACT_PLUGINS", folder, 1);
    expect_plugin_refused("good", NULL, "belongs to user 65534");
    make_plugin_folder();
    assert_int_equal(chown(file, OTHER_USER_ID, OTHER_USER_ID), 0);
    expect_plugin_not_loaded("belongs to user 65534");
    assert_int_equal(chmod(file, 0444), 0);
    expect_plugin_not_loaded("belongs to user 65534");
    setenv("TACT_PLUGINS", folder, 1);
    expect_plugin_refused("good", NULL, "belongs to user 65534");
    assert_null(getenv("TACT_TEST_LOADED"));
}

/* --plugins, then $TACT_PLUGINS, then the installed folder; a type that is refused in one is not
 * searched for in the next. */
static void plugin_folders_are_searched_in_order(void **state)
{
    (void)state;
    static const char plugin_folder_as_installed[] = PLUGIN_BUILD_FOLDER "installed";
    char plugin_copy_path[200];
    struct tact_error err = {.line = 0};
    struct tact_plugins *plugins;
    struct tact_scene *scene = load_scene_of_device_type("good", &err);
    make_plugin_folder();
    assert_int_equal(mkdir(other, 0755), 0);
    snprintf(plugin_copy_path, sizeof plugin_copy_path, "%s/good.so", other);
    copy_plugin_with_changed_byte("older", plugin_copy_path, 1L << 30, 0);
    setenv("TACT_PLUGINS", other, 1);
    assert_int_equal(tact_plugins_open(scene, folder, &plugins, &err), 0);
    tact_plugins_close(plugins);
    expect_plugin_refused("good", NULL, "compiled for ABI version");
    assert_int_equal(chmod(file, 0666), 0);
    expect_plugin_refused("good", folder, "can be written by others");
    assert_int_equal(unlink(file), 0);
    expect_plugin_refused("good", folder, "compiled for ABI version");
    unsetenv("TACT_PLUGINS");
    assert_true(!mkdir(plugin_folder_as_installed, 0755) || errno == EEXIST);
    assert_int_equal(chmod(plugin_folder_as_installed, 0755), 0);
    copy_plugin_with_changed_byte("good", PLUGIN_BUILD_FOLDER "installed/good.so", 1L << 30, 0);
    assert_int_equal(tact_plugins_open(scene, folder, &plugins, &err), 0);
    tact_plugins_close(plugins);
    assert_int_equal(chmod(plugin_folder_as_installed, 0777), 0);
    expect_plugin_refused("good", folder, "can be written by others");
    struct tact_scene *scene_of_operator_device = load_scene_of_device_type("operator", &err);
    /* no plug-in folder is opened for built-in types */
    assert_int_equal(tact_plugins_open(scene_of_operator_device, NULL, &plugins, &err), 0);
    tact_plugins_close(plugins);
    tact_scene_free(scene_of_operator_device);
    assert_int_equal(unlink(PLUGIN_BUILD_FOLDER "installed/good.so"), 0);
    assert_int_equal(rmdir(plugin_folder_as_installed), 0);
    expect_plugin_refused("good", NULL, "no good.so in " PLUGIN_BUILD_FOLDER "installed");
    tact_scene_free(scene);
}

/* $TACT_PLUGINS is ignored in a program that runs with the rights of another user. */
static void set_user_id_program_ignores_the_plugin_variable(void **state)
{
    (void)state;
    char self[4096], program[160];
    struct stat s;
    if (IS_SANITIZER_BUILD) {
        print_message("skipped: the leak check does not work in a set-user-id program\n");
        skip();
    }
    make_plugin_folder();
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    snprintf(program, sizeof program, "%s/as_other", root);
    char command[sizeof self + 256];
    snprintf(command, sizeof command, "chmod 755 '%s'; cp '%s' '%s'", root, self, program);
    assert_int_equal(system(command), 0);
    if (geteuid() != 0 || chown(program, OTHER_USER_ID, OTHER_USER_ID) || chmod(program, 04755) ||
        stat(program, &s) || !(s.st_mode & S_ISUID)) {
        print_message("skipped: only root can make a set-user-id program of another user\n");
        skip();
    }
    setenv("TACT_PLUGINS", folder, 1);
    snprintf(command, sizeof command, "'%s' --variable", program);
    const int status = system(command);
    if (WEXITSTATUS(status) == 3) {
        print_message("skipped: the file system ignores set-user-id\n");
        skip();
    }
    if (WEXITSTATUS(status) == 126) {
        print_message("skipped: an emulator runs this program, and nothing its copy\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), ENOENT);
    snprintf(command, sizeof command, "'%s' --variable", self);
    assert_int_equal(WEXITSTATUS(system(command)), 0);
}

/* Run in the set-user-id copy: opens the type by $TACT_PLUGINS; returns the error number, or 3
 * where the copy has no other user's rights. */
static int open_plugin_type_by_variable(const char *path)
{
    struct tact_error err = {.line = 0};
    struct tact_plugins *plugins = NULL;
    if (strstr(path, "as_other") && getuid() == geteuid()) {
        return 3;
    }
    struct tact_scene *scene = load_scene_of_device_type("good", &err);
    const int rc = tact_plugins_open(scene, NULL, &plugins, &err);
    tact_plugins_close(plugins);
    tact_scene_free(scene);
    return -rc;
}

/* The log of a session with a plug-in is replayed without the plug-in. */
static void replay_needs_no_device_plugin(void **state)
{
    (void)state;
    struct tact_session_options options = tact_session_options_default();
    struct tact_session_report report;
    struct tact_replay_report replay_report;
    struct tact_error err = {.line = 0};
    struct tact_plugins *plugins;
    struct tact_session *session;
    char log[160];
    make_plugin_folder();
    snprintf(log, sizeof log, "%s/log.mcap", root);
    struct tact_scene *scene = load_scene_of_device_type("good", &err);
    assert_int_equal(tact_plugins_open(scene, folder, &plugins, &err), 0);
    options.types = tact_plugins_types(plugins, &options.type_count);
    options.clock = TACT_LOOP_FREE;
    options.ticks = 50;
    options.record = log;
    assert_int_equal(tact_session_create(scene, &options, &session, &err), 0);
    assert_int_equal(tact_session_run(session, &report), 0);
    tact_session_destroy(session);
    tact_plugins_close(plugins);
    tact_scene_free(scene);
    make_plugin_folder();
    assert_int_equal(unlink(file), 0);
    setenv("TACT_PLUGINS", "/nowhere/at/all", 1);
    assert_int_equal(tact_replay_run(log, (struct tact_messages){0}, &replay_report, &err), 0);
    assert_int_equal(replay_report.ticks, 50);
    assert_int_equal(replay_report.differing, 0);
    assert_null(getenv("TACT_TEST_LOADED"));
}

/* The tests above count what they have seen refused: files and folders of plug-ins, and values of
 * TACT_PLUGINS. */
static void at_least_40_bad_plugin_cases_were_refused(void **state)
{
    (void)state;
    print_message("%d cases were refused\n", refused);
    assert_true(refused >= 40);
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--variable")) {
        return open_plugin_type_by_variable(argv[0]);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_device_plugin_is_loaded),
        cmocka_unit_test(two_device_types_of_one_scene_are_loaded),
        cmocka_unit_test(device_types_of_several_handles_are_loaded),
        cmocka_unit_test(device_type_is_loaded_after_one_that_is_never_unloaded),
        cmocka_unit_test(bad_plugin_folders_are_refused),
        cmocka_unit_test(explicitly_named_plugin_folder_is_always_checked),
        cmocka_unit_test(bad_plugin_environment_variable_is_refused),
        cmocka_unit_test(bad_plugin_files_are_refused),
        cmocka_unit_test(files_that_are_no_plugin_are_refused),
        cmocka_unit_test(plugins_with_bad_function_tables_are_refused),
        cmocka_unit_test(scenes_cannot_name_a_plugin_file),
        cmocka_unit_test(plugin_does_not_replace_a_built_in_device_type),
        cmocka_unit_test(trust_in_a_plugin_depends_on_owner_and_mode),
        cmocka_unit_test(plugin_files_of_other_users_are_refused),
        cmocka_unit_test(plugin_folders_are_searched_in_order),
        cmocka_unit_test(set_user_id_program_ignores_the_plugin_variable),
        cmocka_unit_test(replay_needs_no_device_plugin),
        cmocka_unit_test(at_least_40_bad_plugin_cases_were_refused),
    };
    if (!mkdtemp(root)) {
        return 77;
    }
    snprintf(folder, sizeof folder, "%s/p", root);
    snprintf(file, sizeof file, "%s/p/good.so", root);
    snprintf(other, sizeof other, "%s/q", root);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command) || failed;
}
