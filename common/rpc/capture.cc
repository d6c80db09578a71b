#include "common/rpc/capture.h"

#include <unistd.h>

#include <cstdlib>

#include "common/base/log.h"

namespace ratchet::rpc {

Capture::Capture(const std::string& label) {
  static const char* const kDirectory = std::getenv("RATCHET_DUMP_FRAMES");
  if (kDirectory == nullptr || *kDirectory == '\0') return;
  const std::string stem = fmt::format("{}/{}-{}", kDirectory, ::getpid(), label);
  to_server_.reset(std::fopen((stem + ".c2s").c_str(), "ab"));
  to_client_.reset(std::fopen((stem + ".s2c").c_str(), "ab"));
  if (to_server_ == nullptr || to_client_ == nullptr) RATCHET_LOG(kWarn, "cannot capture frames in {}", stem);
}

void Capture::Append(std::FILE* file, std::string_view bytes) {
  if (file == nullptr) return;
  // A capture that cannot be written must not disturb the connection.
  if (std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size()) std::fflush(file);
}

}  // namespace ratchet::rpc
