#include "common/base/part_lock.h"

#include <cstring>

#include <fmt/format.h>

#include "common/base/check.h"

namespace ratchet {
namespace {

struct Recorder {
  Mutex mutex;
  bool on GUARDED_BY(mutex) = false;
  std::vector<std::string> violations GUARDED_BY(mutex);
};

Recorder& TheRecorder() {
  static auto* const recorder = new Recorder;  // threads may outlive static objects
  return *recorder;
}

// Places where this thread took the locks that it holds: more than one only after a recorded violation.
thread_local std::vector<CodeLine> held;

std::string Place(CodeLine at) {
  const char* slash = std::strrchr(at.file, '/');
  return fmt::format("{}:{}", slash == nullptr ? at.file : slash + 1, at.line);
}

void Violated(const std::string& part) {
  const std::string text = fmt::format("{} is entered while the lock of {} is held", part, Place(held.back()));
  Recorder& recorder = TheRecorder();
  const MutexLock lock(recorder.mutex);
  RATCHET_CHECK(recorder.on, "{}", text);
  recorder.violations.push_back(text);
}

}  // namespace

void EnterPart(CodeLine at) {
  if (!held.empty()) Violated(Place(at));
  held.push_back(at);
}

void LeavePart() { held.pop_back(); }

void ExpectNoPartLock(const char* part) {
  if (!held.empty()) Violated(part);
}

RecordedPartLocks::RecordedPartLocks() {
  Recorder& recorder = TheRecorder();
  const MutexLock lock(recorder.mutex);
  RATCHET_CHECK(!recorder.on, "violations are recorded already");
  recorder.on = true;
}

RecordedPartLocks::~RecordedPartLocks() {
  Recorder& recorder = TheRecorder();
  const MutexLock lock(recorder.mutex);
  recorder.on = false;
  recorder.violations.clear();
}

std::vector<std::string> RecordedPartLocks::violations() const {
  Recorder& recorder = TheRecorder();
  const MutexLock lock(recorder.mutex);
  return recorder.violations;
}

}  // namespace ratchet
