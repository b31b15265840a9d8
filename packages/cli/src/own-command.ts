/** Inside a compiled file, its sources have such a path. */
const COMPILED = '/$bunfs/'

/** The command line that starts this same program again. */
export function ownCommand(): string[] {
  const program = Bun.main.startsWith(COMPILED) ? [] : ['--no-env-file', '--config=/dev/null', Bun.main]
  return [process.execPath, ...program]
}
