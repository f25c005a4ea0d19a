#!/bin/bash
# tools/fetch_corpus and help_corpus as a user runs them, on packages made here; needs no network.
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

page() {
  local text=$1
  shift
  mkdir -p "$(dirname "$1")"
  printf '<html><body><p id="par_1">%s</p></body></html>\n' "$text" >"$1"
}

# package NAME VERSION FOLDER: the .deb of a folder, under the name apt-get gives it.
package() {
  mkdir -p "$3/DEBIAN"
  printf 'Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: a <a@b.c>\nDescription: d\n' \
    "$1" "$2" >"$3/DEBIAN/control"
  dpkg-deb --root-owner-group --build "$3" "$cache/$1_${2/:/%3a}_all.deb" >/dev/null
}

english=$work/en/usr/share/libreoffice/help/en-US/text
german=$work/de/usr/share/libreoffice/help/de/text
page "Open the file" "$english/shared/guide/a.html"
page "Show the page" "$english/sbasic/shared/03/sf_region.html"
page "Close a window" "$english/sbasic/guide/translation.html"
page "Datei öffnen" "$german/shared/guide/a.html"
page "Seite zeigen" "$german/sbasic/shared/03/sf_region.html"
page "Fenster schließen" "$german/sbasic/guide/translation.html"
package libreoffice-help-en-us 4:7.4.7-1 "$work/en"
package libreoffice-help-de 4:7.4.7-1 "$work/de"

run=("$fetch" --builder "$builder" --cache "$cache" --out "$work/corpus")
expect 0 "train 37158, valid 1200, test 1633" "${run[@]}"
[[ $(cat "$work"/corpus/{train,valid,test}.de) == $'Datei öffnen\nSeite zeigen\nFenster schließen' ]] ||
  broken "the corpus differs"
grep -q "MPL-2.0" "$work/corpus/origin.txt" || broken "no licence in origin.txt"
expect 0 "nothing to do" "${run[@]}"

expect 0 "Usage: tools/fetch_corpus" "$fetch" --help
expect 2 "unknown argument \"--lang\"" "$fetch" --lang de
expect 2 "--out needs a value" "$fetch" --out
expect 2 "is not the end of a package name" "$fetch" --language ../de
expect 3 "not found; run: cmake" "$fetch" --builder "$work/none" --out "$work/new"
rm "$work/corpus/test.de"
expect 3 "already there; remove it" "${run[@]}"

run=("$fetch" --builder "$builder" --cache "$cache" --out "$work/new")
package libreoffice-help-fr 4:7.5.0-1 "$work/de"
expect 3 "remove the older" "${run[@]}" --language fr
echo "no package" >"$cache/libreoffice-help-es_1_all.deb"
expect 3 "is damaged" "${run[@]}" --language es
[[ ! -e $work/new ]] || broken "a failed run left a corpus"

program=("$builder" --languages en de --out "$work/new" --source "$english" --target)
expect 2 "--target" "$builder" --source "$english"
expect 2 "expected an ending" "$builder" --languages en a/b --out x --source x --target x
expect 3 "no such folder" "${program[@]}" "$work/none"
expect 3 "no .html page found" "${program[@]}" "$cache"
printf '<html>\xe4</html>' >"$german/shared/guide/a.html"
expect 3 "no UTF-8" "${program[@]}" "$german"
printf '<html><p id="par_1">Half' >"$german/shared/guide/a.html"
expect 3 "no whole help page" "${program[@]}" "$german"
[[ $(wc -l <"$work/log") == 1 ]] || broken "more than one line of error"
[[ -z $(find "$work" -name "new*") ]] || broken "a failed run left files"
