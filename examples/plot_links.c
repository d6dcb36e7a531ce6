/* The ties to another site and the link that carries them: forces at one or both ends, delay, what
 * the link lost, and energy. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "drawing.h"
#include "plot.h"
#include "text.h"

/* maximum width of the names of a tie at both ends in a key, which has two ties in a row [pixels]
 */
#define MAX_TIE_NAME_WIDTH 240.0

/* rate of a joint from which on a force against its motion is drawn [m/s, rad/s] */
static const double min_joint_rate_for_drag = 1e-3;

/* Inputs of the device that are drawn, each in the column of its number, and the factor of each. */
static const struct link_input_offsets {
    const char *name;
    int column;
    double scale;
} link_inputs[] = {
    {"one_way", LINK_ONE_WAY_DELAY, 1e3},     {"round_trip", LINK_ROUND_TRIP_TIME, 1e3},
    {"playout_fill", LINK_PLAYOUT_FILL, 1e3}, {"lost", LINK_LOST_PACKETS, 1.0},
    {"late", LINK_LATE_PACKETS, 1.0},         {"missing", LINK_MISSING_WAVES, 1.0},
    {"channel_energy", LINK_ENERGY, 1e3},     {"least_energy", LINK_LEAST_ENERGY, 1e3},
};

/* Offset of the rate of a joint of a hand; 0: it is not in the log. */
static uint32_t find_offset_of_joint_velocity(const struct tact_scene_log *v, const char *name)
{
    for (int i = 0; i < v->joint_count; i++) {
        if (!strcmp(v->joints[i].name, name)) {
            return v->joints[i].velocity;
        }
    }
    return 0;
}

void plot_choose_ties(struct plot_session *s)
{
    struct tact_scene_log_remote tie_in_log;
    for (uint32_t i = 0; !tact_scene_log_remote(&s->scene_log, i, &tie_in_log); i++) {
        const struct tact_scene_remote *def = &s->scene_log.scene->remotes[i];
        if (s->tie_count == PLOT_MAX_TIES ||
            (s->tie_count > 0 && tie_in_log.device != s->tie[0].log.device)) {
            s->undrawn_tie_count++;
            continue;
        }
        const int is_person_end_of_tie = def->stiffness == 0.0,
                  has_waves = !strcmp(def->mode, "waves");
        s->tie[s->tie_count].log = tie_in_log;
        s->tie[s->tie_count].axis = def->axis;
        s->tie[s->tie_count].is_person_end = is_person_end_of_tie;
        s->tie[s->tie_count].velocity =
            find_offset_of_joint_velocity(&s->scene_log, tie_in_log.name);
        s->tie[s->tie_count++].tank = has_waves && !is_person_end_of_tie ? def->tank : 0.0;
    }
    if (s->tie_count == 0) {
        return;
    }
    const struct tact_device_info *device = &s->scene_log.devices[s->tie[0].log.device];
    s->link_state_offset = s->scene_log.device_inputs[s->tie[0].log.device];
    for (int k = 0; k < device->input_count; k++) {
        for (size_t i = 0; i < sizeof link_inputs / sizeof *link_inputs; i++) {
            if (!strcmp(device->input[k].name, link_inputs[i].name)) {
                s->link_input_offsets[link_inputs[i].column] =
                    s->link_state_offset + 2 + (uint32_t)k;
            }
        }
    }
}

/* Force of a tie against the motion of the person's joint, or with that of the robot's. */
static double get_tie_drag(const struct plot_session *s, int tie, const double *v)
{
    const double rate = s->tie[tie].velocity ? v[s->tie[tie].velocity] : 0.0,
                 force = v[s->tie[tie].log.force];
    return fabs(rate) < min_joint_rate_for_drag         ? NAN
           : (rate > 0.0) == !s->tie[tie].is_person_end ? force
                                                        : -force;
}

