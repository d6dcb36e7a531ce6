/* Every unit test runs in the locale of the user who runs it, as a program with a window would. */
#include <locale.h>

__attribute__((constructor)) static void set_user_locale(void)
{
    setlocale(LC_ALL, "");
    /* messages stay in English, as tests compare texts of strerror() */
    setlocale(LC_MESSAGES, "C");
}
