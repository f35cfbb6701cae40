// The panels of the window: the layout of panels and scene, the menu, the playback bar, plots,
// options of the picture, help, dialogues and messages. The tabs that change the scene are in
// panels_physics.cc. Everything is declared anew each frame.
#include "view/panels.h"

extern "C" {
#include "base/memory.h"
#include "base/os.h"
#include "base/text.h"
}

#include <dirent.h>
#include <unistd.h>

using namespace widgets;

namespace
{
// A panel that does not move and has no title bar. ImGui::End must follow in any case.
bool begin_fixed(const char *title, struct gui_box box)
{
    ImGui::SetNextWindowPos({box.x, box.y});
    ImGui::SetNextWindowSize({box.width, box.height});
    return ImGui::Begin(title, nullptr,
                        (ImGuiWindowFlags_NoDecoration & ~ImGuiWindowFlags_NoScrollbar) |
                            ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoBringToFrontOnFocus |
                            ImGuiWindowFlags_NoNav);
}

// A panel that can be moved and closed. ImGui::End must follow in any case.
bool begin_movable(const char *title, struct gui_box first, bool *open)
{
    ImGui::SetNextWindowPos({first.x, first.y}, ImGuiCond_Appearing);
    ImGui::SetNextWindowSize({first.width, first.height}, ImGuiCond_Appearing);
    return ImGui::Begin(title, open, ImGuiWindowFlags_NoNav);
}

// ---- The menu

void draw_file_menu(struct view *view)
{
    if (!menu("File"))
        return;
    if (menu_item("Open...", "Ctrl+O"))
        open_dialogue(view, DIALOGUE_OPEN);
    if (menu_item("Save scene as...", "Ctrl+S"))
        open_dialogue(view, DIALOGUE_SAVE_SCENE);
    if (menu_item("Save picture...", "F12"))
        open_dialogue(view, DIALOGUE_SAVE_PICTURE);
    ImGui::Separator();
    if (menu_item("Exit", "Ctrl+Q"))
        view->leaving = true;
    ImGui::EndMenu();
}

void draw_simulation_menu(struct view *view)
{
    if (!menu("Simulation"))
        return;
    bool playing = view->status.playing;
    if (menu_item(playing ? "Pause##play" : "Play##play", "Space"))
        player_play(view->player, !playing);
    if (menu_item("Step", "S", false, !playing))
        player_step(view->player, 1);
    if (menu_item("Reset", "R"))
        player_reset(view->player);
    ImGui::EndMenu();
}

void draw_windows_menu(struct view *view)
{
    struct layout *layout = &view->layout;
    if (!menu("Windows"))
        return;
    if (menu_item("Options", "Tab", layout->options))
        layout->options = !layout->options;
    if (menu_item("Playback", nullptr, layout->playback))
        layout->playback = !layout->playback;
    if (menu_item("Energy and volume", "P", layout->plots))
        layout->plots = !layout->plots;
    ImGui::Separator();
    for (int i = 0; i < COLOURING_COUNT; i++) {
        enum colouring colouring = (enum colouring)i;
        char key[2] = {(char)('1' + i), '\0'}, title[64];
        snprintf(title, sizeof title, "Colouring: %s", colouring_name(colouring));
        if (menu_item(title, key, view->render.colouring == colouring)) {
            view->render.colouring = colouring;
            view->scene_stale = true;
        }
    }
    ImGui::EndMenu();
}

void draw_help_menu(struct view *view)
{
    if (!menu("Help"))
        return;
    if (menu_item("Controls", "H", view->layout.controls))
        view->layout.controls = !view->layout.controls;
    if (menu_item("About", nullptr, view->layout.about))
        view->layout.about = !view->layout.about;
    ImGui::EndMenu();
}

// Returns the height of the menu bar.
float draw_menu(struct view *view)
{
    if (!ImGui::BeginMainMenuBar())
        return 0;
    float height = ImGui::GetWindowSize().y;
    {
        Scope scope("menu");
        draw_file_menu(view);
        draw_simulation_menu(view);
        draw_windows_menu(view);
        draw_help_menu(view);
    }
    ImGui::EndMainMenuBar();
    return height;
}

// ---- Playback: play, pause, step, reset, speed; and the recent past while paused

void draw_buttons(struct view *view)
{
    if (button(view->status.playing ? "Pause##play" : "Play ##play"))
        player_play(view->player, !view->status.playing);
    ImGui::SameLine();
    ImGui::BeginDisabled(view->status.playing);
    if (button("Step"))
        player_step(view->player, 1);
    ImGui::EndDisabled();
    ImGui::SameLine();
    if (button("Reset"))
        player_reset(view->player);
}

void draw_speed(struct view *view)
{
    ImGui::SameLine();
    ImGui::BeginDisabled(view->fast);
    ImGui::SetNextItemWidth(scaled(view, 130));
    if (slider("##speed", &view->speed, 1, 0.01, 10, "speed %.3g", true))
        player_speed(view->player, view->speed);
    tooltip("Simulated seconds in a second.");
    ImGui::EndDisabled();
    ImGui::SameLine();
    if (checkbox("as fast as it goes##fast", &view->fast))
        player_speed(view->player, view->fast ? (double)INFINITY : view->speed);
}

void draw_time(const struct view *view)
{
    double time = view_frame(view)->time;
    ImGui::SameLine();
    if (view->status.playing)
        ImGui::Text("t = %.3f s   %.3g x real time", time, view->status.speed);
    else
        ImGui::Text("t = %.3f s   %s", time, view->status.failed ? "stopped" : "paused");
}

void draw_past(struct view *view)
{
    size_t count = player_history_count(view->player);
    if (view->status.playing || count < 2)
        return;
    char time[64];
    double last = (double)(count - 1);
    double index = view->scrub.active ? fmin((double)view->scrub.index, last) : last;
    snprintf(time, sizeof time, "%.3f s", player_history_time(view->player, (size_t)index));
    ImGui::SetNextItemWidth(-1);
    // The slider's format is the time, not the index.
    if (slider("##past", &index, 1, 0, last, time)) {
        view->scrub.index = (int)(index + 0.5);
        view->scrub.active = view->scrub.index < (int)last;
        view->scene_stale = true;
    }
    tooltip("Looks back; playing continues from the present.");
}

void draw_playback(struct view *view)
{
    if (begin_fixed("Playback", view->layout.playback_box)) {
        Scope scope("playback");
        draw_buttons(view);
        draw_speed(view);
        draw_time(view);
        draw_past(view);
    }
    ImGui::End();
}

// ---- Plots: energies and volume over the recent past

enum plot_value {
    PLOT_TOTAL,
    PLOT_KINETIC,
    PLOT_ELASTIC,
    PLOT_GRAVITY,
    PLOT_GAS,
    PLOT_VOLUME,
    PLOT_COUNT
};

double value_of(const struct player_row *row, int plotted)
{
    switch (plotted) {
    case PLOT_TOTAL:
        return row->energy.total;
    case PLOT_KINETIC:
        return row->energy.kinetic;
    case PLOT_ELASTIC:
        return row->energy.elastic;
    case PLOT_GRAVITY:
        return row->energy.gravity;
    case PLOT_GAS:
        return row->energy.gas;
    default:
        return row->volume;
    }
}

void draw_plot(struct view *view, int plotted)
{
    static const char *const titles[PLOT_COUNT] = {"energy",  "kinetic", "elastic",
                                                   "gravity", "gas",     "volume"};
    float values[PLOT_ROWS];
    double least = DBL_MAX, most = -DBL_MAX;
    for (size_t i = 0; i < view->row_count; i++) {
        double value = value_of(&view->rows[i], plotted);
        values[i] = (float)value;
        least = fmin(least, value);
        most = fmax(most, value);
    }
    // A value that is always 0 needs no plot.
    if (least == 0 && most == 0 && plotted != PLOT_TOTAL)
        return;
    ImGui::Text("%s %.4g %s  (%.3g to %.3g)", titles[plotted],
                value_of(&view->rows[view->row_count - 1], plotted),
                plotted == PLOT_VOLUME ? "m³" : "J", least, most);
    plot(titles[plotted], values, (int)view->row_count, scaled(view, 42));
}

void draw_budget(struct view *view)
{
    static const struct {
        int cause;
        const char *name;
    } terms[] = {{WORK_DAMPING, "damping"},       {WORK_DRAG, "drag"},
                 {WORK_FRICTION, "friction"},     {WORK_WIND, "wind"},
                 {WORK_DRIVES, "drives"},         {WORK_KEEP, "keep"},
                 {WORK_BREAKING, "breaking"},     {WORK_INFLATION, "gas pumped in"},
                 {WORK_PROJECTION, "projection"}, {WORK_TRUNCATION, "truncation"}};
    static const char row[] = "%-12s %+.5g J";
    const struct player_budget *budget = &view->status.budget;
    checkbox("energy budget##budget", &view->budget);
    tooltip("Where energy comes from and goes. It takes a pass over all springs in every step, so "
            "that steps take some times as long.");
    if (!view->budget || !budget->kept)
        return;
    ImGui::Text("since t = %.4g s:", budget->since);
    ImGui::Text(row, "change", budget->change);
    for (const auto &term : terms)
        if (budget->work[term.cause] != 0)
            ImGui::Text(row, term.name, budget->work[term.cause]);
    ImGui::Text(row, "not explained", budget->unexplained);
    tooltip("The error of the integrator, and what the mouse does to bodies.");
}

void draw_plots(struct view *view)
{
    int width, height;
    window_size(view->window, &width, &height);
    float box_width = scaled(view, 290);
    struct gui_box box = {(float)width - box_width - scaled(view, 10),
                          view->layout.scene.y + scaled(view, 10), box_width, scaled(view, 362)};
    if (begin_movable("Energy and volume", box, &view->layout.plots)) {
        Scope scope("plots");
        if (view->row_count < 2)
            ImGui::TextUnformatted("nothing yet: press play");
        else
            for (int plotted = 0; plotted < PLOT_COUNT; plotted++)
                draw_plot(view, plotted);
        draw_budget(view);
    }
    ImGui::End();
}

// ---- The tab "Look": content and style of the picture

void draw_colouring(struct view *view)
{
    const char *names[COLOURING_COUNT];
    for (int i = 0; i < COLOURING_COUNT; i++)
        names[i] = colouring_name((enum colouring)i);
    int index = (int)view->render.colouring;
    ImGui::SetNextItemWidth(scaled(view, 120));
    if (choice("colouring", &index, names, COLOURING_COUNT)) {
        view->render.colouring = (enum colouring)index;
        view->scene_stale = true;
    }
    tooltip("Bodies in colours of their own, springs by their kind, by how far they are stretched, "
            "or by their force; surfaces by their curvature. Keys 1 to 5.");
}

void draw_scale(struct view *view)
{
    struct render_options *render = &view->render;
    if (!colouring_has_scale(render->colouring))
        return;
    bool fixed = render->least != 0 || render->most != 0;
    if (checkbox("keep the scale as it is##fixed_scale", &fixed)) {
        render->least = render->most = 0;
        if (fixed)
            renderer_scale(view->renderer, &render->least, &render->most);
        view->scene_stale = true;
    }
    tooltip("Otherwise the colours run from the least to the greatest value of each picture.");
}

void draw_layers(struct view *view)
{
    unsigned shown = view->render.layers
                         ? view->render.layers
                         : renderer_layers_for(player_subject(view->player), &view->render);
    unsigned wanted = shown;
    for (int i = 0; layer_name(i); i++) {
        bool on = (shown >> i & 1) != 0;
        if (checkbox(layer_name(i), &on))
            wanted ^= 1U << i;
    }
    bool automatic = view->render.layers == 0;
    if (checkbox("what suits the scene##automatic", &automatic))
        wanted = automatic ? 0 : shown;
    else if (wanted == shown)
        return;
    view->render.layers = wanted;
    view->scene_stale = true;
}

void draw_camera(struct view *view)
{
    if (button("Fit the camera"))
        view->fit_wanted = true;
    bool parallel = view->camera.field == 0;
    if (checkbox("parallel projection##parallel", &parallel)) {
        view->camera.field = parallel ? 0 : 35;
        view->scene_stale = true;
    }
    if (checkbox("dark", &view->render.dark)) {
        gui_theme(view->render.dark);
        view->scene_stale = true;
    }
    if (checkbox("caption", &view->render.caption))
        view->scene_stale = true;
    if (checkbox("flat faces##flat_normals", &view->render.flat_normals))
        view->scene_stale = true;
}

void draw_key_speed(struct view *view)
{
    if (!view->driven.present)
        return;
    ImGui::SetNextItemWidth(scaled(view, 120));
    slider("led by keys at, m/s##lead_speed", &view->driven.speed, 1, 0.01, 30, "%.3g", true);
    tooltip("How fast the arrow keys, Home and End lead the rope's end.");
}

void panel_appearance(struct view *view)
{
    Scope scope("looks");
    draw_colouring(view);
    draw_scale(view);
    ImGui::Separator();
    draw_layers(view);
    ImGui::Separator();
    draw_camera(view);
    ImGui::Separator();
    draw_key_speed(view);
}

// ---- Options: the tabs on the left

void draw_tab(struct view *view, const char *title, void (*draw)(struct view *view))
{
    if (!tab(title))
        return;
    draw(view);
    ImGui::EndTabItem();
}

void draw_options(struct view *view)
{
    if (begin_fixed("Options", view->layout.options_box) && ImGui::BeginTabBar("tabs")) {
        draw_tab(view, "Physics", panel_physics);
        draw_tab(view, "Body", panel_body);
        draw_tab(view, "Solver", panel_solver);
        draw_tab(view, "Look", panel_appearance);
        ImGui::EndTabBar();
    }
    ImGui::End();
}

// ---- Help: mouse, keys and the program

const char *const controls[] = {
    "MOUSE, on what is not a body, a sphere or a mesh collider",
    "  left: turn      right: nearer or farther",
    "  shift + left, or middle: pan      wheel: nearer or farther",
    "  alt + left: turn, also on a body",
    "",
    "MOUSE, on a sphere or a mesh collider",
    "  left: move in x and y      right: along z",
    "  shift + left: in the plane of the screen",
    "  shift + right: a sphere becomes larger or smaller",
    "",
    "MOUSE, on a body",
    "  left: pull the nearest node; a pinned node of a rope is led",
    "  ctrl + left, or C held: cut what the stroke crosses",
    "",
    "KEYS",
    "  left, right: lead the rope's end along x",
    "  up, down: along z      Home, End: up and down along y",
    "  Space: play, pause      S or N: one step      R: reset",
    "  +, -: faster, slower",
    "  F: see all      1 2 3 4: colouring      H: this window",
    "  Tab: panels      P: plots      F12: save a picture",
    "  Ctrl+O: open      Ctrl+S: save the scene      Ctrl+Q: leave",
    "",
    "SLIDERS",
    "  ctrl + click: type a value, also beyond the slider's ends",
};

struct gui_box middle(const struct view *view, double width, double height)
{
    struct gui_box scene = view->layout.scene;
    struct gui_box box = {0, 0, scaled(view, width), scaled(view, height)};
    box.x = fmaxf(scene.x + (scene.width - box.width) / 2, 0);
    box.y = fmaxf(scene.y + (scene.height - box.height) / 3, 0);
    return box;
}

void draw_help(struct view *view)
{
    if (view->layout.controls) {
        if (begin_movable("Controls", middle(view, 500, 560), &view->layout.controls))
            for (const char *line : controls)
                ImGui::TextUnformatted(line);
        ImGui::End();
    }
    if (view->layout.about) {
        if (begin_movable("About", middle(view, 440, 220), &view->layout.about))
            ImGui::TextWrapped(
                "taut %s\nA multithreaded solver of masses and springs.\n\n"
                "Drawn by OpenGL on %s.\n"
                "Panels by Dear ImGui %s, copyright Omar Cornut, under the MIT licence; the window "
                "by GLFW, copyright Marcus Geelnard and Camilla Löwy, under the zlib licence.",
                taut_version(), window_device(view->window), ImGui::GetVersion());
        ImGui::End();
    }
}

// ---- Dialogues: a path, and the scenes of its folder for opening

// The scenes of a folder in alphabetical order.
struct folder {
    char **paths; // with the folder
    size_t count, capacity;
};

struct folder folder;
char confirmed[PATH_SIZE]; // an existing file that the user was asked to replace
bool appears;              // the dialogue has just been opened

void folder_free(void)
{
    for (size_t i = 0; i < folder.count; i++)
        free(folder.paths[i]);
    free(folder.paths);
    folder = {};
}

void folder_add(char *path)
{
    if (path && array_reserve((void **)&folder.paths, &folder.capacity, folder.count + 1,
                              sizeof *folder.paths))
        folder.paths[folder.count++] = path;
    else
        free(path);
}

int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// Lists the scenes in the folder of the dialogue's path. A folder that cannot be read is empty.
void folder_read(const struct view *view)
{
    char name[PATH_SIZE];
    snprintf(name, sizeof name, "%s", view->path);
    char *slash = strrchr(name, '/');
    if (slash)
        slash[slash == name] = '\0';
    else
        snprintf(name, sizeof name, ".");
    folder_free();
    DIR *directory = opendir(name);
    if (!directory)
        return;
    for (struct dirent *file = readdir(directory); file; file = readdir(directory)) {
        if (text_ends_with(file->d_name, ".yaml"))
            folder_add(strcmp(name, ".") == 0 ? text_format("%s", file->d_name)
                                              : text_format("%s/%s", name, file->d_name));
    }
    closedir(directory);
    if (folder.count > 0)
        qsort(folder.paths, folder.count, sizeof *folder.paths, compare_paths);
}

void save_scene(struct view *view)
{
    taut_error error = {};
    if (player_save_scene(view->player, view->path, &error) == TAUT_OK)
        view_notify(view, false, "saved as %s, without cuts, moved nodes and the present positions",
                    view->path);
    else
        view_notify(view, true, "%s", error.text);
}

// An existing file is replaced only after a second request.
bool may_be_written(struct view *view)
{
    if (access(view->path, F_OK) != 0 || strcmp(confirmed, view->path) == 0)
        return true;
    snprintf(confirmed, sizeof confirmed, "%s", view->path);
    view_notify(view, false, "%s exists; save again to replace it", view->path);
    return false;
}

void finish_dialogue(struct view *view)
{
    if (view->path[0] == '\0')
        return;
    if (view->dialogue == DIALOGUE_OPEN) {
        player_open(view->player, view->path);
    } else if (!may_be_written(view)) {
        return;
    } else if (view->dialogue == DIALOGUE_SAVE_SCENE) {
        save_scene(view);
    } else {
        snprintf(view->picture_path, sizeof view->picture_path, "%s", view->path);
    }
    view->dialogue = DIALOGUE_NONE;
}

void draw_folder(struct view *view)
{
    if (!ImGui::BeginListBox("##scenes", {-1, scaled(view, 280)}))
        return;
    for (size_t i = 0; i < folder.count; i++) {
        const char *path = folder.paths[i], *slash = strrchr(path, '/');
        if (entry(slash ? slash + 1 : path, strcmp(path, view->path) == 0))
            snprintf(view->path, sizeof view->path, "%s", path);
    }
    ImGui::EndListBox();
}

void draw_dialogue(struct view *view)
{
    static const char *const titles[] = {"", "Open a scene", "Save the scene", "Save a picture"};
    if (view->dialogue == DIALOGUE_NONE) {
        folder_free();
        return;
    }
    bool open = true, opening = view->dialogue == DIALOGUE_OPEN, done = false;
    struct gui_box scene = view->layout.scene;
    struct gui_box box = {scene.x + scaled(view, 40), scene.y + scaled(view, 40), scaled(view, 460),
                          scaled(view, opening ? 400 : 110)};
    if (begin_movable(titles[view->dialogue], box, &open)) {
        Scope scope("dialogue");
        if (opening)
            draw_folder(view);
        ImGui::SetNextItemWidth(-1);
        if (appears)
            ImGui::SetKeyboardFocusHere();
        appears = false;
        done = text_line("##path", view->path, sizeof view->path);
        done |= button(opening ? "Open##do" : "Save##do");
        ImGui::SameLine();
        if (button("Cancel"))
            open = false;
    }
    ImGui::End();
    if (done)
        finish_dialogue(view);
    else if (!open)
        view->dialogue = DIALOGUE_NONE;
}

// ---- Messages over the scene

void draw_banner(struct view *view)
{
    if (view->banner.text[0] == '\0')
        return;
    if (clock_seconds() > view->banner.until) {
        view->banner.text[0] = '\0';
        return;
    }
    struct gui_box scene = view->layout.scene;
    float height = scaled(view, 58);
    if (begin_fixed("Message", {scene.x, scene.y + scene.height - height, scene.width, height})) {
        if (view->banner.is_error)
            warning(view->banner.text);
        else
            ImGui::TextWrapped("%s", view->banner.text);
    }
    ImGui::End();
}

// A number of bytes in MB or GB.
void print_bytes(char *text, size_t size, double bytes)
{
    if (bytes >= 1e9)
        snprintf(text, size, "%.3g GB", bytes / 1e9);
    else
        snprintf(text, size, "%.0f MB", fmax(bytes / 1e6, 1));
}

// The scene that is being built beside the present one, and buttons to stop or confirm the build.
void draw_building(struct view *view)
{
    const struct player_building *building = &view->status.building;
    if (!building->active)
        return;
    struct gui_box scene = view->layout.scene;
    struct gui_box box = {scene.x + scaled(view, 10), scene.y + scaled(view, 10),
                          fminf(scaled(view, 430), scene.width - scaled(view, 20)),
                          scaled(view, 122)};
    char bytes[32] = "", left[32] = "";
    print_bytes(bytes, sizeof bytes, building->bytes);
    print_bytes(left, sizeof left, building->left);
    if (begin_fixed("Building", box)) {
        Scope scope("building");
        ImGui::TextWrapped("%s %s", building->needs_confirmation ? "Build" : "Building",
                           building->what);
        if (building->bytes > 0)
            ImGui::TextWrapped("%.4g nodes, %.4g springs: about %s", building->nodes,
                               building->springs, bytes);
        if (building->cancelled)
            ImGui::TextWrapped("cancelling ...");
        else if (building->done)
            ImGui::TextWrapped("%.1f s: built, and about to be shown.", building->seconds);
        else if (building->needs_confirmation)
            ImGui::TextWrapped("of %s that are free. Build this scene?", left);
        else
            ImGui::TextWrapped("%.1f s: %s; the present scene continues.", building->seconds,
                               building->stage);
        ImGui::BeginDisabled(building->cancelled || building->done);
        if (building->needs_confirmation && button("Build"))
            player_build(view->player, true);
        if (building->needs_confirmation)
            ImGui::SameLine();
        if (button("Cancel"))
            player_build(view->player, false);
        ImGui::EndDisabled();
    }
    ImGui::End();
}

// ---- Marks on the scene, behind all panels: the path of a cut, and a ring at the target of the
// mouse spring

void draw_marks(const struct view *view)
{
    static const ImU32 orange = ImGui::ColorConvertFloat4ToU32({0.84F, 0.37F, 0.0F, 1});
    const struct mouse *mouse = &view->mouse;
    struct gui_box scene = view->layout.scene;
    ImDrawList *list = ImGui::GetBackgroundDrawList();
    const double *path = mouse->stroke.path;
    for (size_t i = 1; i < mouse->stroke.path_count; i++)
        list->AddLine({scene.x + (float)path[2 * i - 2], scene.y + (float)path[2 * i - 1]},
                      {scene.x + (float)path[2 * i], scene.y + (float)path[2 * i + 1]}, orange,
                      scaled(view, 2));
    if (mouse->action == MOUSE_GRABS || mouse->action == MOUSE_DRIVES)
        list->AddCircle({scene.x + (float)mouse->x, scene.y + (float)mouse->y}, scaled(view, 7),
                        orange, 0, scaled(view, 2));
}

// ---- The layout

void lay_out(struct view *view, float menu_height)
{
    enum { OPTIONS_WIDTH = 340, PLAYBACK_HEIGHT = 66 }; // pixels of a screen of scale 1
    const float least = 16;                             // a window may be smaller than its panels
    struct layout *layout = &view->layout;
    int width, height;
    window_size(view->window, &width, &height);
    float left = layout->options ? scaled(view, OPTIONS_WIDTH) : 0;
    float below = layout->playback ? scaled(view, PLAYBACK_HEIGHT) : 0;
    layout->scene = {left, menu_height, fmaxf((float)width - left, least),
                     fmaxf((float)height - menu_height - below, least)};
    layout->options_box = {0, menu_height, left, (float)height - menu_height};
    layout->playback_box = {left, (float)height - below, layout->scene.width, below};
}
} // namespace

void open_dialogue(struct view *view, enum dialogue dialogue)
{
    const taut_scene *scene = player_scene(view->player);
    view->dialogue = dialogue;
    confirmed[0] = '\0';
    appears = true;
    if (dialogue == DIALOGUE_OPEN) {
        snprintf(view->path, sizeof view->path, "%s", scene->file);
        folder_read(view);
    } else {
        snprintf(view->path, sizeof view->path, "%s%s", scene->name,
                 dialogue == DIALOGUE_SAVE_SCENE ? "-changed.yaml" : ".png");
    }
}

void panels_draw(struct view *view)
{
    lay_out(view, draw_menu(view));
    draw_marks(view);
    if (view->layout.options)
        draw_options(view);
    if (view->layout.playback)
        draw_playback(view);
    if (view->layout.plots)
        draw_plots(view);
    draw_help(view);
    draw_dialogue(view);
    draw_building(view);
    draw_banner(view);
}
