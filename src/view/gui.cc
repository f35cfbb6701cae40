// gui.h over Dear ImGui 1.86: each function hands on to one of its own, and notes where the thing
// is.
#include "view/gui.h"

#include <imgui.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>

#include <algorithm>
#include <cfloat>
#include <string>
#include <string_view>
#include <vector>

namespace
{
void (*watcher)(void *context, const char *name, struct gui_box box);
void *watcher_context;
std::vector<std::string> names;

ImU32 packed(struct gui_colour colour)
{
    return ImGui::ColorConvertFloat4ToU32({colour.red, colour.green, colour.blue, colour.alpha});
}

// Tells the watcher of the thing that was just said; of so much of its width, without its label.
bool seen(const char *label, bool result, float width = FLT_MAX)
{
    if (watcher && ImGui::IsItemVisible()) {
        std::string name;
        for (const std::string &part : names)
            name += part + '.';
        std::string_view own = label;
        size_t hidden = own.find("##");
        name += hidden == own.npos ? own : own.substr(own.find_first_not_of('#', hidden));
        ImVec2 least = ImGui::GetItemRectMin(), most = ImGui::GetItemRectMax();
        watcher(watcher_context, name.c_str(),
                {least.x, least.y, std::min(most.x - least.x, width), most.y - least.y});
    }
    return result;
}

void load_font(const char *font, float size)
{
    static const ImWchar ranges[] = {0x20,   0xFF,   0x370,  0x3FF,  0x2000, 0x209F, 0x2190,
                                     0x22FF, 0x23CF, 0x23FA, 0x25A0, 0x25FF, 0};
    ImGuiIO &io = ImGui::GetIO();
    if (!font || !io.Fonts->AddFontFromFileTTF(font, size, nullptr, ranges))
        io.Fonts->AddFontDefault();
}
} // namespace

bool gui_start(struct GLFWwindow *window, const char *font, float font_size)
{
    IMGUI_CHECKVERSION();
    ImGui::CreateContext();
    ImGuiIO &io = ImGui::GetIO();
    io.IniFilename = nullptr; // windows begin where the program says, each time
    io.LogFilename = nullptr;
    load_font(font, font_size);
    gui_look(false);
    ImGui::GetStyle().ScaleAllSizes(font_size / 15);
    if (!ImGui_ImplGlfw_InitForOpenGL(window, true))
        return false;
    return ImGui_ImplOpenGL3_Init("#version 330 core");
}

void gui_stop(void)
{
    ImGui_ImplOpenGL3_Shutdown();
    ImGui_ImplGlfw_Shutdown();
    ImGui::DestroyContext();
    std::vector<std::string>().swap(names);
    watcher = nullptr;
}

void gui_look(bool dark)
{
    if (dark)
        ImGui::StyleColorsDark();
    else
        ImGui::StyleColorsLight();
    ImGuiStyle &style = ImGui::GetStyle();
    style.WindowRounding = 0;
    style.FrameRounding = style.GrabRounding = style.TabRounding = 3;
    style.PopupRounding = 4;
    style.ScrollbarRounding = 4;
    style.WindowBorderSize = 1;
    style.FrameBorderSize = 0;
    if (dark) {
        style.Colors[ImGuiCol_WindowBg] = {0.11F, 0.12F, 0.14F, 1.0F};
        style.Colors[ImGuiCol_MenuBarBg] = {0.14F, 0.15F, 0.17F, 1.0F};
    } else {
        style.Colors[ImGuiCol_WindowBg] = {0.965F, 0.97F, 0.975F, 1.0F};
        style.Colors[ImGuiCol_MenuBarBg] = {0.91F, 0.92F, 0.935F, 1.0F};
        style.Colors[ImGuiCol_FrameBg] = {0.87F, 0.885F, 0.905F, 1.0F};
        style.Colors[ImGuiCol_PlotLines] = {0.0F, 0.36F, 0.6F, 1.0F};
    }
}

const char *gui_version(void)
{
    return ImGui::GetVersion();
}

void gui_frame(bool button, float x, float y)
{
    ImGui_ImplOpenGL3_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    if (button)
        ImGui::GetIO().MousePos = {x, y};
    ImGui::NewFrame();
}

