#include "master/process/early_detection.h"

#include <utility>

#include "common/base/log.h"
#include "common/model/codec.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/admin_service.h"
#include "common/rpc/pulse.h"
#include "common/rpc/server_probe.h"

namespace ratchet::master {
namespace {
constexpr Millis kProbePatience{100};
constexpr Millis kPulseTimeout{1'000};
constexpr Millis kLongestSilence{10'000};
constexpr Millis kSecondOpinionTimeout{1'000};

rpc::Endpoint EndpointOf(const ServerName& server) { return {server.host, server.port}; }

hbase::pb::ProbeServerRequest ProbeOf(const ServerName& suspect) {
  hbase::pb::ProbeServerRequest request;
  ToProto(suspect, *request.mutable_server());
  return request;
}

// Returns false if the connection ended or could not be made.
bool Reaches(rpc::ChannelPool& channels, const ServerName& asked) {
  rpc::CallOptions options;
  options.timeout = kPulseTimeout;
  const auto reply = channels.CallSync(methods::kGetServerInfo, EndpointOf(asked), {}, std::move(options));
  if (reply.ok()) return true;
  const std::string_view what = reply.error().remote_class();
  return what != rpc::kNotSent && what != rpc::kConnectionLost;
}

}  // namespace

EarlyDetection::EarlyDetection(Deps deps)
    : deps_(std::move(deps)), deaths_(ForServers()), active_(ForTheActiveMaster()), silence_(ForSilence()) {}

void EarlyDetection::Hear(rpc::ChannelPoolOptions& options) {
  if (deps_.silence) {
    rpc::ChannelPoolOptions pulses = options;
    pulses.name = "master-pulse";
    pulses_ = std::make_unique<rpc::ChannelPool>(std::move(pulses));
  }
  options.connection_ended = [this](const rpc::Endpoint& endpoint) { active_.ConnectionEnded(endpoint); };
}

void EarlyDetection::Hear(rpc::ServerOptions& options) {
  options.connection_ended = [this](std::uint64_t connection) { deaths_.ConnectionEnded(connection); };
}

void EarlyDetection::Start() {
  if (deps_.silence) silence_.Start();
}

void EarlyDetection::Stop() {
  silence_.Stop();
  deaths_.Stop();
  active_.Stop();
}

void EarlyDetection::StopChannels() {
  if (pulses_ != nullptr) pulses_->Stop();
}

DeathWatch::Deps EarlyDetection::ForServers() {
  DeathWatch::Deps deps{deps_.clock};
  deps.online = deps_.online;
  deps.probe = [this](const ServerName& asked) { return rpc::ProbeServer(*channels_, asked, kProbePatience); };
  deps.ask = [this](const ServerName& other, const ServerName& suspect) { return SecondOpinion(other, suspect); };
  deps.expire = deps_.expire;
  return deps;
}

ActiveWatch::Deps EarlyDetection::ForTheActiveMaster() {
  ActiveWatch::Deps deps{deps_.clock};
  deps.reaches = [this](const ServerName& asked) { return Reaches(*channels_, asked); };
  deps.probe = [this](const ServerName& asked) { return rpc::ProbeServer(*channels_, asked, kProbePatience); };
  deps.region_servers = deps_.registered;
  deps.ask = [this](const ServerName& other, const ServerName& suspect) { return SecondOpinion(other, suspect); };
  deps.remove = [this](const ServerName& dead, const std::string& why) {
    RATCHET_LOG(kWarn, "the active master {} is gone: {}", dead.ToString(), why);
    deps_.replace(dead);
  };
  return deps;
}

SilenceWatch::Deps EarlyDetection::ForSilence() {
  SilenceWatch::Deps deps{deps_.clock};
  deps.online = deps_.online;
  deps.pulse = [this](const ServerName& asked, SilenceWatch::Done done) {
    rpc::SendPulse(*pulses_, EndpointOf(asked), kLongestSilence, std::move(done));
  };
  deps.ask_self = [this](const ServerName& asked, SilenceWatch::Done done) {
    rpc::SendPulse(*channels_, EndpointOf(asked), SilenceJudge::kPatience, std::move(done));
  };
  deps.ask_other = [this](const ServerName& other, const ServerName& suspect, SilenceWatch::Done done) {
    auto request = ProbeOf(suspect);
    request.set_silence_ms(static_cast<std::uint32_t>(SilenceJudge::kPatience.count()));
    rpc::CallOptions options;
    options.timeout = SilenceJudge::kAnswersWithin;
    channels_->Call(methods::kProbeServer, EndpointOf(other), request, std::move(options),
                    [done = std::move(done)](const auto& reply) {
                      const bool silent =
                          reply.ok() && reply->message.verdict() == hbase::pb::ProbeServerResponse::SILENT;
                      done(silent ? rpc::PulseEnd::kSilent : rpc::PulseEnd::kUnclear);
                    });
  };
  deps.believe = [this] { return deaths_.Believe(); };
  deps.expire = deps_.expire;
  return deps;
}

Result<rpc::ProbeVerdict> EarlyDetection::SecondOpinion(const ServerName& other, const ServerName& suspect) {
  rpc::CallOptions options;
  options.timeout = kSecondOpinionTimeout;
  RATCHET_ASSIGN(const auto reply,
                 channels_->CallSync(methods::kProbeServer, EndpointOf(other), ProbeOf(suspect), std::move(options)));
  switch (reply.message.verdict()) {
    case hbase::pb::ProbeServerResponse::GONE: return rpc::ProbeVerdict::kGone;
    case hbase::pb::ProbeServerResponse::ALIVE: return rpc::ProbeVerdict::kAlive;
    default: return rpc::ProbeVerdict::kNoFinding;
  }
}

}  // namespace ratchet::master
