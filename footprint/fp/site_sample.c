/* site_sample.c - means and probabilities. */
#include "footprint/fp/site_sample.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool fp_sample_parse(const char *text, uint64_t *ret_mean)
{
    static const char units[] = "KMG";
    char *rest;
    if (!isdigit((unsigned char)text[0]) || strcmp(text, "1") == 0) {
        *ret_mean = 0;
        return text[0] != '-' && text[0] != '+';
    }
    errno = 0;
    unsigned long long mean = strtoull(text, &rest, 10);
    const char *unit = *rest != '\0' ? strchr(units, toupper((unsigned char)*rest)) : NULL;
    if (errno != 0 || mean > FP_SAMPLE_MEAN_MOST || (*rest != '\0' && (unit == NULL || rest[1] != '\0')))
        return false;
    if (unit != NULL)
        mean <<= 10 * (unit - units + 1);
    if (mean < FP_SAMPLE_MEAN_LEAST || mean > FP_SAMPLE_MEAN_MOST)
        return false;
    *ret_mean = mean;
    return true;
}

uint64_t fp_sample_mean(const char *text)
{
    uint64_t mean;
    return text != NULL && fp_sample_parse(text, &mean) ? mean : 0;
}
