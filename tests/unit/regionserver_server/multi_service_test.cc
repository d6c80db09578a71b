// Multi through the wire, against a real region: actions by themselves, and atomic groups (docs/wire-compatibility.md).
#include "tests/unit/regionserver_server/service_fixture.h"

#include "common/rpc/exceptions.h"
#include "common/rpc/methods/client_service.h"

namespace ratchet::regionserver {
namespace {

class MultiServiceTest : public ServiceFixture {
 protected:
  void SetUp() override {
    ServiceFixture::SetUp();
    ASSERT_EQ(OpenRegion(region_).outcome, OrderOutcome::kOpened);
  }
  const RegionInfo region_ = TableRegion();
};

TEST_F(MultiServiceTest, MultiAnswersEachActionInOrderWithItsIndex) {
  ASSERT_TRUE(Put(region_, "r1", "q", "1").ok());
  ASSERT_TRUE(Put(region_, "r2", "q", "2").ok());
  pb::MultiRequest request;
  auto& missing = *request.add_regionaction();
  *missing.mutable_region() = Specify(TableRegion("nowhere"));
  missing.add_action()->set_index(1);
  missing.mutable_action(0)->mutable_mutation()->set_row("n");
  missing.mutable_action(0)->mutable_mutation()->set_mutate_type(pb::MutationProto::PUT);
  missing.mutable_action(0)->mutable_mutation()->set_associated_cell_count(1);
  auto& here = *request.add_regionaction();
  *here.mutable_region() = Specify(region_);
  const auto add_get = [&here](std::uint32_t index, const std::string& row) {
    auto* action = here.add_action();
    action->set_index(index);
    action->mutable_get()->set_row(row);
  };
  add_get(5, "r2");
  auto* put = here.add_action();
  put->set_index(6);
  put->mutable_mutation()->set_row("r3");
  put->mutable_mutation()->set_mutate_type(pb::MutationProto::PUT);
  put->mutable_mutation()->set_associated_cell_count(1);
  add_get(7, "r1");
  auto* bad = here.add_action();
  bad->set_index(8);
  *bad->mutable_mutation() = PutProto("r4", "q", "v", "nope");
  std::string block;
  AppendCell(Cell{"n", "f", "q", kLatestTimestamp, CellType::kPut, "lost"}, block);
  AppendCell(Cell{"r3", "f", "q", kLatestTimestamp, CellType::kPut, "3"}, block);

  auto reply = Call(methods::kMulti, request, block);
  ASSERT_TRUE(reply.ok()) << reply.error().ToString();
  ASSERT_EQ(reply->message.regionactionresult_size(), 2);
  const auto& first = reply->message.regionactionresult(0);
  EXPECT_EQ(first.exception().name(), rpc::exception::kNotServingRegion);
  EXPECT_TRUE(first.exception().has_value());
  EXPECT_EQ(first.resultorexception_size(), 0);
  const auto& second = reply->message.regionactionresult(1);
  ASSERT_EQ(second.resultorexception_size(), 4);
  CellBlockReader reader(reply->cells);
  std::string seen;
  for (const auto& entry : second.resultorexception()) {
    seen += std::to_string(entry.index()) + ":";
    EXPECT_NE(entry.has_result(), entry.has_exception()) << "exactly one";
    if (entry.has_exception()) {
      EXPECT_EQ(entry.exception().name(), rpc::exception::kNoSuchColumnFamily);
      continue;
    }
    const auto cells = *ReadResult(entry.result(), reader);
    for (const Cell& cell : cells) seen += cell.row + "=" + cell.value;
    seen += " ";
  }
  EXPECT_TRUE(reader.AtEnd());
  EXPECT_EQ(seen, "5:r2=2 6: 7:r1=1 8:");
  auto get = Get(region_, "r3");
  EXPECT_EQ(Text(get->message.result(), get->cells), "q=3") << "the refused region's cell was skipped, not taken";
}

TEST_F(MultiServiceTest, AtomicGroupIsAllOrNothing) {
  pb::MultiRequest request;
  auto& group = *request.add_regionaction();
  *group.mutable_region() = Specify(region_);
  group.set_atomic(true);
  *group.add_action()->mutable_mutation() = PutProto("r", "a", "1");
  *group.add_action()->mutable_mutation() = PutProto("r", "b", "2", "nope");
  auto refused = Call(methods::kMulti, request);
  ASSERT_TRUE(refused.ok());
  EXPECT_TRUE(refused->message.regionactionresult(0).has_exception());
  auto get = Get(region_, "r");
  EXPECT_EQ(Text(get->message.result(), get->cells), "");
  *group.mutable_action(1)->mutable_mutation() = PutProto("r", "b", "2");
  auto applied = Call(methods::kMulti, request);
  ASSERT_TRUE(applied.ok());
  EXPECT_TRUE(applied->message.regionactionresult(0).processed());
  EXPECT_EQ(applied->message.regionactionresult(0).resultorexception_size(), 2);
  get = Get(region_, "r");
  EXPECT_EQ(Text(get->message.result(), get->cells), "a=1 b=2");
}

// Java's client numbers no action of an atomic group and finds the entries by their positions.
TEST_F(MultiServiceTest, AnAtomicGroupIsAnsweredByPositionWithItsResultsInTheFirstEntry) {
  pb::MultiRequest request;
  auto& group = *request.add_regionaction();
  *group.mutable_region() = Specify(region_);
  group.set_atomic(true);
  *group.add_action()->mutable_mutation() = PutProto("r", "a", "1");
  *group.add_action()->mutable_mutation() = PutProto("r", "n", EncodeInt64(5));
  group.mutable_action(1)->mutable_mutation()->set_mutate_type(pb::MutationProto::INCREMENT);
  *group.add_action()->mutable_mutation() = PutProto("r", "t", "x");
  group.mutable_action(2)->mutable_mutation()->set_mutate_type(pb::MutationProto::APPEND);
  group.mutable_action(2)->set_index(7);
  const auto reply = Call(methods::kMulti, request);
  ASSERT_TRUE(reply.ok()) << reply.error().ToString();
  const auto& result = reply->message.regionactionresult(0);
  ASSERT_EQ(result.resultorexception_size(), 3);
  CellBlockReader reader(reply->cells);
  for (int i = 0; i < 3; ++i) {
    const auto& entry = result.resultorexception(i);
    EXPECT_EQ(entry.index(), static_cast<std::uint32_t>(i));
    ASSERT_TRUE(entry.has_result());
    const auto cells = ReadResult(entry.result(), reader);
    ASSERT_TRUE(cells.ok());
    std::string text;
    for (const Cell& cell : *cells) text += cell.qualifier + "=" + cell.value + " ";
    EXPECT_EQ(text, i == 0 ? "n=" + EncodeInt64(5) + " t=x " : "") << "entry " << i;
  }
}

TEST_F(MultiServiceTest, ActionsWithoutANumberAreAnsweredByPosition) {
  pb::MultiRequest request;
  auto& each = *request.add_regionaction();
  *each.mutable_region() = Specify(region_);
  for (const char* row : {"r1", "r2", "r3"}) *each.add_action()->mutable_mutation() = PutProto(row, "q", "v");
  const auto reply = Call(methods::kMulti, request);
  ASSERT_TRUE(reply.ok()) << reply.error().ToString();
  ASSERT_EQ(reply->message.regionactionresult(0).resultorexception_size(), 3);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(reply->message.regionactionresult(0).resultorexception(i).index(), static_cast<std::uint32_t>(i));
}

}  // namespace
}  // namespace ratchet::regionserver
