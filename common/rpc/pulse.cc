#include "common/rpc/pulse.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "common/base/mutant.h"
#include "common/model/proto/admin.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/admin_service.h"

namespace ratchet::rpc {
namespace {

constexpr std::string_view kPulseMethod = "Pulse";  // no service has it

const SystemClock kSteady;

Millis Since(TimePoint begun) { return std::chrono::duration_cast<Millis>(kSteady.Now() - begun); }

CallOptions Within(Millis patience) {
  CallOptions options;
  options.timeout = patience;
  return options;
}

}  // namespace

PulseEnd JudgePulse(const Status& reply, Millis took, Millis patience) {
  if (reply.ok()) return PulseEnd::kAnswered;
  const std::string_view what = reply.error().remote_class();
  // A call whose connection fails ends at once. One that was not sent until its deadline waited for the connection.
  if (what == kCallTimeout || (what == kNotSent && took >= patience)) {
    const bool late = took > patience + kPulseLate && !RATCHET_MUTANT("rpc.silence_of_the_late");
    return late ? PulseEnd::kUnclear : PulseEnd::kSilent;
  }
  const bool local = what.empty() || what == kNotSent || what == kConnectionLost;
  return local ? PulseEnd::kUnclear : PulseEnd::kAnswered;
}

void SendPulse(ChannelPool& channels, const Endpoint& endpoint, Millis patience, std::function<void(PulseEnd)> done) {
  const TimePoint begun = kSteady.Now();
  channels.Get(methods::kAdminService, endpoint)
      ->CallRaw(kPulseMethod, hbase::pb::GetServerInfoRequest(), std::make_shared<hbase::pb::GetServerInfoResponse>(),
                Within(patience), [begun, patience, done = std::move(done)](const Result<std::string>& reply) {
                  done(JudgePulse(reply.ok() ? Ok() : Status(reply.error()), Since(begun), patience));
                });
}

PulseEnd SendPulseSync(ChannelPool& channels, const Endpoint& endpoint, Millis patience) {
  const TimePoint begun = kSteady.Now();
  const auto reply = channels.Get(methods::kAdminService, endpoint)
                         ->CallRawSync(kPulseMethod, hbase::pb::GetServerInfoRequest(),
                                       std::make_shared<hbase::pb::GetServerInfoResponse>(), Within(patience));
  return JudgePulse(reply.ok() ? Ok() : Status(reply.error()), Since(begun), patience);
}

}  // namespace ratchet::rpc
