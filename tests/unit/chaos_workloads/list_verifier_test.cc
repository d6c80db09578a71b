#include "chaos/workloads/list_verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/workloads/load.h"

namespace ratchet::chaos {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

NodeKey Key(char name) {
  NodeKey key{};
  key.fill(name);
  return key;
}

client::Row Stored(const client::Mutation& put) {
  client::Row row;
  row.key = put.row;
  row.cells = put.cells;
  return row;
}

client::Row Node(char key, char previous = 0) {
  ListNode node;
  node.key = Key(key);
  node.has_previous = previous != 0;
  node.previous = Key(previous);
  node.number = 7;
  node.client = "test";
  return Stored(PutNode(node));
}

ListCounts Verify(const ListAccount& account, const std::vector<client::Row>& rows) {
  ListVerifier verifier(account);
  for (const auto& row : rows) verifier.Add(row);
  return verifier.Finish();
}

TEST(ListVerifierTest, ANodeSurvivesTheTable) {
  const auto node = ParseNode(Node('b', 'a'));
  ASSERT_TRUE(node.ok());
  EXPECT_EQ(node->key, Key('b'));
  EXPECT_TRUE(node->has_previous);
  EXPECT_EQ(node->previous, Key('a'));
  EXPECT_EQ(node->number, 7U);
  EXPECT_EQ(node->client, "test");
  EXPECT_FALSE(ParseNode(Node('a'))->has_previous);
}

TEST(ListVerifierTest, ACircleAndAnOpenListAreWhole) {
  ListAccount account;
  account.acknowledged = 5;
  account.tails = {Key('y')};
  const auto counts = Verify(account, {Node('a', 'c'), Node('b', 'a'), Node('c', 'b'), Node('x'), Node('y', 'x')});
  EXPECT_EQ(counts.referenced, 4U);
  EXPECT_EQ(counts.unreferenced + counts.undefined + counts.corrupt + counts.lost_tails + counts.extra_references, 0U);
  EXPECT_EQ(counts.acknowledged_present, 5U);
  EXPECT_TRUE(counts.samples.empty());
}

TEST(ListVerifierTest, ALostNodeLeavesAPointerToNothingAndItsPreviousAlone) {
  const auto counts = Verify({}, {Node('a', 'c'), Node('c', 'b')});
  EXPECT_EQ(counts.undefined, 1U);
  EXPECT_EQ(counts.unreferenced, 1U);
  EXPECT_THAT(counts.samples, ElementsAre(HasSubstr("points to 6161"), HasSubstr("6262")));
}

TEST(ListVerifierTest, APointerBehindTheLastNodeCounts) {
  ListAccount account;
  account.tails = {Key('a')};
  EXPECT_EQ(Verify(account, {Node('a', 'z')}).undefined, 1U);
}

TEST(ListVerifierTest, ALostEndIsFoundAlthoughNobodyPointsToIt) {
  ListAccount account;
  account.tails = {Key('b')};
  const auto counts = Verify(account, {Node('a')});
  EXPECT_EQ(counts.lost_tails, 1U);
  EXPECT_EQ(counts.unreferenced, 1U);
}

TEST(ListVerifierTest, NodesOfUnknownOutcomeMayBeThereOrNot) {
  ListAccount account;
  account.tails = {Key('a')};
  account.unknown = {Key('m'), Key('n')};
  const auto counts = Verify(account, {Node('a'), Node('m', 'a')});
  EXPECT_EQ(counts.unknown_present, 1U);
  EXPECT_EQ(counts.acknowledged_present, 1U);
  EXPECT_EQ(counts.unreferenced + counts.undefined + counts.extra_references, 0U);
}

TEST(ListVerifierTest, ANodeThatOnlyAnUnknownOnePointsToHasLostItsNext) {
  ListAccount account;
  account.unknown = {Key('m')};
  EXPECT_EQ(Verify(account, {Node('a'), Node('m', 'a')}).unreferenced, 1U);
}

TEST(ListVerifierTest, TwoAcknowledgedPointersAreOneTooMany) {
  ListAccount account;
  account.tails = {Key('b'), Key('c')};
  EXPECT_EQ(Verify(account, {Node('a'), Node('b', 'a'), Node('c', 'a')}).extra_references, 1U);
}

TEST(ListVerifierTest, ARowThatIsNoNodeIsCorrupt) {
  for (const std::size_t column : {0U, 1U, 2U}) {
    client::Row torn = Node('a', 'b');
    torn.cells.erase(torn.cells.begin() + static_cast<std::ptrdiff_t>(column));
    EXPECT_EQ(Verify({}, {torn}).corrupt, 1U);
  }
  client::Row short_key = Node('a');
  short_key.key = "abc";
  EXPECT_EQ(Verify({}, {short_key}).corrupt, 1U);
}

}  // namespace
}  // namespace ratchet::chaos
