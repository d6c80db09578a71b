// Ends a program that gets no memory, thread or descriptor and cannot continue without it: with a line that names the
// cause and a specific exit code, never by abort.
//
// A server that continued after a failed allocation would have to be correct at every place that allocates. One that
// ends is recovered like any other dead server (its log is split, its regions open elsewhere). Constructors of the
// standard library and of asio (a thread, an event loop with its epoll and eventfd descriptors) throw when the system
// refuses them; those exceptions are handled likewise.
#pragma once

#include <functional>

#include "common/base/exit_latch.h"

namespace ratchet {

// Call once, first in main. After this a failed `new` writes one line to stderr, without allocating, and ends the
// process with exit_code::kOutOfMemory. A std::system_error that no part catches ends it likewise: with kOutOfMemory
// for memory and threads, with kNoDescriptors for descriptors, else with kInternal. Other exceptions abort, with their
// text. `tool_code`: for a command line tool, the code in all these cases.
void HandleResourceFailure(const char* program, int tool_code = 0);

// A server's action instead of ending with the code; it may return. Not called when there is no memory, because it may
// allocate. Called by any thread, while others run. `handler` and the objects that it refers to must live until the
// process ends.
void SetResourceFailureHandler(std::function<void(const ExitReason&)> handler);

// The exit code for a failed start whose reason is an error value. The system's error text may give it: kNoDescriptors
// if no descriptor was free, kNoRoom if the disk was full, kStorageHangs if a network file system did not answer.
// Otherwise it is the code of `reason`. A root that cannot be used for one of these reasons is not a wrong root.
[[nodiscard]] int CodeOfEnd(const ExitReason& reason);

}  // namespace ratchet
