// Raw captures of connections for debugging: when RATCHET_DUMP_FRAMES names a directory, each connection writes what
// it receives and sends there. `ratchet-frames` prints them.
//
// A capture holds what TLS and Kerberos encrypt, and names, rows and tokens. So a server with such a protection does
// not start with captures, a reload that switches one on ends them, and a client with TLS makes none.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace ratchet {
class Settings;
}

namespace ratchet::rpc {

// Not thread-safe: one per connection. Costs a null check when captures are off. A crash may lose data.
class Capture {
 public:
  Capture() = default;
  // `label`: names the files "<label>.c2s" and "<label>.s2c".
  explicit Capture(const std::string& label);

  // At the start of a server, before the settings may be reloaded. kInvalidArgument: captures are asked for, and the
  // settings protect what they would hold; the error names these settings.
  [[nodiscard]] static Status BeginProcess(Settings& settings);

  void ToServer(std::string_view bytes) { Append(to_server_.get(), bytes); }
  void ToClient(std::string_view bytes) { Append(to_client_.get(), bytes); }

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  static void Append(std::FILE* file, std::string_view bytes);
  std::unique_ptr<std::FILE, Closer> to_server_;
  std::unique_ptr<std::FILE, Closer> to_client_;
};

}  // namespace ratchet::rpc
