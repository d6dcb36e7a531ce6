# What turns a write out of bounds, or an overwritten table of functions, into an end of the process: the readers of
# files, logs and devices of others are C. None of it changes what is computed. For what is installed, not for tests.
add_library(tact_hardening INTERFACE)
option(TACT_HARDENING "fortified library calls, stack protector, full RELRO" ON)
if(NOT TACT_HARDENING OR TACT_SANITIZE)
  return() # sanitizers find more, and replace the same functions
endif()
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckLinkerFlag)

foreach(flag -fstack-protector-strong -fstack-clash-protection)
  string(MAKE_C_IDENTIFIER "TACT_HAS${flag}" has)
  check_c_compiler_flag(${flag} ${has})
  if(${has})
    target_compile_options(tact_hardening INTERFACE ${flag})
  endif()
endforeach()

# Only where the compiler optimises, without which glibc warns, and no distribution has set a level of its own.
string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
set(CMAKE_REQUIRED_FLAGS "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${type}}")
check_c_source_compiles("#if !defined __OPTIMIZE__ || defined _FORTIFY_SOURCE
                         #error
                         #endif
                         int main(void) { return 0; }" TACT_MAY_FORTIFY)
unset(CMAKE_REQUIRED_FLAGS)
if(TACT_MAY_FORTIFY)
  target_compile_definitions(tact_hardening INTERFACE _FORTIFY_SOURCE=2)
endif()

foreach(flag -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
  string(MAKE_C_IDENTIFIER "TACT_LINKS${flag}" links)
  check_linker_flag(C ${flag} ${links})
  if(${links})
    target_link_options(tact_hardening INTERFACE ${flag})
  endif()
endforeach()
