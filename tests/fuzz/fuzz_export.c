/* fuzz_export.c - any bytes as a workload whose frame is made right: the checker and every exporter take what its reader
 * takes, and say so or say why not. */
#include <unistd.h>

#include "convert/check/verify.h"
#include "convert/convert.h"
#include "convert/export/export.h"
#include "fuzz/target.h"

static void export_to(const char *in, const char *to)
{
    const char *out = fuzz_output();
    const struct conv_options options = {.to = to};
    static struct conv_report report;
    static struct conv_error error;
    const enum fp_status status = conv_file(in, out, &options, &report, &error);
    FUZZ_CHECK((access(out, F_OK) == 0) == (status == FP_OK));
    if (status == FP_OK)
        conv_report_release(&report);
    else
        FUZZ_CHECK(error.cause.status == status && error.cause.what != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct conv_verdict verdict;
    static struct conv_error error;
    const struct conv_export_format *format;
    struct image image = {0};
    image_set(&image, bytes, size);
    image_seal_all(&image, IMAGE_WORKLOAD);
    repair_summary(&image);
    const char *in = fuzz_input(image.bytes, image.size);
    enum fp_status status = conv_verify_file(in, NULL, &verdict, &error);
    FUZZ_CHECK(status != FP_OK ||
               (verdict.violation.fault == CONV_FAULT_NONE) == (verdict.violation.what[0] == '\0'));
    for (size_t i = 0; (format = conv_export_at(i)) != NULL; i++)
        export_to(in, format->name);
    image_release(&image);
    return 0;
}
