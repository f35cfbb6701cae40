# Pictures (`taut render`) and the window (`taut view`) are optional components: what they need is
# looked for, and where it is missing the program is built without them and reports what to install.
#
#   src/picture/  the renderer, by OpenGL     epoxy, egl, cairo
#   src/view/     the window, which draws     the same, glfw3, imgui
#                 with it
set(TAUT_PICTURES AUTO CACHE STRING "Pictures without a window, taut render: AUTO, ON or OFF")
set(TAUT_VIEWER AUTO CACHE STRING "The window, taut view: AUTO, ON or OFF")

pkg_check_modules(EPOXY IMPORTED_TARGET epoxy)
pkg_check_modules(EGL IMPORTED_TARGET egl)
pkg_check_modules(CAIRO IMPORTED_TARGET cairo)
pkg_check_modules(GLFW IMPORTED_TARGET glfw3)
pkg_check_modules(IMGUI IMPORTED_TARGET imgui)

# Sets TAUT_HAS_NAME: wanted, and all of its parts are there.
function(taut_component name wanted packages)
    set(missing "")
    foreach(part ${ARGN})
        if(NOT ${part})
            set(missing yes)
        endif()
    endforeach()
    if(wanted STREQUAL "ON" AND missing)
        message(FATAL_ERROR "TAUT_${name} is ON; install ${packages}")
    endif()
    if(wanted AND NOT missing)
        set(TAUT_HAS_${name} ON PARENT_SCOPE)
    else()
        set(TAUT_HAS_${name} OFF PARENT_SCOPE)
        message(STATUS "Without TAUT_${name}: needs ${packages}")
    endif()
endfunction()

taut_component(PICTURES "${TAUT_PICTURES}" "libepoxy-dev libegl-dev libcairo2-dev"
    EPOXY_FOUND EGL_FOUND CAIRO_FOUND)
taut_component(VIEWER "${TAUT_VIEWER}" "libglfw3-dev libimgui-dev, and what pictures need"
    TAUT_HAS_PICTURES GLFW_FOUND IMGUI_FOUND)

# taut_picture: what draws. The subject and the camera, which need no OpenGL, are in libtaut.a.
if(TAUT_HAS_PICTURES)
    include(cmake/embed_shaders.cmake)
    taut_embed_shaders(TAUT_SHADER_SOURCE common background blur contacts faces
        outlines overlays planes points solids springs)
    add_library(taut_picture STATIC
        src/picture/image.c
        src/picture/film.c
        src/picture/canvas.c
        src/picture/gl.c
        ${TAUT_SHADER_SOURCE}
        src/picture/values.c
        src/picture/surfaces.c
        src/picture/springs.c
        src/picture/contacts.c
        src/picture/solids.c
        src/picture/legend.c
        src/picture/renderer.c
    )
    target_include_directories(taut_picture PUBLIC src)
    target_link_libraries(taut_picture PUBLIC taut_static PRIVATE taut_flags PkgConfig::EPOXY
        PkgConfig::EGL PkgConfig::CAIRO)
endif()

# taut_view: the window. Panels are C++, as Dear ImGui is; everything else is C.
if(TAUT_HAS_VIEWER)
    set(TAUT_PANELS src/view/gui.cc src/view/fields.cc src/view/panels.cc
        src/view/panels_physics.cc)
    add_library(taut_view STATIC
        src/view/window.c
        src/view/pick.c
        src/view/interaction.c
        src/view/drawing.c
        src/view/event_log.c
        src/view/view.c
        ${TAUT_PANELS}
    )
    set_source_files_properties(${TAUT_PANELS} PROPERTIES
        COMPILE_OPTIONS "-Wall;-Wextra;-Wshadow;$<$<BOOL:${TAUT_WERROR}>:-Werror>")
    target_compile_features(taut_view PRIVATE cxx_std_20)
    target_include_directories(taut_view PUBLIC src)
    target_link_libraries(taut_view PUBLIC taut_picture PRIVATE taut_flags PkgConfig::EPOXY
        PkgConfig::GLFW PkgConfig::IMGUI ${CMAKE_DL_LIBS})
endif()
