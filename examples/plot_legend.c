/* The legend between the heading of the page and its panels: names in columns, shortened to the
 * width of these. */
#include <stdio.h>
#include "drawing.h"
#include "plot.h"
#include "text.h"

#define FIRST_LEGEND_LABEL_NUMBER 100 /* number of the first label and arrow */
/* left end of the first panel, as a fraction of the page */
#define FIRST_PANEL_LEFT_FRACTION 0.05
#define SECOND_PANEL_LEFT_FRACTION                                                                 \
    0.54                               /* left end of the second panel, as a fraction of the page */
#define LEGEND_COLUMN_WIDTH 0.205      /* between two names */
#define TOP 0.9535                     /* top of the first row, as a fraction of the page */
#define ROW 0.0133                     /* distance between rows of the legend: 20 pixels */
#define MAX_LEGEND_ROWS 6              /* rows that fit above the panels */
#define LEGEND_LINE_SAMPLE_WIDTH 0.018 /* width of the line drawn before a name */
#define LEGEND_NAME_LEFT 0.022         /* left end of a name in its column */
/* widths of a name with its prefix, and of a note [pixels] */
#define MAX_LEGEND_NAME_WIDTH ((LEGEND_COLUMN_WIDTH - LEGEND_NAME_LEFT) * PLOT_PAGE_WIDTH - 4.0)
#define MAX_LEGEND_NOTE_WIDTH 610.0

struct legend_writer {
    FILE *to;
    int used; /* labels */
};

static void write_legend_name(struct legend_writer *l, const char *prefix, const char *name,
                              double most, double x, double y, const char *colour)
{
    char text[MAX_SHOWN_TEXT_BYTES];
    most -= text_width(prefix, PLOT_SMALL_TEXT_SIZE, 0);
    text_shorten_to_width(name, most, PLOT_SMALL_TEXT_SIZE, 0, text, sizeof text);
    fprintf(l->to, "set label %d ", FIRST_LEGEND_LABEL_NUMBER + l->used);
    drawing_print_quoted(l->to, prefix, text);
    fprintf(l->to, " at screen %g, screen down(%g) left font ',11' tc rgb '%s' front\n", x, y,
            colour);
    l->used++;
}

/* Writes the i-th legend entry of a column of panels, two entries per row. */
static void write_legend_entry(struct legend_writer *l, double left, int row, int i,
                               const char *line_style, const char *prefix, const char *name,
                               const char *colour)
{
    int legend_row = row + i / 2;
    double x = left + LEGEND_COLUMN_WIDTH * (i % 2), y = TOP - ROW * legend_row;
    fprintf(
        l->to,
        "set arrow %d from screen %g, screen down(%g) to screen %g, screen down(%g) nohead %s lc "
        "rgb '%s'\n",
        FIRST_LEGEND_LABEL_NUMBER + l->used, x, y, x + LEGEND_LINE_SAMPLE_WIDTH, y, line_style,
        colour);
    write_legend_name(l, prefix, name, MAX_LEGEND_NAME_WIDTH, x + LEGEND_NAME_LEFT, y, "#000000");
}

/* Writes how many objects are not drawn. */
static void write_legend_note(struct legend_writer *l, const struct plot_session *s, double left,
                              int row, int which, const char *what)
{
    char text[128];
    if (s->undrawn_object_counts[which] > 0) {
        snprintf(text, sizeof text, "and %d further %s, not drawn", s->undrawn_object_counts[which],
                 what);
        write_legend_name(l, "", text, MAX_LEGEND_NOTE_WIDTH, left, TOP - ROW * row, "#B00020");
    }
}

/* Objects of one kind that are drawn of each session. */
struct legend_objects_of_kind {
    int first_session_object_count, second_count;
    const char *(*name_of)(const struct plot_session *s, int index);
    int (*colour_of)(const struct plot_session *s, int session, int index);
};

/* Writes the names of what only the second session has, where there is room. Returns the next free
 * row. */
