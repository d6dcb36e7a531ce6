/* The page of tact picture: frames with their captions, and a legend of the symbols. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "contact/vec.h"
#include "drawing.h"
#include "picture.h"
#include "text.h"

#define GAP 4                    /* pixels between frames */
#define TITLE_HEIGHT_PIXELS 24   /* height above the frames, for the title [pixels] */
#define CAPTION_HEIGHT_PIXELS 20 /* height below each row of frames, for the captions [pixels] */
#define ROW 20                   /* height of a row of the legend [pixels] */
#define PAGE_TEXT_SIZE 13.4      /* the largest size of text in the formats [pixels] */
#define PAGE_TITLE_SIZE 16.0     /* the largest size of the title in the formats [pixels] */
#define MIN_PAGE_WIDTH_PIXELS                                                                      \
    260 /* minimum width of a page, for the longest entry of the legend [pixels] */
#define LEGEND_ENTRY_SPACING_PIXELS 20 /* pixels between entries */

enum legend_symbol { PATCH, PRESSURE, CENTRE, FORCE, TORSION, BAR, SYMBOLS };

/* An entry of the legend. */
struct legend_entry {
    enum legend_symbol legend_symbol;
    double width; /* width of the symbol [pixels] */
    char text[48];
    int x, y; /* position of its left end and vertical middle [pixels] */
};

struct picture_legend {
    struct legend_entry entry[SYMBOLS];
    int count, rows;
};

static void add_legend_symbol(struct picture_legend *l, enum legend_symbol legend_symbol,
                              double width, const char *text)
{
    struct legend_entry *e = &l->entry[l->count++];
    e->legend_symbol = legend_symbol;
    e->width = width;
    snprintf(e->text, sizeof e->text, "%s", text);
}

static void format_pressure(double pressure, char *out, size_t room)
{
    double scale = pressure >= 999.5e3 ? 1e-6 : pressure >= 999.5 ? 1e-3 : 1.0;
    snprintf(out, room, "%.3g %s", scale * pressure,
             scale < 1e-5  ? "MPa"
             : scale < 0.1 ? "kPa"
                           : "Pa");
}

static int is_grid_drawn(const struct picture_page *p)
{
    for (size_t i = 0; i < p->scenes->triangle_count; i++) {
        if (p->scenes->triangles[i].surface_pattern == PATTERN_GRID) {
            return 1;
        }
    }
    return 0;
}

/* Adds a scale bar to the legend: one spacing of the planes' grid. */
static void add_scale_bar(struct picture_legend *l, const struct picture_page *p)
{
    double length = picture_choose_grid_spacing(p->camera->width);
    double scale = length < 1e-3 ? 1e6 : length < 1.0 ? 1e3 : 1.0;
    char text[48];
    snprintf(text, sizeof text, "%g %s%s", scale * length,
             scale > 1e4   ? "µm"
             : scale > 1.0 ? "mm"
                           : "m",
             is_grid_drawn(p) ? ", as the grid" : "");
    add_legend_symbol(l, BAR, length / p->camera->width * p->options->width, text);
}

static void make_picture_legend(const struct picture_page *p, struct picture_legend *l)
{
    char text[48], most[24];
    *l = (struct picture_legend){.count = 0};
    add_legend_symbol(l, PATCH, 16.0, "contact patch");
    if (p->scale.pressure > 0.0) {
        format_pressure(p->scale.pressure, most, sizeof most);
        snprintf(text, sizeof text, "pressure, 0 to %s", most);
        add_legend_symbol(l, PRESSURE, 60.0, text);
    }
    add_legend_symbol(l, CENTRE, 8.0, "centre of pressure");
    snprintf(text, sizeof text, "force, longest %.3g N", p->scale.force);
    add_legend_symbol(l, FORCE, 30.0, text);
    if (p->scale.torsion > 0.0) {
        snprintf(text, sizeof text, "torsion, longest %.3g mN m", 1e3 * p->scale.torsion);
        add_legend_symbol(l, TORSION, 30.0, text);
    }
    add_scale_bar(l, p);
}

/* Places the legend's entries side by side, and in another row where there is no room. */
static void place_legend_entries(struct picture_legend *l, int width)
{
    int x = 4;
    l->rows = 1;
    for (int i = 0; i < l->count; i++) {
        struct legend_entry *e = &l->entry[i];
        int size = (int)ceil(e->width + 6.0 + text_width(e->text, PAGE_TEXT_SIZE, 0));
        if (x > 4 && x + size > width) {
            l->rows++;
            x = 4;
        }
        e->x = x;
        e->y = (l->rows - 1) * ROW + ROW / 2;
        x += size + LEGEND_ENTRY_SPACING_PIXELS;
    }
}

static int compute_frame_row_count(const struct picture_page *p)
{
    return (p->options->frame_count + p->options->columns - 1) / p->options->columns;
}

static int find_legend_top(const struct picture_page *p)
{
    return TITLE_HEIGHT_PIXELS +
           compute_frame_row_count(p) * (p->options->height + CAPTION_HEIGHT_PIXELS);
}

