#include "ballast/metrics/text_size.h"

#include <gtest/gtest.h>

namespace ballast {
namespace {

TEST(TextSize, CountsAsPythonAndWcDo) {
  EXPECT_EQ(text_size(""), (TextSize{0, 0, 0}));
  EXPECT_EQ(text_size(" = A <unk> =  \n \nb@-@c"), (TextSize{5, 2, 22}));
  // A no-break and an ideographic space part words; a zero-width space does not.
  EXPECT_EQ(text_size("a\xc2\xa0"
                      "b\xe3\x80\x80"
                      "c\xe2\x80\x8b"
                      "d"),
            (TextSize{3, 0, 12}));
}

TEST(TextSize, AddsUp) {
  TextSize sum = text_size("a b\n");
  sum += text_size("c\n");
  EXPECT_EQ(sum, text_size("a b\nc\n"));
  EXPECT_EQ(sum.words_and_line_ends(), 5);
}

}  // namespace
}  // namespace ballast