void plot_fill_tie_columns(const struct plot_session *s, const double *v, double *out)
{
    for (int i = 0; i < s->tie_count; i++) {
        double *tie = out + plot_tie_column(s, i, 0);
        tie[TIE_FORCE] = v[s->tie[i].log.force];
        tie[TIE_DRAG] = get_tie_drag(s, i, v);
        tie[TIE_CORRECTION_ENERGY] = s->tie[i].tank > 0.0 ? 1e3 * v[s->tie[i].log.tank] : NAN;
    }
    if (s->tie_count == 0) {
        return;
    }
    const int is_link_silent = v[s->link_state_offset] != TACT_DEVICE_OK;
    double *link = out + plot_link_column(s, 0);
    for (size_t i = 0; i < sizeof link_inputs / sizeof *link_inputs; i++) {
        const int column = link_inputs[i].column;
        link[column] = s->link_input_offsets[column]
                           ? link_inputs[i].scale * v[s->link_input_offsets[column]]
                           : NAN;
    }
    link[LINK_ONE_WAY_DELAY] =
        link[LINK_ONE_WAY_DELAY] > 0.0 ? link[LINK_ONE_WAY_DELAY] : NAN; /* else not known */
    link[LINK_ROUND_TRIP_TIME] =
        link[LINK_ROUND_TRIP_TIME] > 0.0 ? link[LINK_ROUND_TRIP_TIME] : NAN;
    link[LINK_PLAYOUT_FILL] = is_link_silent ? NAN : link[LINK_PLAYOUT_FILL];
    link[LINK_IS_SILENT] = is_link_silent ? 0.0 : NAN;
}

/* Index of the tie of the first session with the same axis of the link, or -1. */
static int find_tie_in_first_session(const struct plot_session *s, int session, int tie)
{
    for (int i = 0; i < s->tie_count; i++) {
        if (s->tie[i].axis == s[session].tie[tie].axis) {
            return i;
        }
    }
    return -1;
}

static const char *get_tie_colour(const struct plot_session *s, int session, int tie,
                                  const char *const colours[6])
{
    const int first = s->tie_count > 0 ? find_tie_in_first_session(s, session, tie) : tie;
    return colours[first < 0 ? PLOT_COLOUR_OF_UNMATCHED_OBJECTS : first];
}

/* Index of the session whose forces are drawn with the other sign, so that those of the two ends of
 * a link are over each other: that of the person, or the second one; -1: none. */
static int find_negated_session(const struct plot_session *s, int count)
{
    return count < 2 || !s[1].is_other_end_of_link       ? -1
           : s->tie_count > 0 && s->tie[0].is_person_end ? 0
                                                         : 1;
}

/* Begins the next curve of a plot command; the curves of a second session are dashed. */
static void begin_plot_curve(FILE *to, int *curve_count, int session, int column, int sign,
                             const char *options)
{
    fprintf(to, "%s$%c u 1:(%s$%d) %s w l dt %s lw %g ", (*curve_count)++ ? ", \\\n  " : "plot ",
            'A' + session, sign < 0 ? "-" : "", column + 2, options, session ? "(6,4)" : "1",
            session ? 1.5 : 2.0);
}

/* The names of a tie at the end of each session. */
static void print_tie_name(FILE *to, const struct plot_session *s, int count, int session, int tie)
{
    char first[MAX_SHOWN_TEXT_BYTES] = "", second[MAX_SHOWN_TEXT_BYTES] = "",
         both[2 * MAX_SHOWN_TEXT_BYTES + 2];
    int other = -1;
    for (int i = 0; session == 0 && count > 1 && i < s[1].tie_count; i++) {
        other = find_tie_in_first_session(s, 1, i) == tie ? i : other;
    }
    const char *name = s[session].tie[tie].log.name,
               *other_name = other < 0 ? name : s[1].tie[other].log.name;
    const int has_tie_two_names = strcmp(name, other_name) != 0;
    const double width = has_tie_two_names ? 0.5 * MAX_TIE_NAME_WIDTH : MAX_TIE_NAME_WIDTH;
    text_shorten_to_width(name, width, PLOT_SMALL_TEXT_SIZE, 0, first, sizeof first);
    if (has_tie_two_names) {
        text_shorten_to_width(other_name, width, PLOT_SMALL_TEXT_SIZE, 0, second, sizeof second);
    }
    snprintf(both, sizeof both, "%s%s%s", first, has_tie_two_names ? ", " : "", second);
    drawing_print_quoted(to, "", both);
}

