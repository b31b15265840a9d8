import type { RuleLayer } from './rules/load-rules.ts'

/**
 * Commands that only read and run nothing else, whatever follows their names. They stay in the sandbox. It is a file
 * like others, for those who want it: nothing here is allowed by itself.
 *
 * Left out are commands that prefixes cannot make safe, for later words can have them write or run something: `find`
 * (-exec), `rg` (--pre), `sed` (w, e), `sort` and `base64` (-o), `uniq` (its second file), and nearly all of `git`, which
 * runs what the configuration of a repository names: monitors, filters, and helpers that fetch what is missing.
 */
export const STARTER_RULES = `# Commands that only read. They run inside the sandbox.

prefix_rule(
    pattern = [[
        "cat", "cut", "expr", "grep", "head", "ls", "nl", "numfmt", "paste",
        "rev", "seq", "stat", "tac", "tail", "tr", "wc",
    ]],
    decision = "allow",
    sandbox = "keep",
    redirects = ["< *"],
    match = ["cat README.md", "grep -rn 'a b' src", "ls -la", ["tail", "-n", "5", "log"], "/usr/bin/wc -l file"],
    not_match = [
        "find . -name x", "rg x", "sed -n 1,5p file", "sort file", "uniq a b", "base64 file", "awk 1 file",
        "tee file", "less file", "./cat file", "xargs cat", "env cat file", "sudo cat file",
    ],
)

prefix_rule(
    pattern = [["cd", "echo", "false", "id", "pwd", "true", "uname", "which", "whoami"]],
    decision = "allow",
    sandbox = "keep",
    match = ["cd src", "echo done", "pwd", "which node"],
    not_match = ["printf x", "command -v node", "exec true", "builtin cd src"],
)

prefix_rule(
    pattern = ["git", ["--version", "version"]],
    decision = "allow",
    sandbox = "keep",
    match = ["git --version", "git version"],
    not_match = [
        "git status", "git log", "git diff", "git show", "git branch", "git rev-parse HEAD", "git ls-files",
        "git -c core.pager=x --version", "git -C other version", "git --exec-path=. version",
    ],
)
`

/** The same as a layer of its own, for whoever wants it beside the others. */
export const STARTER_LAYER: RuleLayer = {
  name: 'starter',
  files: [{ path: 'waldo:starter.rules', text: STARTER_RULES }],
}
