// How a program ends when it gets no memory, no thread or no descriptor where it cannot do without: with a line that
// names the cause and an exit code of its own, never by abort.
//
// A server that went on after a failed allocation would have to be right at every place that allocates; one that ends
// is recovered like any other dead one (its log is split, its regions open elsewhere). Constructors of the standard
// library and of asio (a thread, an event loop with its epoll and eventfd descriptors) throw where the system refuses
// them; the same holds for what they throw.
#pragma once

#include <functional>

#include "common/base/exit_latch.h"

namespace ratchet {

// Once, first in main. After this a failed `new` writes one line to stderr, without allocating, and ends the process
// with exit_code::kOutOfMemory. A std::system_error that no part catches ends it likewise: with kOutOfMemory for memory
// and threads, with kNoDescriptors for descriptors, else with kInternal. Other exceptions abort, with their text.
// `tool_code`: of a command line tool, for all of these.
void EndWithoutResources(const char* program, int tool_code = 0);

// What a server does then instead of ending with the code; it may return. Not called when there is no memory: it may
// allocate. Called by any thread, while others run. `last_act` and what it refers to stay for the rest of the process's
// life.
void EndWithoutResourcesBy(std::function<void(const ExitReason&)> last_act);

// For an end of a start whose reason is an error as a value: the code of `reason`, or kNoDescriptors where the system's
// words in it say that no descriptor was free, or kNoRoom where the disk was full. A root that cannot be used for want
// of a descriptor or of room is not a wrong root.
[[nodiscard]] int CodeOfEnd(const ExitReason& reason);

}  // namespace ratchet
