// Every setting of ratchet-master, with its default. Names, units, ranges and aliases are in master_config.cc.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/clock.h"
#include "common/base/config.h"
#include "master/meta/rpc_meta_table.h"
#include "master/remote/dispatch_options.h"
#include "master/service/clock_book.h"

namespace ratchet::master {

struct MasterConfig {
  std::string root;       // the cluster's shared directory
  std::string zookeeper;  // "host:port,..."
  std::string zk_parent = "/hbase";
  Millis zk_session{2000};
  Millis zk_connect_timeout{30'000};
  std::string host = "127.0.0.1";  // where others reach this master; also the address to listen on
  std::int64_t port = 16000;
  std::int64_t listen_port = 0;  // 0: `port`
  std::string log_file;
  std::string log_level = "info";
  bool start_again = true;
  bool allow_fault_points = false;
  bool publish_client_znodes = false;
  bool adopt_zookeeper = false;
  bool list_steps = false;  // print the procedures' steps and end
  bool json = false;

  bool start_paused = false;
  bool table_sanity_checks = true;
  Millis remote_lock_timeout{30'000};
  ClockLimits clocks;
  std::string oldest_server_version = "0.1";

  std::int64_t workers = 16;
  std::int64_t steps_per_table = 0;  // at a time; 0: no limit
  std::int64_t steps_per_server = 0;
  std::int64_t steps_per_peer = 0;
  std::int64_t handlers = 8;         // of requests and views
  std::int64_t report_handlers = 8;  // of region servers' reports
  std::int64_t queue_length = 1000;
  DispatchOptions dispatch;
  MetaTableOptions meta;
  Millis order_resend{10'000};
  Millis retry_max{2'000};
  Millis catalog_janitor_interval{0};  // 0: at every look of the reconciler
  Millis cleaner_interval{60'000};
  Millis archive_ttl{600'000};
  std::uint64_t store_segment_bytes = 16u << 20;
  Millis store_segment_age{3'600'000};
  Millis sync_timeout{10'000};  // 0: never withdraws
};

// Binds every member to its setting; `config` must outlive the parsing. `dispatch` holds sizes as std::size_t: they are
// copied from the integers by Finish.
class MasterSettings {
 public:
  MasterSettings(Settings& settings, MasterConfig& config);
  // After parsing.
  void Finish();

 private:
  MasterConfig& config_;
  std::int64_t dispatcher_threads_;
  std::int64_t dispatcher_queue_;
  std::int64_t dispatcher_batch_orders_;
};

}  // namespace ratchet::master
