// Uses of a table by one user at every server at once, again and again, while the rights of the user change: gets,
// puts, batches, scans, and scanners that stay open.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "chaos/cluster/child_process.h"
#include "common/base/mutex.h"
#include "common/client/operations.h"
#include "common/client/wire_requests.h"
#include "common/model/proto/client.pb.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/client_service.h"

namespace ratchet::chaos {

// A region and where it is served.
struct UsedPlace {
  std::string process;
  rpc::Endpoint endpoint;
  hbase::pb::RegionSpecifier region;
  std::string row;      // of the region
  std::string encoded;  // the region's name
};

// The test states what it knows; an operation that begins and ends under one statement is compared with it.
// Thread-safe.
class Uses {
 public:
  enum class Known : std::uint8_t { kChanging, kAllowed, kDenied };

  Uses(const std::string& user, std::vector<UsedPlace> places) : pool_(OptionsOf(user)), places_(std::move(places)) {
    counts_.resize(places_.size() * kKinds.size());
    for (std::size_t place = 0; place < places_.size(); ++place) {
      for (std::size_t kind = 0; kind < kKinds.size(); ++kind)
        threads_.emplace_back([this, place, kind] { Run(place, kind); });
    }
  }
  ~Uses() { Stop(); }
  Uses(const Uses&) = delete;
  Uses& operator=(const Uses&) = delete;

  void Stop() {
    stopping_ = true;
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
    pool_.Stop();
  }
  // From now on.
  void Now(Known known) {
    const MutexLock lock(mutex_);
    stage_ = (stage_ / 4 + 1) * 4 + static_cast<std::uint64_t>(known);
  }
  // True when each kind of use at each place, except those of `but_not_at`, has had this outcome `times` under the
  // current statement. Otherwise `missing` names one.
  [[nodiscard]] bool Each(bool allowed, int times, const std::string& but_not_at, std::string* missing) const {
    const MutexLock lock(mutex_);
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const UsedPlace& place = places_[i / kKinds.size()];
      if (place.process == but_not_at) continue;
      const Count& count = counts_[i];
      if (count.stage == stage_ && (allowed ? count.allowed : count.denied) >= times) continue;
      *missing = place.process + ": " + kKinds.at(i % kKinds.size()) + ", last: " + count.last;
      return false;
    }
    return true;
  }
  // Outcomes that contradict what the test knew.
  [[nodiscard]] std::vector<std::string> Contradictions() const {
    const MutexLock lock(mutex_);
    return wrong_;
  }
  // True for a value that a put wrote that began after the rights had been taken.
  [[nodiscard]] static bool IsForbidden(std::string_view value) {
    return std::stoull(std::string(value)) % 4 == static_cast<std::uint64_t>(Known::kDenied);
  }

 private:
  static constexpr std::array<const char*, 5> kKinds{"get", "put", "batch", "scan", "open scanner"};
  static constexpr std::size_t kShown = 20;

  struct Count {
    std::uint64_t stage = 0;
    int allowed = 0;
    int denied = 0;
    std::string last;
  };
  struct Outcome {
    bool allowed = false;
    bool denied = false;
    std::string text;
  };

  static rpc::ChannelPoolOptions OptionsOf(const std::string& user) {
    rpc::ChannelPoolOptions options;
    options.user = user;
    return options;
  }
  static client::Mutation PutOf(const std::string& row, std::uint64_t stage) {
    return client::Mutation::Put(row).Set("u", "used", std::to_string(stage));
  }
  template <class Response>
  static Outcome OutcomeOf(const Result<rpc::Reply<Response>>& answer) {
    if (answer.ok()) return {true, false, "allowed"};
    return {false, answer.error().remote_class() == rpc::exception::kAccessDenied, answer.error().ToString()};
  }

  void Run(std::size_t at, std::size_t kind) {
    const UsedPlace& place = places_[at];
    hbase::pb::ScanRequest scanner;
    for (int failures = 0; !stopping_;) {
      const std::uint64_t before = stage_;
      const Outcome outcome = Use(place, kind, before, scanner);
      Note(at, kind, before, outcome);
      failures = outcome.allowed || outcome.denied ? 0 : failures + 1;
      PollPause(failures);
    }
  }
  void Note(std::size_t at, std::size_t kind, std::uint64_t before, const Outcome& outcome) {
    const MutexLock lock(mutex_);
    Count& count = counts_[at * kKinds.size() + kind];
    count.last = outcome.text;
    if (before != stage_) return;
    if (count.stage != before) count = {before, 0, 0, outcome.text};
    if (outcome.allowed) ++count.allowed;
    if (outcome.denied) ++count.denied;
    const auto known = static_cast<Known>(before % 4);
    const bool wrong = (known == Known::kAllowed && outcome.denied) || (known == Known::kDenied && outcome.allowed);
    if (wrong && wrong_.size() < kShown)
      wrong_.push_back("stage " + std::to_string(before) + ", " + places_[at].process + ", " + kKinds.at(kind) + ": " +
                       outcome.text);
  }

