/* doctor_installed.c - what there is to record, replay and compare with. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/doctor/doctor_programs.h"
#include "cli/options/choice.h"
#include "footprint/base/places.h"
#include "results/measure/base/support.h"
#include "results/measure/validate/timed.h"
#include "results/report/html/html.h"

#define AREA "installed"

static void add_own(struct res_doctor *doctor)
{
    char *library = res_own_library("libmallab.so");
    char *collector = res_own_program("mallab-collect");
    char *none = res_own_program("mallab-replay-none");
    const bool records = library != NULL && collector != NULL;
    res_doctor_add(doctor, AREA, "recorder", records ? RES_DOCTOR_OK : RES_DOCTOR_BAD,
                   records ? res_strdup(library)
                           : res_printf("%s is missing", library == NULL ? "libmallab.so" : "mallab-collect"),
                   "mallab record preloads the library, and the collector writes what it says",
                   records ? NULL : "build and install again: ninja -C build, meson install -C build");
    res_doctor_add(doctor, AREA, "floor", none != NULL ? RES_DOCTOR_OK : RES_DOCTOR_BAD,
                   none != NULL ? res_strdup(none) : res_strdup("mallab-replay-none is missing"),
                   "the harness's own time is measured with it and subtracted",
                   none != NULL ? NULL : "build and install again");
    free(library);
    free(collector);
    free(none);
}

/* Variants share the library of the candidate that they are named after. */
static bool is_variant(const struct res_candidate *candidate)
{
    return strchr(candidate->name, '+') != NULL;
}

static bool is_default(const char *name)
{
    static const char *const names[] = {"glibc", "jemalloc", "tcmalloc", "mimalloc"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

static int add_allocators(struct res_doctor *doctor)
{
    struct res_registry registry = {0};
    struct res_text found = {0};
    const int code = cli_registry_load(&CLI_DOCTOR, &registry);
    for (size_t i = 0; i < registry.candidate_count; i++) {
        struct res_candidate *candidate = registry.candidates[i];
        if (is_variant(candidate) || strcmp(candidate->name, "none") == 0)
            continue;
        if (res_candidate_resolve(candidate, res_program_directories())) {
            const bool versioned = candidate->version != NULL && candidate->version[0] != '\0';
            res_text_printf(&found, "%s%s%s%s", found.length > 0 ? ", " : "", candidate->name,
                            versioned ? " " : "", versioned ? candidate->version : "");
            continue;
        }
        char *remedy = candidate->package != NULL ? res_printf("apt-get install %s", candidate->package)
                                                  : res_strdup("see 'mallab allocators'");
        char *name = res_printf("%.20s", candidate->name);
        res_doctor_add(doctor, AREA, name, is_default(candidate->name) ? RES_DOCTOR_NOTE : RES_DOCTOR_OK,
                       res_printf("not here: %s", candidate->missing), "one candidate less to compare",
                       remedy);
        free(name);
        free(remedy);
    }
    if (code == CLI_DONE)
        res_doctor_add(doctor, AREA, "allocators", found.length > 0 ? RES_DOCTOR_OK : RES_DOCTOR_BAD,
                       res_strdup(found.length > 0 ? found.text : "none"), "they are what is compared",
                       found.length > 0 ? NULL : "scripts/setup");
    free(found.text);
    res_registry_release(&registry);
    return code;
}

static void add_tools(struct res_doctor *doctor)
{
    char *hyperfine = res_hyperfine_find();
    res_doctor_add(doctor, AREA, "hyperfine", hyperfine != NULL ? RES_DOCTOR_OK : RES_DOCTOR_NOTE,
                   res_strdup(hyperfine != NULL ? hyperfine : "not here"),
                   "ab --hyperfine needs it; validate times whole programs with it, else with wait4(2)",
                   hyperfine != NULL ? NULL : "apt-get install hyperfine");
    free(hyperfine);
    const char *missing = res_html_missing();
    res_doctor_add(doctor, AREA, "HTML report", missing == NULL ? RES_DOCTOR_OK : RES_DOCTOR_NOTE,
                   res_strdup(missing == NULL ? "built with uPlot" : missing),
                   "report --format html draws its charts with uPlot, which is taken in when mallab is built",
                   missing == NULL ? NULL : "scripts/setup, then build again");
}

int cli_doctor_installed(struct res_doctor *doctor)
{
    add_own(doctor);
    const int code = add_allocators(doctor);
    add_tools(doctor);
    return code;
}