void picture_set_page_size(struct picture_page *p)
{
    struct picture_legend l;
    int width = p->options->columns * (p->options->width + GAP) - GAP;
    p->image.width = width > MIN_PAGE_WIDTH_PIXELS ? width : MIN_PAGE_WIDTH_PIXELS;
    make_picture_legend(p, &l);
    place_legend_entries(&l, p->image.width);
    p->image.height = find_legend_top(p) + l.rows * ROW + 4;
}

void picture_find_frame_corner(const struct picture_page *p, int frame, int *x, int *y)
{
    *x = frame % p->options->columns * (p->options->width + GAP);
    *y = TITLE_HEIGHT_PIXELS +
         frame / p->options->columns * (p->options->height + CAPTION_HEIGHT_PIXELS);
}

/* Formats a frame's caption: the time, and as much of the contacts' data as fits. */
static void format_frame_caption(const struct picture_page *p, int frame, char *out, size_t room)
{
    const struct picture_scene *s = &p->scenes[frame];
    double force = 0.0, peak = 0.0;
    char part[3][48] = {"", "", ""}, most[24];
    for (int i = 0; i < s->contact_count; i++) {
        const struct picture_contact *c = &s->contacts[i];
        force = fmax(force, tact_v3_norm(c->force));
        peak = fmax(peak, c->map < 0 ? 0.0 : (double)s->pressure->patch[c->map].peak);
    }
    snprintf(part[0], sizeof part[0], ": %d contact%s", s->contact_count,
             s->contact_count == 1 ? "" : "s");
    if (s->contact_count) {
        force = force > 1e-6 * p->scale.force ? force : 0.0; /* rounding */
        snprintf(part[1], sizeof part[1], ", max %.3g N", force);
    }
    if (peak > 0.0) {
        format_pressure(peak, most, sizeof most);
        snprintf(part[2], sizeof part[2], ", %s", most);
    }
    int used = snprintf(out, room, "%.4g s", s->time);
    for (int i = 0; i < 3; i++) {
        if (text_width(out, PAGE_TEXT_SIZE, 0) + text_width(part[i], PAGE_TEXT_SIZE, 0) >
            p->options->width) {
            return;
        }
        used += snprintf(out + used, room - (size_t)used, "%s", part[i]);
    }
}

/* Converts positions in pixels from the upper left corner to gnuplot's coordinates. */
struct page_writer {
    FILE *to;
    const struct picture_page *page;
    int gnuplot_object_count;
};

static void write_page_position(const struct page_writer *w, double x, double y)
{
    fprintf(w->to, "screen %.6f, screen %.6f", x / w->page->image.width,
            1.0 - y / w->page->image.height);
}

static void write_page_text(struct page_writer *w, const char *words, double x, double y,
                            const char *how)
{
    fputs("set label ", w->to);
    drawing_print_quoted(w->to, "", words);
    fputs(" at ", w->to);
    write_page_position(w, x, y);
    fprintf(w->to, " %s front\n", how);
}

static void write_page_rectangle(struct page_writer *w, double x, double y, double width,
                                 double height, const uint8_t *c,
                                 const char *rectangle_border_colour)
{
    fprintf(w->to, "set object %d rectangle from ", ++w->gnuplot_object_count);
    write_page_position(w, x, y + 0.5 * height);
    fputs(" to ", w->to);
    write_page_position(w, x + width, y - 0.5 * height);
    fprintf(w->to, " front fs solid %s fc rgb '#%02x%02x%02x'\n", rectangle_border_colour, c[0],
            c[1], c[2]);
}

static void write_page_line(struct page_writer *w, double x, double y, double line_end_x,
                            double line_end_y, const char *how)
{
    fputs("set arrow from ", w->to);
    write_page_position(w, x, y);
    fputs(" to ", w->to);
    write_page_position(w, line_end_x, line_end_y);
    fprintf(w->to, " %s front\n", how);
}

static void write_legend_symbol(struct page_writer *w, const struct legend_entry *e, double x,
                                double y)
{
    static const uint8_t patch[3] = {255, 184, 122}, black[3] = {16, 16, 16};
    static const char *const head = "size screen %.6f,25,25 filled lw 2 lc rgb '%s'";
    char how[128];
    if (e->legend_symbol == PATCH) {
        write_page_rectangle(w, x, y, e->width, 10.0, patch, "border rgb '#782800'");
    } else if (e->legend_symbol == CENTRE) {
        write_page_rectangle(w, x + 1.0, y, 6.0, 6.0, black, "noborder");
    } else if (e->legend_symbol == PRESSURE) {
        for (int i = 0; i < 30;
             /* each line of the arrow begins at the end of the line before, so that there is no gap
              */
             i++) {
            uint8_t colour[3];
            double from = e->width * i / 30.0;
            picture_pressure_colour((i + 0.5) / 30.0, colour);
            write_page_rectangle(w, x + from, y, fmin(e->width - from, e->width / 15.0), 10.0,
                                 colour, "noborder");
        }
    } else if (e->legend_symbol == BAR) {
        write_page_line(w, x, y, x + e->width, y, "nohead lw 2 lc rgb '#303030'");
        write_page_line(w, x, y - 4.0, x, y + 4.0, "nohead lw 2 lc rgb '#303030'");
        write_page_line(w, x + e->width, y - 4.0, x + e->width, y + 4.0,
                        "nohead lw 2 lc rgb '#303030'");
    } else {
        int is_torsion_entry = e->legend_symbol == TORSION;
        snprintf(how, sizeof how, head, 9.0 / w->page->image.width,
                 is_torsion_entry ? "#7020B0" : "#C81020");
        write_page_line(w, x, y, x + e->width, y, how);
        if (is_torsion_entry) {
            write_page_line(w, x, y, x + e->width - 8.0, y, how);
        }
    }
}

