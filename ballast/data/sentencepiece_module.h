#pragma once

#include <cstddef>

/// What the library asks of the module that holds SentencePiece. Only C types cross the border:
/// the module brings a protobuf of its own, which must not meet the one that libtorch brings, so it
/// is loaded at run time into a symbol scope of its own (docs/decisions/0014).
namespace ballast::sentencepiece_module {

inline constexpr const char* file_name = "ballast_sentencepiece.so";
inline constexpr const char* entry_name = "ballast_sentencepiece_interface";

struct Text {
  const char* bytes;
  std::size_t size;
};

struct TextSink {
  void* receiver;
  void (*take)(void* receiver, Text text);
};

struct IdSink {
  void* receiver;
  void (*take)(void* receiver, const int* ids, std::size_t count);
};

struct Ids {
  int size, pad, unknown, begin, end;  ///< -1 for one that the model lacks
};

enum class PieceKind : int { normal, unknown, control, unused, byte };

struct Piece {
  Text text;  ///< lives as long as the model
  float score;
  PieceKind kind;
};

/// None of the functions throws. Those that can fail hand a text to `error` and return false (a
/// null pointer in the case of `load`).
struct Interface {
  void* (*load)(Text model, TextSink error);
  void (*release)(void* processor);
  Ids (*ids)(const void* processor);
  Piece (*piece)(const void* processor, int id);
  bool (*encode)(const void* processor, Text text, IdSink ids, TextSink error);
  bool (*decode)(const void* processor, const int* ids, std::size_t count, TextSink text,
                 TextSink error);
  /// The pieces as texts, one after the other; an unknown one is the text that it stands for.
  bool (*pieces)(const void* processor, Text text, TextSink piece, TextSink error);
};

using Entry = const Interface* (*)();

}  // namespace ballast::sentencepiece_module