void gui_draw(void)
{
    ImGui::Render();
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

bool gui_wants_mouse(void)
{
    return ImGui::GetIO().WantCaptureMouse;
}

bool gui_wants_keys(void)
{
    return ImGui::GetIO().WantTextInput;
}

bool gui_is_busy(void)
{
    return ImGui::IsAnyItemActive() ||
           ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
}

void gui_watch(void (*function)(void *context, const char *name, struct gui_box box), void *context)
{
    watcher = function;
    watcher_context = context;
}

void gui_push(const char *name)
{
    names.emplace_back(name);
    ImGui::PushID(name);
}

void gui_pop(void)
{
    ImGui::PopID();
    names.pop_back();
}

// ---- Panels

bool gui_panel(const char *title, struct gui_box box)
{
    ImGui::SetNextWindowPos({box.x, box.y});
    ImGui::SetNextWindowSize({box.width, box.height});
    return ImGui::Begin(title, nullptr,
                        (ImGuiWindowFlags_NoDecoration & ~ImGuiWindowFlags_NoScrollbar) |
                            ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoBringToFrontOnFocus |
                            ImGuiWindowFlags_NoNav);
}

void gui_panel_end(void)
{
    ImGui::End();
}

bool gui_window(const char *title, struct gui_box first, bool *open)
{
    ImGui::SetNextWindowPos({first.x, first.y}, ImGuiCond_Appearing);
    ImGui::SetNextWindowSize({first.width, first.height}, ImGuiCond_Appearing);
    return ImGui::Begin(title, open, ImGuiWindowFlags_NoNav);
}

void gui_window_end(void)
{
    ImGui::End();
}

bool gui_tabs(const char *name)
{
    return ImGui::BeginTabBar(name);
}

void gui_tabs_end(void)
{
    ImGui::EndTabBar();
}

bool gui_tab(const char *title)
{
    bool open = ImGui::BeginTabItem(title);
    return seen(title, open);
}

void gui_tab_end(void)
{
    ImGui::EndTabItem();
}

bool gui_section(const char *title, bool open_at_first)
{
    return seen(title,
                ImGui::CollapsingHeader(title, open_at_first ? ImGuiTreeNodeFlags_DefaultOpen : 0));
}

bool gui_branch(const char *title)
{
    return seen(title, ImGui::TreeNode(title));
}

void gui_branch_end(void)
{
    ImGui::TreePop();
}

bool gui_menu_bar(float *height)
{
    bool open = ImGui::BeginMainMenuBar();
    *height = open ? ImGui::GetWindowSize().y : 0;
    return open;
}

void gui_menu_bar_end(void)
{
    ImGui::EndMainMenuBar();
}

bool gui_menu(const char *title)
{
    return seen(title, ImGui::BeginMenu(title));
}

void gui_menu_end(void)
{
    ImGui::EndMenu();
}

bool gui_menu_item(const char *title, const char *key, bool chosen, bool possible)
{
    return seen(title, ImGui::MenuItem(title, key, chosen, possible));
}

// ---- Things

void gui_text(const char *text)
{
    ImGui::TextUnformatted(text);
}

void gui_text_wrapped(const char *text)
{
    ImGui::TextWrapped("%s", text);
}

void gui_text_coloured(struct gui_colour colour, const char *text)
{
    ImGui::PushStyleColor(ImGuiCol_Text, packed(colour));
    ImGui::TextWrapped("%s", text);
    ImGui::PopStyleColor();
}

bool gui_button(const char *label)
{
    return seen(label, ImGui::Button(label));
}

bool gui_check(const char *label, bool *on)
{
    return seen(label, ImGui::Checkbox(label, on));
}

bool gui_choice(const char *label, int *index, const char *const *items, int count)
{
    return seen(label, ImGui::Combo(label, index, items, count));
}

bool gui_slider(const char *label, double *values, int count, double least, double most,
                const char *format, bool logarithmic)
{
    float width = ImGui::CalcItemWidth();
    bool changed = ImGui::SliderScalarN(
        label, ImGuiDataType_Double, values, count, &least, &most, format,
        ImGuiSliderFlags_NoRoundToFormat | (logarithmic ? ImGuiSliderFlags_Logarithmic : 0));
    return seen(label, changed, width);
}

bool gui_count(const char *label, int *values, int count)
{
    if (count == 1)
        return seen(label, ImGui::InputInt(label, values, 1, 10));
    return seen(label, ImGui::InputScalarN(label, ImGuiDataType_S32, values, count));
}

bool gui_line(const char *label, char *text, size_t size)
{
    return seen(label, ImGui::InputText(label, text, size, ImGuiInputTextFlags_EnterReturnsTrue));
}

bool gui_entry(const char *label, bool chosen)
{
    return seen(label, ImGui::Selectable(label, chosen, ImGuiSelectableFlags_DontClosePopups));
}

bool gui_list(const char *name, float height)
{
    return ImGui::BeginListBox(name, {-1, height});
}

void gui_list_end(void)
{
    ImGui::EndListBox();
}

void gui_plot(const char *label, const float *values, int count, const char *over, float height)
{
    ImGui::PushID(label);
    ImGui::PlotLines("##plot", values, count, 0, over, FLT_MAX, FLT_MAX,
                     {ImGui::GetContentRegionAvail().x, height});
    ImGui::PopID();
    seen(label, false);
}

void gui_tooltip(const char *text)
{
    if (!ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled))
        return;
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(ImGui::GetFontSize() * 24);
    ImGui::TextUnformatted(text);
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
}

bool gui_is_held(void)
{
    return ImGui::IsItemActive();
}

bool gui_is_let_go(void)
{
    return ImGui::IsItemDeactivatedAfterEdit();
}

// ---- Layout

void gui_same_line(void)
{
    ImGui::SameLine();
}

void gui_separator(void)
{
    ImGui::Separator();
}

void gui_width(float width)
{
    ImGui::SetNextItemWidth(width);
}

float gui_line_height(void)
{
    return ImGui::GetFrameHeightWithSpacing();
}

void gui_disable(bool disabled)
{
    ImGui::BeginDisabled(disabled);
}

void gui_enable(void)
{
    ImGui::EndDisabled();
}

// ---- On the scene

void gui_stroke(float x0, float y0, float x1, float y1, struct gui_colour colour, float width)
{
    ImGui::GetBackgroundDrawList()->AddLine({x0, y0}, {x1, y1}, packed(colour), width);
}

void gui_ring(float x, float y, float radius, struct gui_colour colour, float width)
{
    ImGui::GetBackgroundDrawList()->AddCircle({x, y}, radius, packed(colour), 0, width);
}
