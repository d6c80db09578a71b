// Preloaded into a process by detect_bench: RATCHET_BALLAST_MB megabytes of resident memory, which the kernel has to
// free at the end of the process.
#include <sys/mman.h>

#include <cstdlib>

namespace {

__attribute__((constructor)) void TakeMemory() {
  const char* megabytes = std::getenv("RATCHET_BALLAST_MB");
  if (megabytes == nullptr) return;
  static_cast<void>(::mmap(nullptr, std::strtoull(megabytes, nullptr, 10) << 20U, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));
}

}  // namespace
