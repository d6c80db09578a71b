// QuotaManager: request quotas. They are cells of the table hbase:quota, in HBase's format, so that HBase's clients can
// list them. The master reads the table and sends the limits to region servers in the answers to their reports.
//
// A change reads the cell and writes it with compare-and-set, so it is correct with any number of masters and may be
// repeated. Changes run one after the other; a change waits while the table does not exist or is not open. Direct
// writes of clients to the table are seen at the next read. Thread-safe; never blocks.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/model/proto/quota.pb.h"
#include "common/model/server_name.h"
#include "common/model/table_name.h"
#include "master/env/system_table.h"
#include "master/procedures/core/master_env.h"

namespace ratchet::master {

class QuotaManager {
 public:
  static constexpr std::size_t kMostQuotas = 10'000;
  static constexpr std::size_t kMostWaiting = 1'000;
  static constexpr Millis kPatience{60'000};   // maximum wait of a change
  static constexpr Millis kReadAgain{10'000};  // interval between reads of the table

  explicit QuotaManager(MasterEnv& env) : env_(env) {}

  // Calls `done` when the quota is durable; later lists for region servers include it.
  void Set(const hbase::pb::SetQuotaRequest& request, std::function<void(Status)> done);
  // `done` gets the previous value.
  void SetMayExceed(bool on, std::function<void(Result<bool>)> done);
  // Returns the list for a server that has the list with this digest (0: none); nullopt if the server's list is
  // current.
  [[nodiscard]] std::optional<hbase::pb::ThrottleList> ListFor(const ServerName& server, std::uint64_t digest) const;
  // The problem with the table's content, for operators; empty if there is none.
  [[nodiscard]] std::string problem() const;
  // Call every second.
  void Tick();

 private:
  using Value = SystemTable::Value;
  struct Change {
    SystemCell cell;
    std::function<Result<Value>(const Value& stored)> make;
    std::function<void(Result<Value>)> done;  // gets the previous value of the cell
    TimePoint deadline{};
  };
  void Ask(Change change);
  void Pump();
  void Work(const std::shared_ptr<Change>& change);
  void Write(const std::shared_ptr<Change>& change, const Value& stored);
  // Ends the first change with `result`, or leaves it to a later Tick to retry.
  void End(const std::shared_ptr<Change>& change, Result<Value> result);
  void Again(const std::shared_ptr<Change>& change, const Error& why);
  void MakeTable();
  void Read(std::function<void()> then);
  void Take(const std::vector<SystemCell>& cells) EXCLUDES(mutex_);
  void CountShares();
  [[nodiscard]] double ShareOf(const hbase::pb::ThrottleOf& of, const ServerName& server) const REQUIRES(mutex_);
  [[nodiscard]] Status AllowsChange(const hbase::pb::SetQuotaRequest& request, const Value& after) const;

  MasterEnv& env_;
  mutable Mutex mutex_;
  std::deque<std::shared_ptr<Change>> waiting_ GUARDED_BY(mutex_);
  bool working_ GUARDED_BY(mutex_) = false;
  bool reading_ GUARDED_BY(mutex_) = false;
  bool making_ GUARDED_BY(mutex_) = false;
  bool known_ GUARDED_BY(mutex_) = false;  // the table was read, or is not there
  bool may_exceed_ GUARDED_BY(mutex_) = false;
  bool shared_ GUARDED_BY(mutex_) = false;  // at least one limit applies to the whole cluster
  std::vector<hbase::pb::ThrottleOf> quotas_ GUARDED_BY(mutex_);
  mutable std::optional<hbase::pb::ThrottleList> told_ GUARDED_BY(mutex_);       // the last list that was built
  std::map<TableName, std::map<ServerName, double>> shares_ GUARDED_BY(mutex_);  // of tables with such limits
  double of_all_ GUARDED_BY(mutex_) = 1;                                         // one server's share of the cluster
  std::string problem_ GUARDED_BY(mutex_);
  TimePoint next_read_ GUARDED_BY(mutex_){};
  const std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace ratchet::master
