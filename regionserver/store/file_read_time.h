// How long this thread has waited for the bytes of store files: what a scan tells as FS_READ_TIME.
#pragma once

#include "common/base/clock.h"

namespace ratchet::regionserver {

// Grows for the thread's whole life; two looks tell what is between them.
inline TimePoint::duration& FileReadTimeOfThread() {
  thread_local TimePoint::duration waited{0};
  return waited;
}

}  // namespace ratchet::regionserver