static void draw_tie_forces(FILE *to, const struct plot_session *s, int count,
                            const char *const colours[6])
{
    const int negated_session_index = find_negated_session(s, count);
    int curve_count = 0;
    for (int a = 0; a < count; a++) {
        for (int i = 0; i < s[a].tie_count; i++) {
            begin_plot_curve(to, &curve_count, a, plot_tie_column(&s[a], i, TIE_FORCE),
                             a == negated_session_index ? -1 : 1, "");
            fprintf(to, "lc rgb '%s' ", get_tie_colour(s, a, i, colours));
            if (a == 0 || find_tie_in_first_session(s, a, i) < 0) {
                fputs("t ", to);
                print_tie_name(to, s, count, a, i);
            } else {
                fputs("notitle", to);
            }
            fprintf(to, ", \\\n  $%c u 1:%d w l dt 3 lw 1.2 lc rgb '%s' notitle", 'A' + a,
                    plot_tie_column(&s[a], i, TIE_DRAG) + 2, get_tie_colour(s, a, i, colours));
        }
    }
    fputs("\n", to);
}

/* Draws columns of the link of each session, in one colour each, with their names. */
static void draw_link_curves(FILE *to, const struct plot_session *s, int count, const int *which,
                             const char *const names[3], int plotted_column_count)
{
    static const char *const colours[] = {"#0072B2", "#D55E00", "#009E73"};
    int curve_count = 0;
    for (int a = 0; a < count; a++) {
        for (int i = 0; i < plotted_column_count && s[a].tie_count > 0; i++) {
            begin_plot_curve(to, &curve_count, a, plot_link_column(&s[a], which[i]), 1, "");
            fprintf(to, "lc rgb '%s' ", colours[i]);
            if (a == 0 || s->tie_count == 0) {
                fprintf(to, "t '%s'", names[i]);
            } else {
                fputs("notitle", to);
            }
        }
    }
}

static void draw_times_of_silent_link(FILE *to, const struct plot_session *s, int count)
{
    for (int a = 0; a < count; a++) {
        if (s[a].tie_count > 0) {
            fprintf(to, ", \\\n  $%c u 1:%d w p pt 7 ps 0.5 lc rgb '#D00000' notitle", 'A' + a,
                    plot_link_column(&s[a], LINK_IS_SILENT) + 2);
        }
    }
    fputs("\n", to);
}

/* Energy of the channel at each end, its smallest value so far, and on the right axis the energy
 * that is left in the tanks. */
static void draw_link_energy(FILE *to, const struct plot_session *s, int count,
                             const char *const colours[6])
{
    int curve_count = 0;
    for (int a = 0; a < count; a++) {
        if (s[a].tie_count == 0) {
            continue;
        }
        begin_plot_curve(to, &curve_count, a, plot_link_column(&s[a], LINK_ENERGY), 1, "");
        fprintf(to, "lc rgb '#404040' t '%s'", a == 0 || s->tie_count == 0 ? "channel" : "");
        fprintf(to, ", \\\n  $%c u 1:%d w l dt 3 lw 1.2 lc rgb '#404040' t '%s'", 'A' + a,
                plot_link_column(&s[a], LINK_LEAST_ENERGY) + 2,
                a == 0 || s->tie_count == 0 ? "its least" : "");
        for (int i = 0; i < s[a].tie_count; i++) {
            if (s[a].tie[i].tank > 0.0) {
                begin_plot_curve(to, &curve_count, a,
                                 plot_tie_column(&s[a], i, TIE_CORRECTION_ENERGY), 1, "axes x1y2");
                fprintf(to, "lc rgb '%s' notitle", get_tie_colour(s, a, i, colours));
            }
        }
    }
    fputs("\n", to);
}

/* Energy in the largest tank [mJ]; 0: there is none. */
static double get_largest_correction_energy(const struct plot_session *s, int count)
{
    double largest = 0.0;
    for (int a = 0; a < count; a++) {
        for (int i = 0; i < s[a].tie_count; i++) {
            largest = fmax(largest, 1e3 * s[a].tie[i].tank);
        }
    }
    return largest;
}

