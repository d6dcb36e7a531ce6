# Writes text files, one after the other, as a C string, without their #include lines:
# cmake "-DINPUT=a.cl;b.cl" -DOUTPUT=a_cl.h -DNAME=... -P embed.cmake
set(all "")
foreach(input IN LISTS INPUT)
  file(READ "${input}" text)
  string(REGEX REPLACE "(^|\n)#include [^\n]*" "\\1" text "${text}")
  string(APPEND all "${text}")
endforeach()
string(REPLACE "\\" "\\\\" all "${all}")
string(REPLACE "\"" "\\\"" all "${all}")
string(REPLACE "\n" "\\n\"\n    \"" all "${all}")
file(WRITE "${OUTPUT}" "static const char ${NAME}[] =\n    \"${all}\";\n")
