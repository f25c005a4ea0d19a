#include "ballast/options/catalogue.h"

#include <set>

namespace ballast {
namespace {

class Walk {
 public:
  void visit(const Schema& schema, const std::string& name) {
    const Overloaded forms{[&](const ScalarSchema&) {},
                           [&](const TableSchema& table) {
                             if (!seen_.insert(&schema).second) return;
                             for (const OptionSchema& each : table.options) {
                               visit(each.schema(), joined_name(name, each.name));
                             }
                           },
                           [&](const ChoiceSchema& choice) {
                             if (seen_.insert(&schema).second) add(choice, name);
                           },
                           [&](const ListSchema& list) { visit(list.element(), name); },
                           [&](const OptionalSchema& optional) { visit(optional.inner(), name); }};
    std::visit(forms, schema.form);
  }

  std::vector<CatalogueEntry> found;

 private:
  /// Choices among the options of a kind come behind all kinds of its list.
  void add(const ChoiceSchema& choice, const std::string& name) {
    for (const KindSchema& kind : choice.kinds) {
      found.push_back({name, kind.info, &table_of(kind.schema)});
    }
    for (const KindSchema& kind : choice.kinds) visit(kind.schema(), name);
  }

  std::set<const Schema*> seen_;
};

}  // namespace

std::vector<CatalogueEntry> catalogue(const Schema& schema) {
  Walk walk;
  walk.visit(schema, "");
  return std::move(walk.found);
}

}  // namespace ballast
