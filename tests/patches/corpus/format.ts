import { type PatchCase, patch, update } from '../patch-case.ts'

const ADDED = { f: 'x\n' }
const add = patch('*** Add File: f', '+x')

export const format: readonly PatchCase[] = [
  { title: 'empty lines around a patch do not matter', before: {}, patch: `\n\n  ${add}\n\n\t\n`, after: ADDED },
  {
    title: 'a here-document around a patch does not matter',
    before: {},
    patch: `<<'EOF'\n${add}\nEOF`,
    after: ADDED,
  },
  { title: 'a here-document without quotes', before: {}, patch: `<<EOF\n${add}\nEOF\n`, after: ADDED },
  { title: 'a here-document with double quotes', before: {}, patch: `<<"EOF"\n\n${add}\n\nEOF\n`, after: ADDED },
  {
    title: 'a here-document with two kinds of quotes is none',
    before: {},
    patch: `<<'EOF"\n${add}\nEOF`,
    error: /The first line of the patch must be '\*\*\* Begin Patch'/,
  },
  {
    title: 'markers may be padded',
    before: {},
    patch: '  *** Begin Patch  \n  *** Add File: f  \n+x\n *** End Patch ',
    after: ADDED,
  },
  {
    title: 'an environment may be named',
    before: {},
    patch: patch('*** Environment ID: remote', '*** Add File: f', '+x'),
    after: ADDED,
  },
  {
    title: 'empty lines between sections do not matter',
    before: { g: '1\n' },
    patch: patch('', '*** Add File: f', '+x', '', '', '*** Delete File: g', ''),
    after: ADDED,
  },
  {
    title: 'a marker in an update may be padded behind',
    before: { f: 'a\n' },
    patch: update('@@  ', '-a', '+b', '*** End of File  ', '*** Add File: g  ', '+1'),
    after: { f: 'b\n', g: '1\n' },
  },
  {
    title: 'a marker in an update that is indented is content',
    before: { f: '*** Delete File: f\na\n' },
    patch: update('@@', ' *** Delete File: f', '-a', '+b'),
    after: { f: '*** Delete File: f\nb\n' },
  },
  {
    title: 'an empty line before the first hunk does not matter',
    before: { f: 'a\n' },
    patch: update('', '@@', '-a', '+b'),
    after: { f: 'b\n' },
  },
  { title: 'a text without markers is no patch', before: {}, patch: 'hello', error: /The first line of the patch/ },
  { title: 'an empty text is no patch', before: {}, patch: '', error: /^PatchError: invalid patch: The first line/ },
  { title: 'a patch must end', before: {}, patch: add.replace(/\n.*$/, ''), error: /The last line of the patch/ },
  { title: 'a patch is more than its first line', before: {}, patch: '*** Begin Patch', error: /The last line/ },
  {
    title: 'nothing may follow the end',
    before: {},
    patch: `${add}\nThat was it.`,
    error: /The last line of the patch must be '\*\*\* End Patch'/,
  },
  { title: 'a patch without files is refused', before: {}, patch: patch(), error: /No files were modified\./ },
  {
    title: 'an unknown marker is told with its line',
    before: {},
    patch: patch('*** Add File: f', '+x', '*** Rename File: f'),
    error: /invalid hunk at line 4, '\*\*\* Rename File: f' is not a valid hunk header/,
  },
  {
    title: 'an end in the middle is told with its line',
    before: {},
    patch: patch('*** Add File: f', '+x', '*** End Patch', '*** Add File: g', '+y'),
    error: /invalid hunk at line 4, '\*\*\* End Patch' is not a valid hunk header/,
  },
  {
    title: 'lines are counted in the text as it was given',
    before: {},
    patch: `\n\n<<'EOF'\n${patch('*** Foo: f')}\nEOF`,
    error: /invalid hunk at line 5, '\*\*\* Foo: f'/,
  },
  {
    title: 'an update without hunks is refused',
    before: { f: 'a\n' },
    patch: update(),
    error: /invalid hunk at line 2, Update file hunk for path 'f' is empty/,
  },
  {
    title: 'a hunk without lines is refused',
    before: { f: 'a\n' },
    patch: update('@@ a'),
    error: /Update hunk does not contain any lines/,
  },
  {
    title: 'a hunk without lines before End of File is refused',
    before: { f: 'a\n' },
    patch: update('@@', '*** End of File'),
    error: /Update hunk does not contain any lines/,
  },
  {
    title: 'a line without a sign is told with its line',
    before: { f: 'a\n' },
    patch: update('@@', '-a', 'b'),
    error: /invalid hunk at line 5, Unexpected line found in update hunk: 'b'\. Every line should start with/,
  },
  {
    title: 'an unexpected line is not repeated at any length',
    before: { f: 'a\n' },
    patch: update('@@', '-a', 'b'.repeat(100_000)),
    error: /^.{0,120}Unexpected line found in update hunk: 'b{200}…'\. Every.{0,200}$/,
  },
  {
    title: 'an empty environment id is refused',
    before: {},
    patch: patch('*** Environment ID: ', '*** Add File: f', '+x'),
    error: /the environment id is empty/,
  },
  {
    title: 'two environment ids are refused',
    before: {},
    patch: patch('*** Environment ID: a', '*** Environment ID: b', '*** Add File: f', '+x'),
    error: /line 3, the environment id is given twice/,
  },
  {
    title: 'an environment id comes first',
    before: {},
    patch: patch('*** Add File: f', '+x', '*** Environment ID: a'),
    error: /'\*\*\* Environment ID: a' is not a valid hunk header/,
  },
  {
    title: 'more files than a patch may have are refused',
    before: {},
    patch: patch(...Array.from({ length: 1001 }, (_, index) => `*** Add File: f${index}`)),
    error: /a patch has at most 1000 files; split it/,
  },
  {
    title: 'a patch that is far too long is refused',
    before: {},
    patch: patch('*** Add File: f', `+${'x'.repeat(9_000_000)}`),
    error: /longer than 8388608 characters/,
  },
]
