#!/bin/bash
# tools/fetch_documents and prose_corpus as a user runs them, on packages made here; needs no network.
# Arguments: the script, the program.
set -euo pipefail

fetch=$1
builder=$2
command -v dpkg-deb >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cache=$work/cache
mkdir -p "$cache"

broken() {
  echo "FAILED: $1"
  cat "$work/log"
  exit 1
}

# expect CODE TEXT COMMAND...: the command ends with that code and one of its lines holds the text.
expect() {
  local code=0 wanted=$1 text=$2
  shift 2
  "$@" >"$work/log" 2>&1 || code=$?
  [[ $code == "$wanted" ]] || broken "$* ended with $code, expected $wanted"
  grep -qF -- "$text" "$work/log" || broken "$* did not say \"$text\""
}

# Every package of the list, one page each below its folder of pages, and three pages of one package whose
# names fall into the three parts.
while read -r name folder; do
  tree=$work/tree/$name
  mkdir -p "$tree/DEBIAN" "$tree/usr/share/$folder"
  printf '<html><body><p>This page is that of %s alone.</p><p>Every package says this sentence once.</p>' \
    "${name//[^a-z]/}" >"$tree/usr/share/$folder/0.html"
  if [[ $name == debian-policy ]]; then
    echo '<p>The valid part has this sentence only.</p>' >"$tree/usr/share/$folder/75.html"
    echo '<p>The test part has this sentence only.</p>
          <p>Every package says this sentence once.</p>' >"$tree/usr/share/$folder/60.html"
  fi
  printf 'Package: %s\nVersion: 1:2-3\nArchitecture: all\nMaintainer: a <a@b.c>\nDescription: d\n' \
    "$name" >"$tree/DEBIAN/control"
  dpkg-deb --root-owner-group --build "$tree" "$cache/${name}_1%3a2-3_all.deb" >/dev/null
done < <(sed -n 's/^  "\([a-z0-9-]*\) \([^ ]*\) .*"$/\1 \2/p' "$fetch")
[[ $(find "$cache" -name '*.deb' | wc -l) -gt 10 ]] || broken "the list of packages was not read"

run=("$fetch" --builder "$builder" --cache "$cache" --out "$work/corpus")
expect 0 "written to $work/corpus" "${run[@]}"
[[ $(cat "$work/corpus/valid.jsonl") == *'debian-policy/75.html'*'The valid part has'* ]] || broken "valid"
[[ $(cat "$work/corpus/test.jsonl") == *'"The test part has this sentence only."}'* ]] || broken "test"
[[ $(cat "$work"/corpus/*.jsonl | grep -c "Every package") == 1 ]] || broken "a paragraph twice"
grep -qF '| libreoffice-help-en-us | 1:2-3 | MPL-2.0 |' "$work/corpus/README.md" || broken "README"
expect 0 "nothing to do" "${run[@]}"

expect 0 "Usage: tools/fetch_documents" "$fetch" --help
expect 2 "unknown argument \"--lang\"" "$fetch" --lang de
expect 2 "--out needs a value" "$fetch" --out
expect 3 "not found; run: cmake" "$fetch" --builder "$work/none" --out "$work/new"
rm "$work/corpus/test.jsonl"
expect 3 "already there; remove it" "${run[@]}"

run=("$fetch" --builder "$builder" --cache "$cache" --out "$work/new")
echo "no package" >"$cache/zsh-doc_9_all.deb"
expect 3 "is damaged" "${run[@]}"
expect 2 "expected PACKAGE=FOLDER" "$builder" --out "$work/new" pages
expect 3 "no such folder" "$builder" --out "$work/new" "a=$work/none"
expect 3 "no .html page found" "$builder" --out "$work/new" "a=$cache"
mkdir "$work/poor"
echo '<p>Short.</p>' >"$work/poor/a.html"
expect 3 "no paragraph of prose" "$builder" --out "$work/new" "a=$work/poor"
[[ $(wc -l <"$work/log") == 1 ]] || broken "more than one line of error"
[[ -z $(find "$work" -name "new*") ]] || broken "a failed run left files"
