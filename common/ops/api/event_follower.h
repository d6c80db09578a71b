// One follower of the event stream, as server-sent events: asks the active master for the events since the last call,
// and continues at the next master, whose events start at 1 again.
//
// Event "activity": data is one JSON object; its id is "epoch:number", with which a browser that reconnects continues.
// Event "master": the epoch has changed. Event "lost": the number of events that were overwritten before they were
// read. A comment is sent while no master answers. One call at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/base/result.h"
#include "common/client/connection.h"

namespace ratchet::api {

class EventFollower {
 public:
  // `last_id`: as the browser sends it; empty: begin with the newest kNewest.
  EventFollower(std::function<Result<client::Connection*>()> active, const std::string& last_id);

  // Returns the new events; empty text: there are none.
  [[nodiscard]] std::optional<std::string> More();

  static constexpr std::uint64_t kNewest = 50;

 private:
  const std::function<Result<client::Connection*>()> active_;
  std::optional<std::uint64_t> epoch_;
  std::uint64_t after_ = 0;
  bool fresh_ = true;  // has not read the past yet
};

}  // namespace ratchet::api
