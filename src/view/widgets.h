// Widgets of Dear ImGui that report their name and rectangle to a watcher (gui_watch: the event
// log, for tests and scripts). Everything that needs no name (text, layout, windows) is called in
// ImGui directly. The first part of a label "shown##name" is displayed, the second is the name.
// Functions that return bool return whether the widget was used or changed in this frame, or is
// open.
#ifndef TAUT_VIEW_WIDGETS_H
#define TAUT_VIEW_WIDGETS_H

#include <imgui.h>

#include <cstddef>

namespace widgets
{
// Prefixes the names of the widgets that follow, until it goes out of scope: "environment" and
// "gravity" make "environment.gravity". It also distinguishes equal labels.
class Scope
{
  public:
    explicit Scope(const char *name);
    ~Scope();
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;
};

bool button(const char *label);
bool checkbox(const char *label, bool *on);
bool choice(const char *label, int *index, const char *const *names, int count);
bool slider(const char *label, double *values, int count, double least, double most,
            const char *format, bool logarithmic = false);
bool integers(const char *label, int *values, int count);
bool text_line(const char *label, char *text, size_t size); // true after Enter
bool entry(const char *label, bool chosen);                 // of a list
void plot(const char *label, const float *values, int count, float height);
bool tab(const char *title);                         // ends with ImGui::EndTabItem, if open
bool section(const char *title, bool open_at_first); // a header that opens and closes
bool branch(const char *title);                      // ends with ImGui::TreePop, if open
bool menu(const char *title);                        // ends with ImGui::EndMenu, if open
bool menu_item(const char *title, const char *key, bool chosen = false, bool enabled = true);

// A text that is shown while the pointer rests on the previous widget, also on a disabled one.
void tooltip(const char *text);

// Red text, wrapped to its width.
void warning(const char *text);
} // namespace widgets

#endif
