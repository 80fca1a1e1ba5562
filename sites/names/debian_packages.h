/* debian_packages.h - which Debian package would bring a file's debug symbols. */
#ifndef MALLAB_SITES_NAMES_DEBIAN_PACKAGES_H
#define MALLAB_SITES_NAMES_DEBIAN_PACKAGES_H

#include <stddef.h>

/* debian_packages - ask dpkg once for the packages of all files.
 * paths     count of them; NULL: not asked for. Links are followed.
 * ret       for each "PACKAGE-dbgsym", to be freed; NULL where no package has it, or there is no dpkg. */
void debian_packages(const char *const *paths, size_t count, char **ret);

#endif
