#include "common/rpc/protobuf_log.h"

#include <google/protobuf/stubs/logging.h>

#include <string>

#include "common/base/log.h"

namespace ratchet::rpc {

void QuietProtobuf() {
  static const bool kInstalled = [] {
    google::protobuf::SetLogHandler([](google::protobuf::LogLevel level, const char*, int, const std::string& text) {
      if (level == google::protobuf::LOGLEVEL_FATAL)
        RATCHET_LOG(kError, "protobuf: {}", text);
      else
        RATCHET_LOG(kDebug, "protobuf: {}", text);
    });
    return true;
  }();
  static_cast<void>(kInstalled);
}

}  // namespace ratchet::rpc
