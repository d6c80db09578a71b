// Both ends of the loads of regions in heartbeats: the choice of the server (LoadTurns), and the master's books. S168
// (unchanged is not unknown).
#include <deque>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/base/prng.h"
#include "common/model/codec.h"
#include "master/cluster/server_share.h"
#include "master/telemetry/heartbeat_intake.h"
#include "regionserver/host/load_turns.h"
#include "regionserver/host/online_list.h"
#include "tests/support/expect_killed.h"
#include "tests/support/manual_time.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;

const ServerName kServer{"h", 1, 1};
constexpr Millis kBeat{1'000};

// A region server without data: each region has a count of requests.
class Sender {
 public:
  explicit Sender(std::size_t looks) : turns_(looks) {}
  void Open(const std::string& region) {
    counts_[region] = 0;
    list_.Opened(region, ++opening_);
    turns_.Opened(region);
  }
  void Close(const std::string& region) {
    if (counts_.erase(region) == 0) return;
    list_.Closed(region);
    turns_.Closed(region);
  }
  void Request(const std::string& region) { ++counts_.at(region); }
  pb::RegionServerReportRequest Next(TimePoint now) {
    pb::RegionServerReportRequest request;
    FillList(list_.Next(), request);
    auto& loads = *request.mutable_load();
    looks_ = 0;
    const auto report = turns_.Next(
        now, [this](const std::string& region) { return ++looks_, std::optional<std::size_t>(counts_.at(region) + 1); },
        [&](const std::string& region) {
          auto& load = *loads.add_region_loads();
          load.mutable_region_specifier()->set_type(pb::RegionSpecifier::ENCODED_REGION_NAME);
          load.mutable_region_specifier()->set_value(region);
          load.set_read_requests_count(counts_.at(region));
        });
    request.set_loads_complete(report.complete);
    request.set_loads_held(report.held);
    return request;
  }
  void Answered(const pb::RegionServerReportResponse& answer) {
    list_.Answered(answer.list_taken());
    regionserver::LoadTurns::Answer loads;
    loads.taken = answer.list_taken() != 0;
    if (answer.has_loads_a_second()) loads.loads_a_second = answer.loads_a_second();
    loads.all = answer.all_loads();
    turns_.Answered(loads);
  }
  void StartAnew() {
    list_.StartAnew();
    turns_.StartAnew();
  }
  [[nodiscard]] const std::map<std::string, std::uint64_t>& counts() const { return counts_; }
  [[nodiscard]] std::size_t looks() const { return looks_; }

 private:
  regionserver::OnlineList list_;
  regionserver::LoadTurns turns_;
  std::map<std::string, std::uint64_t> counts_;
  std::uint64_t opening_ = 0;
  std::size_t looks_ = 0;
};

// The master's side of a heartbeat.
struct Receiver {
  pb::RegionServerReportResponse Take(const pb::RegionServerReportRequest& request, std::uint32_t share,
                                      TimePoint now) {
    time.Advance(std::chrono::duration_cast<Millis>(now - time.Now()));
    const RegionList list = RegionListOf(request);
    std::vector<std::string> changed;
    lists.Take(list, &changed);
    HeartbeatIntake({loads, clocks, storage, pasts, rates}, time).Take(kServer, request, list);
    pb::RegionServerReportResponse answer;
    if (lists.number() != 0) answer.set_list_taken(lists.number());
    if (share == 0) return answer;  // a master of version 0.2
    answer.set_loads_a_second(share);
    if (LacksLoads(loads, kServer, request)) answer.set_all_loads(true);
    return answer;
  }
  [[nodiscard]] std::map<std::string, std::uint64_t> Known() const {
    std::map<std::string, std::uint64_t> known;
    const auto load = loads.Get(kServer);
    if (load.has_value())
      for (const auto& region : load->region_loads())
        known[*EncodedNameOf(region.region_specifier())] = region.read_requests_count();
    return known;
  }

  ManualTime time;
  ReportedRegions lists;
  LoadBook loads;
  ClockBook clocks;
  StorageBook storage;
  PastBook pasts;
  RegionRates rates;
};

std::string NameOf(std::uint64_t region) { return fmt::format("{:032x}", region); }

class LoadExchangeTest : public ::testing::Test {
 protected:
  void Given(std::uint64_t regions, std::size_t looks = regionserver::LoadTurns::kLooksAReport) {
    sender_ = std::make_unique<Sender>(looks);
    receiver_ = std::make_unique<Receiver>();
    for (std::uint64_t region = 0; region < regions; ++region) sender_->Open(NameOf(region));
  }
  // Returns the number of sent loads.
  int Beat(bool answered = true) {
    now_ += kBeat;
    const auto request = sender_->Next(now_);
    const auto answer = receiver_->Take(request, share_, now_);
    if (answered) sender_->Answered(answer);
    return request.load().region_loads_size();
  }
  [[nodiscard]] double Rate(std::uint64_t region) const {
    const auto rate = receiver_->rates.Of(kServer, NameOf(region));
    return rate.has_value() ? rate->requests : -1;
  }

  TimePoint now_{kBeat};
  std::uint32_t share_ = 10'000;
  std::unique_ptr<Sender> sender_;
  std::unique_ptr<Receiver> receiver_;
};

TEST_F(LoadExchangeTest, EachLoadIsSentOnceUntilItChanges) {
  Given(50);
  EXPECT_EQ(Beat(), 50);
  for (int beat = 0; beat < 1'000; ++beat) EXPECT_EQ(Beat(), 0);
  sender_->Request(NameOf(7));
  EXPECT_EQ(Beat(), 1);
  EXPECT_EQ(Beat(), 0);
  EXPECT_EQ(receiver_->Known(), sender_->counts());
  sender_->StartAnew();
  EXPECT_EQ(Beat(), 50);
}

TEST_F(LoadExchangeTest, ShareLimitsTheLoadsAndTakesTurns) {
  Given(200);
  share_ = 20;
  EXPECT_EQ(Beat(), regionserver::LoadTurns::kLoadsBeforeAShare) << "no share is known yet";
  for (int beat = 0; beat < 5; ++beat) EXPECT_EQ(Beat(), 20);
  EXPECT_EQ(Beat(), 0);
  for (int beat = 0; beat < 20; ++beat) {
    for (const auto& [region, count] : sender_->counts()) sender_->Request(region);
    EXPECT_EQ(Beat(), 20);
    EXPECT_EQ(sender_->looks(), 200U) << "the sum of requests needs each region";
  }
  std::map<std::uint64_t, int> ages;
  for (const auto& [region, count] : receiver_->Known()) ++ages[20 - count];
  EXPECT_EQ(ages.size(), 10U) << "each region had two turns";
  EXPECT_EQ(ages.rbegin()->first, 9U);
}

TEST_F(LoadExchangeTest, MasterOf02GetsRepeats) {
  Given(50);
  share_ = 0;
  for (int beat = 0; beat < regionserver::LoadTurns::kRepeatsOfQuiet; ++beat) EXPECT_EQ(Beat(), 50);
  EXPECT_EQ(Beat(), 0);
  now_ += regionserver::LoadTurns::kRepeatLoad;
  EXPECT_EQ(Beat(), 50);
  share_ = 10'000;  // the next master is newer
  Beat();
  now_ += regionserver::LoadTurns::kRepeatLoad;
  EXPECT_EQ(Beat(), 0);
}

TEST_F(LoadExchangeTest, LoadOfARegionThatLeavesIsDropped) {
  Given(3);
  Beat();
  sender_->Close(NameOf(1));
  Beat();
  EXPECT_EQ(receiver_->loads.KnownAt(kServer), 2U);
  EXPECT_FALSE(receiver_->loads.LoadAt(NameOf(1), kServer).has_value());
}

std::string FaultOfAnEarlierOpening(LoadBook& book) {
  pb::ServerLoad load;
  auto& region = *load.add_region_loads();
  region.mutable_region_specifier()->set_type(pb::RegionSpecifier::ENCODED_REGION_NAME);
  region.mutable_region_specifier()->set_value(NameOf(1));
  RegionList list;
  list.number = 1;
  list.open = {{NameOf(1), 5}};
  list.size = 1;
  book.Put(kServer, load, TimePoint{kBeat}, list);
  list.number = 2;
  list.base = 1;
  list.open = {{NameOf(1), 6}};
  book.Put(kServer, {}, TimePoint{2 * kBeat}, list);
  return book.KnownAt(kServer) == 0 ? "" : "the load of the earlier opening is kept";
}

TEST_F(LoadExchangeTest, LoadOfAnEarlierOpeningIsUnknown) {
  LoadBook book;
  EXPECT_EQ(FaultOfAnEarlierOpening(book), "");
}

TEST_F(LoadExchangeTest, KeepingLoadsOfEarlierOpeningsIsNoticed) {
  LoadBook book;
  ExpectKilled(
      "master.keep_loads_of_earlier_openings", [&] { return FaultOfAnEarlierOpening(book); }, "is kept");
}

TEST_F(LoadExchangeTest, RateFallsWithTheRoundsWithoutALoad) {
  Given(2);
  Beat();
  for (int i = 0; i < 64; ++i) sender_->Request(NameOf(0));
  Beat();
  EXPECT_DOUBLE_EQ(Rate(0), 64);
  EXPECT_EQ(Beat(), 0);
  EXPECT_DOUBLE_EQ(Rate(0), 32);
  for (int beat = 0; beat < 20; ++beat) Beat();
  EXPECT_LT(Rate(0), 0.001);
  for (int i = 0; i < 64; ++i) sender_->Request(NameOf(0));
  Beat();
  EXPECT_NEAR(Rate(0), 32, 0.001) << "the requests came in the last second, not evenly since the last load";
  for (int beat = 0; beat < 2'000; ++beat) Beat();
  EXPECT_GE(Rate(0), 0) << "a region without requests stays known";
  sender_->Close(NameOf(0));
  sender_->Close(NameOf(1));
  for (int beat = 0; beat < 1'300; ++beat) Beat();
  EXPECT_EQ(receiver_->rates.size(), 0U);
}

// More loads change than may be sent: a region that waits for its turn is not a quiet one.
TEST_F(LoadExchangeTest, RateOfARegionThatWaitsForItsTurnStays) {
  const auto fault = [this] {
    Given(10);
    share_ = 2;
    double lowest = 1'000;
    for (int beat = 0; beat < 100; ++beat) {
      for (const auto& [region, count] : sender_->counts())
        for (int i = 0; i < 8; ++i) sender_->Request(region);
      Beat();
      if (beat >= 50)
        for (std::uint64_t region = 0; region < 10; ++region) lowest = std::min(lowest, Rate(region));
    }
    return lowest < 7.9 ? fmt::format("a rate fell to {}", lowest) : std::string();
  };
  EXPECT_EQ(fault(), "");
  ExpectKilled("master.unsent_is_unchanged", fault, "a rate fell");
}

// Reports and answers are lost, reports come late, and masters change, with and without notice. Then all is quiet, and
// the master must have every load. Returns what is wrong.
std::string DifferenceAtTheEnd(std::uint64_t seed) {
  Prng prng(seed);
  Sender sender(/*looks=*/7);
  auto receiver = std::make_unique<Receiver>();
  TimePoint now{kBeat};
  const std::uint32_t share = static_cast<std::uint32_t>(prng.Below(8)) + 1;
  std::deque<pb::RegionServerReportRequest> late;
  const auto beat = [&](bool lossy) {
    now += kBeat;
    const auto request = sender.Next(now);
    if (lossy && prng.Chance(1, 10)) return late.push_back(request);
    const auto answer = receiver->Take(request, share, now);
    if (!lossy || !prng.Chance(1, 10)) sender.Answered(answer);
    if (lossy && !late.empty() && prng.Chance(1, 3)) {
      static_cast<void>(receiver->Take(late.front(), share, now));
      late.pop_front();
    }
  };
  for (int i = 0; i < 200; ++i) {
    for (std::uint64_t change = prng.Below(4); change > 0; --change) {
      const std::string region = NameOf(prng.Below(20));
      if (prng.Chance(1, 4))
        sender.Close(region);
      else if (prng.Chance(1, 3) || !sender.counts().contains(region))
        sender.Open(region);
      else
        sender.Request(region);
    }
    if (prng.Chance(1, 40)) {
      receiver = std::make_unique<Receiver>();
      if (prng.Chance(1, 2)) sender.StartAnew();
    }
    beat(/*lossy=*/true);
  }
  if (prng.Chance(1, 3)) receiver = std::make_unique<Receiver>();
  for (int i = 0; i < 100; ++i) beat(/*lossy=*/false);
  const auto known = receiver->Known();
  if (known == sender.counts()) return {};
  if (known.size() < sender.counts().size()) return fmt::format("seed {}: the master lacks loads", seed);
  return fmt::format("seed {}: the master has an old load", seed);
}

std::string FirstDifference() {
  for (std::uint64_t seed = 1; seed <= 300; ++seed)
    if (std::string difference = DifferenceAtTheEnd(seed); !difference.empty()) return difference;
  return {};
}

TEST_F(LoadExchangeTest, MasterGetsEveryLoadWhateverMessagesAreLost) { EXPECT_EQ(FirstDifference(), ""); }

TEST_F(LoadExchangeTest, ForgettingLostLoadsIsNoticed) {
  ExpectKilled("report.forget_lost_loads", FirstDifference, "the master");
}

TEST_F(LoadExchangeTest, AskingForNoLoadsIsNoticed) {
  ExpectKilled("master.lack_no_loads", FirstDifference, "the master lacks loads");
}

TEST_F(LoadExchangeTest, TakingLateLoadsIsNoticed) {
  ExpectKilled("master.take_late_loads", FirstDifference, "the master has an old load");
}

TEST(ServerShareTest, ServersShareTheLoadsOfASecond) {
  ManualTime time;
  Membership servers(time);
  ServerShare share(kLoadsASecond);
  EXPECT_EQ(share.Of(servers), kLoadsASecond);
  for (std::uint16_t port = 1; port <= 1'000; ++port) servers.AddOnline({"h", port, 1}, "1");
  EXPECT_EQ(share.Of(servers), 20U);
  EXPECT_TRUE(servers.MarkCrashed({"h", 1, 1}, false));
  for (std::uint16_t port = 2; port <= 500; ++port) servers.Remove({"h", port, 1});
  EXPECT_EQ(share.Of(servers), 40U);
  EXPECT_EQ(ShareOf(kLoadsASecond, 1'000'000), 1U) << "each server can send";
}

}  // namespace
}  // namespace ratchet::master
