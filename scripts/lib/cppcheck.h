/* cppcheck.h - facts that cppcheck's parser lacks; scripts/lint includes it before each file. */
#ifndef MALLAB_SCRIPTS_CPPCHECK_H
#define MALLAB_SCRIPTS_CPPCHECK_H

#define __attribute__(x)
#define json_array_foreach(array, index, value)                                                              \
    for (index = 0; (value = json_array_get(array, index)) != 0; index++)
#define json_object_foreach(object, key, value)                                                              \
    for (key = first_key(object); (value = json_object_get(object, key)) != 0; key = next_key(object, key))

#endif
