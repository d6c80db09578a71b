#include "chaos/hostile/hostile_client.h"

#include <utility>

#include <fmt/core.h>

#include "chaos/hostile/catalog.h"
#include "common/model/proto/common.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/member_identity.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kAnswerWithin{2'000};

rpc::ChannelPoolOptions PoolOptions(const std::string& cluster_key) {
  rpc::ChannelPoolOptions options;
  options.name = "hostile";
  options.user = "hostile";
  if (cluster_key.empty()) return options;
  const auto member = std::make_shared<rpc::MemberIdentity>(rpc::MemberRole::kMaster, std::vector{cluster_key});
  member->SetName({"hostile", 1, 1});
  options.member = member;
  return options;
}

}  // namespace

HostileClient::HostileClient(rpc::Endpoint endpoint, std::uint64_t seed, std::vector<std::string> names,
                             const std::string& cluster_key)
    : endpoint_(std::move(endpoint)), maker_(seed, std::move(names)), pool_(PoolOptions(cluster_key)) {}

HostileClient::~HostileClient() { pool_.Stop(); }

void HostileClient::SendOne() {
  const auto& services = HostileServices();
  const auto& methods = HostileMethods();
  const std::string& service = services[maker_.prng().Below(services.size())];
  const HostileMethod& method = methods[maker_.prng().Below(methods.size())];
  const auto request = maker_.Make(*method.request);
  rpc::CallOptions options;
  options.timeout = kAnswerWithin;
  options.priority = static_cast<std::uint32_t>(maker_.prng().Below(400));
  options.cells = maker_.Cells();
  last_ = fmt::format("{}.{} {}", service, method.name, request->ShortDebugString().substr(0, 2'000));
  ++counts_.sent;
  // Any answer can be parsed as a message without fields.
  const auto answer =
      pool_.Get(service, endpoint_)
          ->CallRawSync(method.name, *request, std::make_shared<hbase::pb::EmptyMsg>(), std::move(options));
  if (answer.ok()) {
    ++counts_.answered;
  } else if (answer.error().code() == Code::kTimeout) {
    ++counts_.unanswered;
    return;
  } else if (rpc::IsClass(answer.error(), rpc::kConnectionLost) || rpc::IsClass(answer.error(), rpc::kNotSent)) {
    ++counts_.cut;
    return;
  } else {
    ++counts_.refused;
    if (rpc::IsClass(answer.error(), rpc::kNoSuchMethod)) return;
  }
  counts_.methods.insert(service + "." + method.name);
}

}  // namespace ratchet::chaos
