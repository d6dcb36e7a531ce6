/* tact picture: moments of a session as a strip of pictures. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "contact/vec.h"
#include "drawing.h"
#include "log_seek.h"
#include "picture.h"
#include "text.h"
#include "words.h"

#define EXIT_DAMAGED_LOG 3

static const char help[] =
    "usage: tact picture FILE [OPTION]...\n\n"
    "Draws moments of a log side by side: the solids, the patch of each contact, coloured by its\n"
    "pressure where its model computes one, the force on what moves from the centre of pressure "
    "in\n"
    "red, the torsion about the normal in purple; with a scale bar and what the symbols mean.\n\n"
    "  -o, --output OUT     OUT.png, .svg or .pdf; default: FILE with .png for its ending\n"
    "  --time T,T,...       the moments [s], 1 to 12; default: four from the start to the end\n"
    "  --camera A,E         where it is seen from: azimuth from +x to +y, elevation [deg];\n"
    "                       default: -60,25\n"
    "  --look X,Y,Z,WIDTH   what is seen: the middle, and how wide [m]; default: all that moves\n"
    "  --size W,H           of a frame [pixels], at least 64,48; default: 300,260\n"
    "  --columns N          frames side by side; default: 4\n"
    "  --force              replace OUT where it exists\n"
    "  --help               this text\n\n"
    "Needs the program gnuplot (Debian: gnuplot-nox), but no display. The forces of a moment are\n"
    "computed again from the scene in the log.\n\n"
    "exit codes:\n"
    "  0  drawn\n"
    "  1  gnuplot is missing or failed, memory was short, or OUT cannot be written: then it is\n"
    "     not there\n"
    "  2  bad usage, a file that is no log of tact or cannot be read, or OUT exists\n"
    "  3  the log is damaged or cut: what is left of it was drawn\n\n"
    "example:\n"
    "  tact sim examples/scenes/coin.yaml --record coin.mcap\n"
    "  tact picture coin.mcap --time 0.05,0.3,0.6,1.2 -o coin.png\n";

struct picture_strip {
    const char *command, *path, *out;
    int force;
    struct picture_options options;
    struct tact_log *log;
    struct tact_scene_log scene_log;
    struct picture_scene scenes[PICTURE_MAX_FRAMES];
    struct picture_camera camera;
    struct picture_page page;
    double lower[3], upper[3];
};

/* Parses numbers separated by commas: returns their count, or -1 on an invalid one or too many. */
static int parse_number_list(const char *text, double *out, int most)
{
    char number_list_copy[256], *next = number_list_copy, *one;
    int count = 0;
    snprintf(number_list_copy, sizeof number_list_copy, "%s", text);
    while ((one = strsep(&next, ","))) {
        if (count == most || parse_finite_number(one, &out[count++])) {
            return -1;
        }
    }
    return count;
}

static int set_picture_option(struct picture_strip *s, int option, const char *text)
{
    struct picture_options *o = &s->options;
    double v[PICTURE_MAX_FRAMES];
    int count = option == 'o' ? 0 : parse_number_list(text, v, PICTURE_MAX_FRAMES),
        is_option_valid = 1;
    if (option == 'o') {
        s->out = text;
    } else if (option == 't') {
        is_option_valid = count > 0;
        o->frame_count = is_option_valid ? count : 0;
        memcpy(o->time, v, sizeof v);
    } else if (option == 'c') {
        is_option_valid = count == 2 && fabs(v[1]) < 89.0;
        o->azimuth = v[0];
        o->elevation = v[1];
    } else if (option == 'l') {
        is_option_valid = count == 4 && v[3] > 0.0;
        tact_v3_copy(o->middle, v);
        o->view_width = v[3];
    } else if (option == 's') {
        is_option_valid = count == 2 && v[0] >= 64 && v[0] <= 2000 && v[1] >= 48 && v[1] <= 2000;
        o->width = is_option_valid ? (int)v[0] : 0;
        o->height = is_option_valid ? (int)v[1] : 0;
    } else {
        is_option_valid = count == 1 && v[0] >= 1 && v[0] <= PICTURE_MAX_FRAMES;
        o->columns = is_option_valid ? (int)v[0] : 1;
    }
    return is_option_valid ? 0
                           : command_print_usage_error(
                                 s->command, "\"%s\" is not a valid value of this option", text);
}

