// Text whose length is not known beforehand.
#ifndef TAUT_BASE_TEXT_H
#define TAUT_BASE_TEXT_H

#include "base/status.h"

// printf into a malloc'ed string of just the right length; NULL without memory. The caller frees
// it.
char *text_format(const char *format, ...) PRINTF_FORMAT(1, 2);

#endif
