package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/exit"
)

// completionCommand prints a script that completes commands and flags. The scripts for bash and zsh ask calib itself
// through the cli library's --generate-bash-completion, so that they stay true when calib is replaced; the one for fish
// is the library's. The library's own bash script was rejected: it hands what is typed to eval.
func completionCommand() *cli.Command {
	return &cli.Command{
		Name: "completion", Usage: "print a script with which a shell completes calib's commands", ArgsUsage: "bash|zsh|fish",
		Description: "bash  source <(calib completion bash)               in ~/.bashrc\n" +
			"zsh   source <(calib completion zsh)                in ~/.zshrc, after compinit\n" +
			"fish  calib completion fish > ~/.config/fish/completions/calib.fish",
		Flags: []cli.Flag{command.JSONFlag()},
		Action: func(c *cli.Context) error {
			shell, err := command.OneArg(c, "shell: bash, fish, zsh")
			if err != nil {
				return err
			}
			script := map[string]string{"bash": bashScript, "zsh": zshScript}[shell]
			if shell == "fish" {
				script, err = c.App.ToFishCompletion()
			}
			switch {
			case err != nil:
				return fmt.Errorf("completion for fish: %w", err)
			case script == "":
				return exit.Usagef("completion for %q: want one of bash, fish, zsh", shell)
			}
			return command.Answer(c, "completion", map[string]string{"shell": shell, "script": script}, func(w io.Writer) error {
				_, err := io.WriteString(w, script)
				return err
			})
		},
	}
}

// completionBehindDashes reports whether args ask for completion behind a "--". The cli library would then not complete
// the command but run it, so the caller must answer with nothing.
func completionBehindDashes(args []string) bool {
	return strings.TrimLeft(args[len(args)-1], "-") == cli.BashCompletionFlag.Names()[0] && slices.Contains(args, "--")
}

// bashScript runs on bash 3.2. It evaluates nothing that was typed. Where calib offers nothing, bash offers files.
const bashScript = `# calib: completion for bash. source <(calib completion bash)
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
`

const zshScript = `#compdef calib
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
`
