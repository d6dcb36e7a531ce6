# Writes a text file as a C string: cmake -DINPUT=moments.cl -DOUTPUT=moments_cl.h -DNAME=... -P embed.cmake
file(READ "${INPUT}" text)
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
file(WRITE "${OUTPUT}" "static const char ${NAME}[] =\n    \"${text}\";\n")
