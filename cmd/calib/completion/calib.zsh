#compdef calib
# calib: completion for zsh. source <(calib completion zsh), or a file _calib in a directory of $fpath
_calib() {
  local -a typed offers
  typed=("${(@Q)words[1,CURRENT-1]}")
  case $PREFIX in
    --) typed+=(-) ;;
    -*) typed+=("$PREFIX") ;;
  esac
  offers=("${(@f)$("${(@)typed}" --generate-bash-completion 2>/dev/null)}")
  if [[ -n $offers[1] ]]; then
    _describe calib offers
  else
    _files
  fi
}
if [[ $funcstack[1] == _calib ]]; then
  _calib "$@"
else
  compdef _calib calib
fi
