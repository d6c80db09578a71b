#include "common/ops/api/event_follower.h"

#include <charconv>
#include <deque>
#include <utility>

#include <fmt/format.h>

#include "common/base/json_writer.h"
#include "common/client/admin.h"
#include "common/model/proto/operator.pb.h"
#include "common/rpc/methods/ratchet_service.h"

namespace ratchet::api {
namespace {

constexpr Millis kPatienceOfFollower{1'500};
constexpr int kMostRounds = 20;  // maximum for one call, 1000 events each

std::string OneNumber(std::string_view event, std::string_view key, std::uint64_t number) {
  JsonWriter data;
  data.BeginObject().Add(key, number).EndObject();
  return fmt::format("event: {}\ndata: {}\n\n", event, data.text());
}

std::string EventText(std::uint64_t epoch, const pb::ProcedureEvent& event) {
  JsonWriter data;
  data.BeginObject().Add("no", event.sequence()).Add("at_ms", event.at_wall_ms()).Add("event", event.kind());
  event.has_pid() ? data.Add("pid", event.pid()) : data.Key("pid").Null();
  event.has_root() ? data.Add("root", event.root()) : data.Key("root").Null();
  data.Add("type", event.type()).Add("step", event.step()).Add("detail", event.detail()).EndObject();
  return fmt::format("id: {}:{}\nevent: activity\ndata: {}\n\n", epoch, event.sequence(), data.text());
}

}  // namespace

EventFollower::EventFollower(std::function<Result<client::Connection*>()> active, const std::string& last_id)
    : active_(std::move(active)) {
  std::uint64_t epoch = 0;
  std::uint64_t after = 0;
  const char* end = last_id.data() + last_id.size();
  const auto first = std::from_chars(last_id.data(), end, epoch);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ':') return;
  const auto second = std::from_chars(first.ptr + 1, end, after);
  if (second.ec != std::errc() || second.ptr != end) return;
  epoch_ = epoch;
  after_ = after;
  fresh_ = false;
}

std::optional<std::string> EventFollower::More() {
  std::string text;
  std::deque<std::string> past;  // events that a new follower has read so far
  for (int round = 0; round < kMostRounds; ++round) {
    const auto connection = active_();
    if (!connection.ok()) return text + ": no master answers\n\n";
    pb::ListEventsRequest request;
    if (epoch_.has_value()) request.set_epoch(*epoch_);
    request.set_after(after_);
    const auto answer = client::Admin(**connection, kPatienceOfFollower).Call(methods::kListEvents, request);
    if (!answer.ok()) {
      for (const std::string& event : past) text += event;
      return text + ": no master answers\n\n";
    }
    if (epoch_.has_value() && *epoch_ != answer->epoch()) {
      text += OneNumber("master", "epoch", answer->epoch());
    } else if (!fresh_ && answer->lost() > 0) {
      text += OneNumber("lost", "events", answer->lost());
    }
    epoch_ = answer->epoch();
    for (const auto& event : answer->event()) {
      if (!fresh_) {
        text += EventText(*epoch_, event);
        continue;
      }
      past.push_back(EventText(*epoch_, event));
      if (past.size() > kNewest) past.pop_front();
    }
    const int count = answer->event_size();
    after_ = count > 0 ? answer->event(count - 1).sequence() : answer->last();
    if (count == 0 || answer->last() <= after_) break;
  }
  for (const std::string& event : past) text += event;
  fresh_ = false;
  return text;
}

}  // namespace ratchet::api
