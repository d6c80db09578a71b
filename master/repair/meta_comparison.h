// MetaComparison: checks that hbase:meta, the master's memory and the tables' directories agree, and repairs
// inconsistencies.
//
// Every change of a row is made by a procedure that owns its region or its table. An inconsistency without an owner
// comes from a procedure that an operator ended before its last step, from a manual edit of meta, or from a defect. It
// is repaired when a second comparison finds it again. Repairs write rows of regions that no procedure owns, with a
// transition number above every reserved one, so that a late write of an ended procedure has no effect (S65: transition
// number reserved first). The next owner uses higher numbers. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "master/env/meta_table.h"
#include "master/repair/table_comparison.h"

namespace ratchet::master {

struct MasterEnv;

class MetaComparison {
 public:
  using Note = std::function<void(const std::string& encoded, std::string what)>;
  // `grace`: in-memory state that changed more recently is not judged. `note`: called for every repair and every
  // inconsistency that cannot be repaired.
  MetaComparison(MasterEnv& env, Millis grace, Note note) : env_(env), grace_(grace), note_(std::move(note)) {}

  // Calls `done` once, on any thread, after the comparison; repairs may still be in progress. kUnavailable: meta is not
  // loaded, or a comparison is already running.
  void Run(std::function<void(Status)> done);
  // Inconsistencies that the newest comparison found and did not repair: encoded name, table or directory ->
  // description.
  [[nodiscard]] std::map<std::string, std::string> Inconsistencies() const;

  // Inconsistencies that two comparisons found and that this master does not repair automatically (S115: missing row is
  // not evidence).
  [[nodiscard]] std::vector<std::string> Problems() const;
  static constexpr std::size_t kMostProblems = 20;

 private:
  void End(const Status& status, const std::function<void(Status)>& done);
  // `creations`: in flight when the scan of hbase:meta began.
  void Judge(TimePoint begun, const std::vector<TableCreations::Creation>& creations, const MetaContents& contents);
  void JudgeRow(TimePoint begun, const RegionRow& row, const std::string& encoded, const DirectoryOfTable& directories,
                const TablesInHand& in_hand, master::Inconsistencies& inconsistencies);
  void JudgeMissing(TimePoint begun, const std::set<std::string>& rows, const DirectoryOfTable& directories,
                    const TablesInHand& in_hand, master::Inconsistencies& inconsistencies);
  void ActOn(const master::Inconsistencies& inconsistencies);
  // Returns an edit that writes the row from memory, under a number reserved for it; nullopt if a procedure owns the
  // region.
  [[nodiscard]] std::optional<MetaEdit> EditOf(const std::string& encoded);
  // `known`: called when the outcome is known; may be empty.
  void Rewrite(std::vector<MetaEdit> edits, std::function<void()> known = {});
  void WriteAgain(const RegionInfo& region);  // creates its row from memory

  MasterEnv& env_;
  const Millis grace_;
  const Note note_;
  mutable Mutex mutex_;
  bool running_ GUARDED_BY(mutex_) = false;
  std::map<std::string, std::string> doubted_ GUARDED_BY(mutex_);  // found by the last comparison
  std::vector<std::string> problems_ GUARDED_BY(mutex_);
  const std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace ratchet::master
