// The tree of a memstore and its cursors, compared with a map, also while cells are added.
#include <map>
#include <memory>
#include <memory_resource>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/base/prng.h"
#include "regionserver/store/cell_tree.h"
#include "regionserver/store/memstore.h"

namespace ratchet::regionserver {
namespace {

using Cells = std::map<std::string, std::string>;

constexpr std::uint64_t kMemstoreSeeds = 60;

// Keys in one of several orders: each divides nodes at other places.
std::string NextKey(Prng& prng, std::uint64_t order, std::uint64_t number) {
  switch (order % 5) {
    case 0: return fmt::format("row{:08}", number);
    case 1: return fmt::format("row{:08}", 99'999'999 - number);
    case 2: return fmt::format("row{:08}", number / 2 + (number % 2) * 50'000'000);  // two rising series
    case 3: return fmt::format("row{:04}", prng.Below(3'000));                       // with repetitions
    default:
      return std::string(prng.Below(30), 'k') + std::string(prng.Below(3), '\0') + static_cast<char>(prng.Below(256)) +
             static_cast<char>(prng.Below(256));
  }
}

TEST(CellTreeTest, PlacesAreThoseOfAMapAlsoAfterFurtherCells) {
  for (std::uint64_t seed = 1; seed <= kMemstoreSeeds; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Prng prng(seed);
    std::pmr::monotonic_buffer_resource arena;
    CellTree tree(KeyOrder{}, arena);
    Cells cells;
    CellTree::Place kept;
    const CellTree::Entry* kept_entry = nullptr;
    ASSERT_TRUE(tree.LowerBound("").AtEnd());
    ASSERT_TRUE(tree.Before({}).AtEnd());
    const std::uint64_t count = 1 + prng.Below(4'000);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string key = NextKey(prng, seed, i);
      const std::string value = fmt::format("{}", i);
      tree.Put(key + value, key.size());
      cells[key] = value;
      if (kept_entry != nullptr && prng.Below(4) == 0) {
        const std::string kept_key(kept_entry->key());
        const CellTree::Place found = tree.Find(kept, kept_entry);
        ASSERT_FALSE(found.AtEnd());
        ASSERT_EQ(found.entry()->key(), kept_key);
        ASSERT_EQ(found.entry()->value(), cells.at(kept_key));
        kept_entry = nullptr;
      }
      if (kept_entry != nullptr) continue;
      const std::string sought = NextKey(prng, seed, prng.Below(2 * count));
      const auto expected = cells.lower_bound(sought);
      kept = tree.LowerBound(sought);
      ASSERT_EQ(kept.AtEnd(), expected == cells.end());
      const CellTree::Place before = tree.Before(kept);
      ASSERT_EQ(before.AtEnd(), expected == cells.begin());
      if (!before.AtEnd()) {
        ASSERT_EQ(before.entry()->key(), std::prev(expected)->first);
      }
      if (kept.AtEnd()) continue;
      kept_entry = kept.entry();
      ASSERT_EQ(kept_entry->key(), expected->first);
    }
    CellTree::Place place = tree.LowerBound("");
    for (const auto& [key, value] : cells) {
      ASSERT_FALSE(place.AtEnd());
      ASSERT_EQ(place.entry()->key(), key);
      ASSERT_EQ(place.entry()->value(), value);
      place.Next();
    }
    ASSERT_TRUE(place.AtEnd());
  }
}

Cell CellOf(std::string row, std::string value) {
  Cell cell;
  cell.row = std::move(row);
  cell.family = "f";
  cell.qualifier = "q";
  cell.timestamp = 1;
  cell.value = std::move(value);
  return cell;
}

std::string KeyOf(const std::string& row) { return CellKey(CellOf(row, ""), 1); }

void ExpectAtKept(const CellCursor& cursor, const Cells& cells, Cells::const_iterator place) {
  ASSERT_EQ(cursor.Valid(), place != cells.end());
  if (place == cells.end()) return;
  ASSERT_EQ(cursor.key(), place->first);
  ASSERT_EQ(SplitStoredValue(cursor.value()).value().value, place->second);
}

// A cursor reads the addresses of the next cells in advance: cells that are added among those may be missed, as they
// are above every reader's read point, but no earlier cell.
TEST(MemstoreTest, CursorsMoveAsInAMapAndMissNoCellWhileOthersAreAdded) {
  for (std::uint64_t seed = 1; seed <= kMemstoreSeeds; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Prng prng(seed);
    const auto memstore = std::make_shared<Memstore>(KeyOrder{});
    Cells cells;
    const auto add = [&](bool late) {
      // Late cells have rows of their own, so that they never replace a cell of the model.
      const std::string row = fmt::format("row{:06}{}", prng.Below(5'000), late ? "late" : "");
      const std::string value(prng.Below(200), 'v');
      memstore->Add(CellOf(row, value), 1, std::nullopt);
      if (!late) cells[KeyOf(row)] = value;
    };
    for (std::uint64_t i = 1 + prng.Below(3'000); i > 0; --i) add(false);
    const auto cursor = memstore->NewCursor();
    const auto late = [&cursor] { return cursor->Valid() && cursor->key().find("late") != std::string_view::npos; };
    auto place = cells.end();
    for (int move = 0; move < 300; ++move) {
      const std::string sought = KeyOf(fmt::format("row{:06}", prng.Below(5'500)));
      switch (prng.Below(4)) {
        case 0:
          cursor->Seek(sought);
          place = cells.lower_bound(sought);
          break;
        case 1:
          cursor->SeekBefore(sought);
          place = cells.lower_bound(sought);
          place = place == cells.begin() ? cells.end() : std::prev(place);
          while (late()) cursor->Prev();
          break;
        case 2:
          for (std::uint64_t steps = prng.Below(150); steps > 0 && place != cells.end(); --steps) {
            if (prng.Below(20) == 0) add(true);
            do cursor->Next();
            while (late());
            ++place;
            ASSERT_NO_FATAL_FAILURE(ExpectAtKept(*cursor, cells, place));
          }
          break;
        default:
          for (std::uint64_t steps = prng.Below(10); steps > 0 && place != cells.end(); --steps) {
            do cursor->Prev();
            while (late());
            place = place == cells.begin() ? cells.end() : std::prev(place);
          }
          break;
      }
      while (late()) cursor->Next();
      ASSERT_NO_FATAL_FAILURE(ExpectAtKept(*cursor, cells, place));
    }
  }
}

TEST(MemstoreTest, ACellWithTheSameKeyReplacesTheValueAlsoForAnOpenCursor) {
  const auto memstore = std::make_shared<Memstore>(KeyOrder{});
  memstore->Add(CellOf("a", "first"), 1, std::nullopt);
  memstore->Add(CellOf("b", "last"), 1, std::nullopt);
  const auto cursor = memstore->NewCursor();
  cursor->Seek("");
  const std::string_view read = cursor->value();
  memstore->Add(CellOf("a", "second"), 1, 5);
  EXPECT_EQ(SplitStoredValue(read).value().value, "first");
  cursor->Next();
  ASSERT_TRUE(cursor->Valid());
  EXPECT_EQ(SplitStoredValue(cursor->value()).value().value, "last");
  cursor->Seek("");
  EXPECT_EQ(SplitStoredValue(cursor->value()).value().value, "second");
  EXPECT_EQ(SplitStoredValue(cursor->value()).value().ttl_ms, 5);
}

}  // namespace
}  // namespace ratchet::regionserver
