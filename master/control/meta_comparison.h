// MetaComparison: looks whether hbase:meta, the master's memory and the tables' directories say the same, and puts
// right what does not.
//
// Every change of a row is made by a procedure that owns its region or its table. A disagreement without an owner comes
// from a procedure that an operator has ended in between, from an edit of meta by hand, or from something that is
// broken. A doubt is acted on when a second comparison finds it again. Repairs write rows of regions that no procedure
// owns, above every transition number that was taken for them, so that what an ended procedure has sent and what comes
// late changes nothing (S65); the next owner goes on above. Thread-safe.
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
#include "master/control/table_comparison.h"
#include "master/env/meta_table.h"

namespace ratchet::master {

struct MasterEnv;

class MetaComparison {
 public:
  using Note = std::function<void(const std::string& encoded, std::string what)>;
  // `grace`: a picture younger than this is not judged. `note`: told of every repair and of what cannot be repaired.
  MetaComparison(MasterEnv& env, Millis grace, Note note) : env_(env), grace_(grace), note_(std::move(note)) {}

  // `done` once, on any thread, after the look; repairs may still be on their way. kUnavailable: meta is not loaded, or
  // a comparison is under way.
  void Run(std::function<void(Status)> done);
  // What the newest comparison found and has not acted on: encoded name, or table, or directory -> what.
  [[nodiscard]] std::map<std::string, std::string> Doubts() const;

 private:
  void End(const Status& status, const std::function<void(Status)>& done);
  void Judge(TimePoint begun, const MetaContents& contents);
  void JudgeRow(TimePoint begun, const RegionRow& row, const std::string& encoded, const DirectoryOfTable& directories,
                const TablesInHand& in_hand, master::Doubts& doubts);
  void JudgeMissing(TimePoint begun, const std::set<std::string>& rows, const DirectoryOfTable& directories,
                    const TablesInHand& in_hand, master::Doubts& doubts);
  void ActOn(const master::Doubts& doubts);
  // The row as memory has it, under a number that is taken for this; nothing where a procedure owns the region.
  [[nodiscard]] std::optional<MetaEdit> EditOf(const std::string& encoded);
  void Rewrite(std::vector<MetaEdit> edits);

  MasterEnv& env_;
  const Millis grace_;
  const Note note_;
  mutable Mutex mutex_;
  bool running_ GUARDED_BY(mutex_) = false;
  std::map<std::string, std::string> doubted_ GUARDED_BY(mutex_);  // by the last comparison
  const std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace ratchet::master
