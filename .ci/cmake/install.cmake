# What `cmake --install` puts where, and what other builds find: tact.pc and tactConfig.cmake.
include(CMakePackageConfigHelpers)

# The modules that libtact.a needs at link time; the shared library brings its own. tact.pc names their libraries
# and not the modules: pkg-config reads those for --cflags too, and would want the -dev package of each.
set(TACT_PRIVATE_MODULES OpenCL libevdev libudev libcyaml yaml-0.1 libxml-2.0 libzstd zlib libxxhash jansson
                         lapacke qhull_r sleef libsodium)
if(TACT_COMEDI)
  list(APPEND TACT_PRIVATE_MODULES comedilib)
endif()
list(JOIN TACT_PRIVATE_MODULES " " TACT_PRIVATE)
set(TACT_PC_LIBS)
foreach(module OPENCL EVDEV UDEV CYAML LIBXML ZSTD ZLIB XXHASH JANSSON LAPACKE QHULL SLEEF SODIUM COMEDI)
  set(folders ${${module}_LIBRARY_DIRS})
  list(REMOVE_ITEM folders ${CMAKE_C_IMPLICIT_LINK_DIRECTORIES})
  list(TRANSFORM folders PREPEND -L)
  list(TRANSFORM ${module}_LIBRARIES PREPEND -l OUTPUT_VARIABLE libraries)
  list(APPEND TACT_PC_LIBS ${folders} ${libraries})
endforeach()
list(REMOVE_DUPLICATES TACT_PC_LIBS)
list(JOIN TACT_PC_LIBS " " TACT_PC_LIBS)

foreach(library tact tact_static)
  target_include_directories(${library} INTERFACE
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()
target_link_libraries(tact_static INTERFACE
  $<INSTALL_INTERFACE:PkgConfig::TACT_PRIVATE> $<INSTALL_INTERFACE:Threads::Threads>
  $<INSTALL_INTERFACE:m> $<INSTALL_INTERFACE:${CMAKE_DL_LIBS}>)

install(TARGETS tact EXPORT tactTargets)
install(TARGETS tact_static EXPORT tactStaticTargets)
foreach(folder contact rt kernels devices)
  install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tact
          FILES_MATCHING PATTERN "*.h" PATTERN "*_internal.h" EXCLUDE)
endforeach()

# <tact/tact.h>: every public header, but those of methods that are kept only to compare.
file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
     contact/*.h rt/*.h kernels/*.h devices/*.h)
list(FILTER headers EXCLUDE REGEX "_internal\\.h$|^contact/compare/")
list(SORT headers)
list(TRANSFORM headers REPLACE "(.+)" "#include \"\\1\"")
list(JOIN headers "\n" TACT_INCLUDES)
configure_file(.ci/cmake/tact.h.in ${PROJECT_BINARY_DIR}/package/tact.h @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/tact.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tact)

# The command: whichever program of examples/ is called tact.
get_directory_property(examples DIRECTORY examples BUILDSYSTEM_TARGETS)
foreach(target ${examples})
  get_target_property(name ${target} OUTPUT_NAME)
  if(name STREQUAL "tact")
    install(TARGETS ${target})
  endif()
endforeach()
if(EXISTS ${PROJECT_SOURCE_DIR}/examples/scenes)
  install(DIRECTORY examples/scenes examples/hands examples/imports examples/layouts DESTINATION ${CMAKE_INSTALL_DATADIR}/tact)
  install(FILES examples/teleop.yaml examples/teleop_model.yaml examples/teleop_peg.yaml DESTINATION ${CMAKE_INSTALL_DATADIR}/tact)
endif()

# What the system needs to know: who may open which device, who may be real-time, and a service.
set(system ${PROJECT_SOURCE_DIR}/devices/system)
configure_file(${system}/tact@.service.in ${PROJECT_BINARY_DIR}/package/tact@.service @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/tact@.service DESTINATION lib/systemd/system)
install(FILES ${system}/70-tact.rules DESTINATION lib/udev/rules.d)
install(FILES ${system}/sysusers.conf DESTINATION lib/sysusers.d RENAME tact.conf)
install(FILES ${system}/limits.conf DESTINATION ${CMAKE_INSTALL_SYSCONFDIR}/security/limits.d
        RENAME 95-tact.conf)
foreach(page README.md LICENSE)
  if(EXISTS ${PROJECT_SOURCE_DIR}/${page})
    install(FILES ${page} DESTINATION ${CMAKE_INSTALL_DOCDIR})
  endif()
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tact)
install(EXPORT tactTargets NAMESPACE tact:: DESTINATION ${package_dir})
install(EXPORT tactStaticTargets NAMESPACE tact:: DESTINATION ${package_dir})
configure_package_config_file(.ci/cmake/tactConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/tactConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/tactConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/tactConfig.cmake
              ${PROJECT_BINARY_DIR}/package/tactConfigVersion.cmake DESTINATION ${package_dir})

# tact.pc finds its prefix from its own place, so that --prefix and a moved tree both work.
file(RELATIVE_PATH TACT_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" TACT_PC_PREFIX "${TACT_PC_PREFIX}")
configure_file(.ci/cmake/tact.pc.in ${PROJECT_BINARY_DIR}/package/tact.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/tact.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