  Outcome Use(const UsedPlace& place, std::size_t kind, std::uint64_t stage, hbase::pb::ScanRequest& scanner) {
    switch (kind) {
      case 0: {
        hbase::pb::GetRequest get;
        *get.mutable_region() = place.region;
        get.mutable_get()->set_row(place.row);
        return OutcomeOf(pool_.CallSync(methods::kGet, place.endpoint, get));
      }
      case 1: {
        hbase::pb::MutateRequest put;
        *put.mutable_region() = place.region;
        client::ToProto(PutOf(place.row, stage), 0, *put.mutable_mutation());
        return OutcomeOf(pool_.CallSync(methods::kMutate, place.endpoint, put));
      }
      case 2: return UseBatch(place, stage);
      case 3: {
        hbase::pb::ScanRequest scan = ScanOf(place, 100);
        scan.set_close_scanner(true);
        return OutcomeOf(pool_.CallSync(methods::kScan, place.endpoint, scan));
      }
      default: return UseScanner(place, scanner);
    }
  }
  static hbase::pb::ScanRequest ScanOf(const UsedPlace& place, std::uint32_t rows) {
    hbase::pb::ScanRequest scan;
    *scan.mutable_region() = place.region;
    client::ToProto(client::Scan(), *scan.mutable_scan());
    scan.set_number_of_rows(rows);
    scan.set_client_handles_partials(true);
    return scan;
  }
  // Continues the scanner row by row, and opens it again when it has ended or an answer is an error.
  Outcome UseScanner(const UsedPlace& place, hbase::pb::ScanRequest& scanner) {
    if (!scanner.has_scanner_id()) scanner = ScanOf(place, 1);
    const auto answer = pool_.CallSync(methods::kScan, place.endpoint, scanner);
    const bool goes_on = answer.ok() && answer->message.more_results() && answer->message.more_results_in_region();
    if (goes_on) {
      const std::uint64_t next = scanner.has_scanner_id() ? scanner.next_call_seq() + 1 : 1;
      scanner.Clear();
      scanner.set_scanner_id(answer->message.scanner_id());
      scanner.set_number_of_rows(1);
      scanner.set_next_call_seq(next);
      scanner.set_client_handles_partials(true);
    } else {
      scanner.Clear();
    }
    return OutcomeOf(answer);
  }
  // Allowed: one action was. Denied: one action was.
  Outcome UseBatch(const UsedPlace& place, std::uint64_t stage) {
    hbase::pb::MultiRequest batch;
    auto& region = *batch.add_regionaction();
    *region.mutable_region() = place.region;
    for (std::uint32_t i = 0; i < 3; ++i) {
      auto& action = *region.add_action();
      action.set_index(i);
      if (i == 2) {
        action.mutable_get()->set_row(place.row);
      } else {
        client::ToProto(PutOf(place.row + std::to_string(i), stage), 0, *action.mutable_mutation());
      }
    }
    const auto answer = pool_.CallSync(methods::kMulti, place.endpoint, batch);
    if (!answer.ok()) return OutcomeOf(answer);
    Outcome outcome;
    const auto add = [&outcome](bool failed, const hbase::pb::NameBytesPair& exception) {
      outcome.allowed |= !failed;
      outcome.denied |= failed && exception.name() == rpc::exception::kAccessDenied;
      outcome.text += failed ? exception.name() + " " : "allowed ";
    };
    for (const auto& result : answer->message.regionactionresult()) {
      if (result.has_exception()) add(true, result.exception());
      for (const auto& each : result.resultorexception()) add(each.has_exception(), each.exception());
    }
    return outcome;
  }

  rpc::ChannelPool pool_;
  const std::vector<UsedPlace> places_;
  std::atomic<bool> stopping_{false};
  // Four times the number of the statement, plus the statement. Changes under the mutex.
  std::atomic<std::uint64_t> stage_{static_cast<std::uint64_t>(Known::kChanging)};
  mutable Mutex mutex_;
  std::vector<Count> counts_ GUARDED_BY(mutex_);
  std::vector<std::string> wrong_ GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace ratchet::chaos
