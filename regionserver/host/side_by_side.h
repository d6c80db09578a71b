// Runs many short jobs that mostly wait for the disk, so that it can combine their syncs.
#pragma once

#include <cstddef>
#include <functional>

namespace ratchet::regionserver {

// Calls job(0) ... job(count - 1), each once, on at most `threads` threads of which the caller's is one, and returns
// when all have ended.
void RunSideBySide(std::size_t threads, std::size_t count, const std::function<void(std::size_t)>& job,
                   const char* thread_name);

}  // namespace ratchet::regionserver