static int write_names_of_second_session(struct legend_writer *l, const struct plot_session *s,
                                         double left, int row,
                                         const struct legend_objects_of_kind *of,
                                         const char *const colours[6])
{
    int used = 0;
    for (int i = 0; i < of->second_count; i++) {
        if (plot_find_in_first_session(s, of->first_session_object_count, 1, i, of->name_of) < 0 &&
            row + used / 2 < MAX_LEGEND_ROWS) {
            write_legend_entry(l, left, row, used++, "lw 1.5 dt (6,4)",
                               "B: ", of->name_of(&s[1], i), colours[of->colour_of(s, 1, i)]);
        }
    }
    return row + (used + 1) / 2;
}

static int get_joint_colour(const struct plot_session *s, int session, int joint)
{
    (void)s;
    (void)session;
    return joint;
}

/* The left column: contacts and bodies in hands. */
static void write_left_legend_names(struct legend_writer *l, const struct plot_session *s,
                                    int count, const char *const colours[6])
{
    const double left = FIRST_PANEL_LEFT_FRACTION;
    for (int i = 0; i < s->pair_count; i++) {
        write_legend_entry(l, left, 0, i, "lw 3", "", plot_pair_name(s, i), colours[i]);
    }
    int row = (s->pair_count + 1) / 2;
    write_legend_note(l, s, left, row, 0, "contacts with less force");
    row += s->undrawn_object_counts[0] > 0;
    for (int i = 0; i < s->hold_count; i++) {
        write_legend_entry(l, left, row, i, "lw 2", "", plot_hold_name(s, i), colours[i]);
    }
    row += (s->hold_count + 1) / 2;
    write_legend_note(l, s, left, row, 3, "bodies in hands");
    row += s->undrawn_object_counts[3] > 0;
    if (count > 1) {
        const struct legend_objects_of_kind pairs = {s->pair_count, s[1].pair_count, plot_pair_name,
                                                     plot_pair_colour},
                                            holds = {s->hold_count, s[1].hold_count, plot_hold_name,
                                                     plot_hold_colour};
        row = write_names_of_second_session(l, s, left, row, &pairs, colours);
        write_names_of_second_session(l, s, left, row, &holds, colours);
    }
}

/* The right column: joints and bodies. */
static void write_right_legend_names(struct legend_writer *l, const struct plot_session *s,
                                     int count, const char *const colours[6])
{
    const double left = SECOND_PANEL_LEFT_FRACTION;
    for (int i = 0; i < s->joint_count; i++) {
        write_legend_entry(l, left, 0, i, "lw 2", "", plot_joint_name(s, i), colours[i]);
    }
    int row = (s->joint_count + 1) / 2;
    for (int a = 0; a < count; a++) {
        for (int i = 0; i < s[a].body_count; i++) {
            write_legend_entry(l, left, row, i, a ? "lw 1" : "lw 2",
                               a           ? "B: "
                               : count > 1 ? "A: "
                                           : "",
                               s[a].scene_log.bodies[s[a].body[i]].name, colours[(i + 2 * a) % 6]);
        }
        row += (s[a].body_count + 1) / 2;
    }
    if (count > 1) {
        const struct legend_objects_of_kind joints = {s->joint_count, s[1].joint_count,
                                                      plot_joint_name, get_joint_colour};
        row = write_names_of_second_session(l, s, left, row, &joints, colours);
    }
    char text[160] = "";
    if (s->undrawn_object_counts[1] > 0 && s->undrawn_object_counts[2] > 0) {
        snprintf(text, sizeof text, "and %d further joints and %d further bodies, not drawn",
                 s->undrawn_object_counts[1], s->undrawn_object_counts[2]);
        write_legend_name(l, "", text, MAX_LEGEND_NOTE_WIDTH, left, TOP - ROW * row, "#B00020");
    } else {
        write_legend_note(l, s, left, row, 1, "joints that move less");
        write_legend_note(l, s, left, row, 2, "bodies");
    }
}

void plot_legend(FILE *to, const struct plot_session *s, int count, const char *const colours[6])
{
    struct legend_writer l = {to, 0};
    write_left_legend_names(&l, s, count, colours);
    write_right_legend_names(&l, s, count, colours);
}

void plot_legend_remove_labels(FILE *to)
{
    fprintf(to, "unset for [i=%d:%d] label i; unset for [i=%d:%d] arrow i\n",
            FIRST_LEGEND_LABEL_NUMBER, FIRST_LEGEND_LABEL_NUMBER + 49, FIRST_LEGEND_LABEL_NUMBER,
            FIRST_LEGEND_LABEL_NUMBER + 49);
}
