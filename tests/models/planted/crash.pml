// The search itself ends by a signal.
c_code { \#include <stdlib.h> };
active proctype Crash() { c_code { abort(); } }
