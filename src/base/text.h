// Text whose length is not known beforehand.
#ifndef TAUT_BASE_TEXT_H
#define TAUT_BASE_TEXT_H

#include <stddef.h>

#include "base/status.h"

// printf into a malloc'ed string of just the right length; NULL without memory. The caller frees
// it.
char *text_format(const char *format, ...) PRINTF_FORMAT(1, 2);

// U+FFFD, which stands for what is not UTF-8.
#define TEXT_REPLACEMENT "\xEF\xBF\xBD"

// The bytes of the well-formed UTF-8 character there (Unicode, table 3-7); 0 if there is none.
size_t text_utf8_bytes(const char *at);

// The text with U+FFFD for each byte that is not UTF-8; malloc'ed, NULL without memory.
char *text_as_utf8(const char *text);

#endif