/* Chooses the ticks of the requested times, by default four from the first tick to the last. */
static int choose_picture_ticks(struct picture_strip *s)
{
    struct picture_options *o = &s->options;
    const struct tact_log_state *state = tact_log_state(s->log);
    double period = s->scene_log.scene->period, last = (double)state->last_tick * period;
    for (int i = 0; !o->frame_count && i < 4; i++) {
        o->time[i] = last * i / 3.0;
    }
    o->frame_count = o->frame_count ? o->frame_count : 4;
    for (int i = 0; i < o->frame_count; i++) {
        if (!(o->time[i] >= 0.0 && o->time[i] < last + 1.5 * period)) {
            return command_print_usage_error(s->command, "--time %g: the log ends at %g s",
                                             o->time[i], last);
        }
    }
    o->columns = o->columns ? o->columns : 4;
    o->columns = o->columns < o->frame_count ? o->columns : o->frame_count;
    return 0;
}

/* Reads the records of a moment and the tick before it. The first tick has no predecessor and
 * cannot be recomputed: the second is used in its place. */
static int gather_frame_records(struct picture_strip *s, struct tact_record *record[2], int frame)
{
    const double tick = round(s->options.time[frame] / s->scene_log.scene->period);
    uint64_t index = 0;
    int rc = log_find_record(s->log, (uint64_t)tick, &index);
    rc = rc ? rc : tact_log_seek(s->log, index > 1 ? index - 1 : 0);
    for (int i = 0; !rc && i < 2; i++) {
        rc = tact_log_next(s->log, record[i]) == 1 ? 0 : -EIO;
    }
    if (!rc) {
        picture_gather_scene(&s->scene_log, record[0], record[1], &s->scenes[frame]);
    }
    return rc;
}

static void extend_scale_by_scene_maxima(const struct picture_scene *scene,
                                         struct picture_mark_scale *scale)
{
    for (int k = 0; k < scene->contact_count; k++) {
        const struct picture_contact *c = &scene->contacts[k];
        scale->force = fmax(scale->force, tact_v3_norm(c->force));
        scale->torsion = fmax(scale->torsion, tact_v3_norm(c->torsion));
        if (c->map >= 0) {
            scale->pressure = fmax(scale->pressure, (double)scene->pressure->patch[c->map].peak);
        }
    }
}

static int gather_all_frames(struct picture_strip *s)
{
    size_t bytes = tact_layout_bytes(tact_log_layout(s->log));
    struct tact_record *record[2] = {malloc(bytes), malloc(bytes)};
    int rc = record[0] && record[1] ? 0 : -ENOMEM, count = s->options.frame_count;
    for (int i = 0; !rc && i < count; i++) {
        rc = gather_frame_records(s, record, i);
        if (!rc) {
            extend_scale_by_scene_maxima(&s->scenes[i], &s->page.scale);
        }
    }
    picture_aim_camera(&s->options, s->scenes, count, &s->camera, s->lower, s->upper);
    if (s->page.scale.torsion < 1e-4 * s->page.scale.force * s->camera.width) {
        s->page.scale.torsion = 0.0; /* negligible compared with the forces */
    }
    for (int i = 0; !rc && i < count; i++) {
        picture_add_planes(&s->scene_log, &s->camera, s->lower, s->upper, &s->scenes[i]);
        rc = s->scenes[i].failed ? -ENOMEM : 0;
    }
    free(record[0]);
    free(record[1]);
    return rc;
}

static int draw_all_frames(struct picture_strip *s)
{
    struct picture_page *page = &s->page;
    page->name = s->scene_log.scene->name ? s->scene_log.scene->name : "";
    page->options = &s->options;
    page->scenes = s->scenes;
    page->camera = &s->camera;
    picture_set_page_size(page);
    size_t bytes = 3 * (size_t)page->image.width * (size_t)page->image.height;
    page->image.rgb = malloc(bytes);
    int rc = page->image.rgb ? 0 : -ENOMEM;
    if (!rc) {
        memset(page->image.rgb, 255, bytes);
    }
    for (int i = 0; !rc && i < s->options.frame_count; i++) {
        int x, y;
        picture_find_frame_corner(page, i, &x, &y);
        rc = picture_draw_frame(&s->scenes[i], &s->camera, &s->options, &page->scale, &page->image,
                                x, y);
    }
    return rc;
}

