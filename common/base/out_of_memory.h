// What a server does when it gets no memory: it ends with an exit code of its own, at once and without allocating.
//
// A server that went on after a failed allocation would have to be right at every place that allocates; one that ends is
// recovered like any other dead one (its log is split, its regions open elsewhere). Called once, at the start of main.
#pragma once

namespace ratchet {

// After this a failed `new` writes one line to stderr and ends the process with exit_code::kOutOfMemory. An exception that leaves a
// thread because no thread or no memory could be had ends it likewise.
void EndWhenOutOfMemory(const char* program);

}  // namespace ratchet
