# The reference of the library in HTML, from the public headers by doxygen: cmake --build build --target reference.
set(TACT_REFERENCE ${PROJECT_BINARY_DIR}/reference)
file(MAKE_DIRECTORY ${TACT_REFERENCE})
configure_file(.ci/cmake/Doxyfile.in ${PROJECT_BINARY_DIR}/package/Doxyfile @ONLY)
add_custom_target(reference COMMAND doxygen ${PROJECT_BINARY_DIR}/package/Doxyfile WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                  COMMENT "reference/html/index.html" VERBATIM)
