#include <ballast/model/transformer.h>
#include <ballast/values/plan.h>

#include <cstdio>

// A program of somebody else's: a model of its own making through the installed library.
int main() {
  const ballast::ModelOptions options{.d_model = 16,
                                      .d_ff = 32,
                                      .heads = 2,
                                      .encoder_layers = 1,
                                      .decoder_layers = 1,
                                      .residual = ballast::PreNorm{}};
  ballast::Transformer model(options, {10, 10});
  const auto planned = ballast::plan(model, {});
  ballast::parameterize(planned);
  ballast::initialize(planned, 1);
  std::printf("consumer: %zu parameters planned\n", planned.parameters.size());
  return planned.parameters.empty() ? 1 : 0;
}
