// Files of this process are for its user only, S160 (the root is its user's).
#pragma once

#include <sys/stat.h>

namespace ratchet {

// Sets umask 077. Call it at the start of main: it applies to the whole process, and to programs that it starts.
inline void KeepFilesPrivate() { ::umask(S_IRWXG | S_IRWXO); }

}  // namespace ratchet
