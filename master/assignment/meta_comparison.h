// MetaComparison: looks whether hbase:meta and the master's memory say the same, and puts right what does not.
//
// Every change of a row is made by a procedure that owns its region or its table, so a disagreement that nobody owns should
// never be: somebody edited meta by hand, or something is broken. A doubt is acted on when a second comparison finds it
// again. Repairs write rows under the transition number that memory has, so they never win against a procedure (S28).
// Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "master/env/meta_table.h"

namespace ratchet::master {

struct MasterEnv;

class MetaComparison {
 public:
  using Note = std::function<void(const std::string& encoded, std::string what)>;
  // `grace`: a picture younger than this is not judged. `note`: told of every repair and of what cannot be repaired.
  MetaComparison(MasterEnv& env, Millis grace, Note note) : env_(env), grace_(grace), note_(std::move(note)) {}

  // `done` once, on any thread, after the look; repairs may still be on their way. kUnavailable: meta is not loaded, or a
  // comparison is under way.
  void Run(std::function<void(Status)> done);
  // What the newest comparison found and has not acted on: encoded name -> what.
  [[nodiscard]] std::map<std::string, std::string> Doubts() const;

 private:
  struct Doubt {
    std::string what;
    std::function<void()> repair;
  };
  void Judge(TimePoint begun, const MetaContents& contents);
  void JudgeRow(TimePoint begun, const RegionRow& row, bool tables_change, std::map<std::string, Doubt>& doubts);
  void Rewrite(MetaEdit edit);

  MasterEnv& env_;
  const Millis grace_;
  const Note note_;
  mutable Mutex mutex_;
  bool running_ GUARDED_BY(mutex_) = false;
  std::map<std::string, std::string> doubted_ GUARDED_BY(mutex_);  // by the last comparison
  const std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace ratchet::master
