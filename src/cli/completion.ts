// `weir completion`: a shell script for completion. It asks `weir --get-yargs-completions weir sim` (program.ts).
import type { ParseCallback } from 'yargs';
import { choice, command } from '../report/command/command.js';
import { say } from '../report/command/say.js';

const shells = ['bash', 'zsh', 'fish'] as const;

/** yargs' own script completes no files. */
const fish = "complete -c weir -a '(weir --get-yargs-completions (commandline -opc) (commandline -ct))'";

export const completion = command({
  options: { name: choice(shells, 'the shell that reads the script', { place: true, required: true }) },
  examples: [
    ['completion bash >> ~/.bashrc', 'for bash'],
    ['completion zsh >> ~/.zshrc', 'for zsh, after compinit'],
    ['completion fish > ~/.config/fish/completions/weir.fish', 'for fish'],
  ],
  run: async ({ name: shell }) => {
    const { default: yargs } = await import('yargs');
    // yargs takes the shell of the script, and later of the candidates, from this variable.
    process.env['SHELL'] = shell;
    const print = (script: string) => {
      const asking = script.replaceAll('weir --get', `SHELL=${shell} weir --get`);
      say(`${asking.replaceAll('weir completion', `weir completion ${shell}`)}\n`);
    };
    const onScript: ParseCallback = (_error, _parsed, script) => print(script);
    if (shell === 'fish') print(fish);
    else yargs().scriptName('weir').completion().parse(['completion'], onScript);
  },
});
