#pragma once

#include "ballast/verbs/flags.h"

namespace ballast::verbs {

// What the verbs of the program do once their flags are read. Each prints what it finds and throws
// one of the errors of `base/error.h`.

void train(const TrainingFlags& flags);
void prepare(const TrainingFlags& flags);
void init(const InitFlags& flags);
void translate(const TranslateFlags& flags);
void generate(const GenerateFlags& flags);
void evaluate(const EvaluateFlags& flags);
void average(const AverageFlags& flags);
void fold(const FoldFlags& flags);
void doctor(const DoctorFlags& flags);

}  // namespace ballast::verbs
