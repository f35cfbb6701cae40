# What `taut --version` prints about the build, in a generated header: version_info.h. Made again by
# every build, and only rewritten where something changed. The same file is the script that does it
# (cmake -P, with TAUT_SOURCE and TAUT_HEADER given).

if(NOT CMAKE_SCRIPT_MODE_FILE)
    set(header ${PROJECT_BINARY_DIR}/generated/version_info.h)
    string(TOUPPER ${CMAKE_BUILD_TYPE} build_type)
    add_custom_target(taut_version_header
        COMMAND ${CMAKE_COMMAND} -DTAUT_SOURCE=${PROJECT_SOURCE_DIR} -DTAUT_HEADER=${header}
            "-DTAUT_COMPILER=${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}"
            "-DTAUT_BUILD=${CMAKE_BUILD_TYPE}"
            "-DTAUT_C_FLAGS=${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${build_type}}"
            -P ${CMAKE_CURRENT_LIST_FILE}
        BYPRODUCTS ${header} VERBATIM COMMENT "")
    add_library(taut_version_info INTERFACE)
    target_include_directories(taut_version_info INTERFACE ${PROJECT_BINARY_DIR}/generated)
    add_dependencies(taut_version_info taut_version_header)
    return()
endif()

# A tarball that was unpacked inside someone else's repository is not a commit of that repository.
set(commit "")
find_program(GIT git)
if(GIT)
    execute_process(COMMAND ${GIT} -C ${TAUT_SOURCE} rev-parse --show-toplevel
        OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    file(REAL_PATH "${TAUT_SOURCE}" source)
    if(top STREQUAL source)
        execute_process(COMMAND ${GIT} -C ${TAUT_SOURCE} describe --tags --always --dirty
            OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    endif()
endif()
if(commit STREQUAL "")
    set(commit "no git")
endif()

string(REGEX REPLACE " +" " " flags "${TAUT_C_FLAGS}")
string(STRIP "${flags}" flags)
set(text "// Made by cmake/version_info.cmake.\n")
foreach(pair "COMMIT;${commit}" "COMPILER;${TAUT_COMPILER}" "BUILD;${TAUT_BUILD}" "FLAGS;${flags}")
    list(POP_FRONT pair name)
    string(REPLACE "\\" "\\\\" value "${pair}")
    string(REPLACE "\"" "\\\"" value "${value}")
    string(APPEND text "#define TAUT_BUILD_${name} \"${value}\"\n")
endforeach()
set(old "")
if(EXISTS ${TAUT_HEADER})
    file(READ ${TAUT_HEADER} old)
endif()
if(NOT old STREQUAL text)
    file(WRITE ${TAUT_HEADER} "${text}")
endif()
