// hbase:meta by RPC against a small server that applies conditional mutations as HBase does.
#include "master/meta/rpc_meta_table.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "common/base/mutant.h"
#include "common/model/cell_codec.h"
#include "common/model/meta_row.h"
#include "common/model/proto/client.pb.h"
#include "common/model/proto/filter.pb.h"
#include "common/model/proto/multi_row_mutation.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/client_service.h"
#include "common/rpc/server.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;

class FakeMeta {
 public:
  FakeMeta() {
    auto service = std::make_shared<rpc::Service>(methods::kClientService);
    service->On(methods::kMutate,
                [this](const rpc::CallContext& /*call*/, const pb::MutateRequest& request, std::string_view cells,
                       const rpc::Responder<pb::MutateResponse>& responder) { Mutate(request, cells, responder); });
    service->On(methods::kMulti,
                [this](const rpc::CallContext& /*call*/, const pb::MultiRequest& request, std::string_view /*cells*/,
                       const rpc::Responder<pb::MultiResponse>& responder) { Multi(request, responder); });
    service->On(methods::kGet, [this](const rpc::CallContext& /*call*/, const pb::GetRequest& request,
                                      std::string_view /*cells*/, const rpc::Responder<pb::GetResponse>& responder) {
      MutexLock lock(mutex_);
      pb::GetResponse response;
      Read(request.get(), *response.mutable_result());
      responder.Reply(response);
    });
    service->On(methods::kScan,
                [this](const rpc::CallContext& /*call*/, const pb::ScanRequest& request, std::string_view /*cells*/,
                       const rpc::Responder<pb::ScanResponse>& responder) { Scan(request, responder); });
    service->On(methods::kExecService,
                [this](const rpc::CallContext& /*call*/, const pb::CoprocessorServiceRequest& request,
                       std::string_view /*cells*/,
                       const rpc::Responder<pb::CoprocessorServiceResponse>& responder) { Exec(request, responder); });
    server_.Add(std::move(service));
    EXPECT_TRUE(server_.Start().ok());
  }
  [[nodiscard]] ServerName name() const { return {"127.0.0.1", server_.port(), 1}; }
  void set_fail(std::optional<Error> error) {
    MutexLock lock(mutex_);
    fail_ = std::move(error);
  }
  // Requests for edits wait until Release.
  void Hold() {
    MutexLock lock(mutex_);
    held_ = true;
  }
  void Release() {
    MutexLock lock(mutex_);
    held_ = false;
    released_.NotifyAll();
  }
  // The edit of this row fails by itself.
  void set_fail_row(const std::string& row) {
    MutexLock lock(mutex_);
    fail_row_ = row;
  }
  // Answers have a result less than the request has edits.
  void set_short_answer() {
    MutexLock lock(mutex_);
    short_answer_ = true;
  }
  // Mutate and Multi.
  int requests() {
    MutexLock lock(mutex_);
    return requests_;
  }
  int mutations() {
    MutexLock lock(mutex_);
    return mutations_;
  }
  std::size_t rows() {
    MutexLock lock(mutex_);
    return rows_.size();
  }

 private:
  void Mutate(const pb::MutateRequest& request, std::string_view cells,
              const rpc::Responder<pb::MutateResponse>& responder) {
    MutexLock lock(mutex_);
    AwaitRelease();
    ++mutations_;
    ++requests_;
    if (fail_.has_value()) {
      responder.Fail(*fail_);
      return;
    }
    pb::MutateResponse response;
    response.set_processed(Apply(request.condition(), request.mutation(), cells));
    responder.Reply(response);
  }

  void Multi(const pb::MultiRequest& request, const rpc::Responder<pb::MultiResponse>& responder) {
    MutexLock lock(mutex_);
    AwaitRelease();
    ++requests_;
    if (fail_.has_value()) {
      responder.Fail(*fail_);
      return;
    }
    pb::MultiResponse response;
    for (const auto& each : request.regionaction()) {
      auto& out = *response.add_regionactionresult();
      if (fail_row_.has_value() && each.condition().row() == *fail_row_) {
        rpc::FillPair(rpc::RemoteError(rpc::exception::kNotServingRegion, "hbase:meta"), *out.mutable_exception());
        continue;
      }
      for (const auto& action : each.action()) {
        auto& entry = *out.add_resultorexception();
        entry.set_index(action.index());
        if (action.has_get()) {
          Read(action.get(), *entry.mutable_result());
          continue;
        }
        ++mutations_;
        EXPECT_EQ(action.mutation().attribute(0).name(), meta::kEpochAttribute);
        out.set_processed(Apply(each.condition(), action.mutation(), {}));
      }
    }
    if (short_answer_) response.mutable_regionactionresult()->RemoveLast();
    responder.Reply(response);
  }

