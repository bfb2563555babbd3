// `weir completion`: a script that completes commands and options in a shell. The script gets the candidates from the program itself,
// by the option of yargs that prints them: `weir --get-yargs-completions weir sim`.
import type { Argv } from 'yargs';
import type { GivenTo } from './command.js';

const shells = ['bash', 'zsh', 'fish'] as const;

export const options = (yargs: Argv) =>
  yargs
    .positional('shell', { choices: shells, demandOption: true, describe: 'the shell that reads the script' })
    .example('$0 completion bash >> ~/.bashrc', 'for bash')
    .example('$0 completion zsh >> ~/.zshrc', 'for zsh, after compinit')
    .example('$0 completion fish > ~/.config/fish/completions/weir.fish', 'for fish');

export function run({ shell }: GivenTo<typeof options>): void {
  process.stdout.write(scripts[shell]);
}

/**
 * SHELL selects the form of the candidates: for zsh they have descriptions. Options are offered where a word begins with a dash; where
 * nothing else is left, files are completed.
 */
const scripts: Readonly<Record<(typeof shells)[number], string>> = {
  bash: `_weir() {
  local IFS=$'\\n' word="\${COMP_WORDS[COMP_CWORD]}" found
  found="$(SHELL=bash weir --get-yargs-completions "\${COMP_WORDS[@]:0:COMP_CWORD+1}")"
  [[ $word == -* ]] || found="$(grep -v '^-' <<< "$found")"
  COMPREPLY=($(compgen -W "$found" -- "$word"))
}
complete -o bashdefault -o default -F _weir weir
`,
  zsh: `_weir() {
  local -a found
  found=("\${(@f)$(SHELL=zsh weir --get-yargs-completions "\${(@)words[1,CURRENT]}")}")
  [[ \${words[CURRENT]} == -* ]] || found=("\${(@)found:#-*}")
  if [[ -n "$found" ]]; then _describe weir found; else _files; fi
}
compdef _weir weir
`,
  fish: `complete -c weir -a '(SHELL=fish weir --get-yargs-completions (commandline -opc) (commandline -ct))'
`,
};
