// The second half of gui.h over Dear ImGui: panels, menus, layout, and what is drawn on the scene.
#include "view/gui_parts.h"

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
    return gui_seen(title, open);
}

void gui_tab_end(void)
{
    ImGui::EndTabItem();
}

bool gui_section(const char *title, bool open_at_first)
{
    return gui_seen(
        title, ImGui::CollapsingHeader(title, open_at_first ? ImGuiTreeNodeFlags_DefaultOpen : 0));
}

bool gui_branch(const char *title)
{
    return gui_seen(title, ImGui::TreeNode(title));
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
    return gui_seen(title, ImGui::BeginMenu(title));
}

void gui_menu_end(void)
{
    ImGui::EndMenu();
}

bool gui_menu_item(const char *title, const char *key, bool chosen, bool possible)
{
    return gui_seen(title, ImGui::MenuItem(title, key, chosen, possible));
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
    ImGui::GetBackgroundDrawList()->AddLine({x0, y0}, {x1, y1}, gui_packed(colour), width);
}

void gui_ring(float x, float y, float radius, struct gui_colour colour, float width)
{
    ImGui::GetBackgroundDrawList()->AddCircle({x, y}, radius, gui_packed(colour), 0, width);
}
