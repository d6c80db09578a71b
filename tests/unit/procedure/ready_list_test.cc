#include "procedure/core/lists.h"

#include <memory>

#include <gtest/gtest.h>

namespace ratchet::procedure {
namespace {

struct ReadyItem {
  ReadyLink link{this};
};

TEST(ReadyListTest, FirstInFirstOutAndEachOnce) {
  ReadyList list;
  ReadyItem first;
  ReadyItem second;
  list.Add(first.link);
  list.Add(second.link);
  list.Add(first.link);  // keeps its place
  EXPECT_EQ(list.Take(), &first);
  list.Add(first.link);  // freed again by what ran
  EXPECT_EQ(list.Take(), &second);
  EXPECT_EQ(list.Take(), &first);
  EXPECT_EQ(list.Take(), nullptr);
  EXPECT_TRUE(list.empty());
}

TEST(ReadyListTest, WhatIsDestroyedOrBecomesSomethingElseLeaves) {
  ReadyList list;
  ReadyItem stays;
  auto goes = std::make_unique<ReadyItem>();
  ReadyItem changes;
  list.Add(goes->link);
  list.Add(changes.link);
  list.Add(stays.link);
  goes.reset();
  changes.link.Leave();
  changes.link.Leave();  // harmless
  EXPECT_FALSE(changes.link.linked());
  EXPECT_EQ(list.Take(), &stays);
  EXPECT_TRUE(list.empty());
}

}  // namespace
}  // namespace ratchet::procedure
