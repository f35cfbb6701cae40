// How the scene is solved, and how fast.
#include "view/fields.h"
#include "view/view.h"

#include <stdio.h>

static const struct gui_colour red = {0.80F, 0.15F, 0.10F, 1};

static void draw_integrator(struct view *view, const struct scene_simulation *simulation)
{
    int index = (int)simulation->integrator;
    field_name(view,
               &(struct field){.path = "simulation.integrator", .meaning = "The rule of a step."},
               integrator_names, &index);
}

static void draw_critical(const struct view *view, const struct scene_simulation *simulation)
{
    const struct player_status *status = &view->status;
    char text[160];
    if (status->critical_dt == INFINITY)
        snprintf(text, sizeof text, "critical step: none, stable at any");
    else if (status->critical_dt > 0)
        snprintf(text, sizeof text, "critical step: %s%.4g s",
                 status->critical_fresh ? "" : "at least ", status->critical_dt);
    else
        snprintf(text, sizeof text, "critical step: not known yet");
    // A bound that is exceeded says nothing; an automatic dt keeps below by itself.
    bool exceeded =
        status->critical_fresh && status->critical_dt > 0 && status->dt > status->critical_dt;
    if (exceeded)
        gui_text_coloured(red, text);
    else
        gui_text(text);
    if (exceeded && !simulation->dt_auto)
        gui_text_coloured(red, "The step is larger: the motion grows without bound.");
}

static void draw_step(struct view *view, const struct scene_simulation *simulation)
{
    bool is_auto = simulation->dt_auto;
    struct field field = {.path = "simulation.dt",
                          .label = "dt",
                          .meaning = "The step.",
                          .unit = "s",
                          .flags = FIELD_LOGARITHMIC};
    gui_push("simulation");
    if (gui_check("dt: auto##dt_auto", &is_auto)) {
        if (is_auto)
            player_set(view->player, "simulation.dt", "auto");
        else
            field_send(view, "simulation.dt", "%.9g", view->status.dt);
    }
    gui_tooltip("Takes a safe fraction of the critical step, and follows it.");
    gui_pop();
    double dt = simulation->dt;
    if (!simulation->dt_auto)
        field_numbers(view, &field, &dt, 1);
    else
        fields_of_table(view, &schema_simulation, simulation, "simulation",
                        (const char *const[]){"integrator", "dt", "duration", "steps", "substeps",
                                              "keep_velocity", "position_step", "iterations", NULL},
                        0);
    draw_critical(view, simulation);
}

static void draw_equations(struct view *view, const struct scene_simulation *simulation)
{
    if (integrator_is_implicit(simulation->integrator))
        fields_of_table(view, &schema_implicit, &simulation->implicit, "simulation.implicit", NULL,
                        0);
    if (simulation->integrator == INTEGRATOR_XPBD)
        fields_of_table(view, &schema_simulation, simulation, "simulation",
                        (const char *const[]){"integrator", "dt", "safety", "duration", "steps",
                                              "keep_velocity", "position_step", NULL},
                        0);
}

static void draw_threads(struct view *view)
{
    int threads = view->status.threads;
    gui_push("solver");
    gui_width((float)(110 * window_scale(view->window)));
    if (gui_count("threads", &threads, 1) && threads >= 1 && threads <= 4096)
        player_threads(view->player, threads);
    gui_tooltip("How many threads the solver has; the picture is drawn by one more.");
    gui_pop();
}

static void draw_figures(const struct view *view)
{
    const struct player_status *status = &view->status;
    char text[256];
    snprintf(text, sizeof text, "step %llu, dt %.4g s", (unsigned long long)status->step,
             status->dt);
    gui_text(text);
    snprintf(text, sizeof text, "%.4g M springs/s", status->spring_updates_per_second / 1e6);
    gui_text(text);
    snprintf(text, sizeof text, "kernel: %s", status->kernel ? status->kernel : "none");
    gui_text_wrapped(text);
    snprintf(text, sizeof text, "instruction set: %s", status->isa ? status->isa : "");
    gui_text(text);
    if (status->broken > 0) {
        snprintf(text, sizeof text, "broken springs: %llu", (unsigned long long)status->broken);
        gui_text(text);
    }
    snprintf(text, sizeof text, "drawn by: %s", window_device(view->window));
    gui_text_wrapped(text);
}

void panel_solver(struct view *view)
{
    const taut_scene *scene = player_scene(view->player);
    int precision = (int)scene->precision;
    draw_integrator(view, &scene->simulation);
    draw_step(view, &scene->simulation);
    draw_equations(view, &scene->simulation);
    gui_separator();
    field_name(view,
               &(struct field){.path = "precision",
                               .meaning = "The floating-point numbers that are computed with."},
               fields_key(&schema_scene, "precision")->names, &precision);
    draw_threads(view);
    gui_separator();
    draw_figures(view);
}
