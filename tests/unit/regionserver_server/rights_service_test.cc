// The rights of users on rows, through the wire. Reads with partial rights are compared with the same reads of a table
// that has only the permitted cells.
#include "tests/unit/regionserver_server/service_fixture.h"

#include <map>
#include <set>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "common/base/mutex.h"
#include "common/base/prng.h"
#include "common/model/proto/aggregate.pb.h"
#include "common/model/proto/filter.pb.h"
#include "common/model/proto/multi_row_mutation.pb.h"
#include "common/rpc/call_audit.h"
#include "common/rpc/exceptions.h"

namespace ratchet::regionserver {
namespace {

using rights::Action;
using rights::Mode;
using rights::RightsEntry;
using rights::Scope;

constexpr const char* kFilters = "org.apache.hadoop.hbase.filter.";

// Keeps the refusals.
class Refusals final : public rpc::CallAudit {
 public:
  void Authenticated(const rpc::AuditedConnection&, std::string_view) override {}
  void Member(const rpc::AuditedConnection&, std::string_view, std::string_view) override {}
  bool Wants(const rpc::CallContext&, bool) const override { return false; }
  void Admit(const rpc::CallContext&, const Connection&, const google::protobuf::MessageLite&, Done done) override {
    done(Ok());
  }
  void Answered(const rpc::CallContext&, const Connection&, const google::protobuf::MessageLite&,
                const google::protobuf::MessageLite&) override {}
  void Denied(const rpc::CallContext& call, const Connection& connection, std::string_view) override {
    const MutexLock lock(mutex_);
    all_.push_back(connection->user + " " + call.method);
  }
  [[nodiscard]] std::vector<std::string> Take() {
    const MutexLock lock(mutex_);
    return std::exchange(all_, {});
  }

