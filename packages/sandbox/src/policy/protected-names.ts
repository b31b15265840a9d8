/** What decides over a repository, or over an agent: not to be changed by what may only change the work. */
export const PROTECTED_NAMES: readonly string[] = ['.git', '.agents', '.codex', '.aws', '.waldo']
