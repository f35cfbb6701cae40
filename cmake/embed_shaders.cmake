# Makes of the shaders (src/picture/shaders/NAME.glsl) a C file with their text, so that the program
# needs no files to draw. The same file is the script that does it (cmake -P, with TAUT_SHADERS, a
# list, and TAUT_SOURCE given).

if(NOT CMAKE_SCRIPT_MODE_FILE)
    function(taut_embed_shaders out)
        set(source ${PROJECT_BINARY_DIR}/generated/shaders.c)
        set(files "")
        foreach(name ${ARGN})
            list(APPEND files ${PROJECT_SOURCE_DIR}/src/picture/shaders/${name}.glsl)
        endforeach()
        add_custom_command(OUTPUT ${source}
            COMMAND ${CMAKE_COMMAND} "-DTAUT_SHADERS=${files}" -DTAUT_SOURCE=${source}
                -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
            DEPENDS ${files} ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
            VERBATIM COMMENT "Putting shaders into a C file")
        set(${out} ${source} PARENT_SCOPE)
    endfunction()
    return()
endif()

set(text "// Made by cmake/embed_shaders.cmake.\n#include \"picture/shaders.h\"\n")
foreach(file ${TAUT_SHADERS})
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} shader)
    string(REPLACE "\\" "\\\\" shader "${shader}")
    string(REPLACE "\"" "\\\"" shader "${shader}")
    string(REPLACE "\n" "\\n\"\n    \"" shader "${shader}")
    string(APPEND text "\nconst char shader_${name}[] =\n    \"${shader}\";\n")
endforeach()
file(WRITE ${TAUT_SOURCE} "${text}")