  void Read(const pb::Get& get, pb::Result& out) REQUIRES(mutex_) {
    const auto row = rows_.find(get.row());
    if (row == rows_.end()) return;
    const auto cell = row->second.find(get.column(0).family() + ":transition");
    if (cell != row->second.end()) FillResult({cell->second}, nullptr, out);
  }

  // Returns true if the condition held.
  bool Apply(const pb::Condition& condition, const pb::MutationProto& mutation, std::string_view cells)
      REQUIRES(mutex_) {
    if (!Holds(condition)) return false;
    if (mutation.mutate_type() == pb::MutationProto::DELETE) {
      rows_.erase(condition.row());
      return true;
    }
    CellBlockReader block(cells);
    const std::vector<Cell> put = ReadMutationCells(mutation, block).value();
    for (const Cell& cell : put) rows_[condition.row()][cell.family + ":" + cell.qualifier] = cell;
    return true;
  }

  void AwaitRelease() REQUIRES(mutex_) {
    while (held_) released_.Wait(mutex_);
  }

  bool Holds(const pb::Condition& condition) REQUIRES(mutex_) {
    pb::BinaryComparator expected;
    EXPECT_TRUE(expected.ParseFromString(condition.comparator().serialized_comparator()));
    const auto row = rows_.find(condition.row());
    const std::string column = condition.family() + ":" + condition.qualifier();
    const bool there = row != rows_.end() && row->second.contains(column);
    const std::string& value = expected.comparable().value();
    if (value.empty()) return !there;
    if (!there) return false;
    const std::string& stored = row->second.at(column).value;
    return condition.compare_type() == pb::EQUAL ? value == stored : value >= stored;
  }
  // MutateRows. With `fail_` it applies the request, and returns an error.
  void Exec(const pb::CoprocessorServiceRequest& request,
            const rpc::Responder<pb::CoprocessorServiceResponse>& responder) {
    MutexLock lock(mutex_);
    pb::MutateRowsRequest rows;
    EXPECT_EQ(request.call().service_name() + "." + request.call().method_name(), "MultiRowMutationService.MutateRows");
    EXPECT_TRUE(rows.ParseFromString(request.call().request()));
    ++mutations_;
    bool all = true;
    for (const auto& condition : rows.condition()) all = all && Holds(condition);
    for (const auto& mutation : rows.mutation_request()) {
      EXPECT_EQ(mutation.attribute(0).name(), meta::kEpochAttribute);
      if (!all) continue;
      CellBlockReader none{std::string_view()};
      if (mutation.mutate_type() == pb::MutationProto::DELETE) rows_.erase(mutation.row());
      const auto cells = ReadMutationCells(mutation, none);
      for (const Cell& cell : cells.value()) rows_[mutation.row()][cell.family + ":" + cell.qualifier] = cell;
    }
    if (fail_.has_value()) {
      responder.Fail(*fail_);
      return;
    }
    pb::MutateRowsResponse processed;
    processed.set_processed(all);
    pb::CoprocessorServiceResponse response;
    *response.mutable_region() = request.region();
    response.mutable_value()->set_name("MutateRowsResponse");
    response.mutable_value()->set_value(processed.SerializeAsString());
    responder.Reply(response);
  }

  // Two rows an answer, so that the client has to call again. Every second answer has none: it comes in time, although
  // the server has found no row yet.
  void Scan(const pb::ScanRequest& request, const rpc::Responder<pb::ScanResponse>& responder) {
    MutexLock lock(mutex_);
    if (!request.has_scanner_id()) position_ = 0;
    pb::ScanResponse response;
    response.set_scanner_id(5);
    EXPECT_TRUE(request.client_handles_heartbeats());
    if (std::exchange(late_, !late_)) {
      response.set_heartbeat_message(true);
      response.set_more_results_in_region(true);
      response.set_more_results(true);
      responder.Reply(response);
      return;
    }
    std::size_t index = 0;
    for (const auto& [key, columns] : rows_) {
      if (index++ < position_ || index > position_ + 2) continue;
      std::vector<Cell> cells;
      for (const auto& [name, cell] : columns) cells.push_back(cell);
      FillResult(cells, nullptr, *response.add_results());
    }
    position_ += 2;
    response.set_more_results_in_region(position_ < rows_.size());
    response.set_more_results(true);
    responder.Reply(response);
  }

