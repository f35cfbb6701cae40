// The window's connection to Dear ImGui 1.86 (gui.h), and the widgets that report their rectangles
// (widgets.h).
#include "view/gui.h"

#include "view/widgets.h"

extern "C" {
#include "view/window.h"
}

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <string>
#include <string_view>
#include <vector>

namespace
{
void (*watcher)(void *context, const char *name, struct gui_box box);
void *watcher_context;
std::vector<std::string> scopes;
std::array<bool, 5> buttons_down; // ImGui's number of buttons

void load_font(const char *font, float size)
{
    static const ImWchar ranges[] = {0x20,   0xFF,   0x370,  0x3FF,  0x2000, 0x209F, 0x2190,
                                     0x22FF, 0x23CF, 0x23FA, 0x25A0, 0x25FF, 0};
    ImGuiIO &io = ImGui::GetIO();
    if (!font || !io.Fonts->AddFontFromFileTTF(font, size, nullptr, ranges))
        io.Fonts->AddFontDefault();
}

// Reports the previous widget to the watcher, at most `width` of it (a slider without its label).
// Returns `result`.
bool report(const char *label, bool result, float width = FLT_MAX)
{
    if (!watcher || !ImGui::IsItemVisible())
        return result;
    std::string name;
    for (const std::string &scope : scopes)
        name += scope + '.';
    std::string_view own = label;
    size_t hidden = own.find("##");
    name += hidden == own.npos ? own : own.substr(own.find_first_not_of('#', hidden));
    ImVec2 least = ImGui::GetItemRectMin(), most = ImGui::GetItemRectMax();
    watcher(watcher_context, name.c_str(),
            {least.x, least.y, std::min(most.x - least.x, width), most.y - least.y});
    return result;
}
} // namespace

// ---- Start, events and frames

bool gui_start(struct GLFWwindow *window, const char *font, float font_size)
{
    IMGUI_CHECKVERSION();
    ImGui::CreateContext();
    ImGuiIO &io = ImGui::GetIO();
    io.IniFilename = nullptr; // the program places its windows itself, at every start
    io.LogFilename = nullptr;
    load_font(font, font_size);
    gui_theme(false);
    ImGui::GetStyle().ScaleAllSizes(font_size / 15);
    if (!ImGui_ImplGlfw_InitForOpenGL(window, false))
        return false;
    return ImGui_ImplOpenGL3_Init("#version 330 core");
}

void gui_stop(void)
{
    ImGui_ImplOpenGL3_Shutdown();
    ImGui_ImplGlfw_Shutdown();
    ImGui::DestroyContext();
    std::vector<std::string>().swap(scopes);
    buttons_down.fill(false);
    watcher = nullptr;
}

void gui_theme(bool dark)
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

void gui_event(struct GLFWwindow *window, const struct event *event)
{
    int action = event->repeated ? GLFW_REPEAT : event->down ? GLFW_PRESS : GLFW_RELEASE;
    switch (event->kind) {
    case EVENT_BUTTON:
        if (event->code >= 0 && event->code < (int)buttons_down.size())
            buttons_down[(size_t)event->code] = event->down;
        break;
    case EVENT_WHEEL:
        ImGui_ImplGlfw_ScrollCallback(window, 0, event->amount);
        break;
    case EVENT_KEY:
        ImGui_ImplGlfw_KeyCallback(window, event->code, 0, action, event->modifiers);
        break;
    case EVENT_TEXT:
        ImGui_ImplGlfw_CharCallback(window, (unsigned)event->code);
        break;
    case EVENT_ENTER:
        ImGui_ImplGlfw_CursorEnterCallback(window, event->down);
        break;
    case EVENT_FOCUS:
        ImGui_ImplGlfw_WindowFocusCallback(window, event->down);
        break;
    case EVENT_MOVE:
        break; // ImGui reads the pointer's position in each frame
    }
}

void gui_frame(bool placed, float x, float y)
{
    ImGui_ImplOpenGL3_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    ImGuiIO &io = ImGui::GetIO();
    if (placed) {
        std::copy(buttons_down.begin(), buttons_down.end(), io.MouseDown);
        io.MousePos = {x, y};
    } else { // the present state; also after a full queue has lost a release
        std::copy_n(io.MouseDown, buttons_down.size(), buttons_down.begin());
    }
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

void gui_watch(void (*seen)(void *context, const char *name, struct gui_box box), void *context)
{
    watcher = seen;
    watcher_context = context;
}

// ---- Widgets

namespace widgets
{
Scope::Scope(const char *name)
{
    scopes.emplace_back(name);
    ImGui::PushID(name);
}

Scope::~Scope()
{
    ImGui::PopID();
    scopes.pop_back();
}

bool button(const char *label)
{
    return report(label, ImGui::Button(label));
}

bool checkbox(const char *label, bool *on)
{
    return report(label, ImGui::Checkbox(label, on));
}

bool choice(const char *label, int *index, const char *const *names, int count)
{
    return report(label, ImGui::Combo(label, index, names, count));
}

bool slider(const char *label, double *values, int count, double least, double most,
            const char *format, bool logarithmic)
{
    float width = ImGui::CalcItemWidth();
    bool changed = ImGui::SliderScalarN(
        label, ImGuiDataType_Double, values, count, &least, &most, format,
        ImGuiSliderFlags_NoRoundToFormat | (logarithmic ? ImGuiSliderFlags_Logarithmic : 0));
    return report(label, changed, width);
}

bool integers(const char *label, int *values, int count)
{
    if (count == 1)
        return report(label, ImGui::InputInt(label, values, 1, 10));
    return report(label, ImGui::InputScalarN(label, ImGuiDataType_S32, values, count));
}

bool text_line(const char *label, char *text, size_t size)
{
    return report(label, ImGui::InputText(label, text, size,
                                          ImGuiInputTextFlags_EnterReturnsTrue |
                                              ImGuiInputTextFlags_AutoSelectAll));
}

bool entry(const char *label, bool chosen)
{
    return report(label, ImGui::Selectable(label, chosen, ImGuiSelectableFlags_DontClosePopups));
}

void plot(const char *label, const float *values, int count, float height)
{
    ImGui::PushID(label);
    ImGui::PlotLines("##plot", values, count, 0, "", FLT_MAX, FLT_MAX,
                     {ImGui::GetContentRegionAvail().x, height});
    ImGui::PopID();
    report(label, false);
}

bool tab(const char *title)
{
    bool open = ImGui::BeginTabItem(title);
    return report(title, open);
}

bool section(const char *title, bool open_at_first)
{
    return report(
        title, ImGui::CollapsingHeader(title, open_at_first ? ImGuiTreeNodeFlags_DefaultOpen : 0));
}

bool branch(const char *title)
{
    return report(title, ImGui::TreeNode(title));
}

bool menu(const char *title)
{
    return report(title, ImGui::BeginMenu(title));
}

bool menu_item(const char *title, const char *key, bool chosen, bool enabled)
{
    return report(title, ImGui::MenuItem(title, key, chosen, enabled));
}

void tooltip(const char *text)
{
    if (!ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled))
        return;
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(ImGui::GetFontSize() * 24);
    ImGui::TextUnformatted(text);
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
}

void warning(const char *text)
{
    ImGui::PushStyleColor(ImGuiCol_Text, {0.80F, 0.15F, 0.10F, 1.0F});
    ImGui::TextWrapped("%s", text);
    ImGui::PopStyleColor();
}
} // namespace widgets
