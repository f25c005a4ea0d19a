#pragma once

#include "ballast/verbs/flags.h"

namespace ballast {

/// The verbs that need libtorch. They lie in a module that the program opens when one of them is
/// asked for, since loading libtorch takes longer than a help page or a score may
/// (docs/decisions/0023). Each throws one of the errors of `base/error.h`.
struct Verbs {
  void (*train)(const TrainingFlags& flags);
  void (*prepare)(const TrainingFlags& flags);
  void (*init)(const InitFlags& flags);
  void (*translate)(const TranslateFlags& flags);
  void (*generate)(const GenerateFlags& flags);
  void (*evaluate)(const EvaluateFlags& flags);
  void (*average)(const AverageFlags& flags);
  void (*fold)(const FoldFlags& flags);
  void (*doctor)(const DoctorFlags& flags);
};

inline constexpr const char* verbs_module = "ballast_verbs.so";
inline constexpr const char* verbs_entry = "ballast_verbs_entry";
using VerbsEntry = const Verbs* (*)();

}  // namespace ballast
