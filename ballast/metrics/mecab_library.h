#pragma once

#include <mecab.h>

namespace ballast {

/// The functions of libmecab that Ballast calls, by the names that mecab.h gives them.
struct MecabLibrary {
  decltype(&::mecab_strerror) strerror;
  decltype(&::mecab_version) version;
  decltype(&::mecab_model_new) model_new;
  decltype(&::mecab_model_destroy) model_destroy;
  decltype(&::mecab_model_dictionary_info) dictionary_info;
  decltype(&::mecab_model_lookup) lookup;
  decltype(&::mecab_model_transition_cost) transition_cost;
  decltype(&::mecab_lattice_new) lattice_new;
  decltype(&::mecab_lattice_destroy) lattice_destroy;
  decltype(&::mecab_lattice_set_sentence2) set_sentence;
};

/// Opens libmecab if it is not yet open; it stays for the life of the process. Raises StoreError,
/// naming Debian's package, where there is none: only scores of Japanese and Korean need it
/// (docs/decisions/0022).
const MecabLibrary& load_mecab();

}  // namespace ballast
