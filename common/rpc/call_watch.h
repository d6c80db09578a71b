// Reports finished calls that took long, or whose answer is large.
#pragma once

#include <cstddef>
#include <functional>

#include "common/base/clock.h"
#include "common/rpc/call.h"

namespace ratchet::rpc {

struct FinishedCall {
  const CallContext& context;
  const google::protobuf::MessageLite& request;
  Millis queued{0};  // before its handler began
  Millis took{0};    // from there to the answer
  std::size_t answer_bytes = 0;
  bool slow = false;
  bool large = false;
};

struct CallWatch {
  Millis slow = Millis::max();
  std::size_t large = SIZE_MAX;  // bytes
  // Called on the thread that answers, before the answer is sent; it must be quick. Empty: no reports.
  std::function<void(const FinishedCall&)> told{};
};

}  // namespace ratchet::rpc
