# calib: completion for bash. source <(calib completion bash)
_calib() {
  local cur=${COMP_WORDS[COMP_CWORD]} words
  words=("${COMP_WORDS[@]:0:COMP_CWORD}")
  COMPREPLY=()
  case $cur in
    --) words+=(-) ;;
    -*) words+=("$cur") ;;
  esac
  COMPREPLY=($(compgen -W "$("${words[@]}" --generate-bash-completion 2>/dev/null)" -- "$cur"))
}
complete -o bashdefault -o default -F _calib calib