/* The round trip that is measured with the first packets may be far above the later ones. */
static void write_axis_range_of_delays(FILE *to, const struct plot_session *s, int count)
{
    static double value[2 * PLOT_MAX_TIME_INTERVALS];
    size_t used = 0;
    for (int a = 0; a < count; a++) {
        for (int i = 0; i < PLOT_MAX_TIME_INTERVALS && s[a].tie_count > 0; i++) {
            const struct plot_time_interval *b = &s[a].values_by_time_interval[i];
            const double largest = fmax(b->high[plot_link_column(&s[a], LINK_ROUND_TRIP_TIME)],
                                        b->high[plot_link_column(&s[a], LINK_ONE_WAY_DELAY)]);
            if (b->used && largest > 0.0) {
                value[used++] = largest;
            }
        }
    }
    plot_write_robust_axis_range(to, value, used, 1.15, 0, 0.0);
}

/* Titles of the panel of forces, by the session that is negated and the units of its ties. */
static const char *get_tie_force_panel_title(const struct plot_session *s, int count)
{
    static const char *const titles[3][3] = {
        {"Force of ties [N], dotted: drag", "Force of ties [N], dotted: drag; A negated",
         "Force of ties [N], dotted: drag; B negated"},
        {"Force of ties [N m], dotted: drag", "Force of ties [N m], dotted: drag; A negated",
         "Force of ties [N m], dotted: drag; B negated"},
        {"Force of ties [N, N m], dotted: drag", "Force of ties [N, N m], dotted: drag; A negated",
         "Force of ties [N, N m], dotted: drag; B negated"}};
    int slides = 0, turns = 0;
    for (int a = 0; a < count; a++) {
        for (int i = 0; i < s[a].tie_count; i++) {
            slides |= s[a].tie[i].log.slides;
            turns |= !s[a].tie[i].log.slides;
        }
    }
    return titles[slides && turns ? 2 : turns][1 + find_negated_session(s, count)];
}

void plot_links(FILE *to, const struct plot_session *s, int count, int row,
                const char *const colours[6],
                void (*frame)(FILE *to, int column, int row, const char *title))
{
    const int left_out = s[0].undrawn_tie_count + (count > 1 ? s[1].undrawn_tie_count : 0);
    const int key_row_count = (s[s->tie_count == 0].tie_count + 1) / 2;
    frame(to, 0, row, get_tie_force_panel_title(s, count));
    fprintf(to, PLOT_KEY_ABOVE_CURVES, key_row_count, 0.1 + 0.1 * key_row_count);
    if (left_out > 0) {
        fprintf(to,
                "set label 81 'and %d ties of further links, not drawn' at graph 1, graph 1.085 "
                "right tc rgb '#B00020' font ',11'\n",
                left_out);
    }
    draw_tie_forces(to, s, count, colours);
    frame(to, 1, row, "Delay of the link [ms]; red: nothing arrives");
    fprintf(to, PLOT_KEY_ABOVE_CURVES, 1, 0.0);
    write_axis_range_of_delays(to, s, count);
    draw_link_curves(to, s, count,
                     (const int[]){LINK_ONE_WAY_DELAY, LINK_ROUND_TRIP_TIME, LINK_PLAYOUT_FILL},
                     (const char *const[]){"one way", "round trip and playout", "playout fill"}, 3);
    draw_times_of_silent_link(to, s, count);
    frame(to, 0, row + 1, "Packets and waves lost so far");
    fprintf(to, PLOT_KEY_ABOVE_CURVES, 1, 0.2);
    fputs("set yrange [0:1<*]\n", to);
    draw_link_curves(to, s, count,
                     (const int[]){LINK_LOST_PACKETS, LINK_LATE_PACKETS, LINK_MISSING_WAVES},
                     (const char *const[]){"lost packets", "late packets", "missing waves"}, 3);
    fputs("\n", to);
    const double largest_correction_energy = get_largest_correction_energy(s, count);
    frame(to, 1, row + 1,
          largest_correction_energy > 0.0 ? "Energy of the channel, right: left in tanks [mJ]"
                                          : "Energy of the channel [mJ]");
    fprintf(to, PLOT_KEY_ABOVE_CURVES, 1, 0.2);
    fputs("set yrange [*<0:0.001<*]\n", to);
    if (largest_correction_energy > 0.0) {
        fprintf(to, "set ytics nomirror; set y2tics font ',12'; set y2range [0:%g]\n",
                1.3 * largest_correction_energy);
    }
    draw_link_energy(to, s, count, colours);
    fputs("set offsets 0, 0, 0, 0; unset y2tics\n", to);
}
