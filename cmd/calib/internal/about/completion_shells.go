package about

// shells are the scripts by the name of their shell. Each hands the words up to the cursor to calib completion --words and
// offers what comes back; none evaluates what was typed.
func shells() map[string]string {
	return map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}
}

// bashScript puts the words together again that bash takes apart at "=" and ":". It runs on bash 3.2.
const bashScript = `# calib: completion for bash. source <(calib completion bash)
_calib() {
  local i w line kind= glue= rest head
  local -a words
  words=()
  for ((i = 1; i <= COMP_CWORD; i++)); do
    w=${COMP_WORDS[i]}
    if [[ ${#words[@]} -gt 0 && ( -n $glue || $w == [=:]* ) ]]; then
      words[${#words[@]}-1]+=$w
    else
      words+=("$w")
    fi
    glue=
    [[ $w == *[=:] ]] && glue=1
  done
  rest=${COMP_WORDS[COMP_CWORD]}
  [[ $rest == [=:] ]] && rest=
  head=${words[${#words[@]}-1]}
  head=${head%"$rest"}
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ -z $kind ]]; then
      kind=$line
      continue
    fi
    line=${line%%$'\t'*}
    COMPREPLY+=("${line#"$head"}")
  done < <("$1" completion --words -- "${words[@]}" 2>/dev/null)
  case $kind in
    files) w=-f ;;
    dirs) w=-d ;;
    *) return 0 ;;
  esac
  compopt -o filenames 2>/dev/null
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <(compgen $w -- "$rest")
}
complete -F _calib calib
`

const zshScript = `#compdef calib
# calib: completion for zsh. source <(calib completion zsh), or a file _calib in a directory of $fpath
_calib() {
  local -a lines about typed
  local line kind
  typed=()
  (( CURRENT > 2 )) && typed=("${(@Q)words[2,CURRENT-1]}")
  lines=("${(@f)$("${(Q)words[1]}" completion --words -- "${(@)typed}" "${(Q)PREFIX}" 2>/dev/null)}")
  kind=$lines[1]
  for line in "${(@)lines[2,-1]}"; do
    if [[ $line == *$'\t'* ]]; then
      about+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    else
      about+=("${line//:/\\:}")
    fi
  done
  (( $#about )) && _describe calib about
  case $kind in
    files) [[ $PREFIX == --*=* ]] && compset -P '*='; _files ;;
    dirs) [[ $PREFIX == --*=* ]] && compset -P '*='; _files -/ ;;
  esac
}
if [[ $funcstack[1] == _calib ]]; then
  _calib "$@"
else
  compdef _calib calib
fi
`

const fishScript = `# calib: completion for fish. calib completion fish > ~/.config/fish/completions/calib.fish
function __calib_complete
  set -l typed (commandline -opc)
  set -l current (commandline -ct)
  set -l lines ($typed[1] completion --words -- $typed[2..-1] "$current" 2>/dev/null)
  test (count $lines) -gt 1; and printf '%s\n' $lines[2..-1]
  set -l flag (string match -r -- '^--[^=]*=' "$current")
  set -l path (string replace -r -- '^--[^=]*=' '' "$current")
  switch "$lines[1]"
    case files
      for p in (__fish_complete_path "$path")
        echo "$flag$p"
      end
    case dirs
      for p in (__fish_complete_directories "$path" '')
        echo "$flag$p"
      end
  end
end
complete -c calib -f -a '(__calib_complete)'
`
