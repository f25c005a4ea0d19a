#pragma once

// The torch headers that most translation units need; see docs/decisions/0001.
#include <torch/autograd.h>
#include <torch/nn/module.h>
#include <torch/types.h>
#include <torch/utils.h>
