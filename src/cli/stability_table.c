#include <math.h>
#include <stdio.h>

#include "cli/human.h"
#include "cli/stability.h"

static void print_heading(const struct stability *stability)
{
    const struct study *study = stability->study;
    const taut_scene *scene = stability->scene;
    printf("%s%s%s (%s)\n\n", scene->name, scene->title ? ": " : "",
           scene->title ? scene->title : "", stability->options->scene);
    printf("  system     %s, %s\n", human_counted(study->nodes, "node").text,
           human_counted(study->springs, "spring").text);
    printf("  fastest    %.6g rad/s%s; symplectic Euler is predicted to be stable up to %.4g s\n",
           study->omega, study->sharp ? "" : " at the most", study->unit);
    printf("  runs       of %.4g s%s, from %s\n", study->window,
           study->shortened ? " (the scene is longer: see --budget)" : "",
           study->at_rest ? "small random velocities, since nothing moves by itself"
                          : "the scene's own start");
    printf("  energies   are in parts of %.4g J, %s\n", study->available,
           study->at_rest ? "what the random velocities are"
                          : "what the scene turns over in that time");
}

static void print_limit(const struct study_limit *limit)
{
    printf("  %-18s", integrator_name(limit->integrator));
    if (isfinite(limit->predicted))
        printf("%12.5g s", limit->predicted);
    else
        printf("%14s", isinf(limit->predicted) ? "every" : "none");
    switch (limit->kind) {
    case STUDY_LIMIT_FOUND:
        printf("%12.5g s", limit->measured);
        if (isfinite(limit->predicted))
            printf("   %.4f of what is predicted", limit->measured / limit->predicted);
        break;
    case STUDY_LIMIT_GROWS:
        printf("%14s   at %.3g s energy grows", "none", limit->unstable);
        if (isfinite(limit->growth))
            printf(" by e^(%.3g t/s)", limit->growth);
        break;
    case STUDY_LIMIT_BEYOND:
        printf("%14s   stable at %.3g s too", "none found", limit->stable);
        break;
    default:
        printf("%14s", "?");
    }
    puts("");
}

static void print_limits(const struct study *study)
{
    printf("\n  Largest stable step     predicted      measured\n");
    for (size_t i = 0; i < study->integrator_count; i++)
        print_limit(&study->limits[i]);
}

static void print_drifts(const struct study *study)
{
    size_t each = study->integrator_count ? study->drift_count / study->integrator_count : 0;
    if (each == 0 || !(study->drifts[0].dt > 0))
        return;
    printf("\n  Energy drift, 1/s ");
    for (size_t j = 0; j < each; j++)
        printf("  %8.3g s", study->drifts[j].dt);
    puts("");
    for (size_t i = 0; i < study->integrator_count; i++) {
        printf("  %-18s", integrator_name(study->integrators[i]));
        for (size_t j = 0; j < each; j++) {
            const struct study_drift *drift = &study->drifts[i * each + j];
            if (drift->verdict == STUDY_STABLE)
                printf("%12.2e", drift->drift);
            else
                printf("%12s", drift->verdict == STUDY_UNSTABLE ? "unstable" : "?");
        }
        puts("");
    }
}

static void print_accuracy(const struct study *study)
{
    static const double errors[] = {1e-2, 1e-4, 1e-6};
    enum { COUNT = sizeof errors / sizeof errors[0] };
    if (study->accuracy_count == 0)
        return;
    printf("\n  Order of convergence, and evaluations (time) to come within an error\n");
    printf("  after %.4g s, against %s\n", study->accuracy_time,
           study->closed_form ? "the closed form" : "an rk4 run of small steps");
    printf("  %-18s%10s", "", "order");
    for (int j = 0; j < COUNT; j++)
        printf("%14.0e      ", errors[j]);
    puts("");
    for (size_t i = 0; i < study->integrator_count; i++) {
        printf("  %-18s", integrator_name(study->integrators[i]));
        if (isfinite(study->orders[i].order))
            printf("%10.2f", study->orders[i].order);
        else
            printf("%10s", "no signal");
        for (int j = 0; j < COUNT; j++) {
            const struct study_accuracy *it =
                study_cheapest(study, study->integrators[i], errors[j]);
            if (it)
                printf("%10s (%7s)", human_count(it->evaluations).text,
                       human_seconds(it->seconds).text);
            else
                printf("%20s", "-");
        }
        puts("");
    }
    for (size_t i = 0; i < study->integrator_count; i++)
        if (study->orders[i].reason != STUDY_ORDER_FITTED)
            printf("  no signal in %s: %s\n", integrator_name(study->integrators[i]),
                   study_no_order_text(study->orders[i].reason));
}

static void print_frequencies(const struct study *study)
{
    size_t each = study->integrator_count ? study->frequency_count / study->integrator_count : 0;
    if (each == 0)
        return;
    printf(
        "\n  Frequency error of one oscillator at %.4g rad/s, and what is left of its amplitude\n"
        "  after a period\n  %-18s",
        study->omega, "");
    for (size_t j = 0; j < each; j++)
        printf("%11.3g s    ", study->frequencies[j].dt);
    puts("");
    for (size_t i = 0; i < study->integrator_count; i++) {
        printf("  %-18s", integrator_name(study->integrators[i]));
        for (size_t j = 0; j < each; j++) {
            const struct study_frequency *it = &study->frequencies[i * each + j];
            double left = pow(it->factor, 2 * 3.14159265358979323846 / it->y);
            if (isfinite(it->ratio))
                printf("%+9.3f%% %6.4g", 100 * (it->ratio - 1), left);
            else
                printf("%17s", "-");
        }
        puts("");
    }
}

static void print_oscillations(const struct study *study)
{
    if (!study->oscillates)
        return;
    size_t each = study->oscillation_count / study->integrator_count;
    printf("\n  Frequency error of the scene's own oscillation: %c of node %s, %.6g rad/s\n  %-18s",
           "xyz"[study->oscillating_axis], human_count(study->oscillating_node).text,
           study->oscillation_omega, "");
    for (size_t j = 0; j < each; j++)
        printf("  %8.3g s", study->oscillations[j].dt);
    puts("");
    for (size_t i = 0; i < study->integrator_count; i++) {
        printf("  %-18s", integrator_name(study->integrators[i]));
        for (size_t j = 0; j < each; j++) {
            double ratio = study->oscillations[i * each + j].ratio;
            if (isfinite(ratio))
                printf("%+11.4f%%", 100 * (ratio - 1));
            else
                printf("%12s", "-");
        }
        puts("");
    }
}

void stability_print_table(const struct stability *stability)
{
    const struct study *study = stability->study;
    print_heading(stability);
    print_limits(study);
    print_drifts(study);
    print_accuracy(study);
    print_frequencies(study);
    print_oscillations(study);
    if (!study->complete)
        printf("\n  It ended early: what is missing was not measured%s.\n",
               stability->signal_number ? "" : " (see --budget)");
    printf("\n  took       %s\n", human_seconds(study->seconds).text);
    for (int i = 0; i < stability->file_count; i++)
        printf("  %-10s %s\n", i == 0 ? "files" : "", stability->files[i]);
}
