#include "master/process/rpc_options.h"

#include <cstdint>

namespace ratchet::master {

RpcOptions::RpcOptions() {
  constexpr int kMetaThreads = 2;  // for the location of hbase:meta; never block
  name = "master-rpc";
  queue(rpc::QueueClass::kData).threads = queue(rpc::QueueClass::kMemberMeta).threads = 1;
  queue(rpc::QueueClass::kAdmin).threads = queue(rpc::QueueClass::kTransition).threads = 8;
  queue(rpc::QueueClass::kMeta).threads = kMetaThreads;
}

void RpcOptions::Bind(Settings& settings) {
  SettingTarget<std::int64_t> length(&queue(rpc::QueueClass::kData).max_calls);
  length.set = [this](const std::int64_t& calls) {
    for (rpc::QueueOptions& each : queues) each.max_calls = static_cast<std::size_t>(calls);
  };
  settings.AddInt({"handlers", "Number of threads that answer clients.", {"hbase.regionserver.handler.count"}},
                  &queue(rpc::QueueClass::kAdmin).threads, {1, 1000});
  settings.AddInt(
      {"report-handlers", "Number of threads that handle region servers' reports.", {"hbase.master.handler.count"}},
      &queue(rpc::QueueClass::kTransition).threads, {1, 1000});
  settings.AddInt({"queue-length",
                   "Maximum number of requests that wait for a thread; more are refused as too busy.",
                   {"hbase.ipc.server.max.callqueue.length"}},
                  length, {1, 1'000'000});
  settings.AddInt({"max-request-messages",
                   "Maximum number of protobuf messages in one request of a client, nested ones included; a request "
                   "with more is refused (RequestTooBigException).",
                   {}},
                  &max_request_messages, {1'000, 1'000'000'000});
}

}  // namespace ratchet::master