  Mutex mutex_;
  std::map<std::string, std::map<std::string, Cell>> rows_ GUARDED_BY(mutex_);
  std::size_t position_ GUARDED_BY(mutex_) = 0;
  bool late_ GUARDED_BY(mutex_) = true;
  int mutations_ GUARDED_BY(mutex_) = 0;
  int requests_ GUARDED_BY(mutex_) = 0;
  bool held_ GUARDED_BY(mutex_) = false;
  bool short_answer_ GUARDED_BY(mutex_) = false;
  std::optional<std::string> fail_row_ GUARDED_BY(mutex_);
  CondVar released_;
  std::optional<Error> fail_ GUARDED_BY(mutex_);
  // Its queues accept a few requests and refuse the others.
  static rpc::ServerOptions Narrow() {
    rpc::ServerOptions options;
    options.queues.fill({1, 16});
    return options;
  }
  rpc::RpcServer server_{Narrow()};
};

class RpcMetaTableTest : public ::testing::Test {
 protected:
  RpcMetaTableTest() : pool_(rpc::ChannelPoolOptions{}), table_(pool_, Options()) {
    table_.Begin(Epoch(4), {[this] { return owner_; }, [this] { return location_; }});
    location_ = meta_.name();
  }
  ~RpcMetaTableTest() override { pool_.Stop(); }
  static MetaTableOptions Options() {
    MetaTableOptions options;
    options.edits = {2, 100, 1U << 20};
    return options;
  }

  template <class T>
  T Await(const std::function<void(std::function<void(T)>)>& start) {
    Mutex mutex;
    CondVar done;
    std::optional<T> value;
    start([&](T result) {
      MutexLock lock(mutex);
      value.emplace(std::move(result));
      done.NotifyAll();
    });
    MutexLock lock(mutex);
    while (!value.has_value()) done.Wait(mutex);
    return std::move(*value);
  }
  Status Write(std::vector<MetaEdit> edits) {
    return Await<Status>([&](std::function<void(Status)> done) { table_.Write(std::move(edits), std::move(done)); });
  }
  Result<MetaContents> Scan() {
    return Await<Result<MetaContents>>(
        [&](std::function<void(Result<MetaContents>)> done) { table_.Scan(std::move(done)); });
  }
  // A split: the parent's number changes from `parent` to 20, two rows are made. Returns "applied", "refused" or the
  // error's code.
  std::string Split(std::uint64_t parent) {
    MetaCommit commit;
    commit.edits = {Edit(MetaEdit::Kind::kUpdateRegion, 20), Edit(MetaEdit::Kind::kCreateRegion, 21, "a"),
                    Edit(MetaEdit::Kind::kCreateRegion, 22, "b")};
    commit.expected = {
        {Edit(MetaEdit::Kind::kUpdateRegion, parent), false}, {commit.edits[1], true}, {commit.edits[2], true}};
    const auto outcome = Await<Result<CommitOutcome>>(
        [&](std::function<void(Result<CommitOutcome>)> done) { table_.Commit(std::move(commit), std::move(done)); });
    if (!outcome.ok()) return std::string(CodeName(outcome.error().code()));
    return *outcome == CommitOutcome::kApplied ? "applied" : "refused";
  }
  // The parent is split; then parent and daughters are gone, as after further splits. The first request arrives a
  // second time.
  std::string LateDuplicate() {
    EXPECT_TRUE(Write({Edit(MetaEdit::Kind::kCreateRegion, 9)}).ok());
    EXPECT_EQ(Split(9), "applied");
    EXPECT_TRUE(Write({Edit(MetaEdit::Kind::kDeleteRegion, 30), Edit(MetaEdit::Kind::kDeleteRegion, 30, "a"),
                       Edit(MetaEdit::Kind::kDeleteRegion, 30, "b")})
                    .ok());
    return Split(9);
  }
  static MetaEdit Edit(MetaEdit::Kind kind, std::uint64_t transition, const std::string& start = "") {
    MetaEdit edit;
    edit.kind = kind;
    edit.region.region.table = TableName("default", "t");
    edit.region.region.start_key = start;
    edit.region.region.region_id = 7;
    edit.region.state = RegionState::kOpening;
    edit.region.transition = transition;
    edit.table.table = TableName("default", "t");
    edit.table.directory = "default/t.7";
    edit.table.transition = transition;
    return edit;
  }

