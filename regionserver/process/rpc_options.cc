#include "regionserver/process/rpc_options.h"

namespace ratchet::regionserver {
namespace {

constexpr int kOrderThreads = 2;  // these threads only accept orders; lanes execute them

}  // namespace

RpcOptions::RpcOptions() {
  queue(rpc::QueueClass::kData).threads = 16;
  queue(rpc::QueueClass::kAdmin).threads = 4;
  queue(rpc::QueueClass::kTransition).threads = kOrderThreads;
  queue(rpc::QueueClass::kMeta).threads = queue(rpc::QueueClass::kMemberMeta).threads = 4;
  at_once_per_turn = 64;
}

void RpcOptions::Bind(Settings& settings) {
  SettingTarget<std::int64_t> meta(&queue(rpc::QueueClass::kMeta).threads);
  meta.set = [this](const std::int64_t& threads) {
    for (const auto of : {rpc::QueueClass::kMeta, rpc::QueueClass::kMemberMeta})
      queue(of).threads = static_cast<int>(threads);
  };
  SettingTarget<std::int64_t> length(&queue(rpc::QueueClass::kData).max_calls);
  length.set = [this](const std::int64_t& calls) {
    for (rpc::QueueOptions& each : queues) each.max_calls = static_cast<std::size_t>(calls);
  };
  settings.AddInt({"handlers", "Number of threads that answer requests.", {"hbase.regionserver.handler.count"}},
                  &queue(rpc::QueueClass::kData).threads, {1, 1000});
  settings.AddInt(
      {"admin-handlers", "Number of threads that answer administrators (flush, compact, roll and the like).", {}},
      &queue(rpc::QueueClass::kAdmin).threads, {1, 1000});
  settings.AddInt({"meta-handlers",
                   "Number of threads for clients' requests on hbase:meta; masters' requests have the same number of "
                   "separate threads.",
                   {"hbase.regionserver.metahandler.count"}},
                  meta, {1, 1000});
  settings.AddInt({"gets-at-once",
                   "Maximum number of gets that an I/O thread answers itself, from memory, before it reads from other "
                   "connections; 0: threads of --handlers answer all gets.",
                   {}},
                  &at_once_per_turn, {0, 1'000});
  settings.AddInt({"queue-length",
                   "Maximum number of requests that wait for a thread; more are refused as too busy.",
                   {"hbase.ipc.server.max.callqueue.length"}},
                  length, {1, 1'000'000});
  settings.AddBytes(
      {"max-call-bytes",
       "Maximum total size of requests without an answer; more are refused as too busy (CallQueueTooBigException).",
       {"hbase.ipc.server.max.callqueue.size"}},
      &max_call_bytes, 1u << 20, 1ull << 40);
  settings.AddInt({"max-request-messages",
                   "Maximum number of protobuf messages in one client request, including nested ones; more are refused "
                   "(RequestTooBigException).",
                   {}},
                  &max_request_messages, {1'000, 1'000'000'000});
  settings.AddBytes(
      {"max-answer-bytes",
       "Total size of answers that clients have not read; above it the connection with the most is closed.",
       {}},
      &max_unsent_total_bytes, 1u << 20, 1ull << 40);
}

}  // namespace ratchet::regionserver
