// gui.h over Dear ImGui 1.86: each function hands on to one of its own, and notes where the thing
// is.
#include "view/gui_parts.h"
#include "view/window.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace
{
void (*watcher)(void *context, const char *name, struct gui_box box);
void *watcher_context;
std::vector<std::string> names;

void load_font(const char *font, float size)
{
    static const ImWchar ranges[] = {0x20,   0xFF,   0x370,  0x3FF,  0x2000, 0x209F, 0x2190,
                                     0x22FF, 0x23CF, 0x23FA, 0x25A0, 0x25FF, 0};
    ImGuiIO &io = ImGui::GetIO();
    if (!font || !io.Fonts->AddFontFromFileTTF(font, size, nullptr, ranges))
        io.Fonts->AddFontDefault();
}
} // namespace

ImU32 gui_packed(struct gui_colour colour)
{
    return ImGui::ColorConvertFloat4ToU32({colour.red, colour.green, colour.blue, colour.alpha});
}

bool gui_seen(const char *label, bool result, float width)
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
    if (!ImGui_ImplGlfw_InitForOpenGL(window, false))
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

void gui_event(struct GLFWwindow *window, const struct event *event)
{
    int action = event->repeated ? GLFW_REPEAT : event->down ? GLFW_PRESS : GLFW_RELEASE;
    if (event->kind == EVENT_BUTTON)
        ImGui_ImplGlfw_MouseButtonCallback(window, event->code, action, event->modifiers);
    else if (event->kind == EVENT_WHEEL)
        ImGui_ImplGlfw_ScrollCallback(window, 0, event->amount);
    else if (event->kind == EVENT_KEY)
        ImGui_ImplGlfw_KeyCallback(window, event->code, 0, action, event->modifiers);
    else if (event->kind == EVENT_TEXT)
        ImGui_ImplGlfw_CharCallback(window, (unsigned)event->code);
    else if (event->kind == EVENT_ENTER)
        ImGui_ImplGlfw_CursorEnterCallback(window, event->down);
    else if (event->kind == EVENT_FOCUS)
        ImGui_ImplGlfw_WindowFocusCallback(window, event->down);
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
    ImGui::PushStyleColor(ImGuiCol_Text, gui_packed(colour));
    ImGui::TextWrapped("%s", text);
    ImGui::PopStyleColor();
}

bool gui_button(const char *label)
{
    return gui_seen(label, ImGui::Button(label));
}

bool gui_check(const char *label, bool *on)
{
    return gui_seen(label, ImGui::Checkbox(label, on));
}

bool gui_choice(const char *label, int *index, const char *const *items, int count)
{
    return gui_seen(label, ImGui::Combo(label, index, items, count));
}

bool gui_slider(const char *label, double *values, int count, double least, double most,
                const char *format, bool logarithmic)
{
    float width = ImGui::CalcItemWidth();
    bool changed = ImGui::SliderScalarN(
        label, ImGuiDataType_Double, values, count, &least, &most, format,
        ImGuiSliderFlags_NoRoundToFormat | (logarithmic ? ImGuiSliderFlags_Logarithmic : 0));
    return gui_seen(label, changed, width);
}

bool gui_count(const char *label, int *values, int count)
{
    if (count == 1)
        return gui_seen(label, ImGui::InputInt(label, values, 1, 10));
    return gui_seen(label, ImGui::InputScalarN(label, ImGuiDataType_S32, values, count));
}

bool gui_line(const char *label, char *text, size_t size)
{
    return gui_seen(label,
                    ImGui::InputText(label, text, size, ImGuiInputTextFlags_EnterReturnsTrue |
                                                            ImGuiInputTextFlags_AutoSelectAll));
}

void gui_begin_to_type(void)
{
    ImGui::SetKeyboardFocusHere();
}

bool gui_entry(const char *label, bool chosen)
{
    return gui_seen(label, ImGui::Selectable(label, chosen, ImGuiSelectableFlags_DontClosePopups));
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
    gui_seen(label, false);
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