static int write_picture_file(const struct picture_strip *s)
{
    struct drawing drawing;
    int code = drawing_open(&drawing, s->command, s->out, s->force);
    if (code) {
        return code;
    }
    picture_write_gnuplot_script(drawing.to, &s->page, drawing.terminal);
    return drawing_close(&drawing);
}

static int make_picture_strip(struct picture_strip *s)
{
    struct tact_error err = {.line = 0};
    int quiet = 1;
    if (tact_log_open(s->path, &s->log, &err) ||
        tact_scene_log_open(s->log, (struct tact_messages){command_print_message, &quiet},
                            &s->scene_log, &err)) {
        return command_print_error(&err);
    }
    if (tact_log_state(s->log)->ticks < 2) {
        fprintf(stderr, "%s: %s: the log has fewer than two ticks\n", s->command,
                text_make_printable(s->path));
        return EXIT_USAGE;
    }
    int code = choose_picture_ticks(s);
    if (code) {
        return code;
    }
    int rc = gather_all_frames(s);
    rc = rc ? rc : draw_all_frames(s);
    if (rc) {
        fprintf(stderr, "%s: %s: %s\n", s->command, text_make_printable(s->path), strerror(-rc));
        return EXIT_BAD;
    }
    code = write_picture_file(s);
    return code || tact_log_state(s->log)->complete ? code : EXIT_DAMAGED_LOG;
}

int cmd_picture(int argc, char **argv)
{
    static const struct option long_options[] = {{"output", required_argument, NULL, 'o'},
                                                 {"time", required_argument, NULL, 't'},
                                                 {"camera", required_argument, NULL, 'c'},
                                                 {"look", required_argument, NULL, 'l'},
                                                 {"size", required_argument, NULL, 's'},
                                                 {"columns", required_argument, NULL, 'n'},
                                                 {"force", no_argument, NULL, 'F'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    static struct picture_strip s;
    char default_picture_path[4096];
    int c, code = 0;
    s = (struct picture_strip){
        .command = argv[0],
        .options = {.width = 300, .height = 260, .azimuth = -60, .elevation = 25}};
    while (!code && (c = getopt_long(argc, argv, "ho:", long_options, NULL)) != -1) {
        if (c == 'h') {
            fputs(help, stdout);
            return EXIT_GOOD;
        }
        s.force |= c == 'F';
        code = c == '?' ? EXIT_USAGE : (c == 'F' ? 0 : set_picture_option(&s, c, optarg));
    }
    if (!code && argc - optind != 1) {
        code = command_print_usage_error(s.command, "one log is expected, not %d", argc - optind);
    }
    if (!code) {
        s.path = argv[optind];
        const char *dot = strrchr(s.path, '.');
        int file_name_length_without_suffix =
            dot && !strchr(dot, '/') ? (int)(dot - s.path) : (int)strlen(s.path);
        snprintf(default_picture_path, sizeof default_picture_path, "%.*s.png",
                 file_name_length_without_suffix, s.path);
        s.out = s.out ? s.out : default_picture_path;
        if (!text_ends_with(s.out, ".png") && !text_ends_with(s.out, ".svg") &&
            !text_ends_with(s.out, ".pdf")) {
            code = command_print_usage_error(
                s.command, "-o %s: .png, .svg or .pdf is expected at its end", s.out);
        }
        code = code ? code : is_output_allowed(s.command, s.out, s.force, &s.path, 1);
        code = code ? code : make_picture_strip(&s);
    }
    tact_log_close(s.log);
    tact_scene_log_close(&s.scene_log);
    for (int i = 0; i < PICTURE_MAX_FRAMES; i++) {
        picture_free(&s.scenes[i]);
    }
    free(s.page.image.rgb);
    return code;
}
