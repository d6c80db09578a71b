// Every setting of ratchet-regionserver, with its default. Units and ranges are in options.cc, which binds each to its
// name.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "common/base/clock.h"
#include "common/base/config.h"
#include "common/base/live.h"
#include "common/rpc/proof_policy.h"
#include "common/tls/process_tls.h"
#include "regionserver/store/block_cache.h"

namespace ratchet::regionserver {

struct ServerOptions {
  std::string root;       // the cluster's shared directory
  std::string zookeeper;  // "host:port,..."
  std::string zk_parent = "/hbase";
  Millis zk_session{2000};
  Millis zk_connect_timeout{30'000};
  std::string host = "127.0.0.1";  // where clients and the master reach this server
  std::string bind;                // addresses or names to listen on; empty: those of `host`
  std::int64_t port = 16020;
  std::int64_t listen_port = 0;    // 0: the same as `port`
  std::int64_t info_port = 16030;  // of the page and of metrics; 0: any free port, -1: none
  std::string info_host = "127.0.0.1";
  std::string info_names;                               // further names for which the page answers
  std::function<std::vector<SettingRow>()> settings{};  // all settings in force
  std::function<Status()> reload{};  // re-reads the settings that may change live; an error changes none
  std::string log_file;
  std::string log_level = "info";
  std::string storage_client;  // empty: no client that could be evicted
  std::string storage_proof = "detect";
  std::string member_proof = "auto";
  Live<rpc::ProofPolicy> proof_policy{rpc::ProofPolicy::kByKey};  // as member_proof says
  tls::TlsOptions tls;
  bool start_again = true;
  bool allow_fault_points = false;

  Millis start_timeout{
      60'000};  // for cluster.id and cluster.key to appear; the wait for the master itself has no limit
  Live<Millis> report_interval{Millis{1000}};
  Live<Millis> sync_timeout{Millis{10'000}};  // 0: never withdraws
  std::int64_t handlers = 16;
  std::int64_t admin_handlers = 4;
  std::int64_t meta_handlers = 4;
  std::int64_t queue_length = 1000;
  std::uint64_t max_call_bytes = 1u << 30;
  std::int64_t max_request_messages = 500'000;
  std::uint64_t max_answer_bytes = 1u << 30;
  std::int64_t open_threads = 8;
  std::int64_t split_log_threads = 2;
  std::int64_t flush_threads = 2;
  std::int64_t small_compaction_threads = 2;
  std::int64_t compaction_min_files = 4;
  std::int64_t large_compaction_threads = 2;
  Live<std::uint64_t> keep_free_bytes{128u << 20};
  Live<Millis> scanner_lease{Millis{60'000}};
  Live<std::uint64_t> max_result_bytes{2u << 20};
  Live<std::uint64_t> scan_ahead_bytes{64u << 20};
  std::uint64_t max_multi_bytes = 64u << 20;
  Live<std::int64_t> max_scanners{10'000};
  Live<std::int64_t> max_scanners_of_connection{1'000};
  Live<std::int64_t> max_scanners_of_user{5'000};
  Millis slow_call{10'000};
  std::uint64_t large_answer_bytes = 100u << 20;
  std::int64_t slow_log_calls = 256;
  std::uint64_t max_cell_bytes = 10u << 20;
  Live<std::uint64_t> max_mutation_bytes{256u << 20};
  Live<std::uint64_t> max_row_bytes{128u << 20};
  Live<std::uint64_t> memstore_flush_bytes{64u << 20};
  Live<std::uint64_t> memstore_blocking_bytes{0};  // computed from the one above: FollowMemstore
  Live<std::uint64_t> memstore_total_bytes{512u << 20};
  Live<std::uint64_t> memstore_flush_at{0};  // computed from the one above
  Live<std::uint64_t> block_cache_bytes{BlockCache::kDefaultBytes};
  std::uint64_t log_roll_bytes = 32u << 20;
  Live<std::int64_t> max_logs{16};
  Live<Millis> drain_timeout{Millis{30'000}};
  Live<Millis> stop_timeout{Millis{10'000}};
};

// Sets the derived limits: four times the size at which a region is flushed, and nine tenths of the total.
void FollowMemstore(ServerOptions options);

// Binds every member to its setting. `options` must outlive the parsing; in a program with reloads, the program.
void BindOptions(Settings& settings, ServerOptions& options);

}  // namespace ratchet::regionserver
