#include "cli/render.h"

#include <stdio.h>

#include "cli/json.h"

void render_print_line(const struct render *render)
{
    const struct render_plan *plan = &render->plan;
    printf("%s: %d x %d pixels, ", render->path, render->width, render->height);
    if (render_is_film(plan->sort))
        printf("%zu frames, %.4g a second, t = %.4g to %.4g s (%.4g simulated seconds a second)\n",
               plan->count, plan->fps, render->times[0], render->times[plan->count - 1],
               plan->speed);
    else if (plan->sort == RENDER_STRIP)
        printf("%zu frames, t = %.4g to %.4g s\n", plan->count, render->times[0],
               render->times[plan->count - 1]);
    else
        printf("t = %.4g s\n", render->times[0]);
}

void render_print_json(const struct render *render)
{
    struct json json = {.out = stdout};
    json_open_object(&json, NULL);
    json_string(&json, "scene", render->footage.name);
    json_open_array(&json, "files");
    json_string(&json, NULL, render->path);
    json_close_array(&json);
    json_count(&json, "frames", render->plan.count);
    json_open_array(&json, "times");
    for (size_t i = 0; i < render->plan.count; i++)
        json_number(&json, NULL, render->times[i]);
    json_close_array(&json);
    json_count(&json, "width", (uint64_t)render->width);
    json_count(&json, "height", (uint64_t)render->height);
    json_string(&json, "device", canvas_device(render->canvas));
    json_close_object(&json);
}
