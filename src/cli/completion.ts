// `weir completion`: a shell script for completion. It gets its candidates from `weir --complete bash weir sim` (help.ts).
import { choice, command } from './command.js';

const shells = ['bash', 'zsh', 'fish'] as const;

/** The word after --complete selects the format. Options are offered after a dash; without other candidates, files are completed. */
const scripts: Readonly<Record<(typeof shells)[number], string>> = {
  bash: `_weir() {
  local IFS=$'\\n' word="\${COMP_WORDS[COMP_CWORD]}" found
  found="$(weir --complete bash "\${COMP_WORDS[@]:0:COMP_CWORD+1}")"
  [[ $word == -* ]] || found="$(grep -v '^-' <<< "$found")"
  COMPREPLY=($(compgen -W "$found" -- "$word"))
}
complete -o bashdefault -o default -F _weir weir
`,
  zsh: `_weir() {
  local -a found
  found=("\${(@f)$(weir --complete zsh "\${(@)words[1,CURRENT]}")}")
  [[ \${words[CURRENT]} == -* ]] || found=("\${(@)found:#-*}")
  if [[ -n "$found" ]]; then _describe weir found; else _files; fi
}
compdef _weir weir
`,
  fish: `complete -c weir -a '(weir --complete fish (commandline -opc) (commandline -ct))'
`,
};

export const completion = command({
  options: { shell: choice(shells, 'the shell that reads the script', { place: true, required: true }) },
  examples: [
    ['completion bash >> ~/.bashrc', 'for bash'],
    ['completion zsh >> ~/.zshrc', 'for zsh, after compinit'],
    ['completion fish > ~/.config/fish/completions/weir.fish', 'for fish'],
  ],
  run: ({ shell }) => void process.stdout.write(scripts[shell]),
});