  FakeMeta meta_;
  rpc::ChannelPool pool_;
  RpcMetaTable table_;
  Status owner_;
  std::optional<ServerName> location_;
};

TEST_F(RpcMetaTableTest, WritesAreConditionalOnTheTransitionNumber) {
  const Status first = Write({Edit(MetaEdit::Kind::kCreateRegion, 5)});
  ASSERT_TRUE(first.ok()) << first.error().ToString();
  ASSERT_TRUE(Write({Edit(MetaEdit::Kind::kCreateRegion, 5)}).ok()) << "a repetition changes nothing";
  ASSERT_TRUE(Write({Edit(MetaEdit::Kind::kUpdateRegion, 8)}).ok());
  const Status late = Write({Edit(MetaEdit::Kind::kUpdateRegion, 6)});
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code(), Code::kStale);
  EXPECT_EQ(Write({Edit(MetaEdit::Kind::kCreateRegion, 5)}).error().code(), Code::kStale);
  EXPECT_EQ(Write({Edit(MetaEdit::Kind::kDeleteRegion, 7)}).error().code(), Code::kStale);
  EXPECT_EQ(Scan().value().regions.at(0).transition, 8u);
}

TEST_F(RpcMetaTableTest, WithoutTheConditionALateWriteOverwritesTheRow) {
  ASSERT_TRUE(Write({Edit(MetaEdit::Kind::kCreateRegion, 8)}).ok());
  const ScopedMutant mutant("meta.any_transition");
  EXPECT_TRUE(Write({Edit(MetaEdit::Kind::kUpdateRegion, 6)}).ok());
  EXPECT_EQ(Scan().value().regions.at(0).transition, 6u);  // the mutant that the test above would notice
}

TEST_F(RpcMetaTableTest, ACommitNeedsExactlyTheExpectedRows) {  // S41 (atomic conditional commit)
  EXPECT_EQ(Split(9), "refused") << "no parent";
  ASSERT_TRUE(Write({Edit(MetaEdit::Kind::kCreateRegion, 9)}).ok());
  EXPECT_EQ(Split(10), "refused") << "an older number is not the expected one";
  ASSERT_TRUE(Write({Edit(MetaEdit::Kind::kCreateRegion, 3, "b")}).ok());
  EXPECT_EQ(Split(9), "refused") << "a daughter is there";
  ASSERT_TRUE(Write({Edit(MetaEdit::Kind::kDeleteRegion, 4, "b")}).ok());
  EXPECT_EQ(meta_.rows(), 1U) << "nothing was changed by halves";
  EXPECT_EQ(Split(9), "applied");
  EXPECT_EQ(meta_.rows(), 3U);
  EXPECT_EQ(Split(9), "applied") << "by an earlier sending";
}

TEST_F(RpcMetaTableTest, ACommitWhoseAnswerIsLostShowsItsOutcomeWhenItIsRepeated) {
  ASSERT_TRUE(Write({Edit(MetaEdit::Kind::kCreateRegion, 9)}).ok());
  meta_.set_fail(rpc::RemoteError(rpc::exception::kNotServingRegion, "hbase:meta"));
  EXPECT_EQ(Split(9), CodeName(Code::kUnavailable));
  meta_.set_fail(std::nullopt);
  EXPECT_EQ(Split(9), "applied");
  meta_.set_fail(Error(Code::kStale, "a higher epoch is known: 5"));
  EXPECT_EQ(Split(9), CodeName(Code::kFenced));
}

TEST_F(RpcMetaTableTest, ALateDuplicateOfACommitChangesNothing) {
  EXPECT_EQ(LateDuplicate(), "refused");
  EXPECT_EQ(meta_.rows(), 0U);
}

TEST_F(RpcMetaTableTest, CommittingRowByRowIsNoticed) {
  const ScopedMutant mutant("meta.commit_row_by_row");
  EXPECT_NE(LateDuplicate(), "refused");
  EXPECT_EQ(meta_.rows(), 2U) << "the daughters came back";
}

TEST_F(RpcMetaTableTest, CommittingOverAnyLowerNumberIsNoticed) {
  const ScopedMutant mutant("meta.commit_at_most");
  ASSERT_TRUE(Write({Edit(MetaEdit::Kind::kCreateRegion, 9)}).ok());
  EXPECT_EQ(Split(10), "applied");
}

