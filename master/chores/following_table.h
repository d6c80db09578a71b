// FollowingTable: a system table that clients read and no master does. Its cells follow what the master knows.
//
// The table is created when there is something to show. A change appears within a few ticks, and a later check repairs
// cells of other writers and of deposed masters. Thread-safe; never blocks.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/model/table_descriptor.h"
#include "master/env/system_table.h"

namespace ratchet::master {

struct MasterEnv;

class FollowingTable {
 public:
  static constexpr Millis kLookAgain{60'000};        // also without a known change
  static constexpr std::size_t kMostAtOnce = 1'000;  // changes of one check; the next check continues

  struct Place {
    std::string row;
    std::string qualifier;
    auto operator<=>(const Place&) const = default;
  };
  using Cells = std::map<Place, std::string>;
  struct Source {
    TableDescriptor table;
    std::size_t most_cells = 0;  // that are read, with those of other writers
    // The cells that the table shall have. Comparing one object with itself costs nothing.
    std::function<std::shared_ptr<const Cells>()> wanted;
    std::function<bool()> is_needed;
    // Cells of the family that are not the master's; empty: all are.
    std::function<bool(const SystemCell& cell)> is_foreign{};
  };

  FollowingTable(MasterEnv& env, Source source) : env_(env), source_(std::move(source)) {}
  // Call every second. Null: the table cannot be reached.
  void Tick(SystemTable* cells);

 private:
  struct Change {
    SystemCell cell;
    SystemTable::Value before;
    SystemTable::Value after;
  };
  using Wanted = std::shared_ptr<const Cells>;
  [[nodiscard]] std::string Name() const { return source_.table.name.ToString(); }
  void MakeTable();
  void Follow(SystemTable& cells, Wanted wanted);
  [[nodiscard]] std::vector<Change> Differences(const std::vector<SystemCell>& found, const Cells& wanted) const;
  void Apply(SystemTable& cells, const std::shared_ptr<std::vector<Change>>& changes, std::size_t next, Wanted wanted);
  // `wanted`: the current cells of the table; null: unknown.
  void End(const Result<Wanted>& wanted);

  MasterEnv& env_;
  const Source source_;
  Mutex mutex_;
  bool working_ GUARDED_BY(mutex_) = false;
  Wanted held_ GUARDED_BY(mutex_);       // cells of the table at the last check
  TimePoint next_ GUARDED_BY(mutex_){};  // look, if nothing changes
  const std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace ratchet::master
