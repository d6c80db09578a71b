#include "common/io/storage_proof.h"

#include <atomic>
#include <utility>

#include "common/base/mutant.h"

namespace ratchet::io {
namespace {

std::atomic<ProofPolicy>& Policy() {
  static std::atomic<ProofPolicy> policy{ProofPolicy::kDetect};
  return policy;
}

bool Needed(const ProvableFile* file) {
  if (file == nullptr) return false;
  switch (Policy().load()) {
    case ProofPolicy::kAlways: return true;
    case ProofPolicy::kNever: return false;
    case ProofPolicy::kDetect: break;
  }
  return file->NamesAreCached();
}

}  // namespace

ProofPolicy ProofPolicyOf(std::string_view text) {
  return text == "always" ? ProofPolicy::kAlways : text == "never" ? ProofPolicy::kNever : ProofPolicy::kDetect;
}

StorageProof::StorageProof(std::unique_ptr<ReadableFile> file)
    : file_(std::move(file)), provable_(dynamic_cast<const ProvableFile*>(file_.get())), needed_(Needed(provable_)) {}

void StorageProof::SetPolicy(ProofPolicy policy) { Policy().store(policy); }

std::uint64_t StorageProof::waiting() const {
  MutexLock lock(mutex_);
  return waiting_;
}

Status StorageProof::Prove() const {
  const Status asked = Ask();
  if (asked.ok()) return Ok();
  return Error(Code::kFenced,
               "the storage no longer knows this process, which counts as fenced: " + asked.error().message());
}

Status StorageProof::Ask() const {
  mutex_.Lock();
  ++waiting_;
  // A round trip in progress may have passed the storage before the caller's look: only the next one counts.
  const std::uint64_t mine = begun_ > done_ && RATCHET_MUTANT("storage.early_proof") ? begun_ : begun_ + 1;
  while (done_ < mine && !RATCHET_MUTANT("storage.no_proof")) {
    if (begun_ > done_) {
      ended_.Wait(mutex_);
      continue;
    }
    ++begun_;
    mutex_.Unlock();
    Status asked = provable_->RoundTrip();
    mutex_.Lock();
    last_ = std::move(asked);
    done_ = begun_;
    ended_.NotifyAll();
  }
  --waiting_;
  Status last = last_;  // of this round trip, or of a later one
  mutex_.Unlock();
  return last;
}

}  // namespace ratchet::io
