/* export_workload.c - a workload as a workload: the same bytes, after all of them were read and checked. */
#include "convert/export/export.h"

enum fp_status conv_export_workload(struct conv_export_job *job)
{
    const void *bytes;
    size_t size;
    struct wl_window window;
    enum fp_status status;
    while ((status = conv_export_next(job, &window)) == FP_OK)
        continue;
    if (status != FP_END)
        return status;
    bytes = wl_reader_bytes(job->reader, &size);
    conv_export_put(job->file, bytes, size);
    return FP_OK;
}