 private:
  Mutex mutex_;
  std::vector<std::string> all_ GUARDED_BY(mutex_);
};

class RightsServiceTest : public ServiceFixture {
 protected:
  // The user opens a scan of five rows of f1. Returns the request for its next row.
  pb::ScanRequest NextOfOpenScan(const std::string& user) {
    for (const char* row : {"r1", "r2", "r3", "r4", "r5"}) {
      pb::MutateRequest put = PutRequest("f1", "a");
      put.mutable_mutation()->set_row(row);
      EXPECT_EQ(ClassAs("root", methods::kMutate, put), "");
    }
    pb::ScanRequest open;
    *open.mutable_region() = Specify(region_);
    open.mutable_scan()->add_column()->set_family("f1");
    open.set_number_of_rows(1);
    const auto opened = As(user, methods::kScan, open);
    EXPECT_TRUE(opened.ok()) << opened.error().ToString();
    pb::ScanRequest next;
    if (opened.ok()) next.set_scanner_id(opened->scanner_id());
    next.set_number_of_rows(1);
    return next;
  }
  void SetUp() override {
    audit_ = refusals_;
    ServiceFixture::SetUp();
    ASSERT_EQ(OpenRegion(region_, 1, {"f1", "f2"}).outcome, OrderOutcome::kOpened);
    ASSERT_EQ(OpenRegion(oracle_, 1, {"f1", "f2"}).outcome, OrderOutcome::kOpened);
    auto table = rights::Users::Parse("root", "");
    users_->Set(Mode::kEnforce, std::move(*table));
    Grant({{"part", Scope::Family(region_.table, "f1"), Action::kRead},
           {"part", Scope::Column(region_.table, "f2", "seen"), Action::kRead},
           {"part", Scope::Table(oracle_.table), Action::kRead},
           {"reader", Scope::Table(region_.table), Action::kRead},
           {"writer", Scope::Family(region_.table, "f1"), Action::kWrite},
           {"both", Scope::Family(region_.table, "f1"), Action::kRead | Action::kWrite}});
  }
  void TearDown() override {
    for (auto& [user, pool] : pools_) pool->Stop();
    ServiceFixture::TearDown();
  }
  void Grant(std::vector<RightsEntry> entries) {
    entries_ = entries;
    ASSERT_TRUE(rights_.Take(
        std::make_shared<rights::RightsImage>(rights::ImageNumber{1, ++number_}, entries, std::vector<Scope>())));
  }
  static RegionInfo OracleRegion() {
    RegionInfo region = TableRegion();
    region.table = TableName("default", "oracle");
    return region;
  }
  template <class Request, class Response>
  Result<Response> As(const std::string& user, const rpc::Method<Request, Response>& method, const Request& request) {
    auto& pool = pools_[user];
    if (pool == nullptr) {
      rpc::ChannelPoolOptions options;
      options.user = user;
      options.cell_blocks = false;
      pool = std::make_unique<rpc::ChannelPool>(options);
    }
    auto answer = pool->CallSync(method, {"127.0.0.1", server_->port()}, request);
    if (!answer.ok()) return answer.error();
    return std::move(answer->message);
  }
  template <class Request, class Response>
  std::string ClassAs(const std::string& user, const rpc::Method<Request, Response>& method, const Request& request) {
    const auto answer = As(user, method, request);
    return answer.ok() ? std::string() : answer.error().remote_class();
  }
  static void Put(pb::MutationProto& put, const std::string& family, const std::string& qualifier,
                  const std::string& value) {
    auto* column = put.add_column_value();
    column->set_family(family);
    auto* cell = column->add_qualifier_value();
    cell->set_qualifier(qualifier);
    cell->set_value(value);
    cell->set_timestamp(1000);
  }
  pb::MutateRequest PutRequest(const std::string& family, const std::string& qualifier) {
    pb::MutateRequest request;
    *request.mutable_region() = Specify(region_);
    request.mutable_mutation()->set_row("w");
    request.mutable_mutation()->set_mutate_type(pb::MutationProto::PUT);
    Put(*request.mutable_mutation(), family, qualifier, "v");
    return request;
  }
  pb::GetRequest GetRequest(const RegionInfo& region, const std::string& row, const std::string& family = {},
                            const std::string& qualifier = {}) {
    pb::GetRequest request;
    *request.mutable_region() = Specify(region);
    request.mutable_get()->set_row(row);
    if (!family.empty()) {
      auto* column = request.mutable_get()->add_column();
      column->set_family(family);
      if (!qualifier.empty()) column->add_qualifier(qualifier);
    }
    return request;
  }
  enum class ConditionOf : std::uint8_t { kColumn, kFilter };
  // f1:a of the row "w" is "v".
  static pb::Condition MakeCondition(ConditionOf kind, bool holds) {
    pb::BinaryComparator value;
    value.mutable_comparable()->set_value(holds ? "v" : "another");
    pb::Comparator comparator;
    comparator.set_name("org.apache.hadoop.hbase.filter.BinaryComparator");
    comparator.set_serialized_comparator(value.SerializeAsString());
    pb::Condition condition;
    condition.set_row("w");
    if (kind == ConditionOf::kColumn) {
      condition.set_family("f1");
      condition.set_qualifier("a");
      condition.set_compare_type(pb::EQUAL);
      *condition.mutable_comparator() = comparator;
      return condition;
    }
    pb::SingleColumnValueFilter filter;
    filter.set_column_family("f1");
    filter.set_column_qualifier("a");
    filter.set_compare_op(pb::EQUAL);
    filter.set_filter_if_missing(true);
    *filter.mutable_comparator() = comparator;
    AddFilter(*condition.mutable_filter(), "SingleColumnValueFilter", filter);
    return condition;
  }
  // A condition on the row "w" with one change of f1; with a put as RowMutations. Returns the refusal.
  std::string ConditionalAs(const std::string& user, ConditionOf kind, pb::MutationProto::MutationType type,
                            bool holds) {
    const std::string qualifier = fmt::format("{}{}", static_cast<int>(kind), static_cast<int>(type));
    pb::MutateRequest one = PutRequest("f1", qualifier);
    one.mutable_mutation()->set_mutate_type(type);
    if (type != pb::MutationProto::PUT) {
      auto& cell = *one.mutable_mutation()->mutable_column_value(0)->mutable_qualifier_value(0);
      cell.set_value(std::string("\0\0\0\0\0\0\0\x01", 8));
      cell.clear_timestamp();
      *one.mutable_condition() = MakeCondition(kind, holds);
      return ClassAs(user, methods::kMutate, one);
    }
    pb::MultiRequest rows;
    auto& group = *rows.add_regionaction();
    *group.mutable_region() = Specify(region_);
    group.set_atomic(true);
    *group.mutable_condition() = MakeCondition(kind, holds);
    auto& action = *group.add_action();
    action.set_index(0);
    *action.mutable_mutation() = one.mutation();
    const auto answer = As(user, methods::kMulti, rows);
    if (!answer.ok()) return answer.error().remote_class();
    EXPECT_EQ(answer->regionactionresult(0).has_exception(), !answer->regionactionresult(0).has_processed());
    return answer->regionactionresult(0).exception().name();
  }
  // Rows with cells in all columns; the oracle has only those that "part" may read. Some rows are hidden as a whole.
  void Fill(Prng& random, int rows) {
    for (int row = 0; row < rows; ++row) {
      pb::MutateRequest all;
      *all.mutable_region() = Specify(region_);
      all.mutable_mutation()->set_row("r" + std::to_string(100 + row));
      all.mutable_mutation()->set_mutate_type(pb::MutationProto::PUT);
      pb::MutateRequest seen = all;
      *seen.mutable_region() = Specify(oracle_);
      for (const auto& [family, qualifier] :
           {std::pair{"f1", "a"}, {"f1", "b"}, {"f1", "hidden"}, {"f2", "hidden"}, {"f2", "more"}, {"f2", "seen"}}) {
        if (random() % 2 == 0) continue;
        const std::string value = std::to_string(random() % 3);
        Put(*all.mutable_mutation(), family, qualifier, value);
        if (family == std::string("f1") || qualifier == std::string("seen"))
          Put(*seen.mutable_mutation(), family, qualifier, value);
      }
      if (all.mutation().column_value_size() > 0) {
        ASSERT_EQ(ClassAs("root", methods::kMutate, all), "");
      }
      if (seen.mutation().column_value_size() > 0) {
        ASSERT_EQ(ClassAs("root", methods::kMutate, seen), "");
      }
    }
  }
  static void AddFilter(pb::Filter& out, const std::string& name, const google::protobuf::MessageLite& message) {
    out.set_name(kFilters + name);
    out.set_serialized_filter(message.SerializeAsString());
  }
  static void ChooseFilter(Prng& random, pb::Filter& out) {
    switch (random() % 6) {
      case 0: return AddFilter(out, "FirstKeyOnlyFilter", pb::FirstKeyOnlyFilter());
      case 1: {
        pb::ColumnPaginationFilter page;
        page.set_limit(1 + static_cast<int>(random() % 2));
        page.set_offset(static_cast<int>(random() % 3));
        return AddFilter(out, "ColumnPaginationFilter", page);
      }
      case 2: {
        pb::ColumnCountGetFilter count;
        count.set_limit(1 + static_cast<int>(random() % 3));
        return AddFilter(out, "ColumnCountGetFilter", count);
      }
      case 3: {
        pb::PageFilter page;
        page.set_page_size(1 + static_cast<std::int64_t>(random() % 4));
        return AddFilter(out, "PageFilter", page);
      }
      case 4: {
        pb::KeyOnlyFilter keys;
        keys.set_len_as_val(random() % 2 == 0);
        return AddFilter(out, "KeyOnlyFilter", keys);
      }
      default: {
        pb::SingleColumnValueFilter value;
        value.set_column_family(random() % 2 == 0 ? "f1" : "f2");
        value.set_column_qualifier(random() % 2 == 0 ? "hidden" : "seen");
        value.set_compare_op(pb::EQUAL);
        value.set_filter_if_missing(random() % 2 == 0);
        pb::BinaryComparator comparator;
        comparator.mutable_comparable()->set_value(std::to_string(random() % 3));
        value.mutable_comparator()->set_name("org.apache.hadoop.hbase.filter.BinaryComparator");
        value.mutable_comparator()->set_serialized_comparator(comparator.SerializeAsString());
        return AddFilter(out, "SingleColumnValueFilter", value);
      }
    }
  }
  // All of an answer that a user sees: rows, columns, values, limits and the end of each reply.
  static std::string Print(const pb::Result& result) {
    std::string text = result.has_exists() ? (result.exists() ? "exists" : "absent") : "";
    for (const pb::Cell& cell : result.cell())
      text += cell.row() + "/" + cell.family() + ":" + cell.qualifier() + "=" + cell.value() + " ";
    return text;
  }
  std::string ScanText(const RegionInfo& region, pb::ScanRequest open) {
    *open.mutable_region() = Specify(region);
    std::string text;
    auto answer = As("part", methods::kScan, open);
    for (int calls = 0; calls < 200; ++calls) {
      if (!answer.ok()) return text + "! " + answer.error().remote_class();
      for (const pb::Result& result : answer->results()) text += Print(result) + "| ";
      text += "; ";
      EXPECT_FALSE(answer->has_cursor());
      if (!answer->more_results() || !answer->more_results_in_region()) {
        // Hidden rows behind the last one may cost one more reply, which is empty.
        if (calls > 0 && text.ends_with("; ; ")) text.resize(text.size() - 2);
        return text;
      }
      pb::ScanRequest next;
      next.set_scanner_id(answer->scanner_id());
      next.set_number_of_rows(open.number_of_rows());
      next.set_client_handles_partials(true);
      next.set_client_handles_heartbeats(true);
      answer = As("part", methods::kScan, next);
    }
    return text + "endless";
  }
  pb::ScanRequest RandomScan(Prng& random) {
    pb::ScanRequest request;
    request.set_number_of_rows(1 + static_cast<std::uint32_t>(random() % 5));
    request.set_client_handles_partials(true);
    request.set_client_handles_heartbeats(true);
    pb::Scan& scan = *request.mutable_scan();
    scan.set_reversed(random() % 3 == 0);
    scan.set_need_cursor_result(true);
    if (random() % 3 == 0) scan.set_max_result_size(1);
    if (random() % 3 == 0) request.set_limit_of_rows(1 + static_cast<std::uint32_t>(random() % 4));
    if (random() % 4 == 0) scan.set_store_limit(1);
    if (random() % 4 == 0) {
      auto* column = scan.add_column();
      column->set_family("f1");
      scan.add_column()->set_family("f2");
    }
    const bool batched = random() % 4 == 0;
    if (batched) scan.set_batch_size(1 + static_cast<std::uint32_t>(random() % 2));
    if (!batched && random() % 2 == 0) ChooseFilter(random, *scan.mutable_filter());
    return request;
  }
  // The cells of a scan whose replies all end by their time, and the number of these heartbeats.
  std::pair<std::string, int> HurriedScan(const RegionInfo& region, pb::ScanRequest open, const std::string& user) {
    *open.mutable_region() = Specify(region);
    open.clear_limit_of_rows();  // of one reply
    open.set_track_scan_metrics(true);
    std::string text;
    int heartbeats = 0;
    auto answer = As(user, methods::kScan, open);
    for (int calls = 0; calls < 400 && answer.ok(); ++calls) {
      for (const pb::Result& result : answer->results()) text += Print(result);
      if (answer->heartbeat_message()) ++heartbeats;
      const bool whole = user != "part" || region.table == oracle_.table;
      EXPECT_EQ(answer->has_scan_metrics(), whole) << "they count hidden rows";
      if (!whole) {
        EXPECT_FALSE(answer->has_cursor()) << answer->cursor().row();
      }
      if (whole && answer->has_cursor()) ++cursors_;
      if (!answer->more_results() || !answer->more_results_in_region()) return {text, heartbeats};
      pb::ScanRequest next;
      next.set_scanner_id(answer->scanner_id());
      next.set_number_of_rows(open.number_of_rows());
      next.set_client_handles_partials(true);
      next.set_client_handles_heartbeats(true);
      next.set_track_scan_metrics(true);
      answer = As(user, methods::kScan, next);
    }
    return {text + (answer.ok() ? "endless" : answer.error().ToString()), heartbeats};
  }
  // The number of random reads whose answer differs from the oracle's.
  int Differences(std::uint64_t seed, int reads) {
    Prng random(seed);
    int differences = 0;
    for (int i = 0; i < reads; ++i) {
      if (random() % 3 != 0) {
        const pb::ScanRequest scan = RandomScan(random);
        const std::string expected = ScanText(oracle_, scan);
        const std::string found = ScanText(region_, scan);
        if (found != expected) ++differences;
        if (report_) {
          EXPECT_EQ(found, expected) << scan.DebugString();
        }
        continue;
      }
      pb::GetRequest get = GetRequest(region_, "r" + std::to_string(100 + random() % 20));
      get.mutable_get()->set_existence_only(random() % 3 == 0);
      if (random() % 2 == 0) ChooseFilter(random, *get.mutable_get()->mutable_filter());
      const auto found = As("part", methods::kGet, get);
      *get.mutable_region() = Specify(oracle_);
      const auto expected = As("part", methods::kGet, get);
      const auto text = [](const auto& answer) { return answer.ok() ? Print(answer->result()) : "!"; };
      if (text(found) != text(expected)) ++differences;
      if (report_) {
        EXPECT_EQ(text(found), text(expected)) << get.DebugString();
      }
    }
    return differences;
  }

