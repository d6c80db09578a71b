// The search ends without a result and with exit code 0.
c_code { \#include <stdlib.h> };
active proctype Leave() { c_code { _Exit(0); } }
