/* The files of the page, which are part of the program. CMakeLists.txt generates pages.c from
 * page/.
 */
#ifndef TACT_EXAMPLES_VIEWER_PAGES_H
#define TACT_EXAMPLES_VIEWER_PAGES_H

#include <stddef.h>

struct page_file {
    const char *path; /* "/view.js" */
    const char *type; /* "text/javascript" */
    const unsigned char *data;
    size_t size;
};

/* The file of a path, or NULL. */
const struct page_file *page_file(const char *path);

#endif