  const RegionInfo region_ = TableRegion();
  const RegionInfo oracle_ = OracleRegion();
  std::map<std::string, std::unique_ptr<rpc::ChannelPool>> pools_;
  std::vector<RightsEntry> entries_;
  std::uint64_t number_ = 0;
  bool report_ = true;
  int cursors_ = 0;  // that replies had
  const std::shared_ptr<Refusals> refusals_ = std::make_shared<Refusals>();
  const std::string denied_{rpc::exception::kAccessDenied};
};

// S131 (partial rights narrow the request).
TEST_F(RightsServiceTest, PartialReadsAnswerLikeATableWithThePermittedCellsOnly) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Prng random(seed);
  Fill(random, 20);
  EXPECT_EQ(Differences(seed + 1, 300), 0);
}

// The clock by which calls get their time is late: the time of each reply (30 s) is over after its first row, that of
// its client (60 s) is not.
class HurriedRightsTest : public RightsServiceTest {
 protected:
  void SetUp() override {
    call_clock_ = &late_;
    RightsServiceTest::SetUp();
  }

 private:
  class LateClock final : public Clock {
   public:
    [[nodiscard]] TimePoint Now() const override { return clock_.Now() - Millis(45'000); }
    [[nodiscard]] std::int64_t WallMillis() const override { return clock_.WallMillis(); }

   private:
    SystemClock clock_;
  };
  LateClock late_;
};

TEST_F(HurriedRightsTest, HeartbeatsAndMetricsOfAScanShowNothingHidden) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Prng random(seed);
  Fill(random, 20);
  int heartbeats = 0;
  for (int i = 0; i < 60; ++i) {
    const pb::ScanRequest scan = RandomScan(random);
    const auto [found, some] = HurriedScan(region_, scan, "part");
    EXPECT_EQ(found, HurriedScan(oracle_, scan, "part").first) << scan.DebugString();
    static_cast<void>(HurriedScan(region_, scan, "reader"));
    heartbeats += some;
  }
  EXPECT_GT(heartbeats, 100) << "the time of replies was over";
  EXPECT_GT(cursors_, 100) << "those who may read the whole table have cursors";
}

TEST_F(RightsServiceTest, AReadOfHiddenColumnsIsNoticed) {
  Prng random(7);
  Fill(random, 20);
  report_ = false;
  const ScopedMutant mutant("rights.hidden_columns");
  EXPECT_GT(Differences(8, 30), 0);
}

// Gets that the I/O thread answers itself are judged too: for those who may read the whole table it answers.
TEST_F(RightsServiceTest, AGetIsAnsweredAtOnceToReadersOfTheWholeTableOnly) {
  ASSERT_EQ(ClassAs("root", methods::kMutate, PutRequest("f2", "hidden")), "");
  const auto at_once = [this](const std::string& user) {
    const std::uint64_t before = server_->stats().calls_at_once;
    (void)ClassAs(user, methods::kGet, GetRequest(region_, "w"));
    return server_->stats().calls_at_once - before;
  };
  EXPECT_EQ(at_once("reader"), 1U);
  EXPECT_EQ(at_once("part"), 0U);
  EXPECT_EQ(at_once("stranger"), 0U);
}

TEST_F(RightsServiceTest, AGetAtOnceWithoutARightIsNoticed) {
  ASSERT_EQ(ClassAs("root", methods::kMutate, PutRequest("f2", "hidden")), "");
  const ScopedMutant mutant("rights.get_at_once_anyway");
  EXPECT_EQ(ClassAs("stranger", methods::kGet, GetRequest(region_, "w")), "") << "the tests would not notice";
}

TEST_F(RightsServiceTest, ReadsNeedARightOnARequestedFamily) {
  ASSERT_EQ(ClassAs("root", methods::kMutate, PutRequest("f2", "hidden")), "");
  EXPECT_EQ(ClassAs("stranger", methods::kGet, GetRequest(region_, "w")), denied_);
  EXPECT_EQ(ClassAs("stranger", methods::kGet, GetRequest(region_, "no such row")), denied_);
  EXPECT_EQ(ClassAs("writer", methods::kGet, GetRequest(region_, "w")), denied_) << "W is not R";
  EXPECT_EQ(ClassAs("part", methods::kGet, GetRequest(region_, "w", "f2", "hidden")), denied_);
  EXPECT_EQ(ClassAs("part", methods::kGet, GetRequest(region_, "w", "f2")), "");
  EXPECT_EQ(ClassAs("part", methods::kGet, GetRequest(region_, "w", "f1", "x")), "");
  EXPECT_EQ(ClassAs("both", methods::kGet, GetRequest(region_, "w", "f2")), denied_);
  EXPECT_EQ(ClassAs("both", methods::kGet, GetRequest(region_, "w", "no such family")), denied_);
  const auto whole = As("reader", methods::kGet, GetRequest(region_, "w"));
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole->result().cell_size(), 1);
  const auto refused = As("stranger", methods::kGet, GetRequest(region_, "w"));
  EXPECT_EQ(refused.error().message().find("Insufficient permissions for user 'stranger' (table=t, action=READ)"), 0u)
      << refused.error().message();
}

TEST_F(RightsServiceTest, WritesNeedARightOnEachColumnAndConditionsBoth) {
  EXPECT_EQ(ClassAs("writer", methods::kMutate, PutRequest("f1", "a")), "");
  EXPECT_EQ(ClassAs("writer", methods::kMutate, PutRequest("f2", "a")), denied_);
  pb::MutateRequest mixed = PutRequest("f1", "m");
  Put(*mixed.mutable_mutation(), "f2", "m", "v");
  EXPECT_EQ(ClassAs("writer", methods::kMutate, mixed), denied_) << "all or nothing";
  EXPECT_EQ(ClassAs("part", methods::kMutate, PutRequest("f1", "a")), denied_);
  pb::MutateRequest erase = PutRequest("f1", "a");
  erase.mutable_mutation()->clear_column_value();
  erase.mutable_mutation()->set_mutate_type(pb::MutationProto::DELETE);
  EXPECT_EQ(ClassAs("writer", methods::kMutate, erase), denied_) << "a whole row needs every family";

  pb::MutateRequest checked = PutRequest("f1", "c");
  auto& condition = *checked.mutable_condition();
  condition.set_row("w");
  condition.set_family("f1");
  condition.set_qualifier("a");
  condition.set_compare_type(pb::EQUAL);
  condition.mutable_comparator()->set_name("org.apache.hadoop.hbase.filter.NullComparator");
  condition.mutable_comparator()->set_serialized_comparator(pb::NullComparator().SerializeAsString());
  EXPECT_EQ(ClassAs("writer", methods::kMutate, checked), denied_) << "the condition is a read";
  EXPECT_EQ(ClassAs("both", methods::kMutate, checked), "");
  condition.set_family("f2");
  EXPECT_EQ(ClassAs("both", methods::kMutate, checked), denied_);
  condition.clear_family();
  condition.clear_qualifier();
  condition.clear_comparator();
  AddFilter(*condition.mutable_filter(), "FirstKeyOnlyFilter", pb::FirstKeyOnlyFilter());
  EXPECT_EQ(ClassAs("both", methods::kMutate, checked), denied_) << "a filter reads the whole row";

  const auto row = As("root", methods::kGet, GetRequest(region_, "w"));
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(Print(row->result()), "w/f1:a=v ") << "refused changes changed nothing";
}

// HBase looks at the right to read a condition neither when a filter is the condition nor with these actions.
TEST_F(RightsServiceTest, AConditionIsAReadBeforeEachKindOfAction) {
  ASSERT_EQ(ClassAs("root", methods::kMutate, PutRequest("f1", "a")), "");
  auto entries = entries_;
  entries.push_back({"all", Scope::Table(region_.table), Action::kRead | Action::kWrite});
  Grant(entries);
  const auto row = [this] { return Print(As("root", methods::kGet, GetRequest(region_, "w"))->result()); };
  for (const ConditionOf kind : {ConditionOf::kColumn, ConditionOf::kFilter}) {
    for (const auto type : {pb::MutationProto::INCREMENT, pb::MutationProto::APPEND, pb::MutationProto::PUT}) {
      const std::string before = row();
      // The refusals do not depend on the row, so a user learns none of its values from them.
      for (const bool holds : {true, false}) {
        const auto what = [&] { return pb::MutationProto::MutationType_Name(type) + (holds ? " holds" : ""); };
        for (const char* user : {"stranger", "writer", "part"})
          EXPECT_EQ(ConditionalAs(user, kind, type, holds), denied_) << user << " " << what();
        if (kind == ConditionOf::kFilter) {
          EXPECT_EQ(ConditionalAs("both", kind, type, holds), denied_) << "R of one family only, " << what();
        }
      }
      EXPECT_EQ(row(), before) << "refused changes changed nothing";
      EXPECT_EQ(ConditionalAs("all", kind, type, false), "");
      EXPECT_EQ(row(), before);
      EXPECT_EQ(ConditionalAs("all", kind, type, true), "");
      EXPECT_NE(row(), before) << "the requests would change the row";
    }
  }
}

TEST_F(RightsServiceTest, OfABatchOnlyTheDeniedActionFails) {
  pb::MultiRequest batch;
  auto& actions = *batch.add_regionaction();
  *actions.mutable_region() = Specify(region_);
  for (const char* family : {"f1", "f2"}) {
    auto& action = *actions.add_action();
    action.set_index(static_cast<std::uint32_t>(actions.action_size() - 1));
    *action.mutable_mutation() = PutRequest(family, "b").mutation();
  }
  auto& get = *actions.add_action();
  get.set_index(2);
  get.mutable_get()->set_row("w");
  const auto answer = As("writer", methods::kMulti, batch);
  ASSERT_TRUE(answer.ok()) << answer.error().ToString();
  std::map<std::uint32_t, std::string> failures;
  for (const auto& entry : answer->regionactionresult(0).resultorexception())
    failures[entry.index()] = entry.has_exception() ? entry.exception().name() : "";
  EXPECT_EQ(failures, (std::map<std::uint32_t, std::string>{{0, ""}, {1, denied_}, {2, denied_}}));
  const std::vector<std::string> one_line{"writer Multi"};
  EXPECT_EQ(refusals_->Take(), one_line) << "the audit log gets one refusal for each region";

  actions.mutable_action()->RemoveLast();
  actions.set_atomic(true);
  const auto group = As("writer", methods::kMulti, batch);
  ASSERT_TRUE(group.ok());
  EXPECT_EQ(group->regionactionresult(0).exception().name(), denied_) << "an atomic group fails as one";
  EXPECT_EQ(refusals_->Take(), one_line);
}

TEST_F(RightsServiceTest, ServicesOfARegionNeedTheRightsOfTheirWork) {
  pb::AggregateRequest count;
  count.set_interpreter_class_name("org.apache.hadoop.hbase.client.coprocessor.LongColumnInterpreter");
  count.mutable_scan()->add_column()->set_family("f2");
  pb::CoprocessorServiceRequest request;
  *request.mutable_region() = Specify(region_);
  request.mutable_call()->set_row("");
  request.mutable_call()->set_service_name("AggregateService");
  request.mutable_call()->set_method_name("GetRowNum");
  request.mutable_call()->set_request(count.SerializeAsString());
  EXPECT_EQ(ClassAs("stranger", methods::kExecService, request), denied_);
  EXPECT_EQ(ClassAs("both", methods::kExecService, request), denied_);
  EXPECT_EQ(ClassAs("reader", methods::kExecService, request), "");
  pb::MutateRowsRequest rows;
  *rows.add_mutation_request() = PutRequest("f2", "m").mutation();
  request.mutable_call()->set_service_name("MultiRowMutationService");
  request.mutable_call()->set_method_name("MutateRows");
  request.mutable_call()->set_request(rows.SerializeAsString());
  EXPECT_EQ(ClassAs("writer", methods::kExecService, request), denied_);
}

TEST_F(RightsServiceTest, AScanBelongsToItsUserAndToItsRights) {
  const pb::ScanRequest next = NextOfOpenScan("reader");
  if (HasFailure()) return;
  const std::string unknown(rpc::exception::kUnknownScanner);
  EXPECT_EQ(ClassAs("both", methods::kScan, next), unknown) << "S132: another user's scanner is not known";
  EXPECT_EQ(ClassAs("reader", methods::kScan, next), "");
  {
    const ScopedMutant mutant("rights.scanner_of_any_user");
    EXPECT_EQ(ClassAs("root", methods::kScan, next), "");
  }
  Grant({});  // every right is revoked
  EXPECT_EQ(ClassAs("reader", methods::kScan, next), denied_) << "an open scan ends with the right";
}

TEST_F(RightsServiceTest, AnOpenScanEndsWhenItsUserIsNoSuperuserAnyMore) {
  const pb::ScanRequest next = NextOfOpenScan("root");
  if (HasFailure()) return;
  EXPECT_EQ(ClassAs("root", methods::kScan, next), "");
  auto table = rights::Users::Parse("", "");
  users_->Set(Mode::kEnforce, std::move(*table));
  EXPECT_EQ(ClassAs("root", methods::kScan, next), denied_);
}

TEST_F(RightsServiceTest, ANonceBelongsToItsUser) {
  Grant({{"ann", Scope::Global(), Action::kRead | Action::kWrite}, {"bob", Scope::Global(), Action::kWrite}});
  pb::MutateRequest add = PutRequest("f1", "n");
  add.mutable_mutation()->set_mutate_type(pb::MutationProto::INCREMENT);
  auto& cell = *add.mutable_mutation()->mutable_column_value(0)->mutable_qualifier_value(0);
  cell.set_value(std::string("\0\0\0\0\0\0\0\x01", 8));
  cell.clear_timestamp();
  add.set_nonce_group(5);
  add.mutable_mutation()->set_nonce(9);
  const auto value = [](const Result<pb::MutateResponse>& answer) {
    return answer.ok() && answer->result().cell_size() == 1 ? static_cast<int>(answer->result().cell(0).value().back())
                                                            : -1;
  };
  EXPECT_EQ(value(As("ann", methods::kMutate, add)), 1);
  EXPECT_EQ(value(As("bob", methods::kMutate, add)), 2) << "not the answer to ann";
  EXPECT_EQ(value(As("ann", methods::kMutate, add)), 2) << "a repetition is not applied again";
}

TEST_F(RightsServiceTest, WithoutAnImageNoUserIsServed) {
  rights::RightsHolder empty;
  const rights::Judge judge(empty, users_);
  const Status refused = judge.Check({"reader"}, rights::Demand::Of(Scope::Table(region_.table), Action::kRead), "Get");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().remote_class(), rpc::exception::kPleaseHold);
}

TEST_F(RightsServiceTest, WritesOfReplicationNeedTheRightEverywhere) {
  pb::MutateRequest put = PutRequest("f1", "a");
  auto* attribute = put.mutable_mutation()->add_attribute();
  attribute->set_name("ratchet.cluster-ids");
  attribute->set_value("other-cluster");
  EXPECT_EQ(ClassAs("writer", methods::kMutate, put), denied_);
}

}  // namespace
}  // namespace ratchet::regionserver
