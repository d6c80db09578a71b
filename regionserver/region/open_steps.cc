#include "regionserver/region/open_steps.h"

#include <utility>

namespace ratchet::regionserver {

OpenSteps::OpenSteps(OpenParams params) : region_(std::make_shared<Region>(Region::Private{}, std::move(params))) {}

Status OpenSteps::Told(const Status& status) const {
  if (status.ok()) return status;
  return Error(status.error()).Annotate("opening of region " + region_->encoded_name());
}

Status OpenSteps::Claim() { return Told(region_->lifecycle_.Claim()); }

Status OpenSteps::SyncClaim() {
  MutexLock lock(region_->files_.work);
  return Told(region_->files_.manifest().SyncNames());
}

Status OpenSteps::TakeOver() {
  Result<Lifecycle::TakenOver> taken = region_->lifecycle_.TakeOver();
  if (!taken.ok()) return Told(taken.error());
  taken_ = std::move(taken).value();
  return Ok();
}

Status OpenSteps::SyncRecord() {
  MutexLock lock(region_->files_.work);
  return Told(region_->files_.manifest().SyncRecord());
}

Status OpenSteps::TakeOverAlone() {
  RATCHET_TRY(SyncClaim());
  RATCHET_TRY(TakeOver());
  return SyncRecord();
}

Result<std::shared_ptr<Region>> OpenSteps::Finish() {
  RATCHET_TRY(Told(region_->lifecycle_.Finish(std::move(taken_), region_->Kept())));
  return region_;
}

io::WritableFile& OpenSteps::file() {
  MutexLock lock(region_->files_.work);
  return region_->files_.manifest().file();
}

void OpenSteps::NoteClaimDurable() {
  MutexLock lock(region_->files_.work);
  region_->files_.manifest().NoteNamesDurable();
}

void OpenSteps::NoteRecordDurable() {
  MutexLock lock(region_->files_.work);
  region_->files_.manifest().NoteRecordDurable();
}

Result<std::shared_ptr<Region>> Region::Open(OpenParams params) {
  OpenSteps steps(std::move(params));
  RATCHET_TRY(steps.Claim());
  RATCHET_TRY(steps.TakeOverAlone());
  return steps.Finish();
}

}  // namespace ratchet::regionserver
