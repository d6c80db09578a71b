// Time that this thread has waited for the bytes of store files: a scan's metric FS_READ_TIME.
#pragma once

#include "common/base/clock.h"

namespace ratchet::regionserver {

// Grows for the thread's whole life; the difference of two reads is the time in between.
inline TimePoint::duration& FileReadTimeOfThread() {
  thread_local TimePoint::duration waited{0};
  return waited;
}

}  // namespace ratchet::regionserver
