# cmake -DOUT=pages.c -P pages.cmake: the files of page/ as arrays of a C source.
set(types html "text/html" css "text/css" js "text/javascript")
file(GLOB files ${CMAKE_CURRENT_LIST_DIR}/page/*.html ${CMAKE_CURRENT_LIST_DIR}/page/*.css ${CMAKE_CURRENT_LIST_DIR}/page/*.js)
set(arrays "")
set(table "")
foreach(file ${files})
  get_filename_component(name ${file} NAME)
  get_filename_component(ending ${file} LAST_EXT)
  string(SUBSTRING ${ending} 1 -1 ending)
  list(FIND types ${ending} at)
  math(EXPR at "${at} + 1")
  list(GET types ${at} type)
  string(MAKE_C_IDENTIFIER ${name} symbol)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "static const unsigned char ${symbol}[] = {${bytes}};\n")
  string(APPEND table "    {\"/${name}\", \"${type}\", ${symbol}, sizeof ${symbol}},\n")
endforeach()
file(WRITE ${OUT} "/* Made by pages.cmake. */
#include <string.h>
#include \"pages.h\"

${arrays}
static const struct page_file files[] = {
${table}};

const struct page_file *page_file(const char *path)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (!strcmp(files[i].path, path)) {
            return &files[i];
        }
    }
    return NULL;
}
")
