#include "master/process/listen_options.h"

#include <cstddef>
#include <utility>

#include "common/base/setting_value.h"
#include "common/tls/process_tls.h"

namespace ratchet::master {

rpc::ServerOptions ListenOptions(const MasterConfig& config, std::uint16_t port,
                                 std::shared_ptr<const rpc::MemberIdentity> member) {
  constexpr int kMetaThreads = 2;  // for the location of hbase:meta; never block
  rpc::ServerOptions options;
  options.name = "master-rpc";
  options.host = config.bind.empty() ? config.host : config.bind;
  options.port = config.listen_port == 0 ? port : static_cast<std::uint16_t>(config.listen_port);
  const auto length = static_cast<std::size_t>(config.queue_length);
  const auto queue = [&options, length](rpc::QueueClass of, std::int64_t threads) {
    options.queues[static_cast<std::size_t>(of)] = {static_cast<int>(threads), length};
  };
  queue(rpc::QueueClass::kData, 1);
  queue(rpc::QueueClass::kAdmin, config.handlers);
  queue(rpc::QueueClass::kTransition, config.report_handlers);
  queue(rpc::QueueClass::kMeta, kMetaThreads);
  queue(rpc::QueueClass::kMemberMeta, 1);
  options.max_request_messages = static_cast<std::size_t>(config.max_request_messages);
  options.member = std::move(member);
  options.tls = tls::ProcessTls::OfProcess();
  return options;
}

page::InfoPageOptions PageOptions(const MasterConfig& config) {
  return {.host = config.info_host,
          .port = config.info_port,
          .names = Join({config.host, config.bind, config.info_names}, ",")};
}

}  // namespace ratchet::master
