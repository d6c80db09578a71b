// QuotaKeeper: quotas of requests, as the master keeps them. They are cells of the table hbase:quota, in HBase's form,
// so that HBase's clients list them; this master reads the table and tells region servers, with their reports, what
// they are to limit.
//
// A change is a look at the cell and a write on the condition that it is still as it was seen: it is right under any
// number of masters, and may be repeated. Changes go one after the other; those that the table is not there for yet, or
// not open for, wait for so long. What clients write into the table by themselves is seen with the next reading.
// Thread-safe; never blocks.
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
#include "master/env/master_env.h"
#include "master/env/system_table.h"

namespace ratchet::master {

class QuotaKeeper {
 public:
  static constexpr std::size_t kMostQuotas = 10'000;
  static constexpr std::size_t kMostWaiting = 1'000;
  static constexpr Millis kPatience{60'000};   // of a change
  static constexpr Millis kReadAgain{10'000};  // the table

  explicit QuotaKeeper(MasterEnv& env) : env_(env) {}

  // Durable, and part of what region servers are told from now on.
  void Set(const hbase::pb::SetQuotaRequest& request, std::function<void(Status)> done);
  // `done`: what it was before.
  void SetMayExceed(bool on, std::function<void(Result<bool>)> done);
  // For a server that has the list with this digest (0: none). Nothing: it is to keep what it has.
  [[nodiscard]] std::optional<hbase::pb::ThrottleList> ListFor(const ServerName& server, std::uint64_t digest) const;
  // What is wrong with the table's content, for operators; empty: nothing.
  [[nodiscard]] std::string problem() const;
  // Call every second.
  void Tick();

 private:
  using Value = SystemTable::Value;
  struct Change {
    SystemCell cell;
    std::function<Result<Value>(const Value& stored)> make;
    std::function<void(Result<Value>)> done;  // with what was stored before
    TimePoint deadline{};
  };
  void Ask(Change change);
  void Pump();
  void Work(const std::shared_ptr<Change>& change);
  void Write(const std::shared_ptr<Change>& change, const Value& stored);
  // The change at the front has ended so, or is tried again with a later Tick.
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
  bool shared_ GUARDED_BY(mutex_) = false;  // some limit is for the whole cluster
  std::vector<hbase::pb::ThrottleOf> quotas_ GUARDED_BY(mutex_);
  mutable std::optional<hbase::pb::ThrottleList> told_ GUARDED_BY(mutex_);       // the last list that was made
  std::map<TableName, std::map<ServerName, double>> shares_ GUARDED_BY(mutex_);  // of tables with such limits
  double of_all_ GUARDED_BY(mutex_) = 1;                                         // a server's part of the cluster
  std::string problem_ GUARDED_BY(mutex_);
  TimePoint next_read_ GUARDED_BY(mutex_){};
  const std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace ratchet::master
