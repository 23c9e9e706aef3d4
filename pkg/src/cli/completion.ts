import { type Command, InvalidArgumentError } from "commander";

/** Adds `tidegate completion SHELL`, which prints a script made from the commands themselves. */
export function addCompletion(program: Command): void {
  program
    .command("completion")
    .description("print a script that completes commands and options in your shell")
    .argument("<shell>", "bash, zsh or fish", (shell) => {
      if (shell in SCRIPTS) return shell as keyof typeof SCRIPTS;
      throw new InvalidArgumentError("It must be bash, zsh or fish.");
    })
    .addHelpText("after", '\nExamples:\n  $ eval "$(tidegate completion bash)"\n  $ tidegate completion fish | source')
    .action((shell: keyof typeof SCRIPTS) => console.log(SCRIPTS[shell](words(program))));
}

/** What may follow each path of commands: `""` is the program itself. */
function words(command: Command, path = ""): Map<string, string[]> {
  const follow = new Map<string, string[]>();
  const options = command.options.flatMap(({ long }) => (long ? [long] : []));
  follow.set(path, [...command.commands.map((child) => child.name()), ...options, "--help"]);
  for (const child of command.commands) {
    for (const entry of words(child, path ? `${path} ${child.name()}` : child.name())) follow.set(...entry);
  }
  return follow;
}

const SCRIPTS = {
  bash: (follow: ReadonlyMap<string, readonly string[]>) => `_tidegate() {
  local path="\${COMP_WORDS[*]:1:COMP_CWORD-1}" choices=""
  case "$path" in
${[...follow]
  .map(([path, next]) => `    "${path}"${path ? `|"${path} "*` : ""}) choices="${next.join(" ")}" ;;`)
  .reverse()
  .join("\n")}
  esac
  COMPREPLY=($(compgen -W "$choices" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _tidegate tidegate`,
  zsh: (follow: ReadonlyMap<string, readonly string[]>) =>
    `autoload -U +X bashcompinit && bashcompinit\n${SCRIPTS.bash(follow)}`,
  fish: (follow: ReadonlyMap<string, readonly string[]>) =>
    [...follow]
      .map(([path, next]) => {
        const seen = path
          .split(" ")
          .filter(Boolean)
          .map((word) => `__fish_seen_subcommand_from ${word}`);
        const when = seen.length > 0 ? seen.join("; and ") : "__fish_use_subcommand";
        return `complete -c tidegate -n "${when}" -a "${next.join(" ")}"`;
      })
      .join("\n"),
};
