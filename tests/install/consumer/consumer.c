/* A program outside the source tree, valid as C17 and as C++17, that uses only the installed
 * files. */
#include <stdio.h>
#include <string.h>

#include <tact/tact.h>

int main(void)
{
    struct tact_error error;
    memset(&error, 0, sizeof error);
    int code = tact_error_set(&error, -22, "expected %s", "a positive mass");
    tact_error_at(&error, "scene.yaml", 3, 5, "bodies[0].mass");

    char text[256];
    tact_error_format(&error, text, sizeof text);
    printf("%s\n", text);
    if (strcmp(tact_version(), TACT_VERSION) != 0 || tact_abi_version() != TACT_ABI_VERSION) {
        return 2;
    }

    const char *expected = "scene.yaml:3:5: bodies[0].mass: expected a positive mass";
    return code == -22 && strcmp(text, expected) == 0 ? 0 : 1;
}
