# What `cmake --install` puts where: the program, both libraries, the header, what pkg-config and
# find_package(taut) need, the scenes, the Python tools and the documentation. Every path in it is
# relative to the folder it is found in, so that the whole can be moved.

include(CMakePackageConfigHelpers)

install(TARGETS taut)
install(TARGETS taut_shared EXPORT taut-shared)
install(TARGETS taut_static EXPORT taut-static)
install(FILES src/taut.h TYPE INCLUDE)
install(FILES LICENSE TYPE DOC)
# Laid out as in the source tree, so that their links hold.
install(DIRECTORY docs scenes TYPE DOC)
install(DIRECTORY scenes DESTINATION ${CMAKE_INSTALL_DATADIR}/taut)
# What the program runs, and the reader of checkpoints for users; the other tools are for developers.
install(PROGRAMS tools/read_checkpoint.py DESTINATION ${CMAKE_INSTALL_DATADIR}/taut/tools)
install(DIRECTORY tools/taut_report DESTINATION ${CMAKE_INSTALL_DATADIR}/taut/tools
    PATTERN __pycache__ EXCLUDE)
if(EXISTS ${PROJECT_SOURCE_DIR}/README.md)
    install(FILES README.md CONTRIBUTING.md TYPE DOC)
endif()

# pkg-config
file(RELATIVE_PATH TAUT_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" TAUT_PC_PREFIX "${TAUT_PC_PREFIX}")
list(JOIN YAML_LDFLAGS " " TAUT_PC_YAML)
list(JOIN HWLOC_LDFLAGS " " TAUT_PC_HWLOC)
list(JOIN ZLIB_LDFLAGS " " TAUT_PC_ZLIB)
list(JOIN ZSTD_LDFLAGS " " TAUT_PC_ZSTD)
set(TAUT_PC_PRIVATE "${TAUT_PC_YAML} ${TAUT_PC_HWLOC} ${TAUT_PC_ZLIB} ${TAUT_PC_ZSTD}")
if(TAUT_USES_OPENMP)
    string(APPEND TAUT_PC_PRIVATE " ${OpenMP_C_FLAGS}")
endif()
configure_file(cmake/taut.pc.in taut.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/taut.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# find_package(taut): taut::taut is the shared library, taut::taut_static the static one. They are
# exported apart because only the static one needs its dependencies again where it is used.
set(TAUT_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/taut)
install(EXPORT taut-shared NAMESPACE taut:: DESTINATION ${TAUT_PACKAGE_DIR})
install(EXPORT taut-static NAMESPACE taut:: DESTINATION ${TAUT_PACKAGE_DIR})
configure_package_config_file(cmake/taut-config.cmake.in taut-config.cmake
    INSTALL_DESTINATION ${TAUT_PACKAGE_DIR})
write_basic_package_version_file(taut-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/taut-config.cmake
    ${PROJECT_BINARY_DIR}/taut-config-version.cmake DESTINATION ${TAUT_PACKAGE_DIR})