TEST_F(RpcMetaTableTest, AnAbsentRowIsNotUpdatedAndDeletedWithoutComplaint) {
  EXPECT_EQ(Write({Edit(MetaEdit::Kind::kUpdateRegion, 5)}).error().code(), Code::kNotFound);
  EXPECT_EQ(Write({Edit(MetaEdit::Kind::kUpdateTable, 5)}).error().code(), Code::kNotFound);
  EXPECT_TRUE(Write({Edit(MetaEdit::Kind::kDeleteRegion, 5)}).ok());
  EXPECT_TRUE(Write({Edit(MetaEdit::Kind::kDeleteTable, 5)}).ok());
  EXPECT_EQ(meta_.rows(), 0u);
}

// S173 (only creations add table rows)
TEST_F(RpcMetaTableTest, AStateChangeOfATableNeedsItsRow) {
  ASSERT_TRUE(Write({Edit(MetaEdit::Kind::kCreateTable, 3)}).ok());
  ASSERT_TRUE(Write({Edit(MetaEdit::Kind::kUpdateTable, 7)}).ok());
  EXPECT_EQ(Scan().value().tables.at(0).transition, 7U);
  EXPECT_EQ(Write({Edit(MetaEdit::Kind::kUpdateTable, 6)}).error().code(), Code::kStale);
  EXPECT_EQ(Write({Edit(MetaEdit::Kind::kCreateTable, 6)}).error().code(), Code::kStale);
  ASSERT_TRUE(Write({Edit(MetaEdit::Kind::kDeleteTable, 8)}).ok());
  EXPECT_EQ(Write({Edit(MetaEdit::Kind::kUpdateTable, 9)}).error().code(), Code::kNotFound);
  EXPECT_EQ(meta_.rows(), 0u);
  EXPECT_TRUE(Write({Edit(MetaEdit::Kind::kCreateTable, 10)}).ok());
}

TEST_F(RpcMetaTableTest, ScansComeInPiecesAndReadBackWhatWasWritten) {
  std::vector<MetaEdit> edits{Edit(MetaEdit::Kind::kCreateTable, 3)};
  for (char c = 'a'; c < 'h'; ++c) edits.push_back(Edit(MetaEdit::Kind::kCreateRegion, 3, std::string(1, c)));
  ASSERT_TRUE(Write(edits).ok());
  const auto contents = Scan();
  ASSERT_TRUE(contents.ok()) << contents.error().ToString();
  EXPECT_EQ(contents->regions.size(), 7u);
  ASSERT_EQ(contents->tables.size(), 1u);
  EXPECT_EQ(contents->tables[0].directory, "default/t.7");
}

// A table of thousands of regions: the server's queue would refuse requests beyond its bound (found by the measurement
// of recoveries with 1,000 regions a server).
TEST_F(RpcMetaTableTest, NoMoreEditsAreUnderWayThanTheServerTakes) {
  std::vector<MetaEdit> edits;
  for (int i = 0; i < 3'000; ++i) edits.push_back(Edit(MetaEdit::Kind::kCreateRegion, 3, std::to_string(10'000 + i)));
  ASSERT_TRUE(Write(edits).ok());
  EXPECT_EQ(meta_.rows(), 3'000U);
  EXPECT_EQ(meta_.requests(), 30) << "100 edits in each";
  owner_ = Error(Code::kFenced, "somebody else owns this");
  EXPECT_EQ(Write(edits).error().code(), Code::kFenced) << "thousands that fail at once do not nest";
}

