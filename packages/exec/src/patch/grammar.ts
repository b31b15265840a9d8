/**
 * What a patch looks like, in the notation of Lark, for models that write free text by a grammar. `environmentIds` are
 * the environments that it can be for: from two on, it can say which.
 */
export function patchGrammar(environmentIds: readonly string[]): string {
  const ids = nameable(environmentIds)
  if (ids.length < 2) return `start: begin section+ end\nbegin: "*** Begin Patch" LF\n${REST}`
  return `start: begin section+ end
begin: "*** Begin Patch" LF environment?
environment: "*** Environment ID: " (${ids.map(literal).join(' | ')}) LF
${REST}`
}

const REST = `end: "*** End Patch" LF?

section: added | deleted | updated
added: "*** Add File: " path LF new_line+
deleted: "*** Delete File: " path LF
updated: "*** Update File: " path LF moved? hunks?

moved: "*** Move to: " path LF
hunks: (place | line)+ last_line?
place: ("@@" | "@@ " /(.+)/) LF
line: (" " | "-" | "+") /(.*)/ LF
last_line: "*** End of File" LF

new_line: "+" /(.*)/ LF
path: /(.+)/

%import common.LF
`

const HOW = `A patch starts with "*** Begin Patch", ends with "*** End Patch" and has one section for each file:
"*** Add File: <path>", then every line of the new file with "+" in front;
"*** Delete File: <path>";
"*** Update File: <path>", then perhaps "*** Move to: <new path>", then hunks from the top of the file to its bottom.
A hunk starts with "@@", or "@@ " and a whole line of the file to go to first (several such lines narrow it down). In it
" " stands before lines that stay, "-" before lines that go and "+" before lines that come; about three lines that stay
on each side tell where it belongs. A hunk of "+" lines only goes after its "@@" line. "*** End of File" after a hunk
says that it is at the end of the file.
Paths are relative to the working directory. All of a patch is applied, or nothing.`

/** What a model is told that writes by the grammar. */
export function applyPatchDescription(environmentIds: readonly string[]): string {
  return `Edits files: adds, updates, moves and deletes them, all or nothing. Write the patch itself: it is free text, not JSON.${where(environmentIds)}`
}

/** The tool for models that cannot write by a grammar. */
export function applyPatchFunction(environmentIds: readonly string[]) {
  return {
    type: 'function',
    name: 'apply_patch',
    description: `Edits files by a patch.\n${HOW}${where(environmentIds)}`,
    strict: false,
    parameters: {
      type: 'object',
      properties: { input: { type: 'string', description: 'The whole patch.' } },
      required: ['input'],
      additionalProperties: false,
    },
  } as const
}

function where(environmentIds: readonly string[]): string {
  const ids = nameable(environmentIds)
  if (ids.length < 2) return ''
  const named = ids.map((id) => `\`${id}\``).join(', ')
  return (
    ` "*** Environment ID: <id>" right after "*** Begin Patch" says which environment it is for, one of ${named}; ` +
    `without it, it is for \`${environmentIds[0]}\`.`
  )
}

/** Those that a patch can name at all: an id may be any text, but there it is a line, without spaces around it. */
function nameable(environmentIds: readonly string[]): readonly string[] {
  return environmentIds.filter((id) => id !== '' && id === id.trim() && !/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(id))
}

/** Written so that it is this text and nothing else: an id must not become a rule. */
function literal(id: string): string {
  return `"${id.replace(/["\\]/g, '\\$&')}"`
}
