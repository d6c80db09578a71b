#include "regionserver/region/admission.h"

#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "regionserver/region/region_errors.h"
#include "regionserver/store/ownership.h"

namespace ratchet::regionserver {

Status Admission::NotServing() const {
  const std::string& region = opening_.encoded_name;
  if (unsure_ && !lost_) return regionserver::NotServing(region, "this server ends");
  switch (state_) {
    case State::kOpening:
      return MakeError(Code::kUnavailable, "region " + region + " is opening", rpc::exception::kRegionOpening);
    case State::kClosing: return regionserver::NotServing(region, "it is closing");
    default: return regionserver::NotServing(region, lost_ ? "it was taken over" : "it was closed");
  }
}

Status Admission::CheckOpening() { return CheckOwner(*opening_.params.directory, opening_.params.open_number); }

Status Admission::CheckOwnership() {
  RATCHET_TRY(opening_.params.log->Check());
  const Status opening = CheckOpening();
  if (!opening.ok() && opening.error().code() == Code::kFenced) Lose(opening.error());
  return opening;
}

Status Admission::CheckWritten() {
  const Status owned = CheckOwnership();
  if (owned.ok()) return owned;
  {
    MutexLock lock(mutex_);
    // An opening that has answered no request just fails; the next opening starts from what this one wrote.
    if (IsLostOrUnsure() || state_ == State::kOpening || RATCHET_MUTANT("region.go_on_when_unsure")) return owned;
    unsure_ = true;
  }
  RATCHET_LOG(kError, "region {}: the manifest is written, but its owner cannot be determined: {}",
              opening_.encoded_name, owned.error().ToString());
  if (opening_.params.unsure) opening_.params.unsure(owned.error());
  return owned;
}

Status Admission::CheckReadable() const {
  MutexLock lock(mutex_);
  if (!IsLostOrUnsure() && (state_ == State::kOpen || state_ == State::kClosing)) return Ok();
  return NotServing();
}

Status Admission::CheckServing() {
  RATCHET_TRY(CheckReadable());
  const Status owned = CheckOwnership();
  if (!owned.ok()) {
    const OpenParams& params = opening_.params;
    if (params.refused && owned.error().code() != Code::kFenced && owned.error().code() != Code::kAborted)
      params.refused(owned.error());
    return regionserver::NotServing(opening_.encoded_name, owned.error().message());
  }
  // Check again: a close may have finished during the check of the files, and another server may serve already.
  return CheckReadable();
}

Status Admission::CheckKept() const {
  MutexLock lock(mutex_);
  return lost_ ? NotServing() : Ok();
}

Status Admission::Admit() {
  MutexLock lock(mutex_);
  if (IsLostOrUnsure() || state_ != State::kOpen) return NotServing();
  ++in_flight_;
  return Ok();
}

void Admission::Discharge() {
  MutexLock lock(mutex_);
  RATCHET_CHECK(in_flight_ > 0, "region {} discharged more than it admitted", opening_.encoded_name);
  if (--in_flight_ == 0) drained_.NotifyAll();
}

Status Admission::BeginServing() {
  MutexLock lock(mutex_);
  if (lost_) return Error(Code::kFenced, "region " + opening_.encoded_name + " was taken over while it was opening");
  state_ = State::kOpen;
  return Ok();
}

Status Admission::Drain() {
  MutexLock lock(mutex_);
  if (lost_) return Error(Code::kFenced, "region " + opening_.encoded_name + " was taken over");
  if (unsure_ || (state_ != State::kOpen && state_ != State::kClosing)) return NotServing();
  state_ = State::kClosing;
  while (!RATCHET_MUTANT("region.close_without_drain") && in_flight_ > 0 && !lost_) drained_.Wait(mutex_);
  if (lost_) return Error(Code::kFenced, "region " + opening_.encoded_name + " was taken over while it was closing");
  return Ok();
}

Status Admission::EndReads() {
  MutexLock lock(mutex_);
  if (IsLostOrUnsure() || state_ != State::kClosing) return NotServing();
  if (!RATCHET_MUTANT("region.read_after_closed")) state_ = State::kClosed;
  return Ok();
}

void Admission::AllowReadsAgain() {
  MutexLock lock(mutex_);
  if (!IsLostOrUnsure()) state_ = State::kClosing;
}

Status Admission::EndServing() {
  MutexLock lock(mutex_);
  if (IsLostOrUnsure()) return NotServing();
  state_ = State::kClosed;
  return Ok();
}

bool Admission::reads_ended() const {
  MutexLock lock(mutex_);
  return state_ == State::kClosed;
}

void Admission::FailAfterClosed(const Error& error) {
  {
    MutexLock lock(mutex_);
    if (IsLostOrUnsure()) return;
    unsure_ = true;
  }
  RATCHET_LOG(kError, "region {}: the manifest has the record CLOSED, but the close failed: {}", opening_.encoded_name,
              error.ToString());
  if (opening_.params.unsure) opening_.params.unsure(error);
}

bool Admission::MarkLost() {
  {
    MutexLock lock(mutex_);
    if (lost_) return false;
    lost_ = true;
    state_ = State::kClosed;
    drained_.NotifyAll();
  }
  row_locks_->Abandon();
  return true;
}

void Admission::Lose(const Error& error) {
  if (!MarkLost()) return;
  RATCHET_LOG(kWarn, "region {} is lost: {}", opening_.encoded_name, error.ToString());
  if (opening_.params.lost) opening_.params.lost(error);
}

void Admission::Abandon() { MarkLost(); }

}  // namespace ratchet::regionserver