TEST_F(RpcMetaTableTest, LongKeysMakeSmallerRequests) {
  const auto write = [this](std::size_t edits, std::size_t key) {
    const int before = meta_.requests();
    std::vector<MetaEdit> all;
    for (std::size_t i = 0; i < edits; ++i)
      all.push_back(Edit(MetaEdit::Kind::kCreateRegion, 3, std::to_string(100 * key + i) + std::string(key, 'k')));
    EXPECT_TRUE(Write(std::move(all)).ok());
    return meta_.requests() - before;
  };
  EXPECT_EQ(write(50, 10), 1);
  EXPECT_GE(write(50, 20'000), 3) << "3 MB of keys in requests of 1 MiB";
  EXPECT_EQ(write(1, 30'000), 1);
}

// Each edit of a request has its own condition and its own result.
TEST_F(RpcMetaTableTest, EditsThatWaitShareOneRequestAndKeepTheirOwnResults) {
  ASSERT_TRUE(Write({Edit(MetaEdit::Kind::kCreateRegion, 9, "stale")}).ok());
  const int before = meta_.requests();
  meta_.Hold();
  const std::vector<std::pair<MetaEdit, std::string>> cases = {
      {Edit(MetaEdit::Kind::kCreateRegion, 5, "one"), "ok"},
      {Edit(MetaEdit::Kind::kCreateRegion, 5, "two"), "ok"},  // two requests are in flight, the others wait
      {Edit(MetaEdit::Kind::kCreateRegion, 5, "new"), "ok"},
      {Edit(MetaEdit::Kind::kUpdateRegion, 8, "stale"), std::string(CodeName(Code::kStale))},
      {Edit(MetaEdit::Kind::kUpdateRegion, 5, "absent"), std::string(CodeName(Code::kNotFound))},
      {Edit(MetaEdit::Kind::kDeleteRegion, 5, "absent too"), "ok"},
      {Edit(MetaEdit::Kind::kCreateRegion, 5, "moving"), std::string(CodeName(Code::kUnavailable))},
      {Edit(MetaEdit::Kind::kCreateTable, 5), "ok"},
  };
  meta_.set_fail_row(cases[6].first.region.region.name());
  Mutex mutex;
  CondVar changed;
  std::vector<std::string> results(cases.size());
  std::size_t left = cases.size();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    table_.Write({cases[i].first}, [&, i](const Status& status) {
      const MutexLock lock(mutex);
      results[i] = status.ok() ? "ok" : CodeName(status.error().code());
      --left;
      changed.NotifyAll();
    });
  }
  meta_.Release();
  {
    MutexLock lock(mutex);
    while (left > 0) changed.Wait(mutex);
  }
  for (std::size_t i = 0; i < cases.size(); ++i) EXPECT_EQ(results[i], cases[i].second) << i;
  EXPECT_EQ(meta_.requests() - before, 4) << "two alone, one for all others, one to find out why edits did not hold";
  EXPECT_EQ(Scan().value().regions.size(), 4U);
}

TEST_F(RpcMetaTableTest, EditsOfOneRowKeepTheirOrder) {
  const Status written = Write({Edit(MetaEdit::Kind::kCreateRegion, 5), Edit(MetaEdit::Kind::kUpdateRegion, 6),
                                Edit(MetaEdit::Kind::kUpdateRegion, 7)});
  ASSERT_TRUE(written.ok()) << written.error().ToString();
  EXPECT_EQ(Scan().value().regions.at(0).transition, 7U);
}

TEST_F(RpcMetaTableTest, AnAnswerThatDoesNotFitProvesNothing) {
  meta_.set_short_answer();
  const Status written =
      Write({Edit(MetaEdit::Kind::kCreateRegion, 5, "a"), Edit(MetaEdit::Kind::kCreateRegion, 5, "b")});
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code(), Code::kUnavailable);
}

TEST_F(RpcMetaTableTest, WithoutAServerOrWithOneThatRefusesItIsUnavailable) {
  meta_.set_fail(rpc::RemoteError(rpc::exception::kNotServingRegion, "hbase:meta"));
  EXPECT_EQ(Write({Edit(MetaEdit::Kind::kCreateRegion, 5)}).error().code(), Code::kUnavailable);
  meta_.set_fail(Error(Code::kStale, "a higher epoch is known: 5"));
  EXPECT_EQ(Write({Edit(MetaEdit::Kind::kCreateRegion, 5)}).error().code(), Code::kFenced);
  location_.reset();
  EXPECT_EQ(Write({Edit(MetaEdit::Kind::kCreateRegion, 5)}).error().code(), Code::kUnavailable);
  EXPECT_EQ(Scan().error().code(), Code::kUnavailable);
}

TEST_F(RpcMetaTableTest, ADeposedMasterWritesNothingAndBelievesNothing) {
  owner_ = Error(Code::kFenced, "deposed");
  EXPECT_EQ(Split(9), CodeName(Code::kFenced));
  EXPECT_EQ(Write({Edit(MetaEdit::Kind::kCreateRegion, 5)}).error().code(), Code::kFenced);
  EXPECT_EQ(meta_.mutations(), 0);
  EXPECT_EQ(Scan().error().code(), Code::kFenced);
}

}  // namespace
}  // namespace ratchet::master