static void write_gnuplot_terminal(FILE *to, const struct picture_page *p, const char *terminal)
{
    int w = p->image.width, h = p->image.height;
    if (!strcmp(terminal,
                "pngcairo")) { /* gnuplot's libgd terminal, whose pixels are those of the image */
        fprintf(to,
                "set terminal png truecolor nocrop noenhanced size %d,%d font 'DejaVuSans,10'\n", w,
                h);
    } else if (!strcmp(terminal, "svg")) {
        fprintf(to,
                "set terminal svg size %d,%d noenhanced font 'DejaVu Sans,13' background rgb "
                "'white'\n",
                w, h);
    } else {
        fprintf(to,
                "set terminal pdfcairo size %g,%g noenhanced font 'DejaVu Sans,9.4' background "
                "rgb 'white'\n",
                0.01 * w, 0.01 * h);
    }
    fprintf(to, "set encoding utf8\nset lmargin at screen 0; set rmargin at screen 1\n"
                "set tmargin at screen 1; set bmargin at screen 0\n"
                "unset border; unset tics; unset key\n");
}

/* Writes the title: name of the scene, and a note if bodies leave the view. */
static void write_page_title(struct page_writer *w, const char *terminal)
{
    const struct picture_page *p = w->page;
    const char *body_beyond_view_note = p->image.width > 600
                                            ? " (some bodies are outside the picture, see --look)"
                                            : " (bodies leave)";
    char name[MAX_SHOWN_TEXT_BYTES], words[MAX_SHOWN_TEXT_BYTES + 64];
    body_beyond_view_note = p->camera->does_body_leave_view ? body_beyond_view_note : "";
    text_shorten_to_width(
        p->name, p->image.width - 8.0 - text_width(body_beyond_view_note, PAGE_TITLE_SIZE, 1),
        PAGE_TITLE_SIZE, 1, name, sizeof name);
    snprintf(words, sizeof words, "%s%s", name, body_beyond_view_note);
    write_page_text(w, words, 4.0, 0.5 * TITLE_HEIGHT_PIXELS,
                    !strcmp(terminal, "pngcairo") ? "left font 'DejaVuSans-Bold,12'"
                    : !strcmp(terminal, "svg")    ? "left font 'DejaVu Sans Bold,15'"
                                                  : "left font 'DejaVu Sans Bold,11'");
}

void picture_write_gnuplot_script(FILE *to, const struct picture_page *p, const char *terminal)
{
    struct page_writer w = {to, p, 0};
    struct picture_legend l;
    int png = !strcmp(terminal, "pngcairo"), width = p->image.width, height = p->image.height;
    char words[MAX_SHOWN_TEXT_BYTES];
    write_gnuplot_terminal(to, p, terminal);
    write_page_title(&w, terminal);
    for (int i = 0; i < p->options->frame_count; i++) {
        int x, y;
        picture_find_frame_corner(p, i, &x, &y);
        format_frame_caption(p, i, words, sizeof words);
        write_page_text(&w, words, x + 0.5 * p->options->width,
                        y + p->options->height + 0.5 * CAPTION_HEIGHT_PIXELS, "center");
    }
    make_picture_legend(p, &l);
    place_legend_entries(&l, width);
    for (int i = 0; i < l.count; i++) {
        const struct legend_entry *e = &l.entry[i];
        write_legend_symbol(&w, e, e->x, find_legend_top(p) + e->y);
        write_page_text(&w, e->text, e->x + e->width + 6.0, find_legend_top(p) + e->y, "left");
    }
    /* An image has the middles of its pixels at whole numbers; "pixels" draws each as it is, which
     * other formats would do by a polygon each. */
    fprintf(to,
            "set xrange [%g:%g]; set yrange [%g:%g]\n"
            "plot '-' binary array=(%d,%d) flipy format='%%uchar%%uchar%%uchar' "
            "using 1:2:3 with rgbimage%s notitle\n",
            png ? 0.0 : -0.5, width - (png ? 0.0 : 0.5), png ? 0.0 : -0.5,
            height - (png ? 0.0 : 0.5), width, height, png ? " pixels" : "");
    fwrite(p->image.rgb, 1, 3 * (size_t)width * (size_t)height, to);
}
