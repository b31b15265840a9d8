/** What a patch looks like, in the notation of Lark, for models that write free text by a grammar. */
export const PATCH_GRAMMAR = `start: begin section+ end
begin: "*** Begin Patch" LF
end: "*** End Patch" LF?

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
export const APPLY_PATCH_DESCRIPTION =
  'Edits files: adds, updates, moves and deletes them, all or nothing. Write the patch itself: it is free text, not JSON.'

/** The tool for models that cannot write by a grammar. */
export const applyPatchFunction = {
  type: 'function',
  name: 'apply_patch',
  description: `Edits files by a patch.\n${HOW}`,
  strict: false,
  parameters: {
    type: 'object',
    properties: { input: { type: 'string', description: 'The whole patch.' } },
    required: ['input'],
    additionalProperties: false,
  },
} as const
