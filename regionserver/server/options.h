// Every setting of ratchet-regionserver, with its default. Units and ranges are in options.cc, where each is bound to
// its name.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/clock.h"
#include "common/base/config.h"

namespace ratchet::regionserver {

struct ServerOptions {
  std::string root;       // the cluster's shared directory
  std::string zookeeper;  // "host:port,..."
  std::string zk_parent = "/hbase";
  Millis zk_session{2000};
  Millis zk_connect_timeout{30'000};
  std::string host = "127.0.0.1";  // where clients and the master reach this server; also the address to listen on
  std::int64_t port = 16020;
  std::int64_t listen_port = 0;  // 0: `port`
  std::string log_file;
  std::string log_level = "info";
  bool start_again = true;
  bool allow_fault_points = false;

  Millis start_timeout{
      60'000};  // for cluster.id and cluster.key to appear; the master itself is waited for without end
  Millis report_interval{1000};
  Millis sync_timeout{10'000};  // 0: never withdraws
  std::int64_t handlers = 16;
  std::int64_t admin_handlers = 4;
  std::int64_t meta_handlers = 4;
  std::int64_t queue_length = 1000;
  std::uint64_t max_call_bytes = 1u << 30;
  std::uint64_t max_answer_bytes = 1u << 30;
  std::int64_t open_threads = 8;
  std::int64_t split_log_threads = 2;
  std::int64_t flush_threads = 2;
  std::int64_t small_compaction_threads = 2;
  std::int64_t large_compaction_threads = 2;
  std::uint64_t keep_free_bytes = 128u << 20;
  Millis scanner_lease{60'000};
  std::uint64_t max_result_bytes = 2u << 20;
  std::int64_t max_scanners = 10'000;
  std::uint64_t max_cell_bytes = 10u << 20;
  std::uint64_t max_mutation_bytes = 256u << 20;
  std::uint64_t max_row_bytes = 128u << 20;
  std::uint64_t memstore_flush_bytes = 64u << 20;
  std::uint64_t memstore_total_bytes = 512u << 20;
  std::uint64_t log_roll_bytes = 32u << 20;
  std::int64_t max_logs = 16;
  Millis drain_timeout{30'000};
  Millis stop_timeout{10'000};
};

// Binds every member to its setting; `options` must outlive the parsing.
void BindOptions(Settings& settings, ServerOptions& options);

}  // namespace ratchet::regionserver
